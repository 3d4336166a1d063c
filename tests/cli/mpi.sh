#!/bin/sh
# mpi.sh SEBAYS TABLES HANGING - --mpi as people give it: jobs of one rank and of four train the same
# model, and launches that went wrong are refused before anything is trained.
set -u
sebays=$1 tables=$2 hanging=$3
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
# shellcheck source=tests/cli/expect.sh
. "$here/expect.sh"
unset OMPI_COMM_WORLD_SIZE PMI_SIZE SLURM_STEP_NUM_TASKS SLURM_NTASKS

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
batch = 16
threads = 1
END

sed 's/^batch = .*/batch = 64\nshards = 4/; s/^members/sparsity = 0.5\ndelta_t = 2\n&/' small.ini >shared.ini

folder=$(cd "$(dirname "$sebays")" && pwd)
# An MPI that waits for processes that do not come, or do not leave.
joining='joining the other processes took longer than 0.5 s (--mpi-limit)'
timeout 20 "$sebays" train small.ini --mpi="$hanging" --mpi-limit 0.5 --out hangs >out 2>err
[ $? -eq 1 ] || fault 'a job that never comes together did not end'
grep -q "^sebays train: $joining: one of them did not start" err ||
    fault "a job that never comes together says: $(cat err)"
[ -e hangs ] && fault 'a job that never came together left files'
HANGS_AT_THE_END=1 timeout 20 "$sebays" train small.ini --mpi="$hanging" --mpi-limit 0.5 \
    --out hangs --quiet >out 2>err
[ $? -eq 1 ] || fault 'a job that is never left did not end'
grep -q '^sebays train: leaving the other processes took longer than 0.5 s' err ||
    fault "a job that is never left says: $(cat err)"
[ -e hangs/model.safetensors ] || fault 'a job that is never left lost its model'
refused 1 "sebays train: no plugin for the MPI \"none\": sebays-none.so is neither in $folder/ \
nor in sebays/ or ../lib/sebays/ from there; it is built where that MPI's compiler (mpicc.none) is \
found, or give its path" train small.ini --mpi=none
refused 2 'sebays train: --mpi-limit soon: want seconds, more than 0' \
    train small.ini --mpi --mpi-limit soon

# What is no plugin is told from one.
echo 'int x;' | cc -shared -x c -o other.so - 2>/dev/null &&
    refused 1 'sebays train: ./other.so is not a plugin of sebays: it has no sebays_mpi_plugin' \
        train small.ini --mpi=./other.so

# Nothing is loaded from the directory one happens to be in, where /proc does not say whose
# folder is ours.
mkdir sebays
echo 'no library' >sebays/sebays-openmpi.so
if unshare -m mount -t tmpfs none /proc 2>/dev/null; then
    # what sanitizers do at the end needs /proc, and they say so
    ASAN_OPTIONS=detect_leaks=0 unshare -m sh -c 'mount -t tmpfs none /proc && exec "$@"' - \
        "$sebays" train small.ini --mpi >out 2>err
    [ "$(grep -v '^==' err)" = 'sebays train: the plugin for the MPI "openmpi" is looked for beside this program or library, and the system does not say where that is; give its path' ] ||
        fault "a plugin of the working directory: $(cat err)"
else
    echo 'NOT TESTED: plugins without /proc (needs unshare -m)'
fi

tested=''
for mpi in openmpi mpich; do
    [ -e "$folder/sebays-$mpi.so" ] || continue
    command -v mpirun.$mpi >/dev/null || continue
    case $mpi in
    openmpi) set -- mpirun.openmpi --oversubscribe --allow-run-as-root ;;
    *) set -- mpirun.mpich ;;
    esac
    if [ -z "$tested" ]; then
        "$sebays" train small.ini --out alone --quiet >/dev/null || fault 'training alone'
        "$sebays" train shared.ini --out shared --quiet >/dev/null || fault 'training shards'
    fi
    "$@" -np 1 "$sebays" train small.ini --mpi=$mpi --out one-$mpi --quiet >out 2>err ||
        fault "$mpi, one rank: $(cat err)"
    cmp alone/model.safetensors one-$mpi/model.safetensors ||
        fault "$mpi: the model of one rank differs"
    # Of a last batch of 44 rows three ranks have shards, and the fourth has none.
    "$@" -np 4 "$sebays" train shared.ini --mpi=$mpi --out four-$mpi --quiet >out 2>err ||
        fault "$mpi, four ranks: $(cat err)"
    cmp shared/model.safetensors four-$mpi/model.safetensors ||
        fault "$mpi: the model of four ranks differs"
    # The launcher says more than there are: it is another MPI's, or there was none.
    for name in OMPI_COMM_WORLD_SIZE PMI_SIZE SLURM_NTASKS; do
        [ $name = OMPI_COMM_WORLD_SIZE ] && [ $mpi = openmpi ] && continue # its own
        [ $name = PMI_SIZE ] && [ $mpi = mpich ] && continue
        "$@" -np 1 env $name=4 "$sebays" train small.ini --mpi=$mpi --out apart >out 2>err &&
            fault "$mpi: a launch that went wrong was not refused"
        grep -q "the launcher says 4 processes ($name), but $mpi sees 1" err ||
            fault "$mpi: no sentence about a wrong launch: $(cat err)"
        [ -e apart ] && fault "$mpi: a launch that went wrong began to train"
    done
    tested="$tested $mpi"
done
[ -n "$tested" ] || { echo 'NOT TESTED: --mpi (Open MPI or MPICH)'; [ $failed = 0 ] && exit 77; }
exit $failed
