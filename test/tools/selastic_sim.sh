#!/bin/sh
# SPDX-License-Identifier: MIT
# selastic-sim's command line.  Prints what fails.
set -u
# shellcheck source=test/tools/expect.sh
. "$(dirname "$0")/expect.sh"

# same FILE FILE: equal, byte for byte.
same() {
    cmp -s "$1" "$2" && return
    echo "FAIL: $1 and $2 differ"
    failures=$((failures + 1))
}

sim=./selastic-sim
log=$dir/log.swf

# job submit wait run processors
{
    echo '; MaxProcs: 8'
    i=0
    while [ $i -lt 60 ]; do
        i=$((i + 1))
        echo "$i $((i * 7)) 0 $((40 + i * 13 % 90)) $((1 + i * 5 % 6)) -1 -1 -1 $((100 + i)) -1 1 1 1 1 1 1 -1 -1"
    done
} >"$log"

expect 0 $sim --help
expect 0 $sim --version
expect 2 $sim
expect 2 $sim explode
expect 0 $sim run --help
shows 'lina-default'
expect 2 $sim run
shows 'LOG'
expect 2 $sim run "$dir/absent"
shows 'absent'
expect 2 $sim run "$log" --policy round-robin
shows '--policy: Policy=round-robin: one of elastic, fcfs, easy'
expect 2 $sim run "$log" --set VictimOrder=tallest
shows '--set VictimOrder=tallest: one of'
expect 2 $sim run "$log" --set VictimOrder
shows 'must be Key=Value'
expect 2 $sim run "$log" --set Colour=red
shows 'no choice of a policy'
expect 2 $sim run "$log" --set Policy=easy
expect 2 $sim run "$log" --overrun ignore
expect 2 $sim run "$log" --estimates guessed
expect 0 $sim run "$log" --estimates exact --settle
expect 0 $sim run "$log" --elastic 50 --truth downey=1.5:0.5 --limit-error 0.5:2
expect 2 $sim run "$log" --truth gustafson
shows "'gustafson' is none of linear"
expect 2 $sim run "$log" --limit-error 2:1
expect 2 $sim run "$log" --elastic 101
expect 2 $sim run "$log" --rho 0.5
expect 2 $sim run "$log" --rho 0.9:0.1
expect 2 $sim run "$log" --rho-model linear
expect 2 $sim run "$log" --nodes 0
printf 'Policy=easy\nVictimOrder=x\n' >"$dir/elastic.conf"
expect 2 $sim run "$log" --config "$dir/elastic.conf"
shows 'elastic.conf:2: VictimOrder=x'
expect 2 $sim run "$log" --config "$dir/elastic.conf" --policy easy
expect 2 $sim run "$log" --jobs-out - --segments-out -
expect 2 $sim run "$log" --jobs-out - --json
expect 2 $sim run "$log" --jobs-out "$dir/x" --gantt "$dir/../$(basename "$dir")/x"
shows "x is the file of --jobs-out, too"
expect 2 $sim run "$log" --jobs-out "$log"
shows 'is the file of LOG, too'
expect 2 $sim run "$log" --jobs-out ''
shows 'the name is empty'
expect 0 $sim run "$log" --jobs-out /dev/null --gantt /dev/null
for seed in -1 99999999999999999999 1.5; do
    expect 2 $sim run "$log" --seed=$seed
    shows "$seed is no whole number from 0"
    expect 2 $sim generate lublin --seed=$seed
done
expect 0 $sim run "$log" --rho 0.1:0.2
shows '--rho has no effect without --elastic'
expect 2 $sim run "$log" --elastic 10 --cost-factor nan
shows '--cost-factor: '
expect 2 $sim run "$log" --skip 300
shows '--skip: '
expect 2 $sim explode
shows 'explode: unknown'
expect 2 $sim generate explode
shows 'explode: unknown'
expect 2 $sim run "$log" --jobs-out "$dir/absent/x.csv"
shows '--jobs-out'
echo rubbish >>"$log"
expect 2 $sim run "$log"
shows 'log.swf:62'
expect 0 $sim run "$log" --lenient
sed -i '$d' "$log"

