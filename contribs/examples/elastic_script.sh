#!/bin/bash
# SPDX-License-Identifier: MIT
# A batch script with no compiled code that takes part: rounds of work on all nodes of the job,
# and between them, when nothing runs anywhere, whatever is offered is taken.
#
#     sbatch --elastic=malleable,min=1,max=8 -N 4 elastic_script.sh [ROUNDS]
#SBATCH --job-name=elastic_script
set -u
rounds=${1:-10}
stopped=
trap 'stopped=1' TERM

# Takes what is offered, if anything is.  One that is over meanwhile is no error: selastic says
# so, and the next round goes on at the size there is.
answer() {
    local event ELASTIC_EVENT='' ELASTIC_OP=0
    event=$(selastic wait --timeout 0) || return 0
    eval "$event"
    case $ELASTIC_EVENT in
    offer | accepted)
        selastic accept "$ELASTIC_OP" >/dev/null
        selastic "done" "$ELASTIC_OP" >/dev/null
        ;;
    resized) [ "$ELASTIC_OP" -eq 0 ] || selastic "done" "$ELASTIC_OP" >/dev/null ;;
    esac
}

total=0
for ((round = 1; round <= rounds; round++)); do
    [ -z "$stopped" ] || break
    answer
    eval "$(selastic env)" # so that srun uses the job's present size
    # Each node contributes its number from 1; the sum over N nodes is N(N+1)/2.
    # shellcheck disable=SC2016 # the worker's variable, not ours
    if ! shares=$(srun -Q --ntasks-per-node=1 sh -c 'sleep 1; echo $((SLURM_PROCID + 1))'); then
        echo "elastic_script: round $round lost a node"
        continue
    fi
    count=0 sum=0
    for share in $shares; do
        count=$((count + 1)) sum=$((sum + share))
    done
    if [ "$count" -lt 1 ] || [ "$sum" -ne $((count * (count + 1) / 2)) ]; then
        echo "elastic_script: WRONG: $count shares make $sum"
        exit 1
    fi
    total=$((total + 1))
    echo "elastic_script: round $round on $count node(s)"
done
[ "$total" -ge 1 ] || { echo "elastic_script: WRONG: no round was completed"; exit 1; }
echo "elastic_script: $total of $rounds rounds, correct"
