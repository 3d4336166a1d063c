#!/bin/sh
# regression.sh SEBAYS - continuous targets as people predict them: train a table, evaluate,
# predict with intervals, quantiles and conformal ones; what is refused.
set -u
sebays=$1
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
failed=0

fault()
{
    echo "FAILED: $1"
    failed=1
}

# says WORDS COMMAND...: it fails, and that is its sentence
says()
{
    want=$1
    shift
    "$@" >out 2>err && fault "$*: it worked"
    [ "$(cat err)" = "$want" ] || fault "$*: said '$(cat err)', want '$want'"
}

# head_is FILE LINE
head_is()
{
    [ "$(head -n 1 "$1")" = "$2" ] || fault "$1 begins '$(head -n 1 "$1")', want '$2'"
}

# y = 50 + 20 a - 5 b, and a little that no one knows
awk 'BEGIN {
    print "id,a,b,y,z"
    for (i = 0; i < 300; i++) {
        a = sin(i * 12.9898) * 2; b = cos(i * 78.233) * 2
        printf "r%d,%.5f,%.5f,%.4f,%.4f\n", i, a, b,
            50 + 20 * a - 5 * b + 3 * sin(i * 37.719), a * b / 10
    }
}' >table.csv
cut -d, -f2,3 table.csv | head -n 4 >new.csv

cat >recipe.ini <<EOF
[data]
set = table.csv
label = y
ignore = id,z
calibration = 0.2
[model]
arch = mlp-20
[method]
name = sebays
members = 2
sparsity = 0.3
prior_variance = 1
explore_epochs = 30
exploit_epochs = 20
delta_t = 20
[train]
batch = 16
lr = 0.02
EOF

"$sebays" train recipe.ini --out run >out 2>err || fault "train: $(cat err)"
grep -q 'table.csv: y is continuous, so this is regression; if the numbers are classes, say data.task = classification' err ||
    fault "train does not say what it took the task for"
grep -q '^test            nll     rmse      mae$' out || fault "train: $(cat out)"
rmse=$(awk '$1 == "ensemble" { printf "%d\n", 100 * $3 }' out)
[ "$rmse" -gt 50 ] && [ "$rmse" -lt 800 ] || fault "rmse is $rmse hundredths; y has 29"

# An evaluation is printed and kept.
"$sebays" eval run >out 2>err || fault "eval: $(cat err)"
for words in 'nll_gauss' '90 % interval ' '90 % conformal ' 'calibration  ' 'aleatoric'; do
    grep -q "$words" out || fault "eval does not have '$words'"
done
for key in intervals calibration conformal nll_gauss crps uncertainty; do
    grep -q "\"$key\"" run/results.json || fault "results.json does not have $key"
done
covers=$(awk '/90 % interval/ { printf "%d\n", $5 }' out)
[ "$covers" -ge 75 ] || fault "90 % intervals cover $covers %"
says 'sebays eval: run: attacks are for models of classes; this one predicts y' \
    "$sebays" eval run --attack fgsm --quiet

# Predictions: the interval is where the quantiles are, and wider with more coverage.
"$sebays" predict run --input table.csv --keep id --quantiles 0.05,0.95 --out p.csv ||
    fault "predict"
head_is p.csv 'index,id,mean,sd,aleatoric,epistemic,low,high,q0.05,q0.95'
awk -F, 'NR > 1 && ($7 != $9 || $8 != $10 || $3 < $7 || $3 > $8 ||
    ($4 * $4 - $5 * $5 - $6 * $6) ^ 2 > 1e-6) { exit 1 }' p.csv || fault "p.csv is not sound"
[ "$(wc -l <p.csv)" = 301 ] || fault "p.csv has $(wc -l <p.csv) lines"
"$sebays" predict run --input table.csv --coverage 0.5 --out half.csv || fault "predict 0.5"
paste -d, p.csv half.csv | awk -F, 'NR > 1 && $17 - $16 >= $8 - $7 { exit 1 }' ||
    fault "half the coverage is no narrower"
"$sebays" predict run --input new.csv --conformal --members --out c.csv || fault "conformal"
head_is c.csv 'index,mean,sd,aleatoric,epistemic,low,high,mean_1,sd_1,mean_2,sd_2'
awk -F, 'NR > 1 { f = ($7 - $2) / $3; g = ($2 - $6) / $3
    if (NR > 2 && (f - first) ^ 2 > 1e-9 || (f - g) ^ 2 > 1e-9) exit 1; first = f }' c.csv ||
    fault "conformal intervals are not mean +- factor x sd"
