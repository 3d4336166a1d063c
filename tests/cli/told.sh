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
    "$sebays" train "$data" --out "$name" --quiet --set model.arch=mlp-8 \
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
exit $failed
