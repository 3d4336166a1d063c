#!/bin/sh
# predict.sh SEBAYS TABLES IMAGES - sebays predict on tables and images: the formats agree, a
# pipe gives what a file gives, threads change nothing, memory stays small, refusals.
set -u
sebays=$1 tables=$2 images=$3
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
export XDG_DATA_HOME=/nowhere

# shellcheck source=tests/cli/expect.sh
. "$here/expect.sh"

# train NAME LINES...: a very short run on what the lines of [data] say
train()
{
    name=$1
    shift
    {
        echo '[data]'
        printf '%s\n' "$@"
        printf '[model]\narch = %s\n[method]\nname = sebays\nmembers = 3\n' "$arch"
        printf 'explore_epochs = 2\nexploit_epochs = 1\ndelta_t = 2\n[train]\nbatch = 16\n'
    } >"$name.ini"
    "$sebays" train "$name.ini" --out "$name" --quiet >out 2>err
}

# predict OUT ARGUMENTS...: with the model of a table
predict()
{
    to=$1
    shift
    "$sebays" predict flowers "$@" >"$to" 2>err || fault "predict $*: $(cat err)"
}

# same A B WHAT
same()
{
    cmp "$1" "$2" || fault "$3"
}

# ---- a table with names, a category, and a label in front ----
{
    echo 'kind,a,b,c,colour,"d, or not"'
    awk -F, '{ print $5 "," $1 "," $2 "," $3 "," (NR % 2 ? "red" : "\"deep \"\"blue\"\"\"") "," $4 }' \
        "$tables/iris.csv"
} >flowers.csv
arch=mlp-16-8
train flowers 'set = flowers.csv' 'label = kind' 'split = stratified' ||
    { fault "train: $(cat err)"; exit 1; }

predict all.csv --input flowers.csv
[ "$(head -n 1 all.csv)" = 'index,class,probability,total,aleatoric,epistemic,votes' ] ||
    fault "the first row is $(head -n 1 all.csv)"
[ "$(cut -d, -f1 all.csv | tail -n +2 | tr '\n' ' ')" = "$(seq 0 149 | tr '\n' ' ')" ] ||
    fault 'rows are missing or out of order'
cut -d, -f2 all.csv | tail -n +2 | grep -qv '^Iris-' && fault 'a class has no name'
[ -s err ] && fault "predict says $(cat err)"

# However the same table comes: a pipe, no label, other places, no names, gzip, other threads.
predict other.csv --input - <flowers.csv && same all.csv other.csv 'a pipe'
cut -d, -f2- flowers.csv >bare.csv
predict other.csv --input bare.csv && same all.csv other.csv 'a table without the label'
awk -F, 'NR == 1 { print "d, or not" "\tid\tcolour\ta\tb\tc\tkind"; next }
    { print $6 "\t" NR "\t" $5 "\t" $2 "\t" $3 "\t" $4 "\tnobody knows" }' flowers.csv >moved.tsv
predict other.csv --input moved.tsv && same all.csv other.csv 'columns in another order'
tail -n +2 flowers.csv | predict other.csv --input - && same all.csv other.csv 'no names'
tail -n +2 bare.csv | predict other.csv --input - && same all.csv other.csv 'no names, no label'
gzip -c flowers.csv >flowers.csv.gz
predict other.csv --input flowers.csv.gz && same all.csv other.csv 'a gzipped table'
mkdir parts && cp flowers.csv parts/test.csv
predict other.csv --input parts && same all.csv other.csv 'a directory with a test part'
for threads in 1 2 3; do
    predict other.csv --input flowers.csv --threads $threads
    same all.csv other.csv "$threads threads"
