# job.sh - how the scripts of this folder begin, which say in $what what is tested.
#
# Takes SEBAYS TABLES PLUGIN from their arguments, so that "$@" is the launcher, and goes to a
# new folder with a table in it, which is removed when the script ends. A script that cannot run
# is skipped.
#
# shellcheck shell=sh disable=SC2034
set -u
sebays=$1 tables=$2 plugin=$3
shift 3
[ -e "$plugin" ] || { echo "NOT TESTED: $what ($plugin was not built)"; exit 77; }
command -v "$1" >/dev/null || { echo "NOT TESTED: $what ($1)"; exit 77; }
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
unset OMPI_COMM_WORLD_SIZE PMI_SIZE SLURM_STEP_NUM_TASKS SLURM_NTASKS

fail()
{
    echo "FAIL: $*" >&2
    [ -s err ] && sed 's/^/    /' err >&2
    exit 1
}

cp "$tables/iris.csv" iris.csv
