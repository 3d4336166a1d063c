#!/bin/sh
# members.sh SEBAYS TABLES - members trained alone and merged are the run that trained them one
# after the other, to the bit; whatever cannot be merged is refused.
set -u
sebays=$1 tables=$2
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
# shellcheck source=tests/cli/expect.sh
. "$here/expect.sh"

cp "$tables/iris.csv" iris.csv

# recipe METHOD FILE
recipe()
{
    cat >"$2" <<END
[data]
set = iris.csv
[model]
arch = mlp-16
[method]
name = $1
members = 3
explore_epochs = 3
exploit_epochs = 3
[train]
batch = 16
threads = 1
checkpoint_seconds = 0
END
    case $1 in
    static | dst | bays | pf | ltr) sed -i 's/^members/sparsity = 0.5\n&/' "$2" ;;
    esac
    case $1 in
    dst | bays) sed -i 's/^members/delta_t = 5\n&/' "$2" ;;
    esac
}

# lines RUN: what its records say, without the clock
lines()
{
    sed 's/"images_per_second":[^,}]*//' "$1/metrics.jsonl"
    cat "$1/updates.jsonl" 2>/dev/null
}

# same ONE OTHER
same()
{
    cmp "$1/model.safetensors" "$2/model.safetensors" || fault "$2: the model differs"
    lines "$1" >a
    lines "$2" >b
    cmp a b || fault "$2: the records differ"
    grep -A4 '"ensemble"' "$1/results.json" >a
    grep -A4 '"ensemble"' "$2/results.json" >b
    [ -s a ] || fault "$1: no figures"
    cmp a b || fault "$2: the figures differ"
}

for method in dnn-ensemble bnn-ensemble static dst bays pf ltr; do
    recipe $method $method.ini
    "$sebays" train $method.ini --out "$method/all" --quiet >/dev/null || fault "$method"
    for k in 2 0 1; do
        "$sebays" train $method.ini --member $k --out "$method/$k" --quiet >out ||
            fault "$method: member $k alone"
        grep -q "^member $((k + 1)) " out || fault "$method: member $k: $(cat out)"
    done
    "$sebays" merge "$method/1" "$method/2" "$method/0" --out "$method/merged" >out 2>err ||
        fault "$method: merge: $(cat err)"
    same $method/all $method/merged
done

# The dense stage of ltr from a run that has it: a whole one, or another member's.
"$sebays" train ltr.ini --member 1 --from ltr/0 --out ltr/one --quiet >/dev/null ||
    fault 'ltr: --from a member'
"$sebays" train ltr.ini --member 2 --from ltr/all --out ltr/two --quiet >/dev/null ||
    fault 'ltr: --from a run'
"$sebays" merge ltr/0 ltr/one ltr/two --out ltr/from --quiet >/dev/null || fault 'ltr: merge'
same ltr/all ltr/from

# A task that was stopped goes on; what its directory holds is no other task's.
"$sebays" train bays.ini --member 1 --out stopped --quiet --set train.checkpoint_epochs=1 \
    >/dev/null || fault 'bays: a task with checkpoints'
for file in stopped/checkpoint-*.safetensors; do newest=$file; done
rm "$newest" stopped/model.safetensors stopped/results.json
"$sebays" train bays.ini --member 1 --out stopped --resume --quiet >/dev/null ||
    fault 'bays: a task that goes on'
cmp stopped/model.safetensors bays/1/model.safetensors || fault 'bays: resumed differs'
refused 2 'sebays train: stopped holds a run of member 2 alone (--member 1); go on with that, or choose another --out' \
    train bays.ini --member 0 --out stopped --resume --quiet
refused 2 'sebays train: stopped holds a run of member 2 alone (--member 1); go on as it was begun, or choose another --out' \
    train bays.ini --out stopped --resume --quiet
refused 2 'sebays train: bays/all holds a run of all members (no --member); go on with that, or choose another --out' \
    train bays.ini --member 0 --out bays/all --resume --quiet

