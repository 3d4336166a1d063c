#!/bin/sh
# data.sh SEBAYS - sebays data info, list and convert as people run them, on small sets made
# on the spot. Fetching has fetch.py.
set -u
sebays=$1
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
export XDG_DATA_HOME="$work/share"
# shellcheck source=tests/cli/expect.sh
. "$here/expect.sh"

# works ARGUMENTS...: into out
works()
{
    "$sebays" data "$@" >out 2>err || fault "data $*: exit code $?: $(cat err)"
    [ -s err ] && fault "data $*: said '$(cat err)'"
}

has()
{
    grep -qF -- "$1" out || fault "no '$1' in: $(cat out)"
}

# Four images of 1 x 2 pixels with labels 0 1 2 1, as MNIST's files.
mkdir digits
printf '\0\0\10\3\0\0\0\4\0\0\0\1\0\0\0\2\0\377\0\377\377\377\0\0' \
    >digits/train-images-idx3-ubyte
printf '\0\0\10\1\0\0\0\4\0\1\2\1' >digits/train-labels-idx1-ubyte

works info digits
has 'format     idx'
has 'shape      1 x 2 pixels, 1 channel'
has 'mean       0.5'
has 'sd         0.5'
has '1           2   50.00 %'
works info digits --json
if command -v python3 >/dev/null; then
    python3 -c 'import json, sys
d = json.load(open("out"))
assert d["examples"] == 4 and d["shape"] == [1, 2, 1] and d["mean"] == [0.5], d
assert [c["count"] for c in d["classes"]] == [1, 2, 1], d' || fault 'the JSON is wrong'
else
    echo 'NOT TESTED: the JSON of data info (needs python3)'
fi
"$sebays" data info digits --sheet sheet.png >out 2>err
if grep -q 'no libpng' err; then
    echo 'NOT TESTED: contact sheets (needs libpng)'
else
    head -c 8 sheet.png | od -An -tx1 | grep -q '89 50 4e 47 0d 0a 1a 0a' ||
        fault 'the sheet is no PNG'
fi

# A set with a test split only is looked at by its test split.
mkdir tested
for f in images-idx3 labels-idx1; do
    cp digits/train-$f-ubyte tested/t10k-$f-ubyte
done
works info tested
has 'split      test'
refused 1 'sebays data info: there is no tested/train-images-idx3-ubyte or .gz: tested has no train split' \
    data info tested --split train
refused 2 'sebays data info: --split all: want train or test' data info digits --split all
refused 1 'sebays data info: there is no file nono, and no data set of that name in data, '"$work"'/share/sebays or /usr/share/datasets; give its path, or the directory that has it' \
    data info nono
refused 1 "sebays data info: there is no data set cifar10 in data, $work/share/sebays or /usr/share/datasets; get it with 'sebays data fetch cifar10', or give its path" \
    data info cifar10
refused 2 "sebays data info: want a PATH|NAME; see 'sebays data info --help'" data info
refused 2 "sebays data: there is no 'inof'; see 'sebays data --help'" data inof
refused 2 'sebays data convert: say where to with --out DIR' data convert digits

# Found by name, where fetch would put it.
mkdir -p share/sebays
cp -r digits share/sebays/mnist
works info mnist
has "path       $work/share/sebays/mnist"
works list
has "$work/share/sebays/mnist"
has 'not here: sebays data fetch cifar100-c'
works list --data-dir elsewhere
has 'not here: sebays data fetch mnist'

cp tested/* digits/
works convert digits --out npy
has 'files in npy'
for f in x_train y_train x_test y_test; do
    [ -s npy/$f.npy ] || fault "convert wrote no $f.npy"
done
works info npy
has 'examples   4'
has 'mean       0.5'
has '1           2   50.00 %'
printf 'none\nsome\nmany\nmore\n' >npy/class_names.txt
works info npy
has 'classes    4'
has 'some         2   50.00 %'
printf 'one\n' >npy/class_names.txt
refused 1 'sebays data info: npy/class_names.txt: 1 class names, want 3; fetch it again or remove it' \
    data info npy --split train
works convert tested --out only
[ -e only/x_train.npy ] && fault 'convert made up a train split'
[ -s only/x_test.npy ] || fault 'convert left the test split out'

for part in info list fetch convert; do
    works $part --help
    has "usage: sebays data $part"
    has 'example'
done
exit $failed
