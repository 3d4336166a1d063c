#!/bin/sh
# sebays eval on a small cut of Fashion-MNIST: every section, merging, refusals; and sebays
# sweep. usage: eval.sh SEBAYS
set -eu

sebays=$1
set_dir=/usr/share/datasets/fashion-mnist
if [ ! -d "$set_dir" ]; then
    echo "NOT TESTED: eval (needs Fashion-MNIST, Debian's dataset-fashion-mnist)"
    exit 77
fi
if ! command -v python3 > /dev/null; then
    echo "NOT TESTED: eval (needs python3)"
    exit 77
fi
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export XDG_DATA_HOME="$dir/none"

fail() {
    echo "eval: $1" >&2
    exit 1
}

# cut_set TO SPLIT COUNT OCTAL: the first images and labels, 784 bytes and 1 each.
cut_set() {
    mkdir -p "$1"
    for part in images:16:784 labels:8:1; do
        kind=${part%%:*}
        rest=${part#*:}
        file=$(find "$set_dir" -name "$2-$kind-idx*.gz" -o -name "$2-$kind.idx*.gz" | head -n 1)
        magic='\000\000\010\003\000\000\000'$4'\000\000\000\034\000\000\000\034'
        [ "$kind" = labels ] && magic='\000\000\010\001\000\000\000'$4
        name=$(basename "$file" .gz)
        # shellcheck disable=SC2059 # octal escapes
        printf "$magic" > "$1/$name"
        gzip -dc "$file" | tail -c +$((${rest%%:*} + 1)) |
            head -c $(($3 * ${rest#*:})) >> "$1/$name"
    done
}
cut_set "$dir/fashion" train 200 '\310'
cut_set "$dir/fashion" t10k 64 '\100'
cp -r "$dir/fashion" "$dir/mnist" # a stand-in: the same images are no stranger

# A build without libjpeg has one kind of corruption less.
sets=95 kinds=all
if ! "$sebays" data corrupt "$dir/fashion" --kind jpeg_compression --severity 1 \
    --out "$dir/jpeg" --quiet > /dev/null 2>&1; then
    sets=90
    kinds=gaussian_noise,shot_noise,impulse_noise,speckle_noise,gaussian_blur,defocus_blur
    kinds=$kinds,glass_blur,motion_blur,zoom_blur,snow,frost,fog,brightness,spatter,contrast
    kinds=$kinds,elastic_transform,pixelate,saturate
fi

cat > "$dir/small.ini" <<END
[data]
set = $dir/fashion
validation = 50
[model]
arch = lenet
[method]
name = sebays
members = 3
explore_epochs = 2
exploit_epochs = 1
delta_t = 2
[train]
batch = 32
trajectory = yes
END
"$sebays" train "$dir/small.ini" --out "$dir/run" --quiet > /dev/null

# get EXPRESSION: of r, the results.
get() {
    python3 -c 'import json, sys
r = json.load(open(sys.argv[1])); e = r.get("evaluation", {})
print(eval(sys.argv[2]))' "$dir/run/results.json" "$1"
}
want() {
    have=$(get "$1")
    [ "$have" = "$2" ] || fail "$1 is '$have', not '$2'"
}

# ---- sections, and what stays when others are computed ----
"$sebays" eval "$dir/run" --quiet > "$dir/said"
grep -q '^  ensemble ' "$dir/said" || fail "no line of the ensemble"
grep -q 'right-closed' "$dir/said" || fail "no definitions"
want 'e["sampling"]' draw
want '[e["test"]["ensemble"][k] == r["ensemble"][k] for k in ("acc", "nll", "ece", "brier")]' \
    '[True, True, True, True]'
want '[m == n for m, n in zip(e["test"]["members"], r["members"])]' '[True, True, True]'
want 'e["test"]["n"], sum(b["count"] for b in e["test"]["bins"]["ensemble"])' '(64, 64)'
want 'len(e["test"]["bins"]["members"]), len(e["test"]["bins"]["ensemble"])' '(3, 15)'
want 'sum(c["n"] for c in e["test"]["per_class"]), len(e["test"]["per_class"])' '(64, 10)'
want 'sum(map(sum, e["test"]["confusion"])), len(e["test"]["confusion"])' '(64, 10)'
want 'abs(sum(e["test"]["confusion"][i][i] for i in range(10)) / 64 - e["test"]["ensemble"]["acc"]) < 1e-12' True
want 'sorted(k for k in ("balanced_acc", "f1", "auc", "adaptive_ece") if 0 <= e["test"][k] <= 1)' \
    "['adaptive_ece', 'auc', 'balanced_acc', 'f1']"
want '"temperature" in e["test"]' False
want '[s["subsets"] for s in e["size"]]' '[3, 3, 1]'
want 'e["size"][2]["nll"]["mean"] == e["test"]["ensemble"]["nll"]' True
want 'len(e["diversity"]["kl_matrix"]), e["diversity"]["kl_matrix"][1][1]' '(3, 0.0)'
want 'len(e["trajectory"]["points"])' 5
want '[(p["phase"], p["member"], p["epoch"]) for p in e["trajectory"]["points"]][1:4]' \
    "[('explore', 0, 2), ('exploit', 0, 1), ('exploit', 1, 1)]"
want 'len(e["examples"]["uncertain"])' 16
want 'len(__import__("base64").b64decode(e["examples"]["wrong"][0]["pixels"]))' 784
want 'all(x["label"] != x["predicted"] for x in e["examples"]["wrong"])' True
want 'len(e["support"]["updates"])' "$(wc -l < "$dir/run/updates.jsonl")"
want 'sum(l["exist"] for l in e["support"]["layers"]) / sum(l["weights"] for l in e["support"]["layers"]) == r["density"]' True
want '[k in e for k in ("corruption", "ood", "attack")]' '[False, False, False]'

"$sebays" eval "$dir/run" --all --ood same="$dir/mnist" --quiet --threads 1 > "$dir/said"
want 'len(e["corruption"]["sets"]), e["corruption"]["source"]' "($sets, 'generated')"
want 'abs(e["corruption"]["pooled"]["acc"] - e["corruption"]["mean"]["acc"]) < 1e-12' True
want '[(o["name"], o["n"], o["max_probability"]["auroc"]) for o in e["ood"]]' \
    "[('same', 64, 0.5)]"
want 'sum(e["ood"][0]["histogram"]["in"]), e["ood"][0]["roc"][-1]' '(64, [1.0, 1.0])'
want '[(a["kind"], len(a["acc"]), a["min"] <= a["mean"] <= a["max"]) for a in e["attack"]]' \
    "[('fgsm', 3, True)]"
want 'e["attack"][0]["mean"] < e["test"]["ensemble"]["acc"]' True
cp "$dir/run/results.json" "$dir/all.json"

"$sebays" eval "$dir/run" --all --ood same="$dir/mnist" --quiet --threads 3 > "$dir/said3"
cmp "$dir/all.json" "$dir/run/results.json" || fail "3 threads give other figures than 1"
cmp "$dir/said" "$dir/said3" || fail "3 threads print other figures than 1"
"$sebays" eval "$dir/run" --attack pgd-3 --quiet > /dev/null
want '[(a["kind"], a["steps"]) for a in e["attack"]]' "[('fgsm', 1), ('pgd', 3)]"
want 'len(e["corruption"]["sets"])' "$sets"

# Sets and attacks of other names stay; of the same name, what is found now.
"$sebays" eval "$dir/run" --attack pgd-2 --ood other="$dir/fashion" --quiet > /dev/null
"$sebays" eval "$dir/run" --attack pgd-3 --ood same="$dir/fashion" --quiet > /dev/null
want '[(a["kind"], a["steps"]) for a in e["attack"]]' "[('fgsm', 1), ('pgd', 3), ('pgd', 2)]"
want '[(o["name"], o["path"].split("/")[-1]) for o in e["ood"]]' \
    "[('same', 'fashion'), ('other', 'fashion')]"
want 'e["attack"][0] == json.load(open("'"$dir/all.json"'"))["evaluation"]["attack"][0]' True
"$sebays" report "$dir/run" > /dev/null || fail "no page with two sets and three attacks"

# Figures on another test set stand apart: the run's own, and all tables of it, stay.
"$sebays" compare "$dir/run" > "$dir/before"
python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["evaluation"])' \
    "$dir/run/results.json" > "$dir/own"
mkdir "$dir/few"
cut_set "$dir/few" t10k 20 '\024'
"$sebays" eval "$dir/run" --test "$dir/few" --quiet > "$dir/said"
grep -q "20 examples of $dir/few" "$dir/said" || fail "--test is not what was judged"
"$sebays" compare "$dir/run" > "$dir/after"
cmp "$dir/before" "$dir/after" || fail "--test changed the run's own figures"
python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["evaluation"])' \
    "$dir/run/results.json" | cmp - "$dir/own" || fail "--test changed the evaluation"
want '[(k.split("/")[-1], v["test"]["n"], v["sampling"]) for k, v in r["other_tests"].items()]' \
    "[('few', 20, 'draw')]"
"$sebays" train "$dir/small.ini" --out "$dir/run" --resume --quiet > /dev/null
want 'list(r["other_tests"].values())[0]["test"]["n"]' 20

# Corrupted files give what generating them gives.
"$sebays" data corrupt "$dir/fashion" --kind "$kinds" --out "$dir/c" --quiet > /dev/null
"$sebays" eval "$dir/run" --corrupt "$dir/c" --quiet > /dev/null
want 'e["corruption"]["pooled"] == json.load(open("'"$dir/all.json"'"))["evaluation"]["corruption"]["pooled"]' True

# Another way of sampling begins anew.
"$sebays" eval "$dir/run" --samples mean --set eval.bins=14 --quiet > /dev/null
want 'e["sampling"], "corruption" in e, len(e["test"]["bins"]["ensemble"])' "('mean', False, 14)"
"$sebays" eval "$dir/run" --samples 2 --quiet > /dev/null
want 'e["sampling"]' draws:2
"$sebays" eval "$dir/run" --samples noise --quiet > /dev/null
want 'e["sampling"]' activation-noise

# A temperature from the validation part: what it changes is said, classes stay.
"$sebays" eval "$dir/run" --set eval.temperature=yes --quiet > "$dir/said"
grep -q '^  temperature ' "$dir/said" || fail "no line of the temperature"
want 'e["test"]["temperature"]["ensemble"]["acc"] == e["test"]["ensemble"]["acc"]' True
want 'e["test"]["temperature"]["validation_nll"][1] <= e["test"]["temperature"]["validation_nll"][0]' True

# ---- refusals: one sentence; exit code 2, or 1 for what is not there ----
exits=2
refused() {
    sentence=$1
    shift
    code=0
    "$sebays" "$@" > /dev/null 2> "$dir/said" || code=$?
    [ $code -eq $exits ] || fail "$*: exit code $code, not $exits"
    [ "$(wc -l < "$dir/said")" = 1 ] || fail "$*: says '$(cat "$dir/said")'"
    grep -q "$sentence" "$dir/said" || fail "$*: says '$(cat "$dir/said")'"
}
cp "$dir/run/results.json" "$dir/before.json"
mkdir "$dir/empty" "$dir/begun"
cp "$dir/run/recipe.ini" "$dir/begun"
exits=1
refused 'is no run directory, it has no recipe.ini' eval "$dir/empty"
refused 'has no model.safetensors: its training has not ended; go on with: .*--resume' eval "$dir/begun"
refused 'no file of a corruption' eval "$dir/run" --corrupt "$dir/empty"
exits=2
refused 'want NAME=PATH' eval "$dir/run" --ood "=$dir/mnist"
refused "two sets of that name" eval "$dir/run" --ood a="$dir/mnist" --ood a="$dir/fashion"
refused "no attack 'cw'" eval "$dir/run" --attack cw
refused 'only eval' eval "$dir/run" --set train.seed=2
refused 'want a number of draws from 1 to 1000000, draw, mean or noise' eval "$dir/run" --samples few
cmp "$dir/before.json" "$dir/run/results.json" || fail "a failure changed results.json"

# ---- a run that is taken up again keeps its evaluation ----
"$sebays" train "$dir/run/recipe.ini" --out "$dir/run" --resume --quiet > /dev/null
want 'e == json.load(open("'"$dir/before.json"'"))["evaluation"]' True

# ---- sweep ----
"$sebays" sweep "$dir/small.ini" --vary method.sparsity=0.5,0.9 --vary train.seed=1,2 \
    --set method.members=1 --out "$dir/sweep" --quiet > "$dir/said" 2> "$dir/err"
[ "$(grep -c '^method.sparsity=' "$dir/said")" = 4 ] || fail "sweep: says '$(cat "$dir/said")'"
grep -q '^sparsity = 0.9$' "$dir/sweep/method.sparsity=0.9,train.seed=2/recipe.ini" ||
    fail "sweep: a value was not set"
rm "$dir/sweep/method.sparsity=0.5,train.seed=2/results.json"
cp "$dir/sweep/method.sparsity=0.5,train.seed=1/model.safetensors" "$dir/kept"
touch -d '2000-01-01' "$dir/sweep/method.sparsity=0.5,train.seed=1/model.safetensors"
"$sebays" sweep "$dir/small.ini" --vary method.sparsity=0.5,0.9 --vary train.seed=1,2 \
    --set method.members=1 --out "$dir/sweep" --resume --quiet > "$dir/again"
for table in said again; do # but for the seconds
    awk '{ $NF = ""; print }' "$dir/$table" > "$dir/$table.figures"
done
cmp "$dir/said.figures" "$dir/again.figures" || fail "sweep, resumed: another table"
[ "$(find "$dir/sweep" -name model.safetensors ! -newermt 2001-01-01 | wc -l)" = 1 ] ||
    fail "sweep, resumed: a finished run was written again"
refused 'already holds a run' sweep "$dir/small.ini" --vary method.sparsity=0.5 \
    --vary train.seed=1 --set method.members=1 --out "$dir/sweep" --quiet
refused 'want section.key=v1,v2' sweep "$dir/small.ini" --vary train.seed --out "$dir/none"
refused "no option 'train.sed'" sweep "$dir/small.ini" --vary train.sed=1 --out "$dir/none"
refused 'nothing to vary' sweep "$dir/small.ini" --out "$dir/none"

# A table has no images to attack.
printf '%s,%s,%s\n' a b y 1 2 x 2 1 y 1 3 x 3 1 y 1 4 x 4 1 y 2 4 x 4 2 y 2 5 x 5 2 y > "$dir/t.csv"
for _ in 1 2 3; do tail -n 10 "$dir/t.csv"; done > "$dir/more"
cat "$dir/more" >> "$dir/t.csv"
"$sebays" train "$dir/t.csv" --set model.arch=mlp-8 --out "$dir/table" --quiet > /dev/null 2>&1
refused 'attacks need images; it is a table of 2 features' eval "$dir/table" --attack fgsm

# What was trained has more layers than a member: a tree's are those of its trunk and branches.
sed -e 's/^name = .*/name = treenet/' -e '/^sparsity/d' -e 's/^members = .*/members = 2/' "$dir/small.ini" > "$dir/tree.ini"
"$sebays" train "$dir/tree.ini" --set model.arch=mlp-8-8 --out "$dir/tree" --quiet > "$dir/said"
"$sebays" eval "$dir/tree" --quiet > "$dir/said"
python3 - "$dir/tree/results.json" << 'EOF' || fail "a tree's layers"
import json, sys
layers = json.load(open(sys.argv[1]))["evaluation"]["support"]["layers"]
assert [l["name"] for l in layers] == ["0", "branch0.2", "branch0.4", "branch1.2", "branch1.4"], layers
assert [l["weights"] for l in layers] == [784 * 8, 64, 80, 64, 80], layers
EOF
echo "eval: sections, merging, threads, corrupted files, sampling, refusals, sweep"
