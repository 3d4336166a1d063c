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
recipe one 'set = iris.csv' 'split = stratified' 'validation = 0.1'
learns one 85
"$sebays" plan one.ini >out 2>err || fault "plan: $(cat err)"
grep -q '^data: 108 training, 12 validation, 30 test examples of 4 features, 3 classes$' out ||
    fault "plan: $(sed -n 2p out)"
recipe plain 'set = iris.csv' # sorted by class, and nobody says how to split
learns plain 85
recipe tail 'set = iris.csv' 'split = tail' 'validation = 0.1'
refused tail 'iris.csv is sorted by class: its last 12 examples, which data.split = tail takes for validation, are of one class or all of it; say data.split = stratified'
recipe share 'set = iris.csv' 'split = stratified' 'validation = 0.1' 'test_share = 0.5'
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

# ---- real tables: missing values, ids, groups, texts that are new ----
awk -F, 'BEGIN { print "id,patient,a,b,c,d,colour,on,when,kind" }
    { c = NR % 10 == 0 ? "" : NR % 3 ? "red" : "green"; a = NR % 7 ? $1 : "NA"
      print "f" NR ",p" int(NR / 5) "," a "," $2 "," $3 "," $4 "," c "," (NR % 2 ? "yes" : "No") \
          ",2024-01-" 10 + NR % 20 "," $5 }' iris.csv >real.csv
recipe dates 'set = real.csv' 'split = stratified' 'ignore = id, patient'
refused dates 'real.csv: column 9 (when) has dates or times, such as 2024-01-11 in line 2; make numbers of them (a year, a month, days since some day), or leave the column out with data.ignore = when'
recipe range 'set = real.csv' 'split = stratified' 'ignore = 1-2, 8 , 9-9'
learns range 85
"$sebays" data info real.csv --json --ignore 1-2,8,9-9 >out 2>err || fault "info: $(cat err)"
[ "$(grep -c '"kind": "not used"' out)" = 4 ] || fault "range: $(cat out)"
for bad in 9-8 0-2 2- -3 2-11 1-2-3; do
    recipe bad_range 'set = real.csv' "ignore = $bad"
    refused bad_range "real.csv: data.ignore: there is no column $bad; want a name of its first row or a number from 1 to 10"
done
recipe bad_range 'set = real.csv' 'ignore = 1-10'
refused bad_range 'real.csv: data.ignore: column 10 (kind) is the label'
recipe strict 'set = real.csv' 'split = stratified' 'ignore = id,patient,when' 'missing = error'
refused strict 'real.csv: line 8, column 3 (a): the value is missing; fill it in or leave the row out, or train with data.missing = impute'
for how in standard quantile pieces; do
    recipe real_$how 'set = real.csv' 'split = stratified' 'ignore = id,when' \
        'group = patient' "numeric = $how" 'pieces = 4'
    learns real_$how 85
    "$sebays" predict real_$how --input real.csv --keep id,patient >out 2>err ||
        fault "predict $how: $(cat err)"
    [ -s err ] && fault "predict $how says $(cat err)"
    [ "$(sed -n 2p out | cut -d, -f1-3)" = '0,f1,p0' ] || fault "kept: $(sed -n 2p out)"
    "$sebays" eval real_$how --quiet >out 2>err || fault "eval $how: $(cat err)"
    "$sebays" train real_$how.ini --out real_${how}_3 --quiet --threads 3 >out 2>err ||
        fault "$(cat err)"
    cmp real_$how/model.safetensors real_${how}_3/model.safetensors ||
        fault "$how: threads change the model"
done
grep -q '"scale\\":\\"pieces' real_pieces/model.safetensors || fault 'no pieces in the model'
"$sebays" plan real_pieces.ini >out 2>err || fault "plan: $(cat err)"
grep -q 'examples of 21 features, 3 classes$' out || fault "pieces: $(sed -n 2p out)"

# The same rows give the same answers from a file, and whatever else is in the table.
"$sebays" predict real_pieces --input real.csv --quiet >all.out
awk -F, 'NR == 1 || NR > 101 { print $10 "," $8 "," $7 "," $6 "," $5 "," $4 "," $3 }' real.csv |
    "$sebays" predict real_pieces --input - --quiet | tail -n +2 | cut -d, -f2- >part.out
tail -n 50 all.out | cut -d, -f2- | cmp - part.out || fault 'columns in another order, some rows'

# A text that only the test part has.
mkdir new
awk 'NR == 1 || NR % 3' real.csv >new/train.csv
awk 'NR == 1 || !(NR % 3)' real.csv | sed '3s/red\|green/mauve/' >new/test.csv
recipe new 'set = new' 'split = stratified' 'ignore = id,when,patient'
"$sebays" train new.ini --out new.run >out 2>err || fault "new: $(cat err)"
grep -q 'warning: new: 1 of 50 rows of the test part have a text that the training part does not have, first in column 7 (colour); they count as none of its texts' err ||
    fault "new: $(cat err)"
