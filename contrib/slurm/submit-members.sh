#!/bin/sh
# submit-members.sh RECIPE.ini DIR [ARGUMENTS OF sebays train...]
#
# Submits the array of a recipe's members (members.sh) and a job that merges them into DIR when
# all have ended well. Prints the number of the merging job. Options of sbatch for the array go
# into the variable ARRAY_OPTIONS, or into the #SBATCH lines of members.sh.
set -eu
[ $# -ge 2 ] || { echo "usage: $0 RECIPE.ini DIR [ARGUMENTS]" >&2; exit 2; }
here=$(cd "$(dirname "$0")" && pwd)
recipe=$1 out=$2
shift 2
sebays=${SEBAYS:-sebays}

# The recipe with every default filled in says how many there are.
members=$("$sebays" recipe "$recipe" --quiet | sed -n 's/^members = //p')
mkdir -p "$out"
# shellcheck disable=SC2086 # a list of words
array=$(sbatch --parsable --array="0-$((members - 1))" ${ARRAY_OPTIONS:-} "$here/members.sh" \
    "$recipe" "$out" "$@")
array=${array%%;*} # of a federation: NUMBER;CLUSTER

list=''
k=0
while [ "$k" -lt "$members" ]; do
    list="$list '$out/member-$k'"
    k=$((k + 1))
done
merge=$(sbatch --parsable --job-name=sebays-merge --dependency="afterok:$array" \
    --output=sebays-merge-%j.log --wrap "'$sebays' merge $list --out '$out'")
echo "${merge%%;*}"
