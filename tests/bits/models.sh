#!/bin/sh
# models.sh SEBAYS [few | print] - small trainings give the same model files, byte for byte, on
# every instruction set this processor has and with 1, 2 and 3 threads (scalar: 1), and their tensors are
# those of the file sums. The sums are kept, so that a change of bits is a decision:
# tests/bits/renew writes them anew. "few" is for builds with sanitizers: two
# trainings a network; "print" prints the sums.
set -eu
sebays=$(realpath "$1") how=${2:-all}
here=$(cd "$(dirname "$0")" && pwd)
sums=$here/sums
if ! command -v python3 >/dev/null; then
    echo 'NOT TESTED: the bits of trained models (needs python3)'
    exit 77
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" # recipes name their data as seen from here, and models keep the name

# Images of integer arithmetic alone: the same on every machine.
python3 - <<'END'
import pathlib

def numbers(seed):
    while True:
        seed = (seed * 6364136223846793005 + 1442695040888963407) % 2**64
        yield seed >> 33

def write_array(path, shape, content):
    head = str({"descr": "|u1", "fortran_order": False, "shape": shape}).encode()
    head += b" " * (-(len(head) + 11) % 64) + b"\n"
    path.write_bytes(b"\x93NUMPY\x01\x00" + len(head).to_bytes(2, "little") + head + content)

for name, shape in {"grey": (28, 28), "colour": (3, 12, 12)}.items():
    pathlib.Path(name).mkdir()
    noise, size = numbers(1), 1
    for side in shape:
        size *= side
    for part, n in (("train", 60), ("test", 10)):
        pixels = bytearray()
        for i in range(n):
            pixels += bytes(next(noise) % 96 + 14 * ((i % 10 + j // 5) % 10) for j in range(size))
        write_array(pathlib.Path(f"{name}/x_{part}.npy"), (n, *shape), bytes(pixels))
        write_array(pathlib.Path(f"{name}/y_{part}.npy"), (n,), bytes(i % 10 for i in range(n)))
END

# recipe ARCH SET METHOD SPARSITY [ESTIMATOR]
recipe()
{
    cat <<END
[data]
set = $2
validation = 10
augment = crop-flip
[model]
arch = $1
[method]
name = $3
members = $([ "$3" = dnn ] && echo 1 || echo 2)
sparsity = $4
explore_epochs = 1
exploit_epochs = 1
delta_t = 2
grow_batches = 2
[train]
batch = 16
${5:+estimator = $5}
END
}
recipe lenet grey sebays 0.8 >lenet-sebays.ini
recipe wrn-10-1 colour sebays 0.8 >wrn-10-1-sebays.ini
recipe lenet grey sebays 0.8 weights >lenet-weights.ini
recipe wrn-10-1 colour sebays 0.8 weights >wrn-10-1-weights.ini
recipe lenet grey dnn 0 >lenet-dnn.ini
recipe mlp-50-20 grey mimo 0 >mlp-mimo.ini

sets=''
for isa in scalar avx2 avx512 neon; do
    if "$sebays" train lenet-dnn.ini --isa $isa --dry-run >/dev/null 2>&1; then
        sets="$sets $isa"
    fi
done
best=${sets##* }

trained=0
for ini in *.ini; do
    name=${ini%.ini}
    for isa in $sets; do
        for threads in 1 2 3; do
            case $how$isa$threads in
            few"$best"3 | *scalar1) ;;
            few* | *scalar*) continue ;;
            esac
            rm -rf run
            "$sebays" train "$ini" --out run --isa "$isa" --threads $threads --quiet >/dev/null
            [ -e "$name.model" ] || mv run/model.safetensors "$name.model"
            [ ! -e run/model.safetensors ] || cmp run/model.safetensors "$name.model" || {
                echo "FAILED: $name on $isa with $threads threads: another model"
                exit 1
            }
            trained=$((trained + 1))
        done
    done
done

"$here/tensors.py" *.model >have
if [ "$how" = print ]; then
    cat have
    exit
fi
grep -v ' steps$\| quickstart' "$sums" >want
if ! diff want have; then
    echo "FAILED: other bits than $sums has; where they are meant: tests/bits/renew"
    exit 1
fi
echo "models: $trained trainings on$sets"