expect 0 $sim run "$log" --policy easy
shows 'under easy'
shows 'jobs a second'
expect 0 $sim run "$log" --policy easy --json
shows '"jobs":60'
printf 'spot price=0.4\n@600 spot price=0.9\n@900 all cap=5\n' >"$dir/supply"
expect 0 $sim run "$log" --elastic 100 --evolving-share 0 --supply "$dir/supply" --supply-nodes spot=4 --price 0.5
shows 'on priced nodes'
shows 'a node and hour'
expect 2 $sim run "$log" --supply "$dir/supply" --supply-nodes other=4
shows "the supply says nothing of 'other'"
expect 2 $sim run "$log" --supply "$dir/supply" --supply-nodes spot=9
shows "from 1 to the machine's 8"
expect 2 $sim run "$log" --supply-nodes spot=4
expect 2 $sim run "$log" --supply "$dir/absent"
expect 2 $sim run "$log" --supply "$dir/supply" --journal "$dir/no.journal"
printf 'spot prize=1\n' >"$dir/wrong"
expect 2 $sim run "$log" --supply "$dir/wrong"
shows "1: 'prize=1' is neither price= nor cap="

expect 2 $sim run "$log" --baseline round-robin
shows '--baseline: Policy=round-robin: one of'
expect 0 $sim run "$log" --policy fcfs --baseline EASY
shows 'against EASY'
shows 'wait over 1 h longer'
shows 'wait in the log'
expect 0 $sim run "$log" --elastic 50 --references
shows 'no less than'
expect 0 $sim run "$log" --references --json
shows '"least":{"turnaround":'
sed 's/^\([0-9]* [0-9]* [0-9]* [0-9]* [0-9]* -1 -1 -1\) [0-9]*/\1 -1/' "$log" >"$dir/unlimited.swf"
expect 0 $sim run "$dir/unlimited.swf"
shows '60 of 60 jobs have no time limit'
shows '% of all node-seconds are beyond'
expect 0 $sim run "$log" --policy fcfs --baseline easy --json
shows '"longest_delay":'
expect 0 $sim run - --jobs-out - --policy easy <"$log"
shows 'job_id,class,submit,start,end,nodes_start,nodes_end,wait,turnaround,slowdown,resizes'
[ "$(wc -l <"$dir/out")" -eq 61 ] || { echo 'FAIL: not a line for each job'; failures=$((failures + 1)); }

elastic="--elastic 100 --max-factor 4 --seed 3"
# shellcheck disable=SC2086
for n in 1 2; do
    expect 0 $sim run "$log" $elastic --policy lina-default --set VictimOrder=gain --json \
        --jobs-out "$dir/jobs$n.csv" --segments-out "$dir/segments$n.csv" \
        --journal "$dir/journal$n" --gantt "$dir/gantt$n.svg"
    cp "$dir/out" "$dir/summary$n.json"
done
for what in jobs%.csv segments%.csv journal% gantt%.svg summary%.json; do
    same "$dir/$(echo $what | tr % 1)" "$dir/$(echo $what | tr % 2)"
done
grep -q 'redistribute$' "$dir/segments1.csv" || { echo 'FAIL: no job was resized'; failures=$((failures + 1)); }
grep -q '</svg>' "$dir/gantt1.svg" || { echo 'FAIL: no image'; failures=$((failures + 1)); }
# What resizes cost is multiplied, whichever model it comes from.
# shellcheck disable=SC2086
for model in '' '--rho 0.1:0.2' '--rho 0.1:0.2 --rho-model power'; do
    expect 0 $sim run "$log" $elastic --evolving-share 0 --cost-factor 0 $model --json
    shows '"redistribution_node_seconds":0,'
    expect 0 $sim run "$log" $elastic --evolving-share 0 $model --cost-factor 0 --json
    shows '"redistribution_node_seconds":0,'
