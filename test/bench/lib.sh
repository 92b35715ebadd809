# SPDX-License-Identifier: MIT
# shellcheck shell=bash
#
# lib.sh: what the benchmarks that need a live cluster share; to be sourced.
#
# A benchmark prints its table, in the form that README.md has it, and nothing else on standard
# output; what it does meanwhile is said on standard error.
#
# Each cluster lives in a directory of its own below $work and is taken down
# when the benchmark ends, however it ends.
bench=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
clone=$(dirname "$(dirname "$bench")")
. "$clone/contribs/lib.sh"
minicluster=$clone/contribs/minicluster
build=$(readlink -f "${ELASTIC_BUILD:-$clone/build}")
export ELASTIC_TOOL_DIR=$build
work=$(mktemp -d "${TMPDIR:-/tmp}/elastic-bench-XXXXXX")
chmod 755 "$work"
clusters=()
background=()  # processes that end with the benchmark at the latest

take_down() {
    local cluster
    trap '' INT TERM HUP
    [ ${#background[@]} = 0 ] || kill "${background[@]}" 2>/dev/null || true
    for cluster in "${clusters[@]}"; do
        [ ! -d "$cluster" ] || "$minicluster" down --dir "$cluster"
    done
    rm -rf "$work"
}
trap take_down EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

# start_cluster NAME OPTION...: starts it and makes the commands talk to it.
start_cluster() {
    local name=$1
    shift
    clusters+=("$work/$name")
    "$minicluster" up --dir "$work/$name" --plugins "$build/src/plugins/.libs" "$@" >&2
    use_cluster "$name"
}

use_cluster() { eval "$("$minicluster" env --dir "$work/$1")"; }

stop_cluster() { "$minicluster" down --dir "$work/$1" >&2; }

# row CELL...: a line of a table.  head_row CELL...: its first two.
row() { printf '|'; printf ' %s |' "$@"; printf '\n'; }

head_row() { row "$@"; row "${@/*/---}"; }

# ms NUMBER: milliseconds, with as many places as mean something.
ms() { awk -v ms="$1" 'BEGIN { printf "%." (ms < 0.1 ? 2 : ms < 10 ? 1 : 0) "f ms", ms }' | thousands; }

# With a comma before each three digits.
thousands() { sed -E ':again; s/([0-9])([0-9]{3})($|[^0-9.])/\1,\2\3/; t again'; }

# quantile Q: of the numbers on stdin.  The smallest that Q of all do not exceed.
quantile() {
    sort -g | awk -v q="$1" '{ value[NR] = $1 }
        END { if (!NR) exit 1; i = int(q * NR); if (i < q * NR) i++; print value[i < 1 ? 1 : i] }'
}

ratio() { awk -v a="$1" -v b="$2" 'BEGIN { r = a / b; printf "%." (r < 10 ? 1 : 0) "f", r }' | thousands; }

now_ms() { awk '{ print $1 }' <<<"${EPOCHREALTIME/,/.}" | awk '{ printf "%.3f", $1 * 1000 }'; }

# json_number JSON OBJECT KEY: of an object that has no objects inside.
json_number() { sed -n "s/.*\"$2\": *{\([^}]*\)}.*/\1/p" <<<"${1//$'\n'/ }" | sed -n "s/.*\"$3\": *\([-0-9.e+]*\).*/\1/p"; }