"$sebays" predict run --input - --format json <new.csv >out || fault "predict json"
grep -q '^{"index":2,"targets":\[{"target":"y","mean":.*,"low":.*,"high":.*}\]}$' out ||
    fault "json: $(cat out)"
"$sebays" predict run --input new.csv --format npy --out m.npy || fault "predict npy"
[ "$(wc -c <m.npy)" = $((128 + 3 * 4)) ] || fault "m.npy has $(wc -c <m.npy) bytes"
says 'sebays predict: --top is for models of classes; this one has continuous targets' \
    "$sebays" predict run --input new.csv --top 2
says 'sebays predict: --coverage 1: want a share in (0, 1), such as 0.9' \
    "$sebays" predict run --input new.csv --coverage 1
says 'sebays predict: --quantiles 0.1,x: want up to 64 levels in (0, 1), commas between' \
    "$sebays" predict run --input new.csv --quantiles 0.1,x

# Several targets.
"$sebays" train recipe.ini --set data.label=z,y --set data.ignore=id --out two --quiet \
    >out 2>err || fault "two targets: $(cat err)"
"$sebays" predict two --input new.csv >out || fault "predict two"
head_is out 'index,z_mean,z_sd,z_aleatoric,z_epistemic,z_low,z_high,y_mean,y_sd,y_aleatoric,y_epistemic,y_low,y_high'

# Conformal sets of classes.
awk -F, 'NR > 1 { print $2 "," $3 "," ($4 > 50 ? "high" : "low") }' table.csv >classes.csv
"$sebays" train recipe.ini --set data.set=classes.csv --set data.label=3 \
    --set data.ignore= --out sets --quiet >out 2>err || fault "classes: $(cat err)"
"$sebays" predict sets --input classes.csv --conformal --coverage 0.95 >out || fault "sets"
head_is out 'index,class,probability,total,aleatoric,epistemic,votes,set'
has=$(tail -n +2 out | cut -d, -f8 | paste -d, - classes.csv |
    awk -F, '{ n += index($1, $4) > 0 } END { print n }')
[ "$has" -ge 270 ] || fault "95 % sets have the label of $has of 300"
"$sebays" eval sets >out 2>err || fault "eval sets: $(cat err)"
grep -q 'conformal        90 % sets have the label of' out || fault "eval: no conformal sets"
says 'sebays predict: --quantiles is for models of continuous targets; this one has classes' \
    "$sebays" predict sets --input classes.csv --quantiles 0.5
says 'sebays predict: the model was trained without a calibration part, which conformal prediction needs; train it with data.calibration, such as 0.15' \
    sh -c "$sebays train recipe.ini --set data.calibration=0 --out plain --quiet >/dev/null 2>&1;
           $sebays predict plain --input new.csv --conformal"

# Too few rows to calibrate with for a coverage: nothing is ruled out, and that is said.
"$sebays" train recipe.ini --set data.calibration=6 --out few --quiet >out 2>err || fault "few: $(cat err)"
grep -q '^warning: data.calibration keeps 6 rows, which are too few for conformal intervals of 90 % coverage: those need 9; keep more, or ask for a coverage of at most 0.857$' err ||
    fault "few: train said $(cat err)"
"$sebays" predict few --input new.csv --conformal >out 2>err || fault "few: predict"
[ "$(tail -n +2 out | cut -d, -f6,7 | sort -u)" = '-inf,inf' ] || fault "few: $(cat out)"
[ "$(cat err)" = 'sebays predict: warning: the model was calibrated with 6 rows, and --coverage 0.9 needs 9: every interval is infinite; ask for a coverage of at most 0.857, or train with more data.calibration' ] ||
    fault "few: predict said $(cat err)"
"$sebays" predict few --input new.csv --conformal --coverage 0.85 >out 2>err || fault "few: predict 0.85"
[ -s err ] && fault "few: predict 0.85 said $(cat err)"
grep -q inf out && fault "few: six rows are too few for 0.85"
"$sebays" predict sets --input classes.csv --conformal --coverage 0.999 >out 2>err || fault "sets 0.999"
grep -q 'needs 999: every set has all classes; ask for' err || fault "sets 0.999 said $(cat err)"

# Whole numbers: few are classes, unless it is said; --task reaches train, init and plan.
awk -F, 'NR > 1 { print $2 "," $3 "," int($4 / 10) }' table.csv >tens.csv
short="--set method.explore_epochs=1 --set method.exploit_epochs=1"
for task in auto classification regression; do
    want=classes
    [ "$task" = regression ] && want=target
    # shellcheck disable=SC2086 # several words
    "$sebays" train tens.csv --task "$task" --out "tens-$task" --quiet $short >out 2>err ||
        fault "--task $task: $(cat err)"
    "$sebays" inspect "tens-$task" | grep -q "$want" || fault "--task $task: no $want"
