# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2154
#
# demo.sh: what the quickstarts share, a private cluster whose journal is shown as the controller
# writes it; to be sourced.
#
# Always:
# - what is counted comes from the journal and from Slurm's own records, and a job that did not
#   complete is lost;
# - nothing is left but the build and what the quickstart says it wrote, interrupted or not.
here=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
clone=$(dirname "$here")
# shellcheck source=contribs/lib.sh
. "$here/lib.sh"
build=$clone/build

step() { printf '\n== %s\n' "$*"; }

# ---------------------------------------------------------------- the cluster

dir=

# start_cluster OPTION...: of minicluster's up.
start_cluster() {
    dir=$(mktemp -d /tmp/quickstart.XXXXXX)
    chmod 755 "$dir"
    mkdir -m 777 "$dir/out"
    # Short times, since everything here is over in a minute; what jobs write is seen by all nodes.
    run_child "$here/minicluster" up --dir "$dir/cluster" --share "$dir" --plugins "$build/src/plugins/.libs" \
        --elastic-line ResizeGap=2 --elastic-line GraceTime=20 "$@"
    eval "$("$here/minicluster" env --dir "$dir/cluster")"
    journal=$dir/cluster/state/elastic.journal
}

take_down() {
    [ -n "$dir" ] || return 0
    [ ! -d "$dir/cluster" ] || "$here/minicluster" down --dir "$dir/cluster"
    rm -rf "$dir"
    dir=
}

# Whatever ends the script comes through here.
tidy_up() {
    local status=$?
    trap '' INT TERM HUP
    trap - EXIT
    set +e
    status=${interrupted:-$status}
    interrupted=
    take_down
    [ "$status" -lt 128 ] || say "interrupted; everything is ended"
    exit "$status"
}

catch_interruptions
trap tidy_up EXIT

# ---------------------------------------------------------------- the jobs

jobs=()
submit() {
    local name=$1 job
    shift
    job=$(sbatch --parsable --job-name="$name" --output="$dir/out/%j" "$@") || die "sbatch failed"
    jobs+=("$job")
    printf '          sbatch --job-name=%s %s\n' "$name" "${*//"$clone/"/}"
}

# ---------------------------------------------------------------- watching

shown=0
show_news() {
    local line
    while IFS= read -r line; do
        printf '%s\n' "${line#*-*-* }"  # today's date is known
        shown=$((shown + 1))
    done < <(selastic journal --file "$journal" | tail -n +$((shown + 1)))
}

# watch_until SECONDS CONDITION...: wait, and show what happens meanwhile.
watch_until() {
    wait_until "$1" shown_and "${@:2}" && return
    [ -z "$interrupted" ] || exit "$interrupted"
    die "waited $1 s in vain for ${*:2}"
}
shown_and() { if "$@"; then show_news; else show_news; return 1; fi; }

count() { selastic check --running --json "$journal" | sed -n "s/.*\"$1\":\([0-9]*\).*/\1/p"; }
some() { [ "$(count "$1")" -gt 0 ]; }
has_nodes() { [ "$(squeue --noheader --jobs="$1" --format=%D)" = "$2" ]; }
all_ended() { [ -z "$(squeue --noheader --format=%i)" ] && [ "$(count running)" = 0 ]; }

state_of() { scontrol show job "$1" | sed -n 's/.*JobState=\([A-Z_]*\).*/\1/p'; }

# Sets completed and lost; shows what a lost job has printed.
count_jobs() {
    completed=0 lost=0
    local job state
    for job in "${jobs[@]}"; do
        state=$(state_of "$job")
        if [ "$state" = COMPLETED ]; then completed=$((completed + 1)); continue; fi
        lost=$((lost + 1))
        say "job $job is lost: $state; its last words:"
        tail -n 5 "$dir/out/$job" >&2 || true
    done
}
