#!/bin/sh
# tables.sh SEBAYS TABLES - trains on tables as people do: one file, two files, a directory,
# an archive; what is kept for the test, and what is refused.
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

# recipe NAME LINES...: a short run on whatever the lines of [data] say
recipe()
{
    name=$1
    shift
    {
        echo '[data]'
        printf '%s\n' "$@"
        printf '[model]\narch = mlp-64-32\n[method]\nname = dnn\nexplore_epochs = 5\n'
        printf 'exploit_epochs = 15\n[train]\nbatch = 16\n'
    } >"$name.ini"
}

# accuracy NAME: of the network on the test part, in per cent without a fraction
accuracy()
{
    "$sebays" train "$1.ini" --out "$1" --quiet >out 2>err || {
        echo 0
        return
    }
    awk '$1 == "member" { printf "%d\n", 100 * $3 }' out
}

# learns NAME PER_CENT
learns()
{
    have=$(accuracy "$1")
    [ "$have" -ge "$2" ] || fault "$1: test accuracy $have %, want $2 or more: $(cat err)"
}

# refused NAME SENTENCE
refused()
{
    "$sebays" train "$1.ini" --out "$1" --quiet >out 2>err && fault "$1: it trained"
    [ "$(cat err)" = "sebays train: $2" ] || fault "$1: said '$(cat err)', want '$2'"
}

# One file: a fifth of each class is kept for the test, whatever the seed.
cp "$tables/iris.csv" iris.csv
recipe one 'set = iris.csv' 'split = stratified'
learns one 85
"$sebays" plan one.ini >out 2>err || fault "plan: $(cat err)"
grep -q '^data: 108 training, 12 validation, 30 test examples of 4 x 1 x 1, 3 classes$' out ||
    fault "plan: $(sed -n 2p out)"
recipe tail 'set = iris.csv'
refused tail 'iris.csv is sorted by class: its last 12 examples, which data.split = tail takes for validation, are of one class or all of it; say data.split = stratified'
recipe share 'set = iris.csv' 'split = stratified' 'test_share = 0.5'
"$sebays" plan share.ini >out 2>err
grep -q '^data: 67 training, 8 validation, 75 test ' out || fault "share: $(sed -n 2p out)"
"$sebays" train one.ini --out threads --quiet --threads 3 >out 2>err || fault "$(cat err)"
cmp one/model.safetensors threads/model.safetensors || fault 'threads change the model'

# Two files, found in --data-dir; the label by name and by number.
mkdir sets
awk -F, 'BEGIN { print "kind,a,b,c,d" } NR % 3 { print $5 "," $1 "," $2 "," $3 "," $4 }' \
    iris.csv >sets/flowers.csv
awk -F, '!(NR % 3) { print $5 "," $1 "," $2 "," $3 "," $4 }' iris.csv >sets/others.csv
recipe two 'set = flowers.csv' 'test = others.csv' 'label = kind' 'split = stratified'
"$sebays" train two.ini --out two --quiet --data-dir sets >out 2>err || fault "two: $(cat err)"
grep -q '"Iris-virginica' two/model.safetensors || fault 'two: the model has no class names'
grep -q '"columns":' two/model.safetensors || fault 'two: the model has no columns'
recipe number 'set = sets/flowers.csv' 'test = sets/others.csv' 'label = 1' 'split = stratified'
learns number 85
recipe same 'set = sets/flowers.csv' 'test = sets/flowers.csv' 'label = 1'
refused same 'data.test = sets/flowers.csv: that is what is trained on; leave it out, and data.test_share of it is kept for the test'
recipe absent 'set = sets/flowers.csv' 'label = colour'
refused absent 'sets/flowers.csv: there is no column colour to be the label; want a name of its first row or a number from 1 to 5'

# A directory with both parts; the test file's own words must be known.
mkdir both
awk -F, 'NR % 3' iris.csv >both/train.csv
awk -F, '!(NR % 3)' iris.csv >both/test.csv
recipe both 'set = both' 'split = stratified'
learns both 85
echo '1,2,3,4,Iris-blue' >>both/test.csv
recipe blue 'set = both' 'split = stratified'
refused blue 'both/test.csv: line 51, column 5: Iris-blue is not among the classes of both'

# Images and tables are not the same.
recipe crop 'set = iris.csv' 'split = stratified' 'augment = crop-flip'
refused crop 'iris.csv is a table; only images can be padded, cropped and mirrored: say data.augment = none'
exit $failed
