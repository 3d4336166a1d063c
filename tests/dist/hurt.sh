#!/bin/sh
# hurt.sh SEBAYS TABLES PLUGIN LAUNCHER... - jobs that are hurt while they train.
#
# Any rank killed, a rank that hangs, a disk that is full where rank 0 writes, a rank whose data
# differ, a launch that never comes together: the job ends by itself, with a sentence where
# somebody is left to say it, and one process takes it up and ends with the same model. Once
# with ranks that share batches, once with ranks that train members apart. By hand, with MPICH:
#
#     tests/dist/hurt.sh $PWD/build/sebays $PWD/tests/tables $PWD/build/sebays-mpich.so mpirun.mpich
what='ranks that are hurt'
. "$(dirname "$0")/job.sh"

cat >together.ini <<'END'
[data]
set = iris.csv
[model]
arch = mlp-24-16
[method]
name = sebays
members = 2
sparsity = 0.5
explore_epochs = 200
exploit_epochs = 3
delta_t = 2
[train]
batch = 64
shards = 4
threads = 1
checkpoint_seconds = 0.001
END
sed 's/^name = .*/name = bays/; s/^shards = .*/shards = 1/; s/^checkpoint_s.*/checkpoint_seconds = 0.05/' \
    together.ini >apart.ini
# A rank that leaves its process id, and to which a write beyond a limit fails as one to a full
# disk does.
cat >rank <<END
#!/bin/sh
trap '' XFSZ
echo \$\$ >pid-\${OMPI_COMM_WORLD_RANK:-\$PMI_RANK}
exec "$sebays" train "\$@" --mpi="$plugin" --mpi-limit 6 --quiet
END
chmod +x rank

# Saving takes most of the time, so that it is done where jobs are hurt only.
rarely='--set train.checkpoint_seconds=60'

# newest DIR: its last checkpoint
newest()
{
    find "$1" -name 'checkpoint-*.safetensors' 2>/dev/null | sort -V | tail -n 1
}

# hurt RECIPE RANKS RANK HARM SENTENCE LAUNCHER...: a job trains until it has saved, then one rank
# is harmed, a command with its process id at the end.
hurt()
{
    recipe=$1 ranks=$2 victim=$3 harm=$4 sentence=$5
    shift 5
    rm -rf run pid-*
    timeout -k 5 60 "$@" -np "$ranks" ./rank "$recipe.ini" --out run >out 2>err &
    job=$!
    case $recipe in
    apart) where=run/member-1 ;; # of the last group
    *) where=run ;;
    esac
    until [ -n "$(newest $where)" ]; do
        kill -0 $job 2>/dev/null || fail "$recipe: a job did not begin"
        sleep 0.05
    done
    # shellcheck disable=SC2046,SC2086
    $harm $(cat pid-"$victim") || fail "$recipe: nobody could $harm rank $victim"
    since=$(date +%s)
    wait $job && fail "$recipe: $harm rank $victim: the job ended well"
    [ $(($(date +%s) - since)) -lt 40 ] || fail "$recipe: $harm rank $victim: the job hung"
    [ -z "$sentence" ] || grep -q "$sentence" err ||
        fail "$recipe: $harm rank $victim: it did not say: $sentence"
    # shellcheck disable=SC2086
    until "$sebays" train "$recipe.ini" --out run --quiet --resume $rarely >out 2>err; do
        grep -q 'is training in run' err || fail "$recipe: $harm rank $victim: not taken up"
        sleep 0.1
    done
    cmp "alone-$recipe/model.safetensors" run/model.safetensors ||
        fail "$recipe: $harm rank $victim: another model"
}

for recipe in together apart; do
    # shellcheck disable=SC2086
    "$sebays" train $recipe.ini --out alone-$recipe --quiet $rarely >out 2>err || fail "$recipe alone"
done
for rank in 0 1 2; do
    hurt together 3 $rank 'kill -KILL' '' "$@"
done
hurt together 3 0 'kill -STOP' 'waited 6 s for the other ranks' "$@"
hurt together 2 1 'kill -STOP' 'rank 0 of 2 waited 6 s for the other ranks' "$@"
hurt apart 2 1 'kill -KILL' '' "$@"
hurt apart 2 1 'kill -STOP' 'rank 0 of 2 had no sign of life from all others for 6 s' "$@"
tested='killed, stopped'
if command -v prlimit >/dev/null; then
    hurt together 2 0 'prlimit --fsize=100 --pid' 'cannot write\|cannot append' "$@"
    tested="$tested, full disk"
else
    echo 'NOT TESTED: a full disk on rank 0 (prlimit)'
fi

# The second rank finds another table under the same name.
mkdir other
sed '2s/[0-9]/8/' iris.csv >other/iris.csv
cp together.ini other
timeout -k 5 60 "$@" -np 1 "$sebays" train together.ini --mpi="$plugin" --out "$work/mixed" : \
    -np 1 sh -c "cd other && exec '$sebays' train together.ini --mpi='$plugin' --out '$work/mixed'" \
    >out 2>err && fail 'ranks with other data trained together'
grep -q 'rank 1 of 2 has another \(data set\|recipe\) than rank 0' err || fail 'no sentence about other data'
[ -e mixed ] && fail 'a job with other data left files'

echo "ranks that are hurt: $tested, other data; all taken up by one process"
