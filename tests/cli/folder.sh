#!/bin/sh
# folder.sh SEBAYS IMAGES - trains on a folder of PNG and JPEG files: the same model, byte for
# byte, for 1 and 3 threads, and a file that is bad or missing is named.
set -u
sebays=$1 images=$2 bad=0
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1

fail()
{
    echo "folder: $1" >&2
    exit 1
}

# refused SENTENCE ARGUMENTS...
refused()
{
    want=$1
    shift
    "$sebays" "$@" --quiet >out 2>err && fail "sebays $* works"
    [ "$(head -n 1 err)" = "$want" ] || fail "sebays $*: said '$(cat err)', want '$want'"
}

# Every fixture several times: grey ones are a class, colourful ones another.
for part in train test; do
    mkdir -p pets/$part/grey pets/$part/colour
    for copy in 1 2 3; do
        for file in "$images"/grey*.png "$images"/*-grey.jpg; do
            cp "$file" "pets/$part/grey/$copy-${file##*/}"
        done
        for file in "$images"/rgb*.png "$images"/palette*.png "$images"/photo-[cp]*.jpg; do
            cp "$file" "pets/$part/colour/$copy-${file##*/}"
        done
    done
done
cat >small.ini <<'END'
[data]
set = ./pets
size = 20x16
split = stratified
augment = crop-flip
[model]
arch = lenet
[method]
name = sebays
members = 2
sparsity = 0.8
explore_epochs = 1
exploit_epochs = 1
delta_t = 2
kl_anneal_epochs = 1
[train]
batch = 8
END

"$sebays" train small.ini --out none --quiet >out 2>err
if grep -q 'was built without' err; then
    echo 'NOT TESTED: training on image files (needs libpng and libjpeg)'
    [ $failed -eq 0 ] && exit 77
    exit 1
fi
rm -rf none
for threads in 1 3; do
    "$sebays" train small.ini --out t$threads --threads $threads --quiet >out 2>err ||
        fail "train with $threads threads: $(cat err)"
done
cmp t1/model.safetensors t3/model.safetensors || fail '3 threads give another model than 1'

# Files come class by class: unless somebody asks for the tail, each class is validated.
"$sebays" plan small.ini --set data.split=auto --set data.validation=0.3 >out 2>err ||
    fail "auto: $(cat err)"
refused 'sebays train: ./pets is sorted by class: its last 14 examples, which data.split = tail takes for validation, are of one class or all of it; say data.split = stratified' \
    train small.ini --out tail --set data.split=tail --set data.validation=0.3

printf 'GIF89a' >pets/test/grey/3-grey8.png
refused 'sebays train: ./pets/test/grey/3-grey8.png: it does not begin like a PNG or JPEG file' \
    train small.ini --out "bad$((bad += 1))"
rm pets/test/grey/3-grey8.png
rm -r pets/test
refused 'sebays train: ./pets has a folder train, but none for the test split; want test or val' \
    train small.ini --out "bad$((bad += 1))"
mv pets/train/* pets && rmdir pets/train # no parts: some of each class are kept aside
"$sebays" train small.ini --out whole --quiet >out 2>err || {
    cat err
    exit 1
}
refused 'sebays train: small.ini: data.size = 20: want auto or HEIGHTxWIDTH with sides from 1 to 16384, such as 32x32' \
    train small.ini --out "bad$((bad += 1))" --set data.size=20
exit 0