done
# A pipe that gives a few bytes at a time.
dd if=flowers.csv bs=7 2>/dev/null | predict other.csv --input - && same all.csv other.csv 'bytes'
predict none --input flowers.csv --out file.csv && same all.csv file.csv 'a file'
[ -s none ] && fault 'rows on standard output, too'
predict out --input - <flowers.csv --samples mean && cmp -s all.csv out && fault 'means are draws'
predict one.csv --input flowers.csv --samples 1 && same all.csv one.csv 'one draw'
predict one.csv --input flowers.csv --samples draw && same all.csv one.csv draw
predict n1.csv --input flowers.csv --samples noise --threads 1
predict n2.csv --input - --samples noise <flowers.csv && same n1.csv n2.csv 'noise of a pipe'
predict out --input - </dev/null
[ "$(cat out)" = "$(head -n 1 all.csv)" ] || fault 'an empty pipe'

# Texts and gaps that training never saw are told of by eval --test as by predict.
sed '3s/red/purple/; 3s/"deep ""blue"""/purple/; 5s/,[0-9.]*,/,,/' flowers.csv >odd.csv
"$sebays" eval flowers --test odd.csv >out 2>err || fault "eval of odd rows: $(cat err)"
grep -q '^warning: odd.csv: 2 values that training never saw (texts of no category: 1, missing where none was: 1); the first is in example 1 (from 0), column 5 (colour)$' err ||
    fault "eval of odd rows says '$(cat err)'"
"$sebays" eval flowers --test flowers.csv >out 2>err || fault "eval of own rows: $(cat err)"
grep -q 'never saw' err && fault "eval of own rows says '$(cat err)'"

# The formats say the same.
predict full.csv --input flowers.csv --probabilities --members --top 3 --reject-above 1.0
grep -q '^[1-9][0-9]* of 150 rejected: total entropy above 1 nats$' err ||
    fault "rejecting says $(cat err)"
predict full.json --input flowers.csv --probabilities --members --top 3 --reject-above 1.0 \
    --format json
predict out --input flowers.csv --format npy --out full.npy
if command -v python3 >/dev/null; then
    python3 "$here/predict.py" full.csv full.json full.npy || fault 'the formats differ'
else
    echo 'NOT TESTED: whether the formats of sebays predict agree (needs python3)'
fi

# Names that a spreadsheet would compute, and what a process that died left half written.
sed 's/Iris-setosa/=1+1/; s/Iris-virginica/@SUM(1)/' flowers.csv >formulas.csv
train formulas 'set = formulas.csv' 'label = kind' 'split = stratified' || fault 'formulas: train'
"$sebays" predict formulas --input formulas.csv --top 3 --quiet >plain 2>err || fault "formulas: $(cat err)"
"$sebays" predict formulas --input formulas.csv --top 3 --quiet --csv-safe >safe 2>err ||
    fault "--csv-safe: $(cat err)"
grep -q ",=1+1," plain || fault 'a name is changed although nobody asked for it'
grep -q ",'=1+1," safe || fault '--csv-safe leaves a formula'
grep -q ",[=@]" safe && fault '--csv-safe leaves a formula'
touch -d '1 hour ago' left.csv.1.tmp left.csv.4194304.tmp left.csv.old.tmp
"$sebays" predict flowers --input flowers.csv --quiet --out left.csv 2>err || fault "left: $(cat err)"
[ "$(echo left.csv*)" = 'left.csv left.csv.old.tmp' ] || fault "left behind: $(echo left.csv*)"

predict out --input flowers.csv --quiet --reject-above 0
[ -s err ] && fault "quiet says $(cat err)"
[ "$(tail -n +2 out | cut -d, -f2,8 | sort -u)" = ',1' ] || fault 'not all are rejected'

