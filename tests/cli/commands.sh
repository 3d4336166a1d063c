#!/bin/sh
# commands.sh SEBAYS - runs the program as people do: exact sentences, exit codes, and
# nothing on standard output when it fails.
set -u
sebays=$1
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
export XDG_DATA_HOME=/nowhere # no data set of the user's

# shellcheck source=tests/cli/expect.sh
. "$here/expect.sh"

# works FIRST_LINE ARGUMENTS...
works()
{
    want=$1
    shift
    "$sebays" "$@" >out 2>err || fault "sebays $*: exit code $?"
    [ "$(head -n 1 out)" = "$want" ] || fault "sebays $*: '$(head -n 1 out)', want '$want'"
    [ -s err ] && fault "sebays $*: said '$(cat err)'"
}

printf '[method]\nname = bays\n' >good.ini
printf '[train]\nbacth = 1\n' >unknown.ini
printf '[method]\nsparsity = 2\n' >range.ini
printf '[train]\nwhat is this\n' >syntax.ini
printf '[method]\nname = dnn\nmembers = 2\n' >misfit.ini
printf '[metod]\n' >section.ini

works 'usage: sebays COMMAND [ARGUMENTS]' --help
works 'sebays 0.1.0' --version
works 'usage: sebays recipe RECIPE.ini [--set section.key=value]... [--quiet]' recipe --help
works '[data]' options
works '[data]' recipe good.ini

"$sebays" recipe good.ini --quiet >first.ini
grep -q '^exploit_epochs = auto$' first.ini || fault 'epochs do not wait for the data'
"$sebays" recipe first.ini --quiet >second.ini
cmp first.ini second.ini || fault 'a resolved recipe does not resolve to itself'
"$sebays" recipe good.ini --quiet --set train.batch=7 --set=train.seed=9 >set.ini
grep -q '^batch = 7$' set.ini && grep -q '^seed = 9$' set.ini || fault '--set is ignored'

refused 2 "sebays: there is no command 'trian'; see 'sebays --help'" trian
# 1 is what fails while it is done, also because something is not there; 2 a wrong command line.
for words in 'eval nono' 'compare nono' 'report nono' 'predict nono --input x.csv' \
    'inspect nono' 'export nono --format npz --out x.npz' 'recipe nono.ini' 'plan nono.ini' \
    'train nono.ini' 'train nono.csv' 'init nono.csv' 'merge nono nana --out m' \
    'sweep nono.ini --vary train.seed=1,2 --out s' 'data info nono' \
    'data convert nono --out c' 'data corrupt nono --out c'; do
    for more in '' --nonsense; do
        want_code=1
        [ -z "$more" ] || want_code=2
        # shellcheck disable=SC2086 # a list of words
        "$sebays" $words $more >out 2>err
        code=$?
        [ $code -eq $want_code ] || fault "sebays $words $more: exit code $code, want $want_code"
        [ "$(wc -l <err)" = 1 ] || fault "sebays $words $more: said '$(cat err)'"
    done
done
refused 2 "sebays recipe: want a RECIPE.ini; see 'sebays recipe --help'" recipe
refused 2 "sebays recipe: there is no option '--out'; see 'sebays recipe --help'" \
    recipe good.ini --out x
refused 1 'sebays recipe: cannot read none.ini: No such file or directory' recipe none.ini
refused 1 'sebays recipe: cannot read .: it is a directory' recipe .
refused 2 "sebays recipe: unknown.ini:2: there is no option 'train.bacth'; the nearest is 'train.batch'" \
    recipe unknown.ini
refused 2 'sebays recipe: range.ini:2: method.sparsity = 2: want a number in [0, 1)' \
    recipe range.ini
refused 2 'sebays recipe: section.ini:1: there is no section [metod]; the nearest is [method]' \
    recipe section.ini
refused 2 "sebays recipe: syntax.ini:2: want '[section]' or 'key = value', have 'what is this'" \
    recipe syntax.ini
refused 2 'sebays recipe: misfit.ini: method.members = 2: dnn trains one network; leave it out, or choose an ensemble as method.name' \
    recipe misfit.ini
refused 2 'sebays recipe: train.batch = x: want a whole number in [1, 65536]' \
    recipe good.ini --set train.batch=x

# Data that is not there, cut short, or something else; no run directory is left behind.
mkdir set
refused 1 'sebays train: there is no data set at ./none' \
    train good.ini --set data.set=./none --out run
