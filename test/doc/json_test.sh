#!/bin/sh
# SPDX-License-Identifier: MIT
# Every command that prints something prints it as JSON, too.  What `generate` prints is a log, which
# is a format of its own, and `serve` answers with JSON.
set -eu

failed=0
commands_of() {
    "$@" --help | sed -n '/^  [a-z]/s/^  \([a-z-]*\) .*/\1/p'
}
check() {
    "$@" --help | grep -q -e '^  --json' || { echo "$* has no --json"; failed=1; }
}

for command in $(commands_of ./selastic); do
    [ "$command" = serve ] || check ./selastic "$command"
done
for command in $(commands_of ./selastic-sim); do
    case $command in
        generate) ;;
        reproduce|tune)
            for of in $(commands_of ./selastic-sim "$command"); do
                check ./selastic-sim "$command" "$of"
            done ;;
        *) check ./selastic-sim "$command" ;;
    esac
done
check ./selastic-run
exit $failed