done
# Moving data takes longer over slow links.
moved() {
    # shellcheck disable=SC2086
    $sim run "$log" $elastic --evolving-share 0 --cost-factor 0 --data 1G:2G --link-bandwidth "$1" --json \
        2>/dev/null | sed -n 's/.*"redistribution_node_seconds":\([0-9]*\).*/\1/p'
}
if [ "$(moved 1G)" -le 0 ] || [ "$(moved 100M)" -le "$(moved 1G)" ]; then
    echo "FAIL: data moves in $(moved 1G) node-seconds at 1G, in $(moved 100M) at 100M"
    failures=$((failures + 1))
fi
for wrong in '--data 1' '--data 2G:1G' '--data 1G:x' '--link-bandwidth 10'; do
    # shellcheck disable=SC2086
    expect 2 $sim run "$log" --elastic 10 $wrong
    shows "${wrong%% *}: "
done
expect 0 ./selastic check "$dir/journal1"
shows '60 jobs (60 completed, 0 running)'
shows ' 0 violations'
expect 0 $sim run "$log" --jobs-out /dev/null
[ -c /dev/null ] || { echo 'FAIL: a device was replaced'; failures=$((failures + 1)); }

expect 0 $sim run "$log" --jobs-out /dev/stdout
shows 'job_id,class'
shows 'under elastic'
[ "$(head -c 6 "$dir/out")" = job_id ] || { echo 'FAIL: not all results in one file'; failures=$((failures + 1)); }
expect 2 $sim run "$log" --jobs-out /dev/stdout --segments-out -
(umask 077 && $sim run "$log" --jobs-out "$dir/private.csv" >"$dir/out" 2>&1)
[ "$(stat -c %a "$dir/private.csv")" = 600 ] || { echo 'FAIL: the umask is not heeded'; failures=$((failures + 1)); }

