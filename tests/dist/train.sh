#!/bin/sh
# train.sh SEBAYS TABLES PLUGIN LAUNCHER... - training by several processes on this machine.
#
# The model of 1, 2 and 3 ranks is that of one process, byte for byte; so is that of a job whose
# rank was killed, taken up by another number of ranks, and then stopped and taken up by one
# process alone. Jobs that cannot be right are refused with a sentence. By hand:
#
#     tests/dist/train.sh $PWD/build/sebays $PWD/tests/tables $PWD/build/sebays-mpich.so mpirun.mpich
what='training by ranks'
. "$(dirname "$0")/job.sh"

# A table: 120 rows are batches of 64 and 56, so the last of four shards is smaller, then absent.
cat >table.ini <<'END'
[data]
set = iris.csv
[model]
arch = mlp-24-16
[method]
name = sebays
members = 2
sparsity = 0.5
explore_epochs = 3
exploit_epochs = 3
delta_t = 2
grow_batches = 2
[train]
batch = 64
shards = 4
threads = 1
checkpoint_seconds = 60
trajectory = yes
END
cat >image.ini <<'END'
[data]
set = fashion-mnist
validation = 60
augment = crop-flip
[model]
arch = lenet
[method]
name = sebays
members = 1
sparsity = 0.8
explore_epochs = 1
exploit_epochs = 1
delta_t = 2
[train]
batch = 128
shards = 8
limit = 340
threads = 1
END
# A continuous target, also on all rows with a run before that tells how wide intervals are; and
# members that groups of ranks train apart: two of three ranks
# share the batches of one.
sed 's/^set = .*/&\nlabel = 1\ntask = regression\nvalidation = 20/; /^trajectory/d' table.ini >regression.ini
sed 's/^validation = .*/validation = 0/' regression.ini >width.ini
sed 's/^name = .*/name = bays/; /^trajectory/d' table.ini >members.ini
recipes='table regression width members'
[ -d /usr/share/datasets/fashion-mnist ] && recipes="$recipes image"

# figures RUN: its results without what the clock says
figures()
{
    grep -v '"train_seconds"\|"images_per_second"' "$1/results.json"
    sed 's/"images_per_second":[^,}]*//; s/"seconds":[^,}]*//' "$1/metrics.jsonl"
}

for recipe in $recipes; do
    "$sebays" train "$recipe.ini" --out "alone-$recipe" --quiet >out 2>err || fail "$recipe alone"
    figures "alone-$recipe" >want
    for n in 1 2 3; do
        "$@" -np $n "$sebays" train "$recipe.ini" --mpi="$plugin" --out "$recipe-$n" --quiet \
            >out 2>err || fail "$recipe, $n ranks"
        for file in model.safetensors updates.jsonl; do
            cmp "alone-$recipe/$file" "$recipe-$n/$file" || fail "$recipe, $n ranks: another $file"
        done
        figures "$recipe-$n" >got
        cmp want got || fail "$recipe, $n ranks: other figures"
        [ "$recipe" != table ] || cmp "alone-$recipe/trajectory.npy" "$recipe-$n/trajectory.npy" ||
            fail "$recipe, $n ranks: another trajectory.npy"
    done
done

# More ranks than shards, and ranks with recipes of their own.
"$@" -np 3 "$sebays" train table.ini --mpi="$plugin" --out many --set train.shards=2 >out 2>err &&
    fail 'three ranks shared two shards'
grep -q '3 processes cannot share batches of 2 shards: start fewer' err ||
    fail 'no sentence about too many ranks'
"$@" -np 1 "$sebays" train table.ini --mpi="$plugin" --out apart : \
    -np 1 "$sebays" train table.ini --mpi="$plugin" --out apart --set train.seed=2 >out 2>err &&
    fail 'two recipes were trained together'
grep -q 'rank 1 of 2 has another recipe than rank 0' err || fail 'no sentence about two recipes'
[ -e many ] || [ -e apart ] && fail 'a job that was refused left files'

# Killed as three, taken up as two, told to stop, taken up alone. A long run, so that it is
# still going on.
long='--set method.explore_epochs=60 --set train.checkpoint_seconds=0.001'
# shellcheck disable=SC2086
"$sebays" train table.ini --out alone $long --quiet >out 2>err || fail 'the long run alone'
newest()
{
    find hurt -name 'checkpoint-*.safetensors' 2>/dev/null | sort -V | tail -n 1
}
# A job of so many ranks that trains: it has written a checkpoint of its own. Before that, ranks
# are joining each other, and MPICH's launcher hangs when it is told to stop then.
start()
{
    ranks=$1 more=$2
    shift 2
    before=$(newest)
    # shellcheck disable=SC2086
    "$@" -np "$ranks" "$sebays" train table.ini --mpi="$plugin" --out "$work/hurt" $long --quiet $more \
        >out 2>err &
    job=$!
    while [ "$(newest)" = "$before" ]; do
        kill -0 $job 2>/dev/null || return 0 # it was faster than we are
        sleep 0.05
    done
}
start 3 '' "$@"
for pid in $(pgrep -f -- "$sebays train table.ini --mpi=$plugin --out $work/hurt" | tail -n 1); do
    kill -KILL "$pid" 2>/dev/null
done
wait $job
start 2 --resume "$@"
kill -TERM $job 2>/dev/null
wait $job
# shellcheck disable=SC2086
until "$sebays" train table.ini --out hurt $long --quiet --resume >out 2>err; do
    grep -q 'is training in hurt' err || fail 'the run was not taken up'
    sleep 0.1
done
[ -d members-2/member-1 ] || fail 'two ranks did not train members apart'
cmp alone/model.safetensors hurt/model.safetensors ||
    fail 'a run that was hurt twice gives another model'
echo "training by ranks: 1, 2, 3 ($recipes); killed, stopped and taken up by others"
