#!/usr/bin/env python3
"""quotes - documents say what is so.

    quotes.py SEBAYS

- docs/extending.md: every C block comes after a line that names its file (`tests/extending/...`),
  and its lines are in that file in this order; a line "..." leaves some out.
- docs/method.md: its table has exactly the methods of src/recipe/method.c, and every option
  it names is one that `sebays options` lists.
- Comments that say "method.md N" name a section that is there.
- The maps of folders are those of tools/check_layers.
"""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
TOPS = ["src", "tests", "include", "cli", "bench"]


def quoted_blocks(text):
    """(file, lines) of each C block."""
    file, block = None, None
    for line in text.splitlines():
        if block is not None:
            if line.startswith("```"):
                yield file, block
                block = None
            else:
                block.append(line)
        elif line.startswith("```c"):
            block = []
        else:
            named = re.findall(r"`((?:tests|src)/[\w/]+\.[ch])`", line)
            file = named[-1] if named else file


def missing_line(lines, block):
    """The first line of block that is not where it should be, or None."""
    at = 0
    for line in block:
        if line.strip() in ("...", ""):
            continue
        while at < len(lines) and lines[at].rstrip() != line.rstrip():
            at += 1
        if at == len(lines):
            return line
        at += 1
    return None


def extending():
    blocks = list(quoted_blocks((ROOT / "docs/extending.md").read_text()))
    if len(blocks) < 5:
        yield f"docs/extending.md has {len(blocks)} examples, want one for each way to extend"
    for file, block in blocks:
        line = missing_line((ROOT / file).read_text().splitlines(), block)
        if line is not None:
            yield f"docs/extending.md quotes {file} wrongly: {line}"


def method(sebays):
    text = (ROOT / "docs/method.md").read_text()
    code = (ROOT / "src/recipe/method.c").read_text()
    table = code[code.index("sb_method table[]"):]
    rows = re.findall(r'^    \{"([\w-]+)", "', table[:table.index("\n};")], re.M)
    have = re.findall(r"^\| `([\w-]+)` \| (?:point|gauss) \|", text, re.M)
    if rows != have or not rows:
        yield f"docs/method.md has the methods {have}, method.c {rows}"
    known, section = set(), ""
    options = subprocess.run([sebays, "options"], capture_output=True, text=True, check=True)
    for line in options.stdout.splitlines():
        section = line[1:-1] if line.startswith("[") else section
        known.update(f"{section}.{key}" for key in re.findall(r"^(\w+) =", line))
    for name in sorted(set(re.findall(r"`((?:data|model|method|train|eval)\.\w+)", text))):
        if name not in known:
            yield f"docs/method.md names {name}, which is no option"


def sections():
    have = set(re.findall(r"^##+ ([\d.]+?)\.? ", (ROOT / "docs/method.md").read_text(), re.M))
    for top in TOPS:
        for path in sorted((ROOT / top).rglob("*.[ch]")):
            for named in re.findall(r"method\.md ((?:[\d.]*\d)(?:, [\d.]*\d)*)", path.read_text()):
                for number in named.split(", "):
                    if number not in have:
                        yield f"{path.relative_to(ROOT)}: docs/method.md has no section {number}"


def layers():
    """README, architecture.md and CONTRIBUTING have the folders of tools/check_layers."""
    order = re.search(r"ORDER = \[(.*?)\]", (ROOT / "tools/check_layers").read_text(), re.S)
    order = re.findall(r'"(\w+)"', order.group(1))
    there = [name for name in order if (ROOT / "src" / name).is_dir()]
    readme = re.findall(r"^src/(\w+)/ ", (ROOT / "README.md").read_text(), re.M)
    table = re.findall(r"^\| `src/(\w+)`", (ROOT / "docs/architecture.md").read_text(), re.M)
    line = re.search(r"^    (base < .*)$", (ROOT / "CONTRIBUTING.md").read_text(), re.M)
    for name, have, want in (("README.md", readme, there), ("docs/architecture.md", table, order),
                             ("CONTRIBUTING.md", line.group(1).split(" < "), order)):
        if have != want:
            yield f"{name} has the folders {have}, tools/check_layers {want}"


def main():
    faults = [*extending(), *method(sys.argv[1]), *sections(), *layers()]
    print(*faults, sep="\n", end="\n" if faults else "")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
