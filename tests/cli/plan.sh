#!/bin/sh
# plan.sh SEBAYS TABLES - what plan says while it measures, and of several processes.
set -u
sebays=$1 tables=$2
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
# shellcheck source=tests/cli/expect.sh
. "$here/expect.sh"

cp "$tables/iris.csv" iris.csv
cat >small.ini <<'END'
[data]
set = iris.csv
[model]
arch = mlp-16
[method]
name = sebays
members = 2
explore_epochs = 2
exploit_epochs = 2
[train]
batch = 64
threads = 1
END

"$sebays" plan small.ini >out 2>err || fault "plan: $(cat err)"
grep -q '^measure ' err || fault 'no progress while measuring'
"$sebays" plan small.ini --quiet >out 2>err || fault "plan --quiet: $(cat err)"
[ -s err ] && fault "plan --quiet: $(cat err)"
# An option that the method does not use is no error, and not silent either.
"$sebays" plan small.ini --quiet --set method.dropout_rate=0.3 --set train.group=32 >out 2>err ||
    fault "plan of an option without effect: $(cat err)"
grep -q '^changes nothing      method.dropout_rate, train.group: sebays does not use it here$' out ||
    fault "plan of an option without effect says '$(cat out)'"
"$sebays" train small.ini --quiet --out unused --set method.dropout_rate=0.3 >out 2>err || fault "train: $(cat err)"
[ "$(cat err)" = 'warning: what the recipe says of these changes nothing, as sebays does not use them here: method.dropout_rate' ] ||
    fault "train with an option without effect says '$(cat err)'"
"$sebays" plan small.ini --quiet --set method.name=mimo --set method.sparsity=0 >out 2>err || fault "plan of mimo: $(cat err)"
grep -q '^rows of a step       256: each of 64 examples is in 4$' out || fault "plan of mimo says '$(cat out)'"
"$sebays" plan small.ini --quiet --ranks 2,4,16 --network 100Gb,5us >out 2>err ||
    fault "plan --ranks: $(cat err)"
head -1 out | grep -q '^forecast for method sebays, architecture mlp-16, batch 64, 1 threads a rank, .* kernels, 100 Gb/s, latency 5 us$' ||
    fault "plan --ranks: $(head -1 out)"
# 4 x 16 and 16 x 3 weights at S = 0.8 or so, mean and deviation, and biases
grep -q '^exchanged each step: gradients of 2 layers, ' out || fault "$(sed -n 2p out)"
for row in '1  *64' '2  *32' '4  *16' '16  *4'; do
    grep -q "^ *$row  *[0-9.]*  *[0-9.]*  *[0-9.]*  *[0-9.]*  *[0-9.]*  *[0-9.]* " out ||
        fault "plan --ranks: no row $row"
done
tail -1 out | grep -q '^computed from steps measured here' || fault 'no word of what it is'

# One dense network costs one dense run, whatever becomes of the columns.
awk -F, 'BEGIN { print "long,wide,colour,kind" }
         { print $1 "," $2 "," (NR % 3 ? "red" : "blue") "," $5 }' iris.csv >colours.csv
for method in dnn bnn; do
    "$sebays" plan colours.csv --quiet --set method.name=$method >out 2>err ||
        fault "plan $method: $(cat err)"
    grep -q '^cost  *1.00 of one dense run' out || fault "$method: $(grep '^cost' out)"
done

# A machine that others use, and a run of days.
if command -v taskset >/dev/null && [ -d /usr/share/datasets/fashion-mnist ]; then
    cpu=$(taskset -cp $$ | sed 's/.*: //; s/[,-].*//')
    taskset -c "$cpu" sh -c 'while :; do :; done' &
    other=$!
    taskset -c "$cpu" "$sebays" plan small.ini --quiet --set data.set=fashion-mnist \
        --set model.arch=lenet --set train.batch=256 --set method.explore_epochs=100000 >out 2>err ||
        fault "plan of images: $(cat err)"
    kill $other
    wait $other 2>/dev/null
    grep -q '^the machine was busy: a thread waited [0-9]* % of the measured time' out ||
        fault 'plan does not say that the machine was busy'
    grep -q '^time on 1 thread     about [0-9.]* days' out || fault "plan: $(grep '^time' out)"
else
    echo 'NOT TESTED: plan on a busy machine (taskset and Fashion-MNIST)'
fi

refused 2 'sebays plan: --ranks 2,x: want up to 32 numbers of processes, commas between: 2,4,8' \
    plan small.ini --ranks 2,x
refused 2 'sebays plan: --network needs --ranks' plan small.ini --network 10Gb
refused 2 'sebays plan: --network fast: want a rate and, if you know it, a latency: 10Gb or 100Gb,5us' \
    plan small.ini --ranks 2 --network fast
refused 2 'sebays plan: 65 ranks cannot share a batch of 64 images' \
    plan small.ini --ranks 2,65
# Ensembles that cost as much: the recipe's own is among them, fewer members are denser, and one that
# cannot cost as much has all weights.
"$sebays" plan small.ini --quiet --set method.sparsity=0.6 --equal-cost 1,2,5 >out 2>err ||
    fault "plan --equal-cost: $(cat err)"
awk 'NR > 1 && NF == 3 { s[$1] = $2; c[$1] = $3 }
     END { exit !(s[2] > 0.59 && s[2] < 0.61 && s[1] < s[2] && s[2] < s[5] && s[5] < 1 &&
                  c[5] > 0.95 * c[2] && c[5] < 1.05 * c[2]) }' out || fault "plan --equal-cost: $(cat out)"
vary=$(sed -n 's/^ *--vary //p' out)
"$sebays" sweep small.ini --quiet --vary "$vary" --out sizes >out 2>err || fault "its sweep: $(cat err)"
[ "$(grep -c '^method.members=' out)" = 3 ] || fault "its sweep: $(cat out)"
"$sebays" plan small.ini --quiet --set method.sparsity=0.1 --equal-cost 1 >out 2>err
grep -q '^ *1  *0.0000 ' out || fault "no ensemble of one costs as much: $(cat out)"
refuses_size()
{
    "$sebays" plan small.ini --quiet "$@" >out 2>err && fault "plan $* is taken"
    [ "$(wc -l <err)" = 1 ] || fault "plan $*: $(cat err)"
}
refuses_size --equal-cost 0
refuses_size --equal-cost 3x
refuses_size --equal-cost 3 --ranks 2
refuses_size --equal-cost 3 --set method.name=pf

exit $failed
