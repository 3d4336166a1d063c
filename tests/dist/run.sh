#!/bin/sh
# run.sh EXCHANGE PLUGIN LAUNCHER... - jobs of several processes on this machine.
#
# Runs the test program as 1, 2, 3 and 5 ranks; then kills one rank of a job, and stops one, and
# wants the job to end by itself, with a sentence where somebody is left to say it.
set -u
exchange=$1 plugin=$2
shift 2
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
[ -e "$plugin" ] || { echo "NOT TESTED: ranks ($plugin was not built)"; exit 77; }
command -v "$1" >/dev/null || { echo "NOT TESTED: ranks ($1)"; exit 77; }

fail()
{
    echo "FAIL: $*" >&2
    [ -s "$work/err" ] && sed 's/^/    /' "$work/err" >&2
    exit 1
}

for n in 1 2 3 5; do
    "$@" -np $n "$exchange" "$plugin" $n >"$work/out" 2>"$work/err" ||
        fail "$n ranks"
    grep -q "^$n ranks, " "$work/out" || fail "$n ranks: $(cat "$work/out")"
done

# Three ranks wait for each other, and one of them is hurt.
for signal in KILL STOP; do
    : >"$work/out"
    "$@" -np 3 "$exchange" "$plugin" 3 2 wait >"$work/out" 2>"$work/err" &
    job=$!
    until read -r pid <"$work/out" 2>/dev/null && [ -n "$pid" ]; do
        kill -0 $job 2>/dev/null || fail "a job did not begin"
        sleep 0.1
    done
    kill -"$signal" "$pid"
    wait $job && fail "a job lost a rank to SIG$signal and ended well"
    if [ $signal = STOP ]; then
        grep -q "waited 2 s for the other ranks' barrier" "$work/err" ||
            fail "no sentence about a rank that hangs"
    fi
    kill -0 "$pid" 2>/dev/null && [ "$(ps -o stat= -p "$pid" | cut -c1)" != Z ] &&
        fail "rank $pid outlived its job after SIG$signal"
done
echo "ranks: 1, 2, 3, 5; one killed, one stopped"