expect 0 $sim generate downey --jobs 100
cp "$dir/out" "$dir/downey.swf"
expect 0 $sim run "$dir/downey.swf"
shows '100'
expect 0 $sim generate lublin --jobs 100 --seed 2
cp "$dir/out" "$dir/lublin.swf"
expect 0 $sim run "$dir/lublin.swf"
expect 0 $sim advise "$log" --seeds 2 --html "$dir/advice.html" --json "$dir/advice.json"
shows 'Policy = '
shows 'longest_wait_h'
grep -q '<h2>Recommended: ' "$dir/advice.html" || { echo 'FAIL: no page'; failures=$((failures + 1)); }
# Written from a sample on the way, and the same in the end.
expect 0 $sim advise "$log" --seeds 2 --sample 15 --html "$dir/sampled.html"
same "$dir/advice.html" "$dir/sampled.html"
expect 0 $sim advise "$log" --seeds 2 --all-presets --html /dev/null
expect 2 $sim advise "$log" --sample -1
# The machine is what slurm.conf says of it.
printf 'NodeName=n[1-8]\nPartitionName=p Nodes=n[1-8]\n' >"$dir/slurm.conf"
grep -v '^;' "$log" >"$dir/nodes.swf"
printf 'Log=nodes.swf\nPolicy=easy\n' >"$dir/site.conf"
expect 0 $sim sweep "$dir/site.conf" --out "$dir/site-results" --slurm-conf "$dir/slurm.conf"
shows 'mean_wait'
expect 0 $sim run "$dir/nodes.swf" --slurm-conf "$dir/slurm.conf" --limits inferred --policy easy
shows 'limits inferred: 0'
expect 2 $sim run "$dir/nodes.swf" --slurm-conf "$dir/slurm.conf" --limits guessed
shows '--limits'
expect 2 $sim sweep "$dir/site.conf" --out "$dir/site-results" --slurm-conf "$dir/absent.conf"
shows '--slurm-conf'
expect 0 $sim tune packet --trace "$dir/nodes.swf" --types user --out "$dir/tuned" --slurm-conf "$dir/slurm.conf"
shows 'on 8 nodes'
expect 0 $sim advise - --seeds 2 --html /dev/null --json - <"$log"
shows '"recommended": '
: >"$dir/empty.swf"
expect 0 $sim trust "$log"
shows 'trust: unknown'
shows 'the log says what 60 of its jobs waited, and a grade needs 100'
expect 0 $sim generate lublin --jobs 300 --procs 64 --load 0.9 --seed 2
sed 's/\r$//; /^;/!s/^\( *[0-9]* *[0-9.]* *\)-1/\17200/' "$dir/out" >"$dir/waits.swf"
expect 0 $sim trust "$dir/waits.swf"
shows 'trust: low'
shows 'rank correlation job by job'
expect 0 $sim trust --json - <"$dir/waits.swf"
shows '"grade":"low"'
expect 0 $sim advise "$dir/waits.swf" --seeds 2 --html "$dir/advice.html" --json "$dir/advice.json"
shows 'No advice for '
shows_not 'Policy = '
grep -q '<h2>No advice</h2>' "$dir/advice.html" || { echo 'FAIL: advice'; failures=$((failures + 1)); }
grep -q '"advised": *false' "$dir/advice.json" || { echo 'FAIL: advised'; failures=$((failures + 1)); }
expect 0 $sim run "$dir/waits.swf" --calibrate --policy easy
shows 'calibrated by '
expect 2 $sim run "$dir/waits.swf" --calibrate --scale-arrival 0.9
expect 2 $sim run "$dir/lublin.swf" --calibrate
shows 'nothing to calibrate by'
expect 2 $sim trust "$dir/empty.swf"
shows 'is empty'
expect 2 $sim advise "$dir/empty.swf"
shows 'is empty'
expect 2 $sim advise "$log" --nodes 2
shows 'are larger than the machine of 2 nodes'
expect 2 $sim advise "$log" --jobs 1 --html "$dir/none.html"
shows 'a comparison of policies needs at least 10'
[ ! -e "$dir/none.html" ] || { echo 'FAIL: a page of nothing'; failures=$((failures + 1)); }
expect 2 $sim advise "$log" --seeds 1
expect 2 $sim advise "$log" --html "$log"
shows 'is the file of LOG, too'
expect 2 $sim advise "$log" --html "$dir/absent/x.html"
shows 'is no folder'
expect 0 $sim generate lublin --jobs 100 --wide-share 0.1
shows 'rigid'
expect 2 $sim generate lublin --wide-share 2
shows '--wide-share: must be within 0 to 1'
expect 2 $sim generate
expect 2 $sim generate downey --jobs many
expect 2 $sim generate lublin --procs 0
shows '--procs: must be'
expect 2 $sim generate lublin --serial-share 0.8 --pow2-share 0.3
shows '--serial-share, --pow2-share: must be within 0 to 1, together at most 1'
expect 2 $sim reproduce mebf --trace "$log" --jobs 13 --out "$dir/mebf"
shows '--jobs: '
expect 2 env PATH=/nowhere $sim reproduce mebf --trace "$log" --out "$dir/mebf"
shows 'gnuplot draws the figures and is not installed; on Debian: gnuplot-nox'

expect 2 $sim tune packet
shows '--trace'
expect 2 $sim tune packet --trace "$log" --types user,colour
shows "--types: 'colour' is none of user, group, executable, queue, partition"
expect 2 $sim tune packet --trace "$log" --init 0
shows '--init: '
expect 2 $sim tune packet --trace "$log" --goal fame
expect 2 env PATH=/nowhere $sim tune packet --trace "$log" --out "$dir/tuned"
shows 'gnuplot draws the figures and is not installed; on Debian: gnuplot-nox'
if command -v gnuplot >/dev/null; then
    expect 2 $sim tune packet --trace "$dir/absent"
    shows '--trace: '
    expect 2 $sim tune packet --trace "$dir/lublin.swf" --out "$dir/tuned"
    shows 'lublin.swf does not say it of any job'
    expect 0 $sim tune packet --trace "$log" --init 30 --out "$dir/tuned"
    shows '60 jobs of 1 types on 8 nodes'
    shows 'recommended'
    expect 0 $sim tune packet --trace "$log" --types user --goal turnaround --json --out "$dir/tuned"
    shows '"goal":"turnaround","recommended":[{"initialisation":'
    expect 0 $sim reproduce packet --jobs 50 --seeds 2 --out "$dir/packet"
    shows 'figures 13 and 14'
