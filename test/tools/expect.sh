# SPDX-License-Identifier: MIT
# shellcheck shell=sh
# What the tests of command lines share; to be sourced.  The folder $dir goes away at the
# end; `failures` counts.
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
failures=0

# expect CODE COMMAND...: the command's exit code; its output is in $dir/out.
expect() {
    want=$1
    shift
    "$@" >"$dir/out" 2>"$dir/err"
    got=$?
    [ $got -eq "$want" ] && return
    echo "FAIL: $*: exit code $got, not $want"
    cat "$dir/out" "$dir/err"
    failures=$((failures + 1))
}

# shows TEXT: the last output has it.
shows() {
    grep -qF -- "$1" "$dir/out" "$dir/err" && return
    echo "FAIL: not in the output: $1"
    cat "$dir/out" "$dir/err"
    failures=$((failures + 1))
}

# shows_not TEXT: the last output does not have it.
shows_not() {
    grep -qF -- "$1" "$dir/out" "$dir/err" || return 0
    echo "FAIL: in the output: $1"
    cat "$dir/out" "$dir/err"
    failures=$((failures + 1))
}
