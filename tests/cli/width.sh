#!/bin/sh
# width.sh SEBAYS - how wide intervals are, as people see it: a table whose target has hardly
# any noise, with no settings: the width is said, planned, kept, and in every answer.
set -u
sebays=$1
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
failed=0

fault()
{
    echo "FAILED: $1"
    failed=1
}

# 200 rows of a smooth function of two numbers, the same with every awk.
awk 'BEGIN {
    x = 12345
    print "a,b,y"
    for (i = 0; i < 200; i++) {
        x = x * 16807 % 2147483647; a = 4 * x / 2147483647 - 2
        x = x * 16807 % 2147483647; b = 4 * x / 2147483647 - 2
        printf "%.5f,%.5f,%.5f\n", a, b, 100 + 3 * sin(a) + a * b
    }
}' >table.csv
few="--set method.explore_epochs=200 --set method.members=4"

# It comes first, in the plan and in training, and may be left out.
# shellcheck disable=SC2086 # several words
"$sebays" plan table.csv --label y --quiet $few >out || fault "plan"
grep -q '^width  *1  *[0-9]' out || fault "plan has no line of it"
grep -q ', 2 training runs, ' out || fault "plan does not count it"
# shellcheck disable=SC2086
"$sebays" plan table.csv --label y --quiet $few --set model.width=none >out || fault "plan none"
grep -q '^width' out && fault "plan has a line of what is not done"
# shellcheck disable=SC2086
"$sebays" train table.csv --label y --out run $few >out 2>err || fault "train: $(cat err)"
grep -q 'first a run that holds 24 rows out tells how wide intervals are' err ||
    fault "train does not say what it does first"
grep -q '^width of y: deviations are 0\.[0-9]* times what the members say$' err ||
    fault "train does not say the width: $(cat err)"
grep -q '^width = fitted$' run/recipe.ini || fault "the recipe does not have it"
[ -e run/width/model.safetensors ] || fault "no run of its own"
# shellcheck disable=SC2086
"$sebays" train table.csv --label y --out plain --quiet $few --set model.width=none \
    >out 2>err || fault "train none: $(cat err)"
[ ! -e plain/width ] || fault "a run for nothing"

# What inspect says is what deviations are multiplied with; means stay as they are.
width=$("$sebays" inspect run | sed -n 's/^width  *y, deviations times //p')
[ -n "$width" ] || fault "inspect does not have it"
"$sebays" inspect plain | grep -q '^width' && fault "inspect has what there is not"
for one in run plain; do
    "$sebays" predict $one --input table.csv --coverage 0.9 --out $one.csv || fault "predict"
done
paste -d, run.csv plain.csv | awk -F, -v s="$width" 'NR > 1 {
    if ($2 != $9) exit 1
    for (k = 3; k <= 5; k++) if (($k - s * $(k + 7)) ^ 2 > 1e-6 * $3 ^ 2) exit 1
    if (($7 - $6 - s * ($14 - $13)) ^ 2 > 1e-6 * $3 ^ 2) exit 1
}' || fault "predictions are not $width times as wide"

# An evaluation counts the same: the share of the table's test rows within the interval.
"$sebays" eval run >out 2>err || fault "eval: $(cat err)"
says=$(awk '/90 % interval/ { print $9 }' out)
wide=$("$sebays" eval plain 2>err | awk '/90 % interval/ { print $9 }')
awk -v a="$says" -v b="$wide" -v s="$width" 'BEGIN { exit !((a - s * b) ^ 2 < 1e-6 * a ^ 2) }' ||
    fault "eval: intervals of $says beside $wide are not $width times as wide"

# It is exported, as weights; npz is a zip of arrays.
"$sebays" export run --format npz --out w.npz --quiet || fault "export"
grep -q 'target_width.npy' w.npz || fault "npz does not have it"
"$sebays" export plain --format npz --out p.npz --quiet || fault "export plain"
grep -q 'target_width.npy' p.npz && fault "npz has what there is not"

# The same for any number of threads, and stopped on the way.
# shellcheck disable=SC2086
"$sebays" train table.csv --label y --out three --threads 3 --quiet $few >out 2>err ||
    fault "three threads: $(cat err)"
cmp run/model.safetensors three/model.safetensors || fault "threads change the model"
exit $failed