fi

# What cannot be run is left out and named.
printf 'Log = log.swf\nSkip = 0, 300\nPolicy = easy\n' >"$dir/partly.conf"
expect 2 $sim sweep "$dir/partly.conf" --out "$dir/partly"
shows 'partly.conf: left out: Log=log.swf (line 1), Skip=300 (line 2): --skip: '
[ "$(wc -l <"$dir/partly/means.csv")" -eq 2 ] || { echo 'FAIL: no means of what can be run'; failures=$((failures + 1)); }
printf 'Log = log.swf\nPolicy = foo\n' >"$dir/foo.conf"
expect 2 $sim sweep "$dir/foo.conf"
shows 'foo.conf:2: Policy=foo: one of'

# Standard output that cannot be written is an error; standard error that cannot is none.
printf 'Log = log.swf\nPolicy = easy\n' >"$dir/study.conf"
# to_full COMMAND...: prints to a full disk, and then to nowhere.
to_full() {
    "$@" >/dev/full 2>"$dir/err"
    [ $? -eq 2 ] || { echo "FAIL: $*: no error on a full disk"; failures=$((failures + 1)); }
    : >"$dir/out"
    shows 'standard output: No space left on device'
    "$@" >&- 2>"$dir/err"
    [ $? -eq 2 ] || { echo "FAIL: $*: no error without standard output"; failures=$((failures + 1)); }
    shows 'standard output: Bad file descriptor'
}
to_full $sim run "$log"
to_full $sim run "$log" --json
to_full $sim run "$log" --jobs-out -
to_full $sim generate downey --jobs 10
to_full $sim generate downey --jobs 10000
to_full $sim sweep "$dir/study.conf" --out "$dir/full-results"
to_full $sim reproduce gupta --out "$dir/gupta"
expect 0 $sim reproduce evolving --tests 20 --out "$dir/evolving" --json
shows '{"tables":[[{"algorithm":"rigid","metric":"waste, %","min":'
expect 2 $sim reproduce evolving --tests 0 --out "$dir/evolving"
shows '--tests: '
expect 0 $sim generate evolving --test 3 --seed 2
cp "$dir/out" "$dir/evolving.swf"
expect 0 $sim run "$dir/evolving.swf"
shows ' of them elastic'
to_full $sim --help
to_full ./selastic check "$dir/journal1"
grep -q machine "$dir/full-results/results.csv" && { echo 'FAIL: printed into a result'; failures=$((failures + 1)); }
# without_error CODE COMMAND...
without_error() {
    want=$1
    shift
    for where in '/dev/full' '&-'; do
        eval '"$@" >"$dir/out" 2>'"$where"
        got=$?
        [ $got -eq "$want" ] || { echo "FAIL: $* 2>$where: exit code $got"; failures=$((failures + 1)); }
    done
}
without_error 0 $sim run "$log" --json
without_error 0 $sim run "$log" --jobs-out -
without_error 2 $sim run "$dir/absent"
rm -r "$dir/full-results"
without_error 0 $sim sweep "$dir/study.conf" --out "$dir/full-results"
without_error 2 ./selastic check "$dir/absent"

