#!/bin/sh
# SPDX-License-Identifier: MIT
# Of which package contribs/slurm-source says that a source is, with programs in place of apt's that have of it all, or
# the release alone. Plugins depend on that package, so it must be the one that apt would install either way.
set -eu
for tool in bash dpkg-source dpkg-parsechangelog gcc; do
    command -v "$tool" >/dev/null || { echo "skipped: no $tool"; exit 77; }
done
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
mkdir -p "$dir/bin" "$dir/slurm-24.11.5/debian"
printf '  Version:\t24.11.5\n' >"$dir/slurm-24.11.5/META"

# Upstream's changelog says another package, which no Debian has.
changelog() {
    printf '%s (%s) unstable; urgency=low\n\n  * Text.\n\n -- A <a@b.example>  Thu, 05 Jul 2024 17:14:32 -0400\n' "$@"
}
changelog slurm-smd 24.11.5-1 >"$dir/slurm-24.11.5/debian/changelog"
tar -C "$dir" -czf "$dir/slurm-wlm_24.11.5.orig.tar.gz" slurm-24.11.5
changelog slurm-wlm 24.11.5-4+deb13u1 >"$dir/debians"
cat >"$dir/bin/apt-cache" <<'END'
#!/bin/sh
printf 'slurmctld:\n  Installed: (none)\n  Candidate: 24.11.5-4+deb13u1\n'
END
cat >"$dir/bin/apt-get" <<END
#!/bin/sh
case \$* in
    update) ;;
    *--tar-only*) cp "$dir"/*.orig.tar.gz . ;;
    "source --only-source slurm-wlm=24.11.5-4+deb13u1")
        [ -f "$dir/whole" ] || { echo 404; exit 100; }
        cp -r "$dir/slurm-24.11.5" slurm-wlm-24.11.5
        cp "$dir/debians" slurm-wlm-24.11.5/debian/changelog
        touch slurm-wlm.dsc ;;
    *) echo "apt-get \$*?"; exit 100 ;;
esac
END
chmod +x "$dir"/bin/*
export PATH="$dir/bin:$PATH"
slurm_source=${srcdir:?is set by make check}/contribs/slurm-source

# package_of CACHE
package_of() {
    "$slurm_source" fetch --slurm candidate --cache "$dir/$1" >"$dir/out" 2>"$dir/said" ||
        { echo "FAIL: nothing was fetched"; cat "$dir/said"; exit 1; }
    dpkg-parsechangelog -l"$(sed -n 's/^SLURM_SOURCE=//p' "$dir/out")/debian/changelog" -SVersion
}

version=$(package_of alone)
[ "$version" = 24.11.5-4+deb13u1 ] || { echo "FAIL: of the release alone the package is $version"; exit 1; }
grep -q 'the release alone.*24.11.5-4+deb13u1' "$dir/said" || { echo "FAIL: not said"; cat "$dir/said"; exit 1; }
touch "$dir/whole"
version=$(package_of all)
[ "$version" = 24.11.5-4+deb13u1 ] || { echo "FAIL: of all the package is $version"; exit 1; }
! grep -q 'the release alone' "$dir/said" || { echo "FAIL: all of it was there"; cat "$dir/said"; exit 1; }
