#!/bin/sh
# sweep.sh SEBAYS TABLES - a sweep does not pass old figures off as new ones, and one run that
# fails does not keep the others from being trained.
set -u
sebays=$1 tables=$2
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
# shellcheck source=tests/cli/expect.sh
. "$here/expect.sh"

cp "$tables/iris.csv" iris.csv
cat >iris.ini <<'END'
[data]
set = iris.csv
[model]
arch = mlp-16
[method]
name = dnn
explore_epochs = 2
exploit_epochs = 2
[train]
batch = 16
END

# One learning rate makes the loss infinite; it is named, the others have figures.
"$sebays" sweep iris.ini --vary train.lr=0.05,1000,0.1 --out sweep --quiet >out 2>err
code=$?
[ $code -eq 1 ] || fault "a run diverges: exit code $code"
[ "$(grep -c '^train.lr=.* 0\.[0-9]' out)" = 2 ] || fault "a run diverges: $(cat out)"
grep -q '^train.lr=1000  *failed$' out || fault "a run diverges: $(cat out)"
grep -q '^sebays sweep: train.lr=1000: training diverged' err || fault "why: $(cat err)"
grep -q '^sebays sweep: 1 of 3 runs failed; the table names them$' err || fault "sum: $(cat err)"

# Again, with and without a failure: what is finished is shown as it is.
"$sebays" sweep iris.ini --vary train.lr=0.05,1000,0.1 --out sweep --resume --quiet >again 2>err
[ $? -eq 1 ] || fault 'again: the failure is forgotten'
cmp -s out again || fault 'again: other figures'
"$sebays" sweep iris.ini --vary train.lr=0.05,0.1 --out sweep --resume --quiet >again 2>err ||
    fault "again without it: $(cat err)"

# Another recipe under the same names.
"$sebays" sweep iris.ini --vary train.lr=0.05,0.1 --set train.seed=7 --out sweep --resume \
    --quiet >out 2>err
code=$?
[ $code -eq 1 ] || fault "another recipe: exit code $code"
grep -q '^sebays sweep: train.lr=0.05: train.seed was .1. and is now .7.' err ||
    fault "another recipe: $(cat err)"
grep -q '0\.[0-9]' out && grep -v '^train.lr=.*failed$' out | grep -q '^train.lr' &&
    fault "another recipe: old figures: $(cat out)"

# Options that change together are one axis, and named each.
"$sebays" sweep iris.ini --vary method.explore_epochs+train.lr=1:0.05,2:0.1 --vary train.seed=1,2 \
    --out together --quiet >out 2>err || fault "together: $(cat err)"
[ "$(sed -n 's/^\(method[^ ]*\) .*/\1/p' out | tr '\n' ' ')" = "\
method.explore_epochs=1,train.lr=0.05,train.seed=1 method.explore_epochs=1,train.lr=0.05,train.seed=2 \
method.explore_epochs=2,train.lr=0.1,train.seed=1 method.explore_epochs=2,train.lr=0.1,train.seed=2 " ] ||
    fault "together: $(cat out)"
grep -q '^lr = 0.1$' together/method.explore_epochs=2,train.lr=0.1,train.seed=2/recipe.ini ||
    fault 'together: the second option is not set'
for vary in method.explore_epochs+train.lr=1,2 method.explore_epochs+train.lr=1:2:3 train.lr=1,,2; do
    "$sebays" sweep iris.ini --vary $vary --out wrong --quiet >out 2>err && fault "$vary is taken"
    grep -q "^sebays sweep: --vary $vary: want section.key=" err || fault "$vary: $(cat err)"
done

# The number of threads is no other recipe.
"$sebays" sweep iris.ini --vary train.lr=0.05,0.1 --out sweep --resume --quiet --threads 2 \
    >out 2>err || fault "other threads: $(cat err)"
exit $failed
