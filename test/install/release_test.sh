#!/bin/bash
# SPDX-License-Identifier: MIT
# release_test.sh CLONE: what `make dist` makes of the last commit is the same whoever makes it, where, when and how
# files are protected there; the list in it is true; and a release makes itself again. Counts as Automake's tests do.
set -eu
clone=$(realpath "$1")
work=$(mktemp -d)
trap 'chmod -R u+w "$work" && rm -rf "$work"' EXIT
passed=0 failed=0

judge() {
    local what=$1
    shift
    if "$@"; then
        passed=$((passed + 1))
    else
        echo "FAIL: $what"
        failed=$((failed + 1))
    fi
}

# made_in FOLDER: a release of the source there, in a build folder beside it.
made_in() {
    [ -x "$1/configure" ] || (cd "$1" && ./autogen.sh)
    mkdir "$1.build"
    cd "$1.build"
    "../${1##*/}/configure" --quiet --without-slurm --without-mpi
    make dist
}

# Hours later at the other end of the world, for somebody who lets nobody read files.
made_elsewhere() {
    umask 077
    export TZ=Pacific/Auckland LC_ALL=C.UTF-8 XZ_OPT=-1
    find "$1" -exec touch -h -d '2026-02-01 10:00' {} +
    made_in "$1"
}

# Whoever runs this trusts the clone, also another user's.
clone_to() { git -c safe.directory='*' clone -q "$clone" "$1"; }
clone_to "$work/one"
clone_to "$work/a-longer-name"
(made_in "$work/one") >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
(made_elsewhere "$work/a-longer-name") >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
release=$(echo "$work"/one.build/slurm-elastic-*.tar.xz)
name=$(basename "$release" .tar.xz)
judge "two clones" cmp "$release" "$work/a-longer-name.build/$name.tar.xz"

tar -xf "$release" -C "$work"
(made_in "$work/$name") >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
judge "the release itself" cmp "$release" "$work/$name.build/$name.tar.xz"

# What sha256sum reads: of all files but the list itself.
cd "$work/$name"
sed -n 's/^FileName: \(.*\)/\1/p; s/^FileChecksum: SHA256: //p' slurm-elastic.spdx | sed 'N; s/\(.*\)\n\(.*\)/\2  \1/' >"$work/sums"
judge "hashes in the list" sha256sum --quiet --check "$work/sums"
judge "all sources" diff <(git -c safe.directory='*' -C "$clone" ls-files src | sort) \
    <(find src -type f ! -name Makefile.in | sort)
judge "files in the list" diff <(cut -c67- "$work/sums" | sort) <(find . -type f ! -name slurm-elastic.spdx | sort)

echo "# TOTAL: $((passed + failed))"
echo "# PASS:  $passed"
echo "# FAIL:  $failed"
[ $failed = 0 ]
