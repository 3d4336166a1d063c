#!/bin/sh
# quickstart.sh SEBAYS [print] - recipes/quickstart.ini, trained whole, gives the tensors of the file
# sums on every processor: what the README says of it was measured on these. "print" prints
# their sums.
set -eu
sebays=$(realpath "$1") how=${2:-compare}
here=$(cd "$(dirname "$0")" && pwd)
if ! command -v python3 >/dev/null; then
    echo 'NOT TESTED: the bits of the quickstart (needs python3)'
    exit 77
fi
if ! "$sebays" data info fashion-mnist >/dev/null 2>&1; then
    echo 'NOT TESTED: the bits of the quickstart (needs Fashion-MNIST; Debian: dataset-fashion-mnist)'
    exit 77
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$sebays" train "$here/../../recipes/quickstart.ini" --out "$work/run" --quiet >/dev/null
mv "$work/run/model.safetensors" "$work/quickstart.model"
"$here/tensors.py" "$work/quickstart.model" >"$work/have"
if [ "$how" = print ]; then
    cat "$work/have"
    exit
fi
grep ' quickstart' "$here/sums" >"$work/want"
if ! diff "$work/want" "$work/have"; then
    echo "FAILED: other bits than $here/sums has; where they are meant: tests/bits/renew"
    exit 1
fi
