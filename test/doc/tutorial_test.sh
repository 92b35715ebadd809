#!/bin/bash
# SPDX-License-Identifier: MIT
# Runs the commands of the tutorial and compares what they print with what it shows.
#
#     tutorial_test.sh [--update]     (srcdir=TREE; in the folder of the programs)
#
# Commands stand in blocks of "console": a line "$ command", lines "> " that go on with it, and
# what it prints on standard output until the next one.  All run in one folder, one after the
# other, as a reader runs them.  --update writes into the tutorial what came out.
set -u
page=${srcdir:?is set by make check}/doc/choosing-a-policy.md
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export PATH=$PWD:$PATH TZ=UTC LC_ALL=C
cp "$srcdir"/test/data/{site.sacct,cluster.sacct,cluster.conf,cluster.qos} "$dir"

# run: the command in $command, if there is one; its output stands behind it in the new page.
run() {
    [ -n "$command" ] || return 0
    (cd "$dir" && bash -o pipefail -c "$command" 2>err </dev/null) || {
        echo "FAIL: exit code $?: $command" >&2
        cat "$dir/err" >&2
        echo failed >"$dir/failed"
    }
    command=
}

command='' inside=
while IFS= read -r line; do
    case $inside:$line in
    ':```console') inside=y ;;
    'y:```') run && inside= ;;
    'y:$ '*) run && printf '%s\n' "$line" && command=${line#??} && continue ;;
    'y:> '*) command+=$'\n'${line#??} ;;
    y:*) continue ;; # what it printed when this was written
    esac
    printf '%s\n' "$line"
done <"$page" >"$dir/new.md"

[ ! -e "$dir/failed" ] || exit 1
[ "$(grep -c '^\$ ' "$dir/new.md")" -ge 10 ] || { echo "FAIL: $page: where are the commands?"; exit 1; }
if [ "${1:-}" = --update ]; then
    cp "$dir/new.md" "$page"
elif ! diff -u "$page" "$dir/new.md"; then
    echo "FAIL: the tutorial shows something else; if this is right: srcdir=$srcdir $0 --update"
    exit 1
fi
