#!/bin/sh
# told.sh SEBAYS TABLES - what a user is told of data and models that are not what they seem, and
# that ordinary ones are trained without a word.
set -u
sebays=$1 tables=$2
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
# shellcheck source=tests/cli/expect.sh
. "$(dirname "$0")/expect.sh"
cd "$work" || exit 1

# quick NAME DATA ARGUMENTS...: a short run into the directory NAME
quick()
{
    name=$1 data=$2
    shift 2
    "$sebays" train "$data" --out "$name" --set model.arch=mlp-8 \
        --set method.name=dnn --set method.explore_epochs=4 --set method.exploit_epochs=4 \
        "$@" >out 2>err || fault "$name: $(cat err)"
}

# told NAME WORDS: of the last run; one line says that
told()
{
    [ "$(grep -c "$2" err)" = 1 ] || fault "$1: not told of '$2' but '$(cat err)'"
}

# silent NAME WORDS
silent()
{
    grep -q "$2" err && fault "$1: told of '$2': $(cat err)"
}

# ---- classes that are not there ----

# npy NAME SHAPE: an array of bytes from standard input
npy()
{
    printf '\223NUMPY\001\000\166\000%-117s\n' \
        "{'descr': '|u1', 'fortran_order': False, 'shape': ($2), }" >"$1"
    cat >>"$1"
}

# labels NAME A B: 200 rows of 3 columns, whose classes are the bytes A and B in turn
labels()
{
    mkdir "$1"
    seq 1000 2000 | tr -d '\n' | head -c 600 | npy "$1/x.npy" '200, 3'
    awk 'BEGIN { for (i = 0; i < 100; i++) print "ab" }' | tr -d '\n' | tr ab "$2$3" |
        npy "$1/y.npy" '200,'
}

labels zeros '\000' '\000'
refused 1 'sebays train: zeros: every row has the label 0; want two or more' \
    train zeros --out r.zeros --quiet
labels ones '\001' '\001'
refused 1 'sebays train: ones: every row has the label 1; want two or more' \
    train ones --out r.ones --quiet
labels gaps '\000' '\005'
quick r.gaps gaps
told gaps 'warning: gaps: 4 of 6 classes have no example, such as 1: nothing can be learned of them,'
labels from_1 '\001' '\002'
quick r.from_1 from_1
told from_1 'warning: from_1: 1 of 3 classes has no example, such as 0: nothing can be learned of it,'
labels good '\000' '\001'
quick r.good good
silent good 'no example'
# ---- whole numbers as classes ----

awk 'BEGIN { print "a,rings,digit"
    for (i = 0; i < 300; i++) print sin(i) "," i % 11 "," i % 10 }' >whole.csv
words='whole numbers, which are taken as 11 classes; data.task = regression predicts them as numbers'
quick r.rings whole.csv --label rings
told rings "^whole.csv: the label has $words"
quick r.classes whole.csv --label rings --task classification
silent classes "$words"
quick r.digit whole.csv --label digit
silent digit 'whole numbers'
quick r.iris "$tables/iris.csv"
silent iris 'whole numbers'

# ---- numbers of rows ----

for numbers in 'i + 1' '10000000 + 3 * i' '1e8 + i' '900 - i'; do
    awk "BEGIN { print \"id,a,y\"
        for (i = 0; i < 120; i++)
            printf \"%.0f,%.4f,%s\\n\", $numbers, sin(i), (i > 60 ? \"u\" : \"v\") }" >ids.csv
    quick "r.$numbers" ids.csv
    told "$numbers" 'warning: ids.csv: column 1 (id) has whole numbers that .* from row to row (.*): a number of the row? .* data.ignore = 1$'
    quick "r.ignored$numbers" ids.csv --set data.ignore=id
    silent "$numbers" 'number of the row'
done
for numbers in 'i + 0.5' 'i % 119' 'int(i / 2)' '7'; do
    awk "BEGIN { print \"id,a,y\"
        for (i = 0; i < 120; i++)
            printf \"%s,%.4f,%s\\n\", $numbers, sin(i), (i > 60 ? \"u\" : \"v\") }" >ids.csv
    quick "r.$numbers" ids.csv
    silent "$numbers" 'number of the row'
done

# ---- tested on what was trained on ----

