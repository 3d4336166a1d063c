#!/bin/sh
# identity.sh SEBAYS TABLES - a run knows its data: resume, eval and predict refuse other data
# with both values, and --force passes over what does not make results meaningless.
set -u
sebays=$1 tables=$2
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
# shellcheck source=tests/cli/expect.sh
. "$here/expect.sh"

# Two numbers, a category and a class, in a mixed order.
awk -F, 'BEGIN { print "long,wide,colour,kind" }
         { print $1 "," $2 "," (NR % 3 ? "red" : "blue") "," $5 | "sort" }' \
    "$tables/iris.csv" >iris.csv
{
    read -r header
    echo "$header" >whole.csv
    sort -t, -k2,2 -k1,1 >>whole.csv
} <iris.csv
cp whole.csv iris.csv
cat >iris.ini <<'END'
[data]
set = iris.csv
[model]
arch = mlp-16
[method]
name = sebays
members = 2
explore_epochs = 2
exploit_epochs = 2
delta_t = 3
[train]
batch = 16
END
"$sebays" train iris.ini --out run --quiet >out 2>err || fault "train: $(cat err)"
cp -r run stopped
rm stopped/model.safetensors stopped/results.json
checkpoint=$(find stopped -name 'checkpoint-*' | sort -V | tail -n 1)

# again SENTENCE: resume and eval are refused for the same reason, with what to do for each.
again()
{
    refused 2 "sebays train: $checkpoint: the data is not what it was: $1; $2" \
        train iris.ini --out stopped --resume --quiet
    refused 2 "sebays eval: run: the data is not what it was: $1; $3" eval run --quiet
}
anew='restore the data, or start anew in another directory'
go_on='restore the data, start anew in another directory, or go on all the same with --force'
train_anew='restore the data, or train anew'
judge='restore the data, or use --force; but examples that were trained on may then be among the test'\''s'

# Fewer rows.
head -n 100 whole.csv >iris.csv
again 'the number of training examples was 150 and is now 99' "$anew" "$judge"
"$sebays" eval run --quiet --force >out 2>err || fault "--force, fewer rows: $(cat err)"
"$sebays" train iris.ini --out stopped --resume --force --quiet >out 2>err &&
    fault '--force goes on with fewer rows'

# A class renamed, a category renamed, a column renamed, a column of another kind, another
# label: nothing to be forced.
sed 's/Iris-virginica/Virginica/' whole.csv >iris.csv
again 'the name of class 3 was "Iris-virginica" and is now "Virginica"' "$anew" "$train_anew"
"$sebays" eval run --quiet --force >out 2>err && fault '--force judges renamed classes'
sed 's/blue/azure/' whole.csv >iris.csv
again 'column 3, text 1 was "blue" and is now "azure"' "$anew" "$train_anew"
sed '1s/wide/width/' whole.csv >iris.csv
again 'the name of column 2 was "wide" and is now "width"' "$anew" "$train_anew"
sed '2s/[^,]*,/small,/' whole.csv >iris.csv

# One value: the same size, another content.
sed '5s/^[^,]*,/9.5,/' whole.csv >iris.csv
"$sebays" train iris.ini --out stopped --resume --quiet >out 2>err && fault 'a value: resumed'
grep -q "the fingerprint of the training set was .* and is now .*; $go_on" err ||
    fault "a value: $(cat err)"
"$sebays" eval run --quiet >out 2>err && fault 'a value: judged'
cp -r stopped forced
"$sebays" train iris.ini --out forced --resume --force --quiet >out 2>err ||
    fault "a value, --force: $(cat err)"

# Settings that follow from the number of rows: it is the rows that are named, not what was
# chosen for them; but of the recipe's own lines those.
cp whole.csv iris.csv
sed '/^delta_t/d; s/^explore_epochs.*/explore_epochs = 60/' iris.ini >open.ini
"$sebays" train open.ini --out open --quiet >out 2>err || fault "open: $(cat err)"
rm open/model.safetensors open/results.json
chosen=$(find open -name 'checkpoint-*' | sort -V | tail -n 1)
head -n 60 whole.csv >iris.csv
refused 2 "sebays train: $chosen: the data is not what it was: the number of training examples was 150 and is now 59; $anew" \
    train open.ini --out open --resume --quiet
cp whole.csv iris.csv
refused 2 "sebays train: $chosen: belongs to another recipe: \"seed = 1\" then, \"seed = 4\" now, in [train]; go on with the same recipe, or start anew in another directory" \
    train open.ini --out open --resume --quiet --set train.seed=4
refused 2 "sebays train: $chosen: belongs to another recipe: \"ignore =\" then, \"ignore = wide\" now, in [data]; go on with the same recipe, or start anew in another directory" \
    train open.ini --out open --resume --quiet --set data.ignore=wide
# How many rows validate follows from them, too.
awk 'BEGIN { for (i = 0; i < 3000; i++) print i * 7 % 23 "," i % 11 ",c" i % 3 }' >long.csv
sed 's/^set.*/set = long.csv/' iris.ini >long.ini
"$sebays" train long.ini --out long --quiet >out 2>err || fault "long: $(cat err)"
rm long/model.safetensors long/results.json
chosen=$(find long -name 'checkpoint-*' | sort -V | tail -n 1)
head -n 2800 long.csv >short.csv
mv short.csv long.csv
refused 2 "sebays train: $chosen: the data is not what it was: the number of training examples was 3000 and is now 2800; $anew" \
    train long.ini --out long --resume --quiet

# Other examples to be judged by need only mean the same.
head -n 100 whole.csv >iris.csv
"$sebays" eval run --quiet --test iris.csv >out 2>err || fault "--test: $(cat err)"

# The same data elsewhere is the same data.
mkdir elsewhere
mv whole.csv elsewhere/iris.csv
rm iris.csv
"$sebays" eval run --quiet --data-dir elsewhere >out 2>err || fault "elsewhere: $(cat err)"
"$sebays" train iris.ini --out stopped --resume --quiet --data-dir elsewhere >out 2>err ||
    fault "resumed elsewhere: $(cat err)"
cmp run/model.safetensors stopped/model.safetensors || fault 'resumed: another model'

# Kept in the results and the model, too.
grep -q '"rows": 150' run/results.json || fault 'results.json does not say what the data is'
grep -q '\\"rows\\":150' run/model.safetensors || fault 'the model does not say what the data is'

# Predictions: columns by name, their kinds and categories.
cd elsewhere || exit 1
sed '1s/wide/width/' iris.csv >named.csv
refused 1 'sebays predict: named.csv: line 1: there is no column wide, which the training data has' \
    predict ../run --input named.csv --quiet
sed '2s/^[^,]*,/small,/' iris.csv >kind.csv
refused 1 'sebays predict: kind.csv: line 2, column 1 (long): small is no number, as the column has in the training data' \
    predict ../run --input kind.csv --quiet
sed 's/blue/azure/' iris.csv >category.csv
"$sebays" predict ../run --input category.csv --quiet >out 2>err || fault "a category: $(cat err)"
exit $failed
