#!/bin/sh
# SPDX-License-Identifier: MIT
# What contribs/install-deps would have Rocky Linux 9 install, with programs in place of its package manager that note
# what they are asked.
set -eu
command -v bash >/dev/null || { echo "skipped: no bash"; exit 77; }
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
mkdir "$dir/bin"
cat >"$dir/os-release" <<'END'
ID="rocky"
ID_LIKE="rhel centos fedora"
PRETTY_NAME="Rocky Linux 9.4 (Blue Onyx)"
END
cat >"$dir/bin/rpm" <<END
#!/bin/sh
for name; do :; done
grep -qxe "\$name" "$dir/installed"
END
cat >"$dir/bin/dnf" <<END
#!/bin/sh
echo "\$*" >>"$dir/asked"
printf '%s\n' "\$@" >>"$dir/installed"
END
# shellcheck disable=SC2016  # for the shell that runs it
printf '#!/bin/sh\n[ "$1" = true ] || exec "$@"\n' >"$dir/bin/sudo"
chmod +x "$dir"/bin/*
printf '%s\n' gcc-c++ make >"$dir/installed"
export PATH="$dir/bin:$PATH" ELASTIC_OS_RELEASE="$dir/os-release"
deps=${srcdir:?is set by make check}/contribs/install-deps

# has TEXT FILE
has() {
    grep -qF -- "$1" "$2" || { echo "FAIL: no '$1' in"; cat "$2"; exit 1; }
}

! "$deps" --check --build >"$dir/out" || { echo "FAIL: nothing is missing"; exit 1; }
has json-c-devel "$dir/out"
! grep -q gcc-c++ "$dir/out" || { echo "FAIL: gcc-c++ is missing"; exit 1; }
! "$deps" --test 2>"$dir/out" || { echo "FAIL: tests can be run"; exit 1; }
has 'Rocky Linux 9.4 (Blue Onyx): private clusters' "$dir/out"
"$deps" --build 2>"$dir/out" || { cat "$dir/out"; exit 1; }
has 'install epel-release' "$dir/asked"
has 'config-manager --set-enabled crb' "$dir/asked"
has 'install_weak_deps=False autoconf' "$dir/asked"
has 'fmt-devel' "$dir/asked"
"$deps" --check --build || { echo "FAIL: something is missing"; exit 1; }
