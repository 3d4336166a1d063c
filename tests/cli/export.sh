#!/bin/sh
# export.sh SEBAYS TABLES - sebays export as people run it: what it writes, exact sentences,
# and that a failure leaves what was there.
set -u
sebays=$1
tables=$2
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1

# shellcheck source=tests/cli/expect.sh
. "$here/expect.sh"

cat >iris.ini <<END
[data]
set = $tables/iris.csv
split = stratified
[model]
arch = mlp-8
[method]
name = sebays
members = 2
explore_epochs = 1
exploit_epochs = 1
END
"$sebays" train iris.ini --out run --quiet >out || exit 1
model=run/model.safetensors

# exports FILE ARGUMENTS...: nothing is said
exports()
{
    file=$1
    shift
    "$sebays" export "$@" --out "$file" --quiet >out 2>err || fault "export $*: exit code $?"
    [ -s out ] || [ -s err ] && fault "export $*: said '$(cat out err)'"
    [ -s "$file" ] || fault "export $*: no $file"
}

"$sebays" export --help | grep -q '^  sebays export runs/quickstart --format npz' ||
    fault 'no example in the help'
"$sebays" --help | grep -q '^  export ' || fault 'sebays --help does not name it'

exports a run --format safetensors-dense
exports b $model --format safetensors-dense
cmp a b || fault 'a run and its model file give different exports'
exports c run --format npz
head -c 2 c | grep -q '^PK' || fault 'an npz file is no archive'
exports d run --format npz --samples draw
cmp c d || fault 'draw is not the default'
exports e run --format npz --samples mean
cmp -s c e && fault 'means equal a draw'
exports f run --format npz --member 1 --sigma
grep -q 'member.1.0.weight_sigma' f || fault 'no deviations'
grep -q 'member.0.0.weight' f && fault 'a member nobody asked for'
exports g run --format onnx
grep -q 'member.1.0.weight' g || fault 'an ONNX graph without the weights of a member'
"$sebays" export run --format npz --out c 2>err || fault 'an export cannot be replaced'
grep -q '^export  100 %' err || fault "progress said '$(cat err)'"

# ---- refusals: the file that was there stays ----
sum=$(cksum c)
refused 2 'sebays export: say which format, with --format safetensors-dense, npz or onnx' \
    export run --out c
refused 2 'sebays export: say where to, with --out FILE' export run --format npz
refused 2 'sebays export: want a MODEL|RUN; see '\''sebays export --help'\' \
    export --format npz --out c
refused 2 "sebays export: there is no format 'pickle'; want safetensors-dense, npz or onnx" \
    export run --format pickle --out c
refused 2 'sebays export: an ONNX graph predicts and has no place for deviations; export them as safetensors-dense or npz' \
    export run --format onnx --sigma --out c
refused 2 'sebays export: there is no member 2; the model has 2, counted from 0' \
    export run --format npz --out c --member 2
refused 2 'sebays export: --member -1: want a whole number from 0' \
    export run --format npz --out c --member -1
refused 2 'sebays export: --member 1.5: want a whole number from 0' \
    export run --format npz --out c --member=1.5
refused 2 'sebays export: samples 3: want draw or mean' \
    export run --format npz --out c --samples 3
refused 2 'sebays export: --samples: want N, draw, mean or noise, have nothing' \
    export run --format npz --out c --samples
refused 2 "sebays export: $model is the model itself; give the export another name" \
    export run --format npz --out $model
ln -s $model link
refused 2 'sebays export: link is the model itself; give the export another name' \
    export run --format npz --out link
refused 1 'sebays export: cannot read none: No such file or directory' \
    export none --format npz --out c
mkdir empty
refused 1 "sebays export: empty has no model.safetensors; want a model file, or a directory that 'sebays train' made" \
    export empty --format npz --out c
refused 1 'sebays export: cannot create nowhere/c: No such file or directory' \
    export run --format npz --out nowhere/c --quiet
head -c 2000 $model >short
refused 1 "sebays export: $("$sebays" inspect short 2>&1 | sed 's/^sebays inspect: //')" \
    export short --format npz --out c
refused 1 'sebays export: a: metadata "format" is "sebays-dense", not "sebays-model"; want the model.safetensors of a run directory' \
    export a --format npz --out c
(
    trap '' XFSZ # then a write beyond the limit fails as one to a full disk does
    ulimit -f 2
    "$sebays" export run --format npz --out c --quiet >out 2>err
    [ $? -eq 1 ] && [ "$(cat err)" = 'sebays export: cannot write c: File too large' ]
) || fault "a file that cannot grow: said '$(cat err)'"
[ "$(cksum c)" = "$sum" ] || fault 'a refused export changed the file that was there'
[ "$(find . -name '*.tmp' | wc -l)" = 0 ] || fault 'a temporary file is left'
exit "${failed:-1}"
