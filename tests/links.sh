#!/bin/sh
# links.sh - the documents name what is there, and tools/check_links finds what is not.
set -u
here=$(cd "$(dirname "$0")/.." && pwd)
if ! command -v python3 >/dev/null; then
    echo 'NOT TESTED: links between documents (needs python3)'
    exit 77
fi
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
"$here/tools/check_links" || exit 1

mkdir "$work/docs" "$work/src"
: >"$work/src/there.c"
cat >"$work/README.md" <<'END'
# One `--two`, three_four!
[a](docs/a.md) [`b`](docs/a.md#twice-1) [c](#one---two-three_four) [d](https://nowhere/x.md)
[e](docs/b.md) [f](docs/a.md#thrice) [g](#one) `src/there.c` `src/gone.c` `src/NAME.c`
```
[not a link](gone.md)
```
[h]: docs/gone.md
[i](../outside.md)
END
printf '## Twice\n## Twice\n[back](../README.md) `[code](gone.md)`\n' >"$work/docs/a.md"
cat >"$work/want" <<'END'
README.md:3: there is no src/gone.c
README.md:3: there is no docs/b.md
README.md:3: docs/a.md has no #thrice
README.md:3: README.md has no #one
README.md:7: there is no docs/gone.md
README.md:8: there is no ../outside.md
END
"$here/tools/check_links" "$work" >"$work/have"
code=$?
if [ $code -ne 1 ] || ! cmp -s "$work/want" "$work/have"; then
    echo "FAILED: exit code $code"
    diff "$work/want" "$work/have"
    exit 1
fi