refused 1 'sebays train: there is no file nono, and no data set of that name in data, /nowhere/sebays or /usr/share/datasets; give its path, or the directory that has it' \
    train good.ini --set data.set=nono --out run
printf '\000\000\010\003\000\000\000\002\000\000\000\004\000\000\000\004123' >set/train-images-idx3-ubyte
printf '\000\000\010\001\000\000\000\002\000\001' >set/train-labels-idx1-ubyte
refused 1 'sebays train: ./set/train-images-idx3-ubyte: its header says 2 x 4 x 4, which is 48 bytes with the header, but there are 19; the file is truncated, fetch it again' \
    train good.ini --set data.set=./set --out run
printf 'PK\003\004 is not what it says it is' >set/train-images-idx3-ubyte
refused 1 'sebays train: ./set/train-images-idx3-ubyte: begins with 50 4b 03 04, want 00 00 08 03 (IDX, bytes, 3 dimensions); is it the right file?' \
    train good.ini --set data.set=./set --out run
[ -e run ] && fault 'a run directory without a run'

# Two images of 2 x 2: corrupted once a severity, the same bytes on any number of threads.
mkdir tiny
printf '\0\0\010\003\0\0\0\002\0\0\0\002\0\0\0\002abcdefgh' >tiny/t10k-images-idx3-ubyte
printf '\0\0\010\001\0\0\0\002\001\0' >tiny/t10k-labels-idx1-ubyte
works '' data corrupt tiny --kind snow,contrast --out all --threads 1 --quiet
works '' data corrupt tiny --kind snow --out again --threads 4 --quiet
cmp all/snow.npy again/snow.npy || fault 'corruption depends on the number of threads'
works '' data corrupt tiny --kind snow --severity 2-3 --out some --quiet
[ "$(tail -c 4 all/labels.npy | od -An -tu1)" = "$(printf '\001\0\001\0' | od -An -tu1)" ] ||
    fault 'the labels of corrupted images'
[ "$(wc -c <all/contrast.npy)" = 168 ] && [ "$(wc -c <some/snow.npy)" = 144 ] ||
    fault 'the size of corrupted sets'
refused 2 "sebays data corrupt: there is no corruption 'snwo'; the nearest is 'snow'" \
    data corrupt tiny --kind snwo --out none
refused 2 'sebays data corrupt: --severity 0-3: want 1 to 5, or a range such as 1-5' \
    data corrupt tiny --severity 0-3 --out none
refused 2 'sebays data corrupt: --seed 1x: want a whole number of at most 19 digits' \
    data corrupt tiny --seed 1x --out none
refused 2 'sebays data corrupt: nothing to write; want --out DIR or --sheet FILE.png' \
    data corrupt tiny
[ -e none ] && fault 'a directory for corruptions that were refused'

"$sebays" >out 2>err
[ $? -eq 2 ] && grep -q '^usage: ' err || fault 'sebays alone does not print its usage'
"$sebays" --help >want
"$sebays" help >out && cmp out want || fault "help: $(cat out)"
"$sebays" train --help >want
"$sebays" help train >out && cmp out want || fault "help train: $(cat out)"
refused 2 "sebays: there is no command 'nono'; see 'sebays --help'" help nono
"$sebays" predict --help | grep -q '.\{96\}' && fault 'lines of predict --help are too long for a screen'
# Defaults that methods have, in the list and in a recipe.
"$sebays" options >out
sed -n '/^members =/,/^sparsity =/p' out | grep -qx '        1: dnn, bnn, mc-dropout' &&
    sed -n '/^sparsity =/,/^allocation =/p' out | grep -qx '          batch-ensemble, rank1-bnn, treenet' ||
    fault "options do not say the methods' defaults"
printf '[method]\nname = batch-ensemble\n' >open.ini
"$sebays" recipe open.ini >out
grep -qx '# auto: 4 for images, by the number of rows for tables' out && grep -qx 'members = auto' out ||
    fault 'recipe does not say what images get'
"$sebays" recipe open.ini --quiet | grep -q '^#' && fault 'recipe --quiet has comments'
if [ -w /dev/full ]; then
    "$sebays" options >/dev/full 2>err
    [ $? -eq 1 ] || fault 'a full disk goes unnoticed'
    "$sebays" --help >/dev/full 2>err
    { [ $? -eq 1 ] && [ "$(cat err)" = 'sebays: cannot write to standard output' ]; } ||
        fault "help, on a full disk: $(cat err)"
else
    echo 'NOT TESTED: writing to a full disk, there is no /dev/full'
fi
exit $failed
