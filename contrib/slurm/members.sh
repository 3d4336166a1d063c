#!/bin/sh
# Members that are trained apart, one task of an array each: dnn-ensemble, bnn-ensemble, static,
# dst, bays, pf and ltr. Submit it through submit-members.sh, which knows how many there are and
# has them merged afterwards.
#
#     sbatch --array=0-6 contrib/slurm/members.sh RECIPE.ini DIR [ARGUMENTS OF sebays train...]
#
# A task trains member SLURM_ARRAY_TASK_ID into DIR/member-N. One that Slurm ends early saves a
# checkpoint, is queued again and goes on from there.
#
#SBATCH --job-name=sebays-member
#SBATCH --ntasks=1
#SBATCH --cpus-per-task=8
#SBATCH --hint=nomultithread
#SBATCH --time=24:00:00
#SBATCH --signal=TERM@300
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --output=%x-%A-%a.log
set -u
[ $# -ge 2 ] || { echo "usage: sbatch --array=0-N $0 RECIPE.ini DIR [ARGUMENTS]" >&2; exit 2; }
recipe=$1 out=$2
shift 2
sebays=${SEBAYS:-sebays}
member=${SLURM_ARRAY_TASK_ID:?submit this with --array}

srun --cpus-per-task="${SLURM_CPUS_PER_TASK:-1}" --cpu-bind=cores \
    "$sebays" train "$recipe" --member "$member" --out "$out/member-$member" --resume \
    --threads "${SLURM_CPUS_PER_TASK:-1}" "$@"
code=$?

if [ $code -eq 143 ]; then
    scontrol requeue "${SLURM_ARRAY_JOB_ID}_$member"
fi
exit $code
