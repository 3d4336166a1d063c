#!/bin/sh
# check.sh SEBAYS - pages and tables of the runs beside this file: what the commands say, that
# the pages are sound HTML which fetches nothing, and, where Chromium is, that a browser shows
# them without an error at the width of a desk and of a phone, light, dark and for print.
set -u
sebays=$1
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cp -r "$here/sebays" "$here/dnn" "$here/going" "$work" && cd "$work" || exit 1
# shellcheck source=tests/cli/expect.sh
. "$here/../cli/expect.sh"

# page FILE ARGUMENTS...
page()
{
    file=$1
    shift
    "$sebays" report "$@" >out 2>err || fault "sebays report $*: $(cat err)"
    [ "$(cat out)" = "$file" ] || fault "sebays report $*: said '$(cat out)', want $file"
    [ -s "$file" ] || fault "sebays report $*: no $file"
}

page one.html sebays -o one.html
page three.html sebays dnn going --out three.html
page dnn/report.html dnn
cp dnn/report.html short.html
# What --test found stands on the page.
grep -q '"other_tests":{"data/later":{"sampling":"draw","test":{"ensemble":{"acc":0.841' one.html ||
    fault 'the page has no figures of another test set'
# A run that kept no rows for validation.
cp -r dnn unjudged && sed -i 's/, "val_[a-z]*": [0-9.]*//g' unjudged/metrics.jsonl
page unjudged.html unjudged -o unjudged.html
page both.html unjudged dnn -o both.html
# More runs than there are colours.
for i in 1 2 3 4 5 6 7 8; do cp -r dnn "dnn$i"; done
page many.html dnn? dnn -o many.html

refused 2 'sebays report: dnn/results.json is a file of the run; give the page another name' \
    report sebays dnn -o dnn/results.json
page dnn/report.html dnn

# Names are text, whatever they hold.
sed -i 's|T-shirt/top|</script><img src=x onerror=alert(1)>\\u0007|; s|"mnist"|"<!--<script>"|; s|data/later|</script><b>later|' sebays/results.json
page hostile.html sebays -o hostile.html

"$sebays" compare sebays dnn >out || fault 'compare fails'
cat >want <<END
fashion-mnist

method  arch   M    S     acc      nll      ece   cacc    cnll    cece  cost  time
sebays  lenet  3  0.8  *90.65  *0.2582  *0.0039  64.41  1.0718  0.0813  0.55  78 s
dnn     lenet  1    0   90.43   0.2811   0.0214      -       -       -  1.00  61 s

* best of its column; acc and cacc in %; S is the share of absent weights
cacc, cnll, cece: all corrupted test images pooled
cost: FLOPs of training, in dense networks explored and exploited once
END
cmp out want || fault "compare says '$(cat out)'"
cp -r dnn other && sed -i 's/^seed = 1/seed = 2/' other/recipe.ini
"$sebays" compare dnn other --format csv | grep -q '^"fashion-mnist","lenet",dnn,1,0,2,0.9043,0,' ||
    fault 'two seeds are not one row'

refused 1 "sebays compare: going has no results.json: its training has not ended; go on with: sebays train going/recipe.ini --out going --resume" \
    compare going
# A pattern's other directories are left out.
mkdir nothing
code=0
"$sebays" compare sebays going nothing dnn >some 2>err || code=$?
cmp some want && [ "$code" = 1 ] || fault "compare of some: exit code $code, '$(cat some)'"
cat >left <<END
sebays compare: left out: going has no results.json: its training has not ended; go on with: sebays train going/recipe.ini --out going --resume
sebays compare: left out: nothing is no run directory, it has no recipe.ini; want one that 'sebays train' made
END
cmp err left || fault "compare of some says '$(cat err)'"
# The same for the page, where a run that is still in training has its place.
code=0
"$sebays" report nothing sebays going dnn nono >out 2>err || code=$?
[ "$(cat out)" = sebays/report.html ] && [ -s sebays/report.html ] && [ "$code" = 1 ] ||
    fault "report of some: exit code $code, '$(cat out)'"
grep -q '"path":"going"' sebays/report.html || fault 'report of some: no run in training'
cat >left <<END
sebays report: left out: nothing is no run directory, it has no recipe.ini; want one that 'sebays train' made
sebays report: left out: nono is no run directory, it has no recipe.ini; want one that 'sebays train' made
END
cmp err left || fault "report of some says '$(cat err)'"
code=0
"$sebays" report nothing nono -o none.html >out 2>err || code=$?
[ "$code" = 1 ] && [ ! -e none.html ] && grep -q '^sebays report: no run is left to report$' err ||
    fault "report of none: exit code $code, '$(cat err)'"
