#!/bin/sh
# Every method, on a data set of 500 small images that the test makes: train, eval --all,
# report, export, predict, inspect; the same model for any number of threads, and for a run
# that was killed in any of its stages and taken up again. And what recipes of methods cannot
# say, with the sentence. usage: methods_resume.sh SEBAYS KILL_IN [METHOD...]
set -eu

sebays=$1
kill_in=$2
shift 2
methods=$(echo "$@") # without empty ones
[ -n "${methods# }" ] || methods=""
methods=${methods:-dnn dnn-ensemble bnn bnn-ensemble snapshot ltr pf static dst edst bays sebays
mc-dropout mimo batch-ensemble rank1-bnn treenet}
if ! command -v python3 > /dev/null; then
    echo "NOT TESTED: methods, killed and taken up again (needs python3)"
    exit 77
fi
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export OMP_WAIT_POLICY=passive XDG_DATA_HOME="$dir/none"

fail() {
    echo "methods_resume: $1" >&2
    exit 1
}

mkdir "$dir/set"
python3 - "$dir/set" <<'END'
import random, struct, sys
random.seed(1)
side, classes = 8, 4

def write(split, n):
    images, labels = bytearray(), bytearray()
    for i in range(n):
        k = i % classes
        labels.append(k)
        for y in range(side):
            for x in range(side):
                on = (x // 2 + 2 * (y // 2) * (k & 1) + k) % 4 < 2
                images.append(min(255, max(0, int(90 + 70 * on + random.gauss(0, 50)))))
    path = sys.argv[1] + "/" + split
    with open(path + "-images-idx3-ubyte", "wb") as f:
        f.write(struct.pack(">4I", 2051, n, side, side) + images)
    with open(path + "-labels-idx1-ubyte", "wb") as f:
        f.write(struct.pack(">2I", 2049, n) + labels)

write("train", 500)
write("t10k", 100)
END

# recipe METHOD: as short as it can be, with many checkpoints.
recipe() {
    explore=1 more=
    case $1 in
    snapshot | mc-dropout | mimo | batch-ensemble | rank1-bnn) explore=0 ;;
    esac
    case $1 in
    dnn | bnn | mc-dropout) ;;
    *) more='members = 2' ;;
    esac
    cat << END
[data]
set = $dir/set
validation = 100
[model]
arch = mlp-24-12
[method]
name = $1
$more
explore_epochs = $explore
exploit_epochs = 2
tune_epochs = 1
delta_t = 5
passes = 3
[train]
batch = 32
checkpoint_seconds = 0.01
checkpoint_epochs = 1
END
}

same() {
    cmp "$1/model.safetensors" "$2/model.safetensors" || fail "$3: another model"
}

# ---- what people do with a run ----
use() {
    run=$dir/$1
    "$sebays" eval "$run" --all --ood same="$dir/set" --threads 2 --quiet > /dev/null ||
        fail "$1: eval"
    "$sebays" report "$run" --out "$dir/$1.html" > /dev/null || fail "$1: report"
    grep -q '</html>' "$dir/$1.html" || fail "$1: the report is no page"
    for format in onnx npz safetensors-dense; do
        "$sebays" export "$run" --format $format --out "$dir/$1.$format" --quiet > /dev/null ||
            fail "$1: export to $format"
        [ -s "$dir/$1.$format" ] || fail "$1: export to $format is empty"
    done
    "$sebays" predict "$run" --input "$dir/set" --members --threads 1 --quiet > "$dir/one" || fail "$1: predict"
    "$sebays" predict "$run" --input "$dir/set" --members --threads 3 --quiet > "$dir/three" || fail "$1: predict"
    cmp "$dir/one" "$dir/three" || fail "$1: 3 threads predict otherwise than 1"
    "$sebays" inspect "$run/model.safetensors" > "$dir/said" || fail "$1: inspect"
    grep -q "^method *$1," "$dir/said" || fail "$1: inspect says '$(cat "$dir/said")'"
}

# ---- killed in every stage ----
kill_and_resume() {
    stage=0 code=137
    while [ $code -eq 137 ]; do
        stage=$((stage + 1)) code=0
        killed=$dir/killed-$1-$stage
        { "$kill_in" "$dir/$1.ini" "$killed" $stage || code=$?; } 2> /dev/null
        [ $code -eq 137 ] || break
        [ ! -e "$killed/model.safetensors" ] || fail "$1: the kill came after the end"
        "$sebays" train "$dir/$1.ini" --out "$killed" --resume --quiet > /dev/null ||
            fail "$1: resuming in stage $stage"
        same "$dir/$1" "$killed" "$1, killed in stage $stage and resumed"
    done
    [ $code -eq 0 ] || fail "$1: kill_in ended with $code in stage $stage"
    stages="$stages $1:$((stage - 1))"
    [ $stage -gt 1 ] || fail "$1: no stage was killed"
}

stages=
for method in $methods; do
    recipe "$method" > "$dir/$method.ini"
    "$sebays" train "$dir/$method.ini" --out "$dir/$method" --threads 1 --quiet > /dev/null ||
        fail "$method: training"
    "$sebays" train "$dir/$method.ini" --out "$dir/$method-3" --threads 3 --quiet > /dev/null
    same "$dir/$method" "$dir/$method-3" "$method, 3 threads"
    use "$method"
    kill_and_resume "$method"
done

