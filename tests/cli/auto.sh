#!/bin/sh
# auto.sh SEBAYS TABLES - data without a recipe: what is chosen, said and written down, and
# that it is the same wherever one stands.
set -u
sebays=$1 tables=$2
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
failed=0

fault()
{
    echo "FAILED: $1"
    failed=1
}

mkdir here there
cp "$tables/iris.csv" here/iris.csv
cd here || exit 1

# One command: it learns, and says what it chose and what comes next.
"$sebays" train iris.csv >out 2>err || fault "train: $(cat err)"
[ "$(awk '$1 == "ensemble" { print ($2 >= 0.9) }' out)" = 1 ] || fault "learned little: $(cat out)"
grep -q '^chosen for 120 rows: .*model.arch = mlp-' err || fault "does not say what it chose: $(cat err)"
grep -q '^  sebays eval runs/iris$' out || fault "does not say what is next: $(cat out)"
grep -q "^set = $work/here/iris.csv\$" runs/iris/recipe.ini || fault 'the path is not absolute'
grep -qE '^(arch|batch|delta_t|validation|choose|numeric) = auto$' runs/iris/recipe.ini &&
    fault 'recipe.ini leaves something open'

# From anywhere, and from the recipe that it wrote.
cd ../there || exit 1
"$sebays" eval ../here/runs/iris --quiet >out 2>err || fault "eval from elsewhere: $(cat err)"
"$sebays" train ../here/runs/iris/recipe.ini --out again --quiet >out 2>err ||
    fault "its own recipe: $(cat err)"
cmp ../here/runs/iris/model.safetensors again/model.safetensors ||
    fault 'its own recipe gives another model'

# The recipe as a file, and the plan.
"$sebays" init ../here/iris.csv --label 5 >out 2>err || fault "init: $(cat err)"
"$sebays" train iris.ini --quiet --set data.label= >out 2>err || fault "init's recipe: $(cat err)"
cmp ../here/runs/iris/model.safetensors runs/iris/model.safetensors ||
    fault "init's recipe gives another model"
"$sebays" init ../here/iris.csv >out 2>err && fault 'init replaces a file'
[ "$(cat err)" = 'sebays init: iris.ini: File exists; choose another --out, or remove it' ] ||
    fault "init: said '$(cat err)'"
"$sebays" plan ../here/iris.csv >out 2>err || fault "plan: $(cat err)"
grep -q '^chosen for the data: .*train.batch = 16' out || fault 'the plan does not say what is chosen'

# Stopped and taken up without a recipe.
"$sebays" train ../here/iris.csv --out stopped --quiet >out 2>err || fault "$(cat err)"
"$sebays" train ../here/iris.csv --out stopped --quiet --resume >out 2>err ||
    fault "--resume: $(cat err)"
cmp ../here/runs/iris/model.safetensors stopped/model.safetensors || fault 'another model'

# A model that is of no use is not passed over in silence.
awk 'BEGIN { for (i = 0; i < 200; i++) printf "%d,%s\n", i * 7919 % 101, i % 10 ? "a" : "b" }' >noise.csv
"$sebays" train noise.csv --quiet >out 2>err || fault "noise: $(cat err)"
grep -q 'always saying the most frequent class' err || fault "noise: no warning: $(cat out err)"

# A few rows of the test say nothing of that kind.
awk 'BEGIN { for (i = 0; i < 60; i++) printf "%d,%s\n", i * 7919 % 101, i % 10 ? "a" : "b" }' >short.csv
"$sebays" train short.csv --quiet >out 2>err || fault "short: $(cat err)"
grep -q 'always saying' err && fault "short: judged by few rows: $(cat err)"

# Nothing kept for the test.
"$sebays" train ../here/iris.csv --out all --quiet --set data.test_share=0 >out 2>err ||
    fault "no test part: $(cat err)"
grep -q '^there is no test part' out || fault "no test part: $(cat out)"
"$sebays" eval all --quiet >out 2>err && fault 'no test part: judged'
"$sebays" report all --quiet >out 2>err || "$sebays" report all >out 2>err ||
    fault "no test part: no report: $(cat err)"

exit $failed