# Answers come as rows do, and 300000 rows, 70 MB, need no more memory than the first ones.
# rows FILE COUNT: waits until $predictor has written as many
rows()
{
    while kill -0 $predictor 2>/dev/null; do
        [ -e "$1" ] && [ "$(wc -l <"$1")" -ge "$2" ] && return
        sleep 0.1
    done
    fault "$1 did not get $2 rows: $(cat err)"
}
peak() # KiB that the process needed at most
{
    awk '$1 == "VmHWM:" { print $2 }' "/proc/$1/status" 2>/dev/null
}
mkfifo pipe
"$sebays" predict flowers --input - --quiet --threads 1 <pipe >many.csv 2>err &
predictor=$!
exec 3>pipe
sed 's/^/note,/' flowers.csv >&3
rows many.csv 151
cmp all.csv many.csv || fault 'rows wait for others'
before=$(peak $predictor)
awk 'BEGIN {
    note = sprintf("%200s", "")
    gsub(" ", "x", note)
    for (i = 0; i < 300000; i++)
        print note ",," i % 7 ",3." i % 10 ",1.4,red,0.2"
}' >&3
rows many.csv 300151
after=$(peak $predictor)
exec 3>&-
wait $predictor || fault "300000 rows: $(cat err)"
[ "$(tail -n 1 many.csv | cut -d, -f1)" = 300149 ] || fault "at last $(tail -n 1 many.csv)"
if [ -z "$before" ] || [ -z "$after" ]; then
    echo 'NOT TESTED: memory of sebays predict (needs /proc)'
elif [ "$after" -gt $((before + 20000)) ]; then
    fault "$before KiB became $after KiB"
fi

# Ctrl-C leaves nothing behind; nobody to read the rows.
"$sebays" predict flowers --input - <pipe >slow.csv 2>err &
predictor=$!
exec 3>pipe
head -n 3 flowers.csv >&3
rows slow.csv 3
kill -INT $predictor
wait $predictor
[ $? -eq 130 ] && [ "$(tail -n 1 err)" = 'sebays predict: stopped' ] || fault "SIGINT: $(cat err)"
exec 3>&-
"$sebays" predict flowers --input - --out stopped.csv <pipe >out 2>err &
predictor=$!
exec 3>pipe
head -n 3 flowers.csv >&3
rows stopped.csv.$predictor.tmp 3
kill -INT $predictor
wait $predictor
[ "$(tail -n 1 err)" = 'sebays predict: stopped; nothing was written' ] || fault "SIGINT: $(cat err)"
exec 3>&-
ls stopped.csv* 2>/dev/null && fault 'a half-written file'
"$sebays" predict flowers --input flowers.csv 2>err | head -n 1 >out
[ -s err ] && fault "a closed pipe: $(cat err)"
if [ -w /dev/full ]; then
    refused 1 'sebays predict: cannot write /dev/full: No space left on device' \
        predict flowers --input flowers.csv --out /dev/full
fi

# What training did not see counts as nothing known, and is told.
cat >new.csv <<END
id,a,b,c,colour,"d, or not"
x1,1,2,3,red,4
"x,2",1,2,3,green,4
x3,NA,2,3,red,4
END
"$sebays" predict flowers --input new.csv --keep id,a >out 2>err || fault "new values: $(cat err)"
want='sebays predict: warning: 2 values that training never saw (texts of no category: 1, missing where none was: 1); the first is in line 3, column 5 (colour)'
[ "$(cat err)" = "$want" ] || fault "new values: said '$(cat err)'"
[ "$(cut -d, -f1-3 out | tr '\n' ' ')" = 'index,id,a 0,x1,1 1,"x,2" 2,x3,NA ' ] ||
    fault "what is kept: $(cat out)"
"$sebays" predict flowers --input new.csv --keep 1 --format json --quiet 2>err | sed -n 2p >out
grep -q '^{"index":1,"kept":{"1":"x,2"},"class":"' out || fault "kept, as JSON: $(cat out)"
[ -s err ] && fault "quiet says $(cat err)"
refused 2 'sebays predict: new.csv: there is no column nobody to keep; want a name of its first row or a number from 1 to 6' \
    predict flowers --input new.csv --keep nobody
refused 2 'sebays predict: new.csv: there is no column color to keep; want a name of its first row or a number from 1 to 6; the nearest is colour' \
    predict flowers --input new.csv --keep color

