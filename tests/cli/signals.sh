#!/bin/sh
# signals.sh SEBAYS TABLES - whatever ends a training from outside, its work is saved: a closed
# terminal, timeout(1) with its two signals, a reader that goes away.
set -u
sebays=$1 tables=$2
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
# shellcheck source=tests/cli/expect.sh
. "$here/expect.sh"

cp "$tables/iris.csv" iris.csv
cat >long.ini <<'END'
[data]
set = iris.csv
[model]
arch = mlp-16
[method]
name = dnn
explore_epochs = 90000
exploit_epochs = 1
[train]
batch = 16
threads = 1
END

# begun RUN: its training goes on
begun()
{
    n=0
    while [ ! -s "$1/metrics.jsonl" ] && [ $n -lt 1200 ]; do
        n=$((n + 1))
        sleep 0.05
    done
}

# saved RUN: there is a checkpoint, nothing half written, and the program said how to go on
saved()
{
    find "$1" -name 'checkpoint-*.safetensors' | grep -q . || fault "$1: no checkpoint"
    find "$1" -name '*.tmp' | grep -q . && fault "$1: a file is half written"
    grep -q 'saved. Go on with: sebays train' "$1.said" || fault "$1: said '$(cat "$1.said")'"
}

# ended RUN CODE SIGNAL...: the signals, one right after the other
ended()
{
    run=$1 want=$2
    shift 2
    "$sebays" train long.ini --out "$run" --quiet >/dev/null 2>"$run.said" &
    pid=$!
    begun "$run"
    for signal in "$@"; do
        kill -s "$signal" $pid 2>/dev/null
    done
    wait $pid
    code=$?
    case " $want " in *" $code "*) ;; *) fault "$run: exit code $code, want $want" ;; esac
    saved "$run"
}

ended hup 129 HUP
ended int 130 INT
ended term 143 TERM
ended twice 143 TERM TERM
ended mixed "129 130 143" HUP TERM INT HUP TERM # which came first is not ours to say

# timeout(1) signals its child, and then its group.
if command -v timeout >/dev/null; then
    timeout -s TERM 2 "$sebays" train long.ini --out timed --quiet >/dev/null 2>timed.said
    code=$?
    [ $code -eq 124 ] || fault "timeout: exit code $code"
    saved timed
fi

# A SIGHUP that was ignored before stays so.
(
    trap '' HUP
    exec "$sebays" train long.ini --out nohup --quiet >/dev/null 2>nohup.said
) &
pid=$!
begun nohup
kill -s HUP $pid
kill -s TERM $pid
wait $pid
code=$?
[ $code -eq 143 ] || fault "nohup: exit code $code"

# Nobody reads what it prints, neither lines on the way nor the table at the end.
{
    "$sebays" train long.ini --set method.explore_epochs=30 --out piped 2>&1
    echo $? >code
} | true
n=0
while [ ! -s code ] && [ $n -lt 1200 ]; do
    n=$((n + 1))
    sleep 0.05
done
[ "$(cat code)" = 0 ] || fault "nobody reads: exit code $(cat code)"
[ -s piped/results.json ] || fault 'nobody reads: the training was not finished'
exit $failed
