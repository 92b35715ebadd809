#!/bin/sh
# SPDX-License-Identifier: MIT
# The administrator's guide says of each of Slurm's SchedulerParameters what the sources do with it:
# those of the tables in scheduler_parameters.cpp are in a row that begins with "honoured",
# "pointless" or "not supported", and no others are.
set -u
guide=${srcdir:?is set by make check}/doc/admin-guide.md
source=$srcdir/src/controller/scheduler_parameters.cpp
failed=0

# The keys of the rows whose second column begins so, one a line.
documented() {
    awk '/^### SchedulerParameters/ { inside = 1; next } /^#/ { inside = 0 } inside' "$guide" |
        sed -n "s/^| \(.*\) | $1.*/\1/p" | tr '\140' '\n' | grep -x '[A-Za-z_][A-Za-z_]*' | sort
}

# The quoted names in the definition of an array.
array() {
    awk -v name=" $1{" 'index($0, name) { inside = 1 } inside; /};$/ { inside = 0 }' "$source" |
        grep -o '"[a-z_]*"' | tr -d '"'
}

# same WORD KEYS: the guide has these under that word, and no others.
same() {
    [ "$(printf '%s\n' "$2" | wc -l)" -ge 5 ] || { echo "FAIL: cannot read the keys of $1"; failed=1; }
    there=$(documented "$1")
    [ "$there" = "$2" ] && return
    echo "FAIL: admin-guide.md and scheduler_parameters.cpp differ in what is $1:"
    printf 'the guide:\n%s\nthe source:\n%s\n' "$there" "$2"
    failed=1
}

# max_rpc_count is an older name.
same honoured "$({ array kNumbers; array kFlags; } | grep -vx max_rpc_count | sort)"
same pointless "$(array kPointless | sort)"
same 'not supported' "$(array kUnsupported | sort)"
exit $failed