# What cannot be read is named, once the rows before it are out.
want='index,class,probability,total,aleatoric,epistemic,votes'
bad()
{
    sentence=$1 rows=$2
    "$sebays" predict flowers --input - >out 2>err
    code=$?
    [ $code -eq 1 ] || fault "$sentence: exit code $code"
    [ "$(cat err)" = "sebays predict: standard input: $sentence" ] ||
        fault "said '$(cat err)', want '$sentence'"
    [ "$(wc -l <out)" -eq "$rows" ] || fault "$sentence: $(wc -l <out) rows"
    [ "$rows" -eq 0 ] || [ "$(head -n 1 out)" = "$want" ] || fault "$sentence: no first row"
}
bad 'line 2, column 2 (b): x is no number, as the column has in the training data' 2 <<END
1,2,3,red,4
1,x,3,red,4
END
bad 'line 1: there is no column c, which the training data has' 0 <<END
a,b,colour,"d, or not"
1,2,red,4
END
bad 'line 1: two columns have the name a' 0 <<END
a,b,c,a,colour,"d, or not"
END
bad 'line 1 has 3 fields; want the 6 columns of the training data, with or without the label' 0 <<END
1,2,3
END
bad 'line 2 has 4 fields, the first row has 5; every row must have as many' 2 <<END
1,2,3,red,4
1,2,3,red
END
bad 'line 2: a quote is not closed' 2 <<END
1,2,3,red,4
1,2,3,"red,4
END
# What is read is not written.
ln -s flowers.csv by-another-name.csv
for out in flowers.csv ./by-another-name.csv; do
    refused 2 "sebays predict: --out $out would replace what is predicted from; give the predictions another name" \
        predict flowers --input flowers.csv --out $out
done
: >flowers/trajectory.npy # of a run that records one
for out in flowers/model.safetensors flowers/recipe.ini flowers/trajectory.npy; do
    refused 2 "sebays predict: --out $out would replace a file of the model's run; give the predictions another name" \
        predict flowers --input flowers.csv --out $out
done
rm flowers/trajectory.npy
predict again.csv --input flowers.csv
same again.csv all.csv 'a refused prediction changed something'

refused 1 'sebays predict: there is no data set at ./none.csv' predict flowers --input ./none.csv
refused 1 'sebays predict: cannot read nowhere/model.safetensors: No such file or directory' \
    predict nowhere/model.safetensors --input flowers.csv
mkdir begun
cp flowers/recipe.ini begun
refused 1 'sebays predict: begun has no model.safetensors: its training has not ended; go on with: sebays train begun/recipe.ini --out begun --resume' \
    predict begun --input flowers.csv
refused 2 'sebays predict: say what to predict with --input FILE, --input DIR, or --input - for standard input' \
    predict flowers
refused 2 'sebays predict: --format xml: want csv, json or npy' \
    predict flowers --input flowers.csv --format xml
refused 2 'sebays predict: --samples 0: want a number of draws from 1 to 1000000, draw, mean or noise' \
    predict flowers --input flowers.csv --samples 0
refused 2 'sebays predict: --top 4: want a number from 1 to 3, the classes of the model' \
    predict flowers --input flowers.csv --top 4
refused 2 'sebays predict: --reject-above -1: want nats, a number from 0' \
    predict flowers --input flowers.csv --reject-above -1
refused 2 'sebays predict: --format npy is the array of probabilities; leave --top, --members, --probabilities, --reject-above, --far and --keep out' \
    predict flowers --input flowers.csv --format npy --top 2
refused 2 'sebays predict: an array begins with its size, and that of a table is known at its end; name a file with --out' \
    predict flowers --input - --format npy
refused 1 'sebays predict: cannot write nowhere/x.csv: No such file or directory' \
    predict flowers --input flowers.csv --out nowhere/x.csv
printf '\0\0\010\003\0\0\0\002\0\0\0\002\0\0\0\002abcdefgh' >t10k-images-idx3-ubyte
refused 2 'sebays predict: ./t10k-images-idx3-ubyte has images of 1 x 2 x 2, but the model takes rows of 5 features' \
    predict flowers --input ./t10k-images-idx3-ubyte