# A pass: job 1 holds all four nodes, job 2 needs two of them.
cat >"$dir/pass.json" <<'PASS'
{"policy": "lina-default", "seed": 1,
 "choices": {"InitialSize": "least", "Backfill": "easy", "BackfillOrder": "queue",
  "ShrinkGuard": "default", "VictimOrder": "random", "ShrinkAmount": "needed",
  "ExpandTrigger": "nobody-can-use", "ExpandOrder": "longest-remaining",
  "ExpandAmount": "to-max", "ExpandFrom": "gap", "ShrinkFor": "starter", "ShrinkAgain": "next-round",
  "StartsOn": "idle",
  "ReservedNodes": "kept", "Feasibility": "none", "ResizeGap": "0", "HeadDelay": "unlimited",
  "HeadDelayBinds": "requests", "Belief": "declared", "Objective": "0",
  "GuardTime": "5", "GuardDone": "0.9", "GuardUtilization": "0.8", "ShrinkShare": "0.4", "SpareRatio": "0.5",
  "SpareKept": "0.5",
  "LeastRemaining": "0.5", "MostSlowdown": "2"},
 "snapshot": {"now": 100, "pools": [{"idle": 0, "nodes": 4}],
  "eligibilities": [[0]],
  "running": [{"id": 1, "elastic": {"elastic": 1, "class": "malleable", "min": 1, "pref": 4,
   "max": 4}, "eligible": 0, "held": [4], "batch_host_pool": 0, "start": 0,
   "estimated_end": 1000, "resizable": true}],
  "pending": [{"id": 2, "elastic": {"elastic": 1, "class": "rigid", "min": 2, "pref": 2,
   "max": 2}, "eligible": 0, "duration": 60, "submit": 50}],
  "shared_until": [], "promises": [], "requests": []},
 "plan": {"actions": [
  {"action": "shrink", "job": 1, "reason": "a pending job needs the nodes", "nodes": [2],
   "size_after": 2, "beneficiary": 2},
  {"action": "start", "job": 2, "reason": "nodes come from shrunk jobs", "nodes": [2],
   "size_after": 2, "deferred": true}]}}
PASS
expect 0 $sim replay-snapshot "$dir/pass.json"
shows 'same plan'
shows 'job 1: shrink to 2 nodes, 2 fewer, for job 2 (a pending job needs the nodes)'
to_full $sim replay-snapshot "$dir/pass.json"
expect 0 $sim replay-snapshot --json - <"$dir/pass.json"
shows '"same":true'
sed 's/"size_after": 2, "beneficiary"/"size_after": 3, "beneficiary"/' "$dir/pass.json" >"$dir/other.json"
expect 1 $sim replay-snapshot "$dir/other.json"
shows 'action 1 differs'
expect 1 $sim replay-snapshot "$dir/other.json" --json
shows '"same":false'
sed 's/ "plan": {/ "former": {/' "$dir/pass.json" >"$dir/planless.json"
expect 0 $sim replay-snapshot "$dir/planless.json"
for size in 0 1 100 1000 1300; do
    head -c $size "$dir/pass.json" >"$dir/cut.json"
    expect 2 $sim replay-snapshot "$dir/cut.json"
    shows 'cut.json: '
done
sed 's/"random"/"tallest"/' "$dir/pass.json" >"$dir/wrong.json"
expect 2 $sim replay-snapshot "$dir/wrong.json"
shows 'VictimOrder=tallest: one of'
expect 2 $sim replay-snapshot "$dir/nothing.json"
expect 2 $sim replay-snapshot

{
    echo '; MaxProcs: 8'
    echo '1 0 -1 100 4 -1 -1 4 100 -1 1 -1 -1 -1 -1 -1 -1 -1'
    echo '; elastic: 1 malleable,min=2,max=8'
} >"$dir/annotated.swf"
expect 0 $sim run "$dir/annotated.swf" --policy lina-default --jobs-out -
shows '1,malleable,0,0,50,4,8,'
echo '; elastic: 1 malleable,min=9,max=8' | cat "$dir/annotated.swf" - | sed '/min=2/d' >"$dir/wrong.swf"
expect 2 $sim run "$dir/wrong.swf"
shows 'wrong.swf:3: job 1: elastic: min=9'
expect 0 $sim run "$dir/wrong.swf" --lenient
shows 'malformed'
sed 's/malleable.*/evolving,min=2,profile=4@50+2@80/' "$dir/annotated.swf" >"$dir/profile.swf"
expect 0 $sim run "$dir/profile.swf" --jobs-out -
shows '1,evolving,0,0,100,4,2,'
exit $failures
