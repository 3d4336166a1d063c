#!/bin/sh
# Every method of the table on small images: plan, train, resume when finished, eval --all,
# report, inspect, export, predict, and all of them in one comparison. And what methods made of
# stages refuse. usage: methods.sh SEBAYS
set -u

sebays=$1
if ! command -v python3 > /dev/null; then
    echo "NOT TESTED: every method from train to export (needs python3)"
    exit 77
fi
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
export OMP_WAIT_POLICY=passive XDG_DATA_HOME="$work/none"
# shellcheck source=tests/cli/expect.sh
. "$here/expect.sh"

python3 - <<'END'
import os, random, struct
random.seed(1)
os.mkdir("set")
for part, n in (("train", 500), ("t10k", 60)):
    label = [i % 3 for i in range(n)]
    image = bytes(random.randrange(120) + (70 if y // 4 == c else 0)
                  for c in label for y in range(12) for x in range(12))
    open(f"set/{part}-images-idx3-ubyte", "wb").write(struct.pack(">4I", 0x803, n, 12, 12) + image)
    open(f"set/{part}-labels-idx1-ubyte", "wb").write(struct.pack(">2I", 0x801, n) + bytes(label))
END

cat > small.ini <<'END'
[data]
set = set
validation = 100
[model]
arch = mlp-30-20
[method]
exploit_epochs = 1
tune_epochs = 1
delta_t = 5
[train]
batch = 50
trajectory = yes
END

# in_results RUN KEY: its number
in_results()
{
    python3 -c 'import json, sys; print(json.load(open(sys.argv[1] + "/results.json"))[sys.argv[2]])' "$1" "$2"
}

# one METHOD: from the plan to the exported weights
one()
{
    run=run-$1 explore=1
    [ "$1" = snapshot ] && explore=0
    set -- "$1" small.ini --set "method.name=$1" --set method.explore_epochs=$explore
    method=$1
    shift
    "$sebays" plan "$@" > "$method.plan" 2> err || fault "plan $method: $(cat err)"
    case $method in
        mc-dropout | mimo | batch-ensemble | rank1-bnn | treenet) said='^network: epoch' ;;
        *) said='^member 1 of [1-9][0-9]*: epoch' ;;
    esac
    "$sebays" train "$@" --out "$run" > out 2> err || fault "train $method: $(cat err)"
    grep -q "$said" err || fault "train $method: no $said in $(cat err)"
    case $method in
        dnn | bnn) ;;
        *) grep -Eq '^the ensemble is (as accurate as|[0-9.]+ points (more|less) accurate than) its best member \(member [0-9]+\), (and|but) its nll is [0-9.]+ (lower|higher)$' out ||
            fault "train $method says '$(cat out)'" ;;
    esac
    cp "$run/model.safetensors" model
    "$sebays" train "$@" --out "$run" --resume --quiet > out 2> err || fault "resume $method: $(cat err)"
    cmp model "$run/model.safetensors" || fault "$method: resumed at its end, another model"
    "$sebays" eval "$run" --all --quiet > out 2> err || fault "eval $method: $(cat err)"
    "$sebays" report "$run" > out 2> err || fault "report $method: $(cat err)"
    "$sebays" inspect "$run" > out 2> err || fault "inspect $method: $(cat err)"
    "$sebays" export "$run" --format npz --out "$method.npz" > out 2> err || fault "export $method: $(cat err)"
    "$sebays" predict "$run" --input set --out "$method.csv" > out 2> err || fault "predict $method: $(cat err)"
    [ "$(wc -l < "$method.csv")" -eq 61 ] || fault "predict $method: $(wc -l < "$method.csv") lines"
}

methods=$("$sebays" options | sed -n '/^name =/,/^members =/s/^          \([a-z][-a-z0-9]*\) .*/\1/p')
[ "$(echo "$methods" | wc -w)" -ge 12 ] || fault "methods are '$methods'"
for m in $methods; do
    one "$m"
done
"$sebays" compare run-* > out 2> err || fault "compare: $(cat err)"
for m in $methods; do
    grep -q "^$m " out || fault "compare has no row for $m"
done