# ---- images ----
mkdir -p pets/grey pets/colour flat
for copy in 1 2 3 4 5 6; do
    cp "$images/grey8.png" "pets/grey/$copy.png"
    cp "$images/photo.jpg" "pets/colour/$copy, \"my\".jpg"
done
arch=lenet
train pets-run 'set = ./pets' 'size = 20x16' 'split = stratified'
if grep -q 'was built without' err; then
    echo 'NOT TESTED: sebays predict on image files (needs libpng and libjpeg)'
    exit "$failed"
fi
"$sebays" predict pets-run --input ./pets >out 2>err || fault "pets: $(cat err)"
[ "$(head -n 2 out | cut -d, -f1,2)" = "$(printf 'index,file\n0,"colour/1')" ] ||
    fault "files are not named: $(head -n 2 out)"
grep -q '^0,"colour/1, ""my"".jpg",' out || fault 'a name with quotes'
"$sebays" predict pets-run --input ./pets --threads 2 >two 2>err && same out two 'images'
cp pets/grey/* "pets/colour/1, \"my\".jpg" flat
"$sebays" predict pets-run --input ./flat >flat.csv 2>err || fault "flat: $(cat err)"
[ "$(sed -n 's/^1,1.png,//p' flat.csv)" = "$(sed -n 's|^6,grey/1.png,||p' out)" ] ||
    fault 'an image depends on its folder'

# How far from training rows: the same of one image, of a network that takes it in bands of
# rows, and of many, on any kernels.
arch=wrn-10-1
train pets-wrn 'set = ./pets' 'size = 16x16' 'split = stratified'
"$sebays" predict pets-wrn --input ./pets --far >far.csv 2>err || fault "far: $(cat err)"
[ "$(head -n 1 far.csv)" = 'index,file,class,probability,total,aleatoric,epistemic,votes,far' ] ||
    fault "far: $(head -n 1 far.csv)"
"$sebays" predict pets-wrn --input ./pets --far --isa scalar --threads 3 >two 2>err &&
    same far.csv two 'far with other kernels'
"$sebays" predict pets-wrn --input flat/1.png --far >one.csv 2>err || fault "far: $(cat err)"
[ "$(sed -n 's/^0,1.png,//p' one.csv)" = "$(sed -n 's|^6,grey/1.png,||p' far.csv)" ] ||
    fault "far of one image: $(cat one.csv) $(cat far.csv)"
"$sebays" predict pets-wrn --input ./pets --far --format json 2>err | grep -q ',"far":0\.[0-9]*,"votes"' ||
    fault "far as JSON: $(cat err)"
"$sebays" predict pets-wrn --input ./pets --far --format npy --out x.npy 2>err && fault 'an array of far'
arch=lenet
(cd flat && "$sebays" predict ../pets-run --input 2.png --format json) >one.json 2>err ||
    fault "one image: $(cat err)"
grep -q '^{"index":0,"file":"2.png","class":"[a-z]*","label":[01],' one.json ||
    fault "one image: $(cat one.json)"
rm -r pets/grey
"$sebays" predict pets-run --input ./pets >one.csv 2>err || fault "one class: $(cat err)"
[ "$(wc -l <one.csv)" -eq 7 ] || fault 'one class is not all of it'
"$sebays" predict pets-run --input ./t10k-images-idx3-ubyte >out 2>err || fault "fit: $(cat err)"
[ "$(wc -l <out)" -eq 3 ] || fault 'small grey images are not made to fit'
refused 2 'sebays predict: flowers.csv is a table, but the model takes images of 3 x 20 x 16' \
    predict pets-run --input flowers.csv
refused 2 'sebays predict: standard input is a table, but the model takes images of 3 x 20 x 16' \
    predict pets-run --input -
cp flowers.csv flat/broken.png
refused 1 'sebays predict: ./flat/broken.png: it does not begin like a PNG or JPEG file' \
    predict pets-run --input ./flat
exit $failed
