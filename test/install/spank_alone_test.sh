#!/bin/sh
# SPDX-License-Identifier: MIT
# spank_alone_test.sh FULL SPANK: spank_elastic.so of a build with Slurm's source and of one with Slurm's installed
# headers alone are one plugin, byte for byte but for what debuggers read. Counts as Automake's tests do.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for build in "$1" "$2"; do
    name=$(basename "$build").so
    strip -R .note.gnu.build-id -o "$work/$name" "$build/src/plugins/.libs/spank_elastic.so"
done
failed=0
cmp "$work/$(basename "$1").so" "$work/$(basename "$2").so" || failed=1
[ ! -e "$2/src/plugins/sched_elastic.la" ] || { echo "built besides: sched_elastic"; failed=1; }
printf '# TOTAL: 1\n# PASS:  %d\n# FAIL:  %d\n' $((1 - failed)) $failed
exit $failed
