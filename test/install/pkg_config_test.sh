#!/bin/sh
# SPDX-License-Identifier: MIT
# The library as an application's author meets it: installed, then found by
# pkg-config alone from a folder that knows nothing of this tree, linked by the
# C compiler, and run outside any job.
set -eu
command -v pkg-config >/dev/null || { echo "skipped: no pkg-config"; exit 77; }
if nm -D .libs/libelastic.so | grep -q __asan_init; then
    echo "skipped: a library with sanitizers is for programs that have them too"
    exit 77
fi
build=$PWD work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
root=$work/root
env -u MAKEFLAGS -u MFLAGS make DESTDIR="$root" install >"$work/log" 2>&1 ||
    { cat "$work/log"; exit 1; }
cp "${srcdir:?is set by make check}/contribs/examples/rigid_sum.c" "$work/program.c"

# The file names the folders of the final place, which DESTDIR stands before.
installed=$(find "$root" -name libelastic.pc)
sed "s|^\([a-z_]*\)=/|\1=$root/|" "$installed" >"$work/libelastic.pc"
cd "$work"
# Nothing else is known to it, as on a machine without the development files of what the library uses itself.
export PKG_CONFIG_LIBDIR="$work"
# shellcheck disable=SC2046  # the words are flags
${CC:-cc} -o program program.c $(pkg-config --cflags --libs libelastic)
unset SLURM_JOB_ID
LD_LIBRARY_PATH=$(pkg-config --variable=libdir libelastic) ./program 1000 >output ||
    { cat output; exit 1; }
grep -q '^rigid_sum: 500500 correct$' output || { cat output; exit 1; }

# What else must have come along.
! find "$root" -name 'libelastic-mpi-*.pc' | grep -q . || find "$root" -name elastic_mpi.hpp | grep -q . ||
    { echo "not installed: elastic_mpi.hpp"; exit 1; }
for file in bin/selastic bin/selastic-run include/elastic.h include/elastic.hpp elastic/__init__.py \
            elastic/py.typed share/man/man1/selastic.1 \
            share/man/man1/selastic-run.1 share/slurm-elastic/profiles/gromacs \
            share/slurm-elastic/grafana/slurm-elastic.json \
            share/bash-completion/completions/selastic share/zsh/site-functions/_selastic-sim \
            share/man/man3/libelastic.3 share/man/man5/elastic.conf.5; do
    find "$root" -path "*/$file" | grep -q . || { echo "not installed: $file"; exit 1; }
done

# And all of it goes: also what importing the Python package leaves.
find "$root" -type d -path '*/elastic' -exec mkdir {}/__pycache__ \;
prefix=$(pkg-config --variable=prefix libelastic)
cd "$build"
env -u MAKEFLAGS -u MFLAGS make DESTDIR="$root" uninstall >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
left=$(find "$root" ! -type d; find "$prefix" -mindepth 1 -name '*elastic*')
[ -z "$left" ] || { echo "left by make uninstall: $left"; exit 1; }