# What training cost: dense networks have all weights, the trained ones a fifth; a run has
# two epochs. What is pruned by magnitude in one cut may cost more than a fifth.
[ "$(in_results run-dnn cost)" = 1.0 ] || fault "dnn costs $(in_results run-dnn cost)"
[ "$(in_results run-dnn-ensemble cost)" = 4.0 ] || fault 'four dense networks do not cost 4'
[ "$(in_results run-snapshot cost)" = 5.0 ] || fault 'five cycles do not cost 5'
[ "$(in_results run-pf training_runs)" = 6 ] || fault 'pf of 3 does not take 6 training runs'
[ "$(in_results run-ltr training_runs)" = 4 ] || fault 'ltr of 3 does not take 4 training runs'
[ "$(in_results run-pf dense_run_epochs)" = 2 ] || fault 'a dense run of pf does not have 2 epochs'
python3 - "$(in_results run-pf cost)" "$(in_results run-ltr cost)" <<'END' || fault 'costs of pf and ltr'
import sys
pf, ltr = map(float, sys.argv[1:])
sys.exit(not (3 + 3 * .2 / 2 <= pf < 3 + 3 * .3 / 2 and 1 + 3 * .2 <= ltr < 1 + 3 * .3))
END
grep -q '^dense  *1  *2  ' ltr.plan || fault 'plan of ltr: no dense stage of 2 epochs'
grep -q '^retrain  *3  *2  ' ltr.plan || fault 'plan of ltr: not 3 retrainings of 2 epochs'
grep -q 'of one dense run (2 epochs), 4 training runs' ltr.plan || fault 'plan of ltr: no cost'

# The mask is one for all members of ltr, and each member's own of pf.
python3 - <<'END' || fault 'supports of pf and ltr'
import json, struct, sys
def positions(run):
    b = open(run + "/model.safetensors", "rb").read()
    n, = struct.unpack("<Q", b[:8])
    h = json.loads(b[8:8 + n])
    out = {}
    for name, t in h.items():
        if name.endswith(".positions"):
            member, layer = name.split(".", 1)
            a, z = t["data_offsets"]
            out.setdefault(member, {})[layer] = b[8 + n + a:8 + n + z]
    return [out[f"net{m}"] for m in range(3)]
ltr, pf = positions("run-ltr"), positions("run-pf")
sys.exit(not (ltr[0] == ltr[1] == ltr[2] and pf[0] != pf[1] and pf[1] != pf[2]))
END

# Where nothing is drawn, ways of drawing are said to change nothing.
for m in mc-dropout rank1-bnn sebays; do
    "$sebays" predict "run-$m" --input set --samples 3 --out drawn.csv 2> err || fault "predict $m --samples 3: $(cat err)"
    want=
    [ "$m" = mc-dropout ] && want='sebays predict: warning: --samples 3 changes nothing: the weights of this model are points'
    [ "$(cat err)" = "$want" ] || fault "predict $m --samples 3 says '$(cat err)'"
    "$sebays" eval "run-$m" --samples 3 --quiet > out 2> err || fault "eval $m --samples 3: $(cat err)"
    [ "$m" = mc-dropout ] && want='warning: eval.sampling (--samples) changes nothing: the weights of this model are points'
    [ "$(cat err)" = "$want" ] || fault "eval $m --samples 3 says '$(cat err)'"
done
grep -q '^run-sebays: 60 examples of .*, sampling draws:3$' out || fault "eval: $(head -1 out)"
"$sebays" eval run-rank1-bnn --samples noise --quiet > out 2> err || fault "eval --samples noise: $(cat err)"
grep -q '^run-rank1-bnn: 60 examples of .*, sampling draw$' out || fault "noise of scales: $(head -1 out)"
want='warning: this model has drawn scales and no noise of activations: eval.sampling (--samples) is draw'
[ "$(cat err)" = "$want" ] || fault "noise of scales says '$(cat err)'"
"$sebays" eval run-mc-dropout --quiet > out 2> err
grep -q '^run-mc-dropout: 60 examples of .*, weights are points$' out || fault "eval: $(head -1 out)"

# What makes no sense.
refused 2 "sebays train: small.ini: method.rewind_epoch = 9: the dense run ends after 2 epochs; want one of them, or 0" \
    train small.ini --set method.name=ltr --set method.explore_epochs=1 --set method.rewind_epoch=9
refused 2 "sebays train: small.ini: method.members = 1: snapshot is an ensemble of at least 2; want more, or a method of one network as method.name" \
    train small.ini --set method.name=snapshot --set method.members=1
refused 2 "sebays train: small.ini: method.explore_epochs = 1: snapshot has cycles of method.exploit_epochs and no exploration; leave it out" \
    train small.ini --set method.name=snapshot --set method.explore_epochs=1
newest=$(find run-pf -name 'checkpoint-*' | sort -V | tail -n 1)
refused 2 "sebays train: $newest: belongs to another recipe: \"name = pf\" then, \"name = ltr\" now, in [method]; go on with the same recipe, or start anew in another directory" \
    train small.ini --set method.name=ltr --set method.explore_epochs=1 --out run-pf --resume --quiet
refused 2 "sebays train: small.ini: train.lr_second = 0: half of the exploitation would learn nothing; want more, or train.lr_shape = cosine" \
    train small.ini --set train.lr_second=0

exit $failed
