#!/bin/sh
# SPDX-License-Identifier: MIT
# The figures of README.md are those that its commands print.
set -u
readme=${srcdir:?is set by make check}/README.md
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
failed=0

./selastic-sim generate lublin --jobs 5000 --load 0.8 >"$dir/log.swf" || exit 1
for policy in easy elastic; do
    ./selastic-sim run "$dir/log.swf" --elastic 50 --evolving-share 0 --policy $policy \
        >"$dir/$policy" 2>/dev/null || exit 1
    grep -qF -- "--elastic 50 --evolving-share 0 --policy $policy" "$readme" || exit 1
done
for row in wait turnaround slowdown 'useful utilisation'; do
    # Mean, median and unit; it has no room for the other columns.
    printed=$(awk -v row="$row" 'index($0, "  " row " ") == 1 {
            sub("^  " row, "")
            printf " %s %s %s%s", row, $1, $2, $NF == "s" ? " s" : ""
        }' "$dir/easy" "$dir/elastic")
    tr -s ' ' <"$readme" | sed "s/^ *//" | grep -qxF "${printed# }" && continue
    echo "FAIL: not in README.md, side by side:$printed"
    failed=1
done
# What of it is order, and who pays for it.
command='--elastic 50 --evolving-share 0 --policy elastic --baseline easy'
grep -qF -- "selastic-sim run log.swf $command" "$readme" || exit 1
# shellcheck disable=SC2086
./selastic-sim run "$dir/log.swf" $command 2>/dev/null | sed -n '/^against/,/^  the first by/p' >"$dir/against"
[ "$(wc -l <"$dir/against")" -eq 4 ] || { echo "FAIL: --baseline easy has no four lines"; exit 1; }
while IFS= read -r printed; do
    grep -qxF -- "$printed" "$readme" && continue
    echo "FAIL: not in README.md: $printed"
    failed=1
done <"$dir/against"
exit $failed
