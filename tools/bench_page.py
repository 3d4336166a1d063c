"""Tables of docs/performance.md that tools/bench_all writes, between markers.

    <!-- begin TOPIC -->
    #### PROCESSOR
    a line about the run, and a table
    <!-- end TOPIC -->

A topic has one block a processor; writing replaces that of this processor and leaves the
others, as it leaves everything outside the markers.
"""
import re
import subprocess

HEAD = "#### "


def processor(threads, kernels):
    """Its name and cpuid numbers by lscpu, and what the run used of it."""
    said = subprocess.run(["lscpu"], capture_output=True, text=True, check=False,
                          env={"LC_ALL": "C", "PATH": "/usr/bin:/bin"}).stdout
    have = dict(re.findall(r"^\s*([^:\n]+):\s*(.+)$", said, re.M))
    numbers = [f"{key.lower().split()[-1]} {have[key]}" for key in ("CPU family", "Model")
               if key in have]
    name = have.get("Model name", have.get("Architecture", "unknown processor"))
    return f"{name} ({', '.join(numbers)}), {kernels}, {threads} threads"


def table(heads, rows):
    """Markdown; the first column is text."""
    lines = ["| " + " | ".join(heads) + " |", "|---" + "|---:" * (len(heads) - 1) + "|"]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


def blocks(text):
    """{processor: block} of what stands between two markers."""
    parts = re.split(rf"^{HEAD}(.*)$", text, flags=re.M)
    return {name.strip(): body.strip() for name, body in zip(parts[1::2], parts[2::2])}


def write(page, topic, name, body):
    """The page's text with this block; a topic without markers is a mistake."""
    pattern = rf"(<!-- begin {topic} -->\n)(.*?)(<!-- end {topic} -->)"
    found = re.search(pattern, page, re.S)
    if not found:
        raise SystemExit(f"bench_all: no '<!-- begin {topic} -->' in the page")
    have = {**blocks(found[2]), name: body.strip()}
    text = "".join(f"{HEAD}{key}\n\n{have[key]}\n\n" for key in sorted(have))
    return page[:found.start(2)] + "\n" + text + page[found.end(2):]