refused 2 "sebays compare: there is no format 'html'; the nearest is 'text', of text, markdown, latex, csv and json" \
    compare dnn sebays --format html
refused 1 "sebays compare: nono is no run directory, it has no recipe.ini; want one that 'sebays train' made" \
    compare nono
refused 2 "sebays compare: there is no format 'html'; the nearest is 'text', of text, markdown, latex, csv and json" \
    compare dnn --format html
refused 2 "sebays report: want a RUN; see 'sebays report --help'" report
echo '{"method": 3}' >other/results.json
refused 1 'sebays report: other/results.json: method: want a string, have a number' report other
refused 1 'sebays report: cannot create nono/x.html: No such file or directory' report dnn -o nono/x.html

pages='one.html three.html short.html unjudged.html both.html many.html hostile.html'
if command -v python3 >/dev/null; then
    # shellcheck disable=SC2086 # a list of words
    python3 "$here/sound.py" $pages || failed=1
else
    echo 'NOT TESTED: the HTML of reports (needs python3)'
fi
chromium=$(command -v chromium || command -v chromium-browser || command -v google-chrome)
if [ -z "$chromium" ] || ! command -v python3 >/dev/null; then
    echo 'NOT TESTED: reports in a browser (needs chromium and python3)'
    exit $failed
fi
# shown FILE PATTERN FAULT
shown()
{
    "$chromium" --headless=new --no-sandbox --disable-gpu --dump-dom "file://$work/$1" >dom 2>/dev/null
    grep -q -e "$2" dom || fault "$3"
}
shown one.html '>data/later</th><td>500</td><td>84.12' 'no table of other test sets'
shown one.html '^sebays eval runs/again --corrupt generate --ood mnist=data/mnist --ood kmnist=data/kmnist --attack fgsm$' \
    'the page does not repeat its evaluation'
# Classes whose names fit above a column.
cp -r sebays brief && python3 - <<'END' || fault 'cannot shorten names'
import json
r = json.load(open("brief/results.json"))
for i, c in enumerate(r["evaluation"]["test"]["per_class"]):
    c["name"] = f"k{i}"
json.dump(r, open("brief/results.json", "w"))
END
page brief.html brief -o brief.html
shown brief.html 'called →</th><th scope="col">k0</th><th scope="col">k1</th>' 'no names above the confusion matrix'
# Tables: rows are no images, nothing is advised that needs images, and what evaluations of
# tables have is there.
awk 'BEGIN { srand(3); print "a,b,y,z,kind"; for (i = 0; i < 240; i++) { a = rand(); b = rand()
    printf "%.4f,%.4f,%.4f,%.2f,%s\n", a, b, 3 * a + rand(), 1000 * b + 300 * rand(),
        (a + 0.3 * rand() > 0.6 ? "high" : "low") } }' >table.csv
for kind in kind y,z y; do
    rest=$(echo kind,y,z | tr , '\n' | grep -vxF "$(echo $kind | tr , '\n')" | paste -sd, -)
    "$sebays" train table.csv --label $kind --set data.ignore="$rest" --set data.calibration=0.2 \
        --set data.validation=0.15 --set method.explore_epochs=4 --set method.exploit_epochs=2 --set model.arch=mlp-16 \
        --out "t_$kind" --quiet >/dev/null 2>err || fault "report: train $kind: $(cat err)"
    more=
    [ $kind = kind ] && more='--set eval.temperature=yes'
    # shellcheck disable=SC2086 # a list of words
    "$sebays" eval "t_$kind" $more --quiet >/dev/null 2>err || fault "report: eval $kind: $(cat err)"
    page "t_$kind.html" "t_$kind" -o "t_$kind.html"
done
shown t_kind.html 'of 48 test rows' 'rows of a table are not called that'
shown t_kind.html '>conformal sets<' 'no conformal sets'
shown t_kind.html 'With bins that hold as many rows each' 'no adaptive calibration error'
shown t_kind.html 'At a temperature of' 'no temperature'
awk '/<(script|style)/ { code = 1 } !code; /<\/(script|style)>/ { code = 0 }' dom >words
sed '/The whole recipe/,/<\/details>/d' words | grep -i -e 'image' -e '--corrupt' -e '--attack' &&
    fault 'a table is said to have images, or told to corrupt or attack them'
shown t_y.html 'Residuals</strong>True minus predicted value' 'no residuals'
shown t_y.html 'of outcomes are in them' 'no intervals in short'
shown t_y,z.html 'Each target in its own units' 'no table of the targets'
grep -q 'Root mean squared error</p>' dom && fault 'errors of several units are averaged'
pages="$pages t_kind.html t_y.html t_y,z.html"
for file in $pages; do
    python3 "$here/browser.py" "$chromium" "$file" || failed=1
done
exit $failed
