#!/bin/sh
# SPDX-License-Identifier: MIT
# selastic's command line as far as it needs no controller.  Prints what fails.
set -u
data=$ELASTIC_TEST_DATA/journal
# shellcheck source=test/tools/expect.sh
. "$(dirname "$0")/expect.sh"

unset SLURM_JOB_ID ELASTIC_CONTROLLER NO_COLOR
selastic=./selastic

expect 0 $selastic --help
shows 'Commands inside a job'
expect 0 $selastic --version
expect 2 $selastic
expect 2 $selastic explode
expect 2 $selastic shrink 12
expect 2 $selastic shrink 12 0
expect 2 $selastic journal --file "$dir/absent"
shows 'selastic: error: cannot open'

expect 0 $selastic journal --file "$data/example.journal" --tail 1
shows 'controller stop, 16 nodes'
expect 0 $selastic journal --file "$data/example.journal" --job 106 --json
shows '"event":"end","job":106,"state":"TIMEOUT"'
[ "$(wc -l <"$dir/out")" -eq 3 ] || { echo "FAIL: job 106 has three events"; failures=$((failures + 1)); }

expect 0 $selastic check "$data/example.journal"
shows '6 jobs (5 completed, 0 running), 3 shrinks, 5 expands, 0 violations'
head -n 20 "$data/example.journal" >"$dir/first"
tail -n +21 "$data/example.journal" >"$dir/second"
expect 1 $selastic check "$dir/first"
shows 'vanished: job 102'
expect 0 $selastic check --running "$dir/first"
expect 0 $selastic check "$dir/first" "$dir/second"
expect 0 $selastic check "$dir/second" "$dir/first"
shows '6 jobs (5 completed'
for command in check hours gantt; do
    expect 0 $selastic $command "$dir/second"
    shows "$dir/second: begins in the middle of a journal"
    expect 0 $selastic $command "$dir/first" "$dir/second"
    shows_not 'begins in the middle'
done
gzip -c "$dir/first" >"$dir/first.gz"
expect 2 $selastic check "$dir/first.gz" "$dir/second"
shows "$dir/first.gz is compressed; in place of its name: <(zcat $dir/first.gz)"
mkfifo "$dir/pipe"
zcat "$dir/first.gz" >"$dir/pipe" &
expect 0 $selastic check "$dir/second" "$dir/pipe"
shows '6 jobs (5 completed'
wait
printf 'rubbish\n' >>"$dir/second"
expect 1 $selastic check "$dir/first" "$dir/second"
shows "$dir/second:35: malformed"

{
    echo '{"time":7,"event":"controller","what":"resume","nodes":2}'
    echo '{"time":7,"event":"submit","job":7,"class":"rigid","min":2,"pref":2,"max":2}'
    echo '{"time":7,"event":"start","job":7,"nodes":"n[1-2]","count":2}'
    echo '{"time":9,"event":"end","job":7,"state":"COMPLETED","count":2}'
} >"$dir/rotated"
expect 0 $selastic check "$dir/rotated"
shows_not 'at the beginning'
for command in hours gantt; do
    expect 0 $selastic $command "$dir/rotated"
    shows 'ran already at the beginning'
done

{
    echo '{"time":0,"event":"supply","name":"spot","nodes":"n2","price":0.5}'
    echo '{"time":0,"event":"submit","job":7,"class":"rigid","min":2,"pref":2,"max":2}'
    echo '{"time":0,"event":"start","job":7,"nodes":"n[1-2]","count":2}'
    echo '{"time":3600,"event":"supply","name":"spot","nodes":"n2","price":2}'
    echo '{"time":5400,"event":"end","job":7,"state":"COMPLETED","count":2}'
} >"$dir/priced"
expect 0 $selastic hours --json "$dir/priced"
shows '"hours":3,"priced":1.5,"cost":1.5'
expect 0 $selastic hours "$dir/priced"
shows 'A PRICED HOUR'
expect 0 $selastic journal --file "$dir/priced"
shows 'nodes of spot: price 0.5'
expect 2 $selastic hours "$dir/absent"

{
    echo '{"time":0,"event":"submit","job":9,"class":"rigid","min":4,"pref":4,"max":4,"user":"ann","name":"lbm"}'
    echo '{"time":0,"event":"would","what":"shrink","job":7,"count":2,"beneficiary":9}'
    echo '{"time":0,"event":"would","what":"start","job":9,"count":4}'
    echo '{"time":90,"event":"start","job":9,"nodes":"n[1-4]","count":4}'
    echo '{"time":1800,"event":"would","what":"shrink","job":7,"count":2,"beneficiary":9,"lasted":1800}'
} >"$dir/observed"
expect 0 $selastic observed "$dir/observed"
shows '1 jobs would have started earlier, by 90 s on average; 0.000 idle node hours would have been used, 1.000 given up'
expect 0 $selastic observed --json "$dir/observed"
shows '"job":"9","user":"ann","name":"lbm"'
expect 0 $selastic journal --file "$dir/observed"
shows 'job 7: would give up 2 nodes for job 9'
expect 2 $selastic observed "$dir/absent"

expect 0 $selastic gantt --width 60 --ascii "$data/example.journal"
shows 'B 102  bag-of-tasks  malleable  8 -> 4 -> 6 -> 9 -> 6'
expect 0 $selastic gantt --svg "$dir/x.svg" --nodes 'n[1-4]' "$data/example.journal"
grep -q '</svg>' "$dir/x.svg" || { echo "FAIL: no image"; failures=$((failures + 1)); }
expect 2 $selastic gantt --nodes 'n[' "$data/example.journal"
expect 2 $selastic gantt --svg "$dir/absent/x.svg" "$data/example.journal"

for command in wait env accept 'request 1' 'release 1'; do
    # shellcheck disable=SC2086  # a command and its arguments
    expect 3 $selastic $command
done
exit $failures