awk 'BEGIN { print "a,b,c,y"
    for (i = 0; i < 200; i++)
        printf "%.4f,%.4f,%d,%s\n", sin(i), cos(i * 7), i % 5, (i * 7 % 3 ? "u" : "v") }' >once.csv
{ cat once.csv && tail -n +2 once.csv && tail -n +2 once.csv; } >thrice.csv
cp once.csv copy.csv
words='rows that are tested are trained on, too'
quick r.once once.csv
silent once "$words"
"$sebays" eval r.once >out 2>err || fault "eval: $(cat err)"
silent eval "$words"
"$sebays" eval r.once --test once.csv >out 2>err || fault "eval: $(cat err)"
told eval "warning: .*once.csv: 160 of the 200 $words: .*; test on other rows"
quick r.copy once.csv --set data.test=copy.csv
told copy "warning: copy.csv: 200 of the 200 $words"
quick r.thrice thrice.csv
told thrice "warning: thrice.csv: 1[0-9][0-9] of the 120 $words: .*; leave copies of rows out of the file, or"
awk -F, -v OFS=, 'NR > 1 { $3 = NR % 200 } { print }' thrice.csv >grouped.csv
quick r.grouped grouped.csv --set data.group=c
silent grouped "$words"
# Few values: rows are equal by chance. Values that go together: with labels of their own.
awk 'BEGIN { print "a,b,y"
    for (i = 0; i < 300; i++) print i % 7 "," i % 4 "," (i * i % 11 > 5 ? "u" : "v") }' >few.csv
quick r.few few.csv
silent few "$words"
awk 'BEGIN { print "a,b,c,d,y"
    for (i = 0; i < 300; i++) { k = i % 150 < 60 ? i % 20 : i
        print k "," k * k "," 3 * k "," k % 17 "," (i * i % 11 > 5 ? "u" : "v") } }' >tied.csv
quick r.tied tied.csv
silent tied "$words"
awk 'BEGIN { print "a,b,y"
    for (i = 0; i < 300; i++) print i % 40 ",1," (i % 40 % 3 ? "u" : "v") }' >one.csv
quick r.one one.csv
silent one "$words"

# ---- models that say no more than their training part ----

# A rare class whose rows are found among others is of use, if not by accuracy.
awk 'BEGIN { print "a,b,y"
    for (i = 0; i < 600; i++) {
        sick = i % 15 == 0; a = 2 * sin(i * 12.9898) + sick * 1.2; b = cos(i * 78.233)
        printf "%.4f,%.4f,%s\n", a, b, sick ? "sick" : "well"
    } }' >rare.csv
awk -F, -v OFS=, 'NR > 1 { $1 = $2 = 1 } { print }' rare.csv >blind.csv
quick r.rare blind.csv
told rare 'nothing of use by that measure (for rare classes see train.class_weights)'
quick r.even rare.csv --set method.explore_epochs=30 --set train.class_weights=balanced
silent even 'nothing of use'
quick r.blind blind.csv --set train.class_weights=balanced
told blind 'balanced accuracy on the test part is 0.5000; always saying one class has 0.5000: it has learned nothing of use by that measure'

# Two targets in units of their own; nobody can know the second.
for scale in 1000 0.001; do
    awk -v scale=$scale 'BEGIN { print "p,q,good,bad"
        for (i = 0; i < 300; i++) {
            p = sin(i * 12.9898); q = cos(i * 78.233)
            printf "%.4f,%.4f,%.4f,%.6f\n", p, q, p - 2 * q,
                scale * (sin(i * i * 37.719) + sin(i * i * 1.7))
        } }' >units.csv
    quick r.units$scale units.csv --label good,bad --set model.arch=mlp-32 \
        --set method.explore_epochs=200
    told units "rmse of bad on the test part is .*: it has learned nothing of use about that target"
    silent units 'rmse of good'
done

# Noise that is learned by heart: often right, and too sure. A stronger prior is the remedy.
awk 'BEGIN { srand(1)
    for (k = 0; k < 20; k++) printf "x%d,", k
    print "y"
    for (i = 0; i < 300; i++) {
        for (k = 0; k < 20; k++) {
            x = sin((i * 20 + k) * 12.9898) * 43758.5453; x -= int(x)
            if (k == 0) first = x
            printf "%.4f,", x
        }
        x = sin(i * 78.233) * 24634.6345; x -= int(x)
        print (first + 1.5 * x > 0 ? "a" : "b")
    } }' >noisy.csv
"$sebays" train noisy.csv --quiet --out r.noisy >out 2>err || fault "noisy: $(cat err)"
told noisy 'classes of the training part are has 0.69[0-9]*: it is too sure of its classes; a stronger prior (method.prior_variance = 0.05) may help'
"$sebays" train noisy.csv --quiet --out r.prior --set method.prior_variance=0.05 >out 2>err
silent prior 'too sure'
exit $failed
