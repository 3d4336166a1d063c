#!/bin/sh
# The model is the same, byte for byte, for any number of threads, and for a run that was
# killed at any moment (SIGKILL, ten times at random; a kill that comes after the end does not
# count) or stopped by SIGINT and taken up again. Growth averages over three batches, so some
# kills fall between them. The images are made here.
# usage: resume.sh SEBAYS [KILLS]
set -eu

sebays=$1
kills=${2:-10}
if ! command -v python3 > /dev/null; then
    echo 'NOT TESTED: resume (needs python3)'
    exit 77
fi
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

mkdir "$dir/set"
python3 - "$dir/set" <<'END'
import random, struct, sys
random.seed(1)
for split, n in (("train", 500), ("t10k", 100)):
    labels = bytes(i % 10 for i in range(n))
    images = b"".join(bytes(min(255, random.randrange(90) + 12 * ((k + j // 60) % 10))
                            for j in range(28 * 28)) for k in labels)
    path = sys.argv[1] + "/" + split
    with open(path + "-images-idx3-ubyte", "wb") as f:
        f.write(struct.pack(">4I", 2051, n, 28, 28) + images)
    with open(path + "-labels-idx1-ubyte", "wb") as f:
        f.write(struct.pack(">2I", 2049, n) + labels)
END

cat > "$dir/small.ini" <<END
[data]
set = $dir/set
validation = 100
augment = crop-flip
[model]
arch = lenet
[method]
name = sebays
members = 2
sparsity = 0.9
explore_epochs = 1
exploit_epochs = 1
delta_t = 4
grow_batches = 3
kl_anneal_epochs = 2
[train]
batch = 32
checkpoint_seconds = 0.01
trajectory = yes
END

fail() {
    echo "resume: $1" >&2
    exit 1
}

# What is recorded on the way, apart from times, is the same too.
same_records() {
    for file in updates.jsonl trajectory.npy; do
        cmp "$dir/t1/$file" "$dir/$1/$file" || fail "$2: another $file"
    done
}

for threads in 1 2 3; do
    "$sebays" train "$dir/small.ini" --out "$dir/t$threads" --threads $threads --quiet > /dev/null
    cmp "$dir/t1/model.safetensors" "$dir/t$threads/model.safetensors" ||
        fail "$threads threads give another model than 1"
    same_records "t$threads" "$threads threads"
done

# Kill after a random part of the time a run takes, by the clock of this machine. A run that
# was finished before says nothing: again, sooner.
i=0 tries=0 most=0.6
while [ $i -lt "$kills" ]; do
    tries=$((tries + 1))
    [ $tries -le $((10 * kills)) ] || fail "of $tries kills only $i came before the end"
    wait_for=$(awk -v seed=$tries -v most=$most \
        'BEGIN { srand(seed); printf "%.3f", 0.02 + rand() * most }')
    rm -rf "$dir/killed"
    "$sebays" train "$dir/small.ini" --out "$dir/killed" --quiet > /dev/null &
    pid=$!
    sleep "$wait_for"
    kill -9 $pid 2> /dev/null || true
    wait $pid 2> /dev/null || true
    if [ -e "$dir/killed/results.json" ]; then
        most=$(awk -v most=$most 'BEGIN { print most * 0.7 }')
        continue
    fi
    i=$((i + 1))
    "$sebays" train "$dir/small.ini" --out "$dir/killed" --resume --quiet > /dev/null ||
        fail "resuming after a kill at $wait_for s failed"
    cmp "$dir/t1/model.safetensors" "$dir/killed/model.safetensors" ||
        fail "killed after $wait_for s and resumed: another model"
    [ "$(wc -l < "$dir/killed/metrics.jsonl")" = "$(wc -l < "$dir/t1/metrics.jsonl")" ] ||
        fail "killed after $wait_for s and resumed: metrics.jsonl has other lines"
    same_records killed "killed after $wait_for s and resumed"
done

# SIGINT: saves, says how to go on, exits 130.
rm -rf "$dir/stopped"
code=0
"$sebays" train "$dir/small.ini" --out "$dir/stopped" --set method.explore_epochs=50 \
    > /dev/null 2> "$dir/said" &
pid=$!
n=0
while [ ! -s "$dir/stopped/metrics.jsonl" ] && [ $n -lt 600 ]; do
    n=$((n + 1))
    sleep 0.05
done
kill -INT $pid
wait $pid || code=$?
[ $code -eq 130 ] || fail "SIGINT: exit code $code, not 130"
grep -q -- --resume "$dir/said" || fail "SIGINT: does not say how to go on"

# What it says works as it stands, the --set of the first call included.
next=$(sed -n 's/.*Go on with: sebays \(train .*--resume\)$/\1/p' "$dir/said")
# shellcheck disable=SC2086 # a list of words
"$sebays" $next --dry-run > /dev/null || fail "SIGINT: 'sebays $next' does not work"
grep -q '^explore_epochs = 50$' "$dir/stopped/recipe.ini" || fail "SIGINT: --set is lost"

# A disk that is full (here: files may not grow beyond so many blocks): one sentence, the
# checkpoint that was there stays, and the run ends as if nothing had been.
code=0
(
    trap '' XFSZ
    ulimit -f 400
    exec "$sebays" train "$dir/small.ini" --out "$dir/full" --quiet > /dev/null 2> "$dir/said"
) || code=$?
[ $code -eq 1 ] || fail "full disk: exit code $code, not 1"
[ "$(wc -l < "$dir/said")" = 1 ] && grep -q -i 'cannot write .*go on with' "$dir/said" ||
    fail "full disk: says '$(cat "$dir/said")'"
find "$dir/full" -name '*.tmp*' | grep -q . && fail "full disk: leaves a file half written"
"$sebays" train "$dir/small.ini" --out "$dir/full" --resume --quiet > /dev/null
cmp "$dir/t1/model.safetensors" "$dir/full/model.safetensors" ||
    fail "resumed after a full disk: another model"

# A run that is finished is not trained again.
"$sebays" train "$dir/small.ini" --out "$dir/t1" --resume > /dev/null 2> "$dir/said"
[ "$(cat "$dir/said")" = "$dir/t1 has been trained to its end; nothing is left to do" ] ||
    fail "a finished run, resumed: says '$(cat "$dir/said")'"
cmp "$dir/t1/model.safetensors" "$dir/t2/model.safetensors" ||
    fail "a finished run, resumed: another model"

# Another recipe, and a directory that is in use.
code=0
"$sebays" train "$dir/small.ini" --out "$dir/stopped" --resume --quiet 2> "$dir/said" || code=$?
[ $code -eq 2 ] || fail "another recipe: exit code $code, not 2"
grep -q explore_epochs "$dir/said" || fail "another recipe: the difference is not named"
code=0
"$sebays" train "$dir/small.ini" --out "$dir/t1" --quiet 2> "$dir/said" || code=$?
[ $code -eq 2 ] || fail "a used directory: exit code $code, not 2"
grep -q -- --resume "$dir/said" || fail "a used directory: --resume is not offered"

# The newest checkpoint is corrupt: the one before is taken, and a warning says so.
"$sebays" train "$dir/small.ini" --out "$dir/corrupt" --quiet > /dev/null
rm "$dir/corrupt/model.safetensors" "$dir/corrupt/results.json"
newest=$(find "$dir/corrupt" -name 'checkpoint-*' | sort -V | tail -n 1)
printf 'x' | dd of="$newest" bs=1 seek=20000 conv=notrunc 2> /dev/null
"$sebays" train "$dir/small.ini" --out "$dir/corrupt" --resume --quiet > /dev/null 2> "$dir/said"
grep -q "$(basename "$newest")" "$dir/said" || fail "a corrupt checkpoint is not named"
cmp "$dir/t1/model.safetensors" "$dir/corrupt/model.safetensors" ||
    fail "resumed from the checkpoint before a corrupt one: another model"
echo "resume: threads, $kills kills, SIGINT, full disk, finished run, other recipe, used directory, corrupt checkpoint"