"$sebays" data info real.csv >out 2>err || fault "info: $(cat err)"
for want in 'id +category +0.00 % +150 texts' 'a +number +14.00 % +4.4 .. 7.9, mean ' \
    'colour +category +10.00 % +2 texts' 'on +boolean +0.00 % +0 .. 1, mean 0.5, sd 0.5' \
    'when +dates +0.00 % +-' 'kind +label +0.00 % +3 texts'; do
    grep -Eq "^ +[0-9]+ +$want" out || fault "info: no '$want' in $(cat out)"
done
"$sebays" data info real.csv --json --ignore id,when >out 2>err || fault "info: $(cat err)"
grep -q '"kind": "not used"' out || fault 'info: ignored columns are used'
printf '1.5,2\n2.5,3.25\n' >numbers.csv
"$sebays" data info numbers.csv >out 2>err || fault "info of numbers: $(cat err)"
recipe nogroup 'set = iris.csv' 'group = site' 'split = stratified'
refused nogroup 'iris.csv: data.group: there is no column site; want a number from 1 to 5'

# Arrays have no columns by name: something else than what was asked for would be learned.
"$sebays" data convert iris.csv --out arrays >out 2>err || fault "convert: $(cat err)"
for named in 'label = petal' 'ignore = 2' 'group = site'; do
    recipe by_name 'set = arrays' "$named"
    refused by_name "data.$named: arrays is no table as text; only those have columns by name; leave it out"
done
recipe by_name 'set = arrays' 'label = y'
learns by_name 85

recipe all_tested 'set = iris.csv' 'test_share = 0.999'
refused all_tested 'iris.csv has 150 examples, of which data.test_share = 0.999 leaves none to train on; say a smaller one'

# Paths and lists are as long as the system's, in recipes and beside them.
long=$(awk 'BEGIN { while (n++ < 20) printf "a-directory-whose-name-is-long-%d/", n }')
mkdir -p "$long"
awk 'BEGIN { while (n++ < 70) printf "a_column_with_a_name_%d,", n; print "kind" }' >"$long/wide.csv"
awk -F, '{ for (n = 0; n < 17; n++) printf "%s,%s,%s,%s,", $1, $2, $3, $4; print $1 "," $3 "," $5 }' \
    iris.csv >>"$long/wide.csv"
recipe long "set = $PWD/${long}wide.csv" \
    "ignore = $(awk 'BEGIN { while (n++ < 50) printf "a_column_with_a_name_%d,", n }')"
learns long 85
"$sebays" train "${long}wide.csv" --out long.2 --quiet >out 2>err || fault "long: $(cat err)"
[ -s err ] && fault "long: $(cat err)"
for run in long long.2; do
    (cd / && "$sebays" eval "$work/$run" --quiet >"$work/out" 2>"$work/err") ||
        fault "$run: $(cat err)"
done

# Images and tables are not the same.
"$sebays" train iris.csv --set model.arch=lenet --out lenet >out 2>err && fault 'lenet on a table: it trained'
[ "$(tail -n 1 err)" = "sebays train: architecture 'lenet' on 1 x 1: it is for images of 16 x 16 or more; want mlp-H1-H2..., such as mlp-128-64" ] ||
    fault "lenet: $(cat err)"
recipe crop 'set = iris.csv' 'split = stratified' 'augment = crop-flip'
refused crop 'iris.csv is a table; only images can be padded, cropped and mirrored: say data.augment = none'

# Rows of weight 0 are as if they were not there; continuous targets have weights, too.
awk -F, -v OFS=, '{ print $1, $2, $3, $4, 1 + NR % 2, $5 }' iris.csv >some.csv
awk -v OFS=, '{ print } NR % 4 == 0 { print 9, 9, NR % 7, 9, 0, "Iris-setosa" }' some.csv >more.csv
for name in some more; do
    "$sebays" train $name.csv --set data.weight=5 --set data.test_share=0.2 --quiet \
        --out weighed-$name >out 2>err || fault "weights of 0: $(cat err)"
    "$sebays" predict weighed-$name --input some.csv --far >$name.out 2>err ||
        fault "weights of 0: $(cat err)"
done
cmp some.out more.out || fault 'rows of weight 0 are there'
cut -d, -f1-5 more.csv | awk -F, -v OFS=, '{ print $1, $2, $3, $5, $4 + 0.25 }' >outcome.csv
"$sebays" train outcome.csv --set data.weight=4 --quiet --out weighed-outcome >out 2>err ||
    fault "weights of outcomes: $(cat err)"

# A column that names rows is told of, once it is used.
awk -F, -v OFS=, '{ print "row" NR, $1, $2, $3, $4, $5 }' iris.csv >named.csv
"$sebays" train named.csv --out named --quiet >out 2>err || fault "named rows: $(cat err)"
grep -q 'named.csv: column 1 has 150 different texts in 150 rows: .* data.ignore = 1;' err ||
    fault "named rows: $(cat err)"
"$sebays" train named.csv --set data.ignore=1 --out unnamed --quiet >out 2>err ||
    fault "named rows: $(cat err)"
grep -q 'different texts' err && fault "an ignored column is told of: $(cat err)"
exit $failed
