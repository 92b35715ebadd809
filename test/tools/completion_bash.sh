#!/bin/bash
# SPDX-License-Identifier: MIT
# What bash offers for a command line, asked as bash asks: by the words that Readline makes of it, where "=" is one.
set -u
program=
failures=0

# offers OFFERED WORD...: to these words, of which the last is being typed.
offers() {
    local offered=$1
    shift
    COMP_WORDS=("$program" "$@") COMP_CWORD=$#
    COMPREPLY=()
    "_${program//-/_}"
    [ "${COMPREPLY[*]}" = "$offered" ] && return
    echo "FAIL: $program $*: offers '${COMPREPLY[*]}', not '$offered'"
    failures=$((failures + 1))
}

read_completion() {
    program=$1
    # shellcheck disable=SC1090  # which the build has made
    . "completions/bash/$program" || exit 1
    complete -p "$program" >/dev/null || failures=$((failures + 1))
}

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
touch "$dir/day one.journal" "$dir/night.journal"
mkdir "$dir/folder"

read_completion selastic
offers 'show shrink serve snapshot step' s
offers 'gantt' ga
offers '--svg' gantt --sv
offers 'auto always never' gantt --color ''
offers 'always' gantt --colour = al
offers 'auto always never' gantt --color =
offers '--help' --he
offers '' shrink ''
offers "$dir/night.journal" check "$dir/ni"
offers "$dir/day one.journal" check "$dir/night.journal" "$dir/d"
offers "$dir/night.journal" journal --file "$dir/n"
offers '--json' check "$dir/night.journal" --j
offers '' gantt --title ga
offers '--listen' serve --li
offers "$dir/night.journal" serve --socket "$dir/ni"

read_completion selastic-sim
offers 'reproduce replay-snapshot' re
offers 'lina' reproduce li
offers '--tests' reproduce evolving --te
offers "$dir/folder" sweep --out "$dir/"
offers '--slurm-conf' sweep --sl
offers '--slurm-conf' tune packet --sl
offers 'conf logged' sweep --order ''
offers "$dir/night.journal" sweep --qos "$dir/ni"
offers '--all-presets' advise --al

read_completion selastic-run
offers '--checkpoint-signal' --checkpoint-s
offers 'mktemp mktemp' --tasks-per-node 2 mktem
offers "$dir/night.journal" --workers bash "$dir/n"
[ $failures = 0 ]