# ---- what training cost: multiply-adds of mlp-24-12 on 64 pixels, rows counted ----
# shellcheck disable=SC2086 # a list of words
python3 - "$dir" $methods <<'END' || fail "costs"
import json, sys
first, rest, head = 64 * 24, 24 * 12, 12 * 4
plain = first + rest + head
want = {"dnn": 1, "dnn-ensemble": 2, "bnn": 1, "bnn-ensemble": 2, "mc-dropout": 1,
        "batch-ensemble": 2, "rank1-bnn": 2,                  # the batch once a member
        "mimo": 4 * (2 * first + rest + 2 * head) / plain,   # 4 repetitions
        "treenet": (first + 2 * (rest + head)) / plain}
for method in sys.argv[2:]:
    with open(f"{sys.argv[1]}/{method}/results.json") as f:
        have = json.load(f)["cost"]
    if method in want and abs(have - want[method]) > 1e-9:
        sys.exit(f"{method} costs {have}, not {want[method]}")
END

# ---- combinations of columns (recipe/method.c) ----
for method in mc-dropout mimo treenet; do
    case " $methods " in *" $method "* | *"$method"*) ;; *) continue ;; esac
    for columns in gauss:dense point:static gauss:static point:prune-grow gauss:prune-grow; do
        name=$method-$columns
        { recipe "$method" && printf '[method]\nposterior = %s\nsupport = %s\n' \
            "${columns%:*}" "${columns#*:}"; } > "$dir/$name.ini"
        "$sebays" train "$dir/$name.ini" --out "$dir/$name" --threads 1 --quiet > /dev/null ||
            fail "$name: training"
        "$sebays" train "$dir/$name.ini" --out "$dir/$name-3" --threads 3 --quiet > /dev/null
        same "$dir/$name" "$dir/$name-3" "$name, 3 threads"
        "$sebays" predict "$dir/$name" --input "$dir/set" --quiet > /dev/null || fail "$name: predict"
    done
done

# ---- what cannot be: one sentence, exit code 2 ----
refused() {
    sentence=$1
    shift
    code=0
    "$sebays" "$@" > /dev/null 2> "$dir/said" || code=$?
    [ $code -eq 2 ] || fail "$*: exit code $code, not 2; says '$(cat "$dir/said")'"
    [ "$(wc -l < "$dir/said")" = 1 ] || fail "$*: says '$(cat "$dir/said")'"
    grep -q -- "$sentence" "$dir/said" || fail "$*: says '$(cat "$dir/said")'"
}
for method in snapshot mimo batch-ensemble rank1-bnn treenet dnn-ensemble bnn-ensemble; do
    recipe $method > "$dir/bad.ini"
    refused "method.members = 1: $method is an ensemble of at least 2" \
        train "$dir/bad.ini" --out "$dir/bad" --set method.members=1
done
recipe mc-dropout > "$dir/bad.ini"
refused 'method.members = 2: mc-dropout trains one network; leave it out, and say how many passes predict as method.passes' \
    train "$dir/bad.ini" --out "$dir/bad" --set method.members=2
for rate in 1 1.5 -0.1; do
    refused "method.dropout_rate = $rate" \
        train "$dir/bad.ini" --out "$dir/bad" --set method.dropout_rate=$rate
done
refused 'mlp has no hidden layer to drop elements of' \
    train "$dir/bad.ini" --out "$dir/bad" --set model.arch=mlp
recipe treenet > "$dir/bad.ini"
refused "method.branch_at = group9.0: mlp-24-12 has no such block or layer; want one such as" \
    train "$dir/bad.ini" --out "$dir/bad" --set method.branch_at=group9.0
refused 'treenet needs a network with a hidden layer; mlp has none' \
    train "$dir/bad.ini" --out "$dir/bad" --set model.arch=mlp
recipe mimo > "$dir/bad.ini"
refused 'method.members = 4000: the members of mimo share one network, .*; want at most 64' \
    train "$dir/bad.ini" --out "$dir/bad" --set method.members=4000
refused 'method.repetitions = 65' train "$dir/bad.ini" --out "$dir/bad" --set method.repetitions=65
refused 'method.repetitions = 64: batches of train.batch = 2048 would have 131072 rows; want at most 65536' \
    train "$dir/bad.ini" --out "$dir/bad" --set method.repetitions=64 --set train.batch=2048
refused 'mimo needs a network with a hidden layer; mlp has none' \
    train "$dir/bad.ini" --out "$dir/bad" --set model.arch=mlp
recipe batch-ensemble > "$dir/bad.ini"
refused 'method.members = 40: batches of train.batch = 2048 would have 81920 rows; want at most 65536' \
    train "$dir/bad.ini" --out "$dir/bad" --set method.members=40 --set train.batch=2048
refused 'batch-ensemble has no others than its own' \
    train "$dir/bad.ini" --out "$dir/bad" --set method.posterior=gauss
recipe ltr > "$dir/bad.ini"
refused 'method.rewind_epoch = 4: the dense run ends after 3 epochs' \
    train "$dir/bad.ini" --out "$dir/bad" --set method.rewind_epoch=4
first=$(echo $methods | cut -d " " -f 1)
other=treenet
[ "$first" != treenet ] || other=mimo
recipe $other > "$dir/bad.ini"
refused "belongs to another recipe: \"name = $first\" then, \"name = $other\" now" \
    train "$dir/bad.ini" --out "$dir/$first" --resume
[ ! -e "$dir/bad" ] || fail "a recipe that was refused left a run directory"
echo "methods_resume: stages killed:$stages; columns, refusals"
