#!/bin/sh
# predict.sh SEBAYS TABLES PLUGIN LAUNCHER... - prediction by several processes: the same bytes
# as one writes, in every format; what cannot be right is refused. By hand, with MPICH:
#
#     tests/dist/predict.sh $PWD/build/sebays $PWD/tests/tables $PWD/build/sebays-mpich.so mpirun.mpich
what='prediction by ranks'
. "$(dirname "$0")/job.sh"

cat >small.ini <<'END'
[data]
set = iris.csv
[model]
arch = mlp-8
[method]
name = bays
members = 2
explore_epochs = 1
exploit_epochs = 1
[train]
threads = 1
END
sed 's/^set = .*/&\nlabel = 1\ntask = regression/' small.ini >outcome.ini
for model in small outcome; do
    "$sebays" train $model.ini --out $model --quiet >out 2>err || fail "$model was not trained"
done
# Four whole batches of 1,024 rows and some: of three processes, one has none of the last round.
for _ in $(seq 30); do awk 1 iris.csv; done >labelled.csv # its last line has no end
cut -d, -f 1-4 labelled.csv >many.csv

# same MODEL INPUT OPTIONS...: with two and three processes
same()
{
    model=$1 input=$2 options=$3
    shift 3
    # shellcheck disable=SC2086
    "$sebays" predict $model --input "$input" --out want $options >out 2>said || { cp said err; fail "$model, $options"; }
    for n in 2 3; do
        rm -f got
        # shellcheck disable=SC2086
        "$@" -np $n "$sebays" predict $model --input "$input" --out got $options --mpi="$plugin" \
            >out 2>err || fail "$model, $n ranks, $options"
        cmp want got || fail "$model, $n ranks, $options: other bytes"
        cmp said err || fail "$model, $n ranks, $options: other words"
    done
}
same small many.csv '--members --top 2 --reject-above 0.5 --keep 2' "$@"
same small many.csv '--format json --samples noise' "$@"
same small many.csv '--format npy' "$@"
same small iris.csv '--probabilities' "$@"
same outcome labelled.csv '--coverage 0.8 --quantiles 0.1,0.5' "$@"
[ -d /usr/share/datasets/fashion-mnist ] && {
    "$sebays" train small.ini --set data.set=fashion-mnist --set train.limit=100 \
        --set data.validation=0 --out images --quiet >out 2>err || fail 'images were not trained'
    same images fashion-mnist '' "$@"
}
"$@" -np 2 "$sebays" predict small --input many.csv --mpi="$plugin" >got 2>err || fail 'to a pipe'
"$sebays" predict small --input many.csv | cmp - got || fail 'to a pipe: other bytes'

# Standard input is one process's; and files of the same name need not be the same.
"$@" -np 2 "$sebays" predict small --input - --mpi="$plugin" </dev/null >out 2>err &&
    fail 'two ranks read standard input'
grep -q 'standard input comes to one process only; name a file' err ||
    fail 'no sentence about standard input'
mkdir other
tail -n 800 many.csv >other/many.csv
"$@" -np 1 "$sebays" predict small --input many.csv --out mixed --mpi="$plugin" : -np 1 \
    sh -c "cd other && exec '$sebays' predict ../small --input many.csv --out mixed --mpi='$plugin'" \
    >out 2>err && fail 'two inputs became one output'
grep -q 'the processes read different rows: many.csv must be the same file for all' err ||
    fail 'no sentence about two inputs'
[ -e mixed ] && fail 'two inputs left a file'
echo 'prediction by ranks: 2, 3; text, JSON, arrays, images, continuous targets'
