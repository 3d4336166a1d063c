#!/bin/sh
# A training that several processes share, step by step; the model is the same, to the bit, for
# any number of them that train.shards of the recipe has room for. Adapt the #SBATCH lines, then
#
#     sbatch contrib/slurm/data-parallel.sh RECIPE.ini DIR [ARGUMENTS OF sebays train...]
#
# A job that Slurm ends early, for its time limit or for a better one, is told so some minutes
# before: it saves a checkpoint and is queued again, and goes on from there.
#
#SBATCH --job-name=sebays
#SBATCH --ntasks=4
#SBATCH --cpus-per-task=8
#SBATCH --hint=nomultithread
#SBATCH --time=24:00:00
#SBATCH --signal=TERM@300
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --output=%x-%j.log
set -u
[ $# -ge 2 ] || { echo "usage: sbatch $0 RECIPE.ini DIR [ARGUMENTS]" >&2; exit 2; }
recipe=$1 out=$2
shift 2
sebays=${SEBAYS:-sebays} mpi=${SEBAYS_MPI:-openmpi}
# Which PMI an MPI speaks: srun --mpi=list. Open MPI wants pmix, MPICH pmi2.
case $mpi in
mpich*) pmi=${SEBAYS_PMI:-pmi2} ;;
*) pmi=${SEBAYS_PMI:-pmix} ;;
esac

# --resume begins where there is nothing to go on from. -K1: when one process fails, all end.
srun -K1 --mpi="$pmi" --cpus-per-task="${SLURM_CPUS_PER_TASK:-1}" --cpu-bind=cores \
    "$sebays" train "$recipe" --out "$out" --resume --mpi="$mpi" \
    --threads "${SLURM_CPUS_PER_TASK:-1}" "$@"
code=$?

# 143: SIGTERM came, a checkpoint was saved, and there is more to do.
if [ $code -eq 143 ]; then
    scontrol requeue "$SLURM_JOB_ID"
fi
exit $code