# By itself a task goes below its run's directory.
"$sebays" train static.ini --member 0 --quiet >/dev/null || fault 'a task without --out'
[ -s runs/static/member-0/model.safetensors ] || fault 'a task went elsewhere'

# What cannot be trained alone, and what does not belong together.
recipe sebays sebays.ini
refused 2 'sebays train: sebays trains its members one out of the other, so that no member can be trained alone (--member); those of dnn-ensemble, bnn-ensemble, static, dst, bays, pf and ltr can' \
    train sebays.ini --member 0 --out no
recipe dnn dnn.ini
sed -i /members/d dnn.ini
refused 2 'sebays train: dnn trains one network, so that no member can be trained alone (--member); those of dnn-ensemble, bnn-ensemble, static, dst, bays, pf and ltr can' \
    train dnn.ini --member 0 --out no
refused 2 'sebays train: member 3: the recipe has 3, counted from 0' \
    train bays.ini --member 3 --out no
refused 2 'sebays train: --member first: want a whole number from 0' \
    train bays.ini --member first --out no
refused 2 'sebays train: only a single member (--member) of ltr begins with the dense stage of another run (--from)' \
    train bays.ini --member 0 --from bays/0 --out no
refused 2 "sebays merge: bays/0 and bays/0 both have member 0; give each once" \
    merge bays/0 bays/0 --out no
refused 2 'sebays merge: of 3 members these are missing, counted from 0: 0, 2; train them with --member and give their directories' \
    merge bays/1 --out no
refused 2 "sebays merge: bays/all/model.safetensors has 3 members of its own; want the model of one, made with 'sebays train --member'" \
    merge bays/all --out no
refused 2 'sebays merge: say where to, with --out DIR' merge bays/0 bays/1 bays/2
refused 2 'sebays merge: bays/merged holds a finished run (model.safetensors), but no checkpoint to go on from; choose another --out, or remove it to train it anew' \
    merge bays/0 bays/1 bays/2 --out bays/merged
refused 2 'sebays merge: bays/1 already holds a run (recipe.ini); go on with --resume, or choose another --out' \
    merge bays/0 bays/1 bays/2 --out bays/1

# One that was killed on the way is made again; of a record that was cut short whole lines count.
mkdir killed
cp bays/merged/recipe.ini killed
head -c 333 bays/merged/metrics.jsonl >killed/metrics.jsonl
"$sebays" merge bays/0 bays/1 bays/2 --out killed --quiet >/dev/null || fault 'merge after a kill'
same bays/merged killed
cp -r bays/1 cut
head -c 300 bays/1/metrics.jsonl >cut/metrics.jsonl
"$sebays" merge bays/0 cut bays/2 --out from-cut --quiet >/dev/null 2>err || fault 'merge of a cut record'
grep -q '^warning: cut/metrics.jsonl was damaged: its last line is cut short and left out$' err ||
    fault "a cut record: $(cat err)"
grep -qv '^{.*}$' from-cut/metrics.jsonl && fault 'a cut line is in the records'
"$sebays" train bays.ini --member 1 --out other --set train.lr=0.01 --quiet >/dev/null
refused 2 'sebays merge: other/model.safetensors: belongs to another recipe: "lr = 0.01" then, "lr = 0.05" now, in [train]; go on with the same recipe, or start anew in another directory' \
    merge bays/0 other bays/2 --out no
mkdir unfinished
cp bays/1/recipe.ini unfinished
refused 1 'sebays merge: unfinished has no model.safetensors: its training is not finished; go on with --member and --resume' \
    merge bays/0 unfinished bays/2 --out no
sed 's/^5.1,/5.2,/' "$tables/iris.csv" >iris.csv
"$sebays" merge bays/0 bays/1 bays/2 --out no >out 2>err && fault 'other data was merged'
grep -q 'bays/0/model.safetensors' err || fault "other data: $(cat err)"
[ -e no ] && fault 'what was refused left a directory'
exit $failed