done
"$sebays" init tens.csv --task regression --out tens.ini >out || fault "init --task"
grep -q '^task = regression$' tens.ini || fault "init --task: not in the recipe"
"$sebays" plan tens.csv --task=regression --quiet >out || fault "plan --task"
grep -q ', 1 target$' out || fault "plan --task: $(head -n 3 out)"
says 'sebays train: data.task = regresion: want one of auto, classification, regression; the nearest is regression' \
    "$sebays" train tens.csv --task regresion
says "sebays train: table.csv: line 3, column 4 (y): the label $(awk -F, 'NR == 3 { print $4 }' table.csv) has a fraction; labels are classes, and data.label says which column has them" \
    "$sebays" train table.csv --label y --task classification --set data.ignore=id
says "sebays train: classes.csv: line 1, column 3: $(head -n 1 classes.csv | cut -d, -f3) is no finite number, as a target of regression must be; classes are data.task = classification, and data.label says which column" \
    "$sebays" train classes.csv --task regression

# What cannot be learned from, one sentence each.
says "sebays train: new.csv: data.label names 2 targets, but the table has 2 columns; at least one must be left to predict from" \
    "$sebays" train new.csv --label a,b
awk -F, -v OFS=, 'NR > 1 { $4 = 7.5 } { print $2, $3, $4 }' table.csv >constant.csv
says "sebays train: constant.csv: the target y is 7.5 in every row; there is nothing to learn" \
    "$sebays" train constant.csv
head -n 2 table.csv | cut -d, -f2-4 >one.csv
says "sebays train: one.csv: it has one row; want more to learn from" \
    "$sebays" train one.csv --task regression
awk -F, -v OFS=, 'NR == 9 { $4 = "nan" } { print $2, $3, $4 }' table.csv >hole.csv
says "sebays train: hole.csv: line 9, column 3 (y): the value is missing; fill it in or leave the row out" \
    "$sebays" train hole.csv
awk -F, -v OFS=, 'NR > 1 { $2 = NR == 9 ? -1 : 1 } { print $2, $3, $4 }' table.csv >weight.csv
says "sebays train: weight.csv: line 9, column 1 (a): the weight is '-1'; want a number from 0" \
    "$sebays" train weight.csv --set data.weight=a
cut -d, -f2-4 table.csv >three.csv
says "sebays train: new.csv: there is no column y, the target of three.csv, without which nothing can be compared" \
    "$sebays" train three.csv --set data.test=new.csv
# What is not looked at may be missing in the test file, and only that.
awk -F, -v OFS=, 'NR < 80 { print $1, $2, $3, $4 }' table.csv >four.csv
awk -F, -v OFS=, 'NR == 1 || NR >= 80 { print $4, $3, $2 }' table.csv >used.csv
awk -F, -v OFS=, 'NR == 1 || NR >= 80 { print $1, $2, $4 }' table.csv >unused.csv
"$sebays" train four.csv --set data.ignore=1 --set data.test=used.csv --set method.explore_epochs=2 \
    --set method.exploit_epochs=2 --out four >out 2>err || fault "four.csv: $(cat err)"
lacks=$(head -n 1 table.csv | cut -d, -f3)
says "sebays train: unused.csv: there is no column $lacks, which four.csv has; columns are found by their names, in any order" \
    "$sebays" train four.csv --set data.ignore=1 --set data.test=unused.csv --out five

# What is of classes is not passed over in silence.
for given in train.choose=accuracy eval.temperature=yes; do
    "$sebays" train table.csv --label y --set data.ignore=id,z --set model.arch=mlp-8 \
        --set method.name=dnn --set method.explore_epochs=2 --set method.exploit_epochs=2 \
        --set $given --quiet --out "of-${given%=*}" >out 2>err || fault "$given: $(cat err)"
    grep -q "${given%=*} = ${given#*=}: only of classes; .*table.csv has continuous targets, where it changes nothing" err ||
        fault "$given: $(cat err)"
done
"$sebays" eval of-eval.temperature --quiet >out 2>err || fault "temperature: $(cat err)"
grep -q 'eval.temperature = yes changes nothing: it is of probabilities of classes, and this model predicts y' err ||
    fault "temperature: $(cat err)"
"$sebays" eval of-train.choose --quiet >out 2>err || fault "choose: $(cat err)"
grep -q 'changes nothing' err && fault "choose: $(cat err)"
exit $failed
