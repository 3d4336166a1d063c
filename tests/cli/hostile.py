#!/usr/bin/env python3
"""hostile.py SEBAYS - inputs that nobody means well with: a sentence or a right answer.

Empty files, folders and pipes in the place of files, files of 5 GB that are holes, claims of
sizes that are not there, a million columns, a hundred thousand classes, a file that grows while
it is read. Of each command: exit code 0, or 1 or 2 with one sentence that names the file;
no signal, no waiting for ever, and no more memory than the input can need.
"""
import os
import pathlib
import resource
import struct
import subprocess
import sys
import tempfile
import threading
import time
import zlib

PATIENCE = 300  # seconds after which a program waits for ever
MEMORY = 2 << 30  # bytes of address space, without sanitizers
EMPTY = "an empty file"
PNG = b"\x89PNG\r\n\x1a\n"

sebays = os.path.abspath(sys.argv[1])
sanitized = len(sys.argv) > 2
HOLES = 200 << 20 if sanitized else 5 << 30
failures = []


def run(what, *words, codes=(0, 1, 2), says=None):
    def limit():
        if not sanitized:
            resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    if words[0] in ("train", "predict", "eval"):
        words = (*words, "--quiet")  # a slow machine gets to progress
    try:
        done = subprocess.run([sebays, *map(str, words)], preexec_fn=limit, text=True,
                              capture_output=True, stdin=subprocess.DEVNULL, timeout=PATIENCE,
                              errors="replace", check=False)
    except subprocess.TimeoutExpired:
        failures.append(f"{what}: sebays {' '.join(map(str, words))}: waits for ever")
        return None
    said = [line for line in done.stderr.splitlines() if not line.startswith("warning: ")]
    sentence = done.returncode == 0 or (len(said) == 1 and said[0].startswith("sebays "))
    if done.returncode not in codes or not sentence or (says and says not in done.stderr + done.stdout):
        failures.append(f"{what}: sebays {' '.join(map(str, words))}: exit code "
                        f"{done.returncode}, said '{done.stderr.strip()[-600:]}'")
    return done


def refused(what, *words, says=None):
    return run(what, *words, codes=(1, 2), says=says)


def everywhere(what, path):
    """As a data set, a recipe, a model, rows to predict: refused by all."""
    refused(what, "data", "info", path)
    refused(what, "train", "plain.ini", "--set", f"data.set={path}", "--out", "out")
    refused(what, "inspect", path)
    refused(what, "predict", path, "--input", "plain.csv")
    if what == EMPTY:  # a recipe without assignments is one, and no rows have no answers
        run(what, "train", path, "--out", "out", "--dry-run")
        run(what, "predict", "trained", "--input", path)
        return
    refused(what, "train", path, "--out", "out")
    refused(what, "predict", "trained", "--input", path)


def holes(name, head):
    with open(name, "wb") as f:
        f.write(head)
        f.truncate(HOLES)


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png(width, height):
    """Claims of such a size, and a few pixels."""
    return (PNG + chunk(b"IHDR", struct.pack(">2I5B", width, height, 8, 2, 0, 0, 0)) +
            chunk(b"IDAT", zlib.compress(bytes(4096))) + chunk(b"IEND", b""))


def npy(shape):
    head = str({"descr": "<f4", "fortran_order": False, "shape": shape}).encode()
    head += b" " * (-(len(head) + 11) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + len(head).to_bytes(2, "little") + head


def not_files():
    for suffix in (".csv", ".npy", ".npz", ".safetensors", ".csv.gz", ".mat"):
        path = pathlib.Path("empty" + suffix)
        path.touch()
        everywhere(EMPTY, path)
        path = pathlib.Path("folder" + suffix)
        path.mkdir()
        everywhere("a folder", path)
        path = pathlib.Path("pipe" + suffix)
        os.mkfifo(path)
        everywhere("a pipe that nobody writes to", path)
    everywhere("a device", "/dev/null")
    everywhere("a device", "/dev/zero")


def large():
    holes("holes.csv", b"a,b,c\n1,2,x\n3,4,y\n")
    holes("holes.npy", npy((4, 5)))
    holes("holes.safetensors", struct.pack("<Q", HOLES - 8))
    holes("claims.safetensors", struct.pack("<Q", 2 ** 62))
    for name in ("holes.csv", "holes.safetensors", "claims.safetensors"):
        everywhere("5 GB of holes", name)
    pathlib.Path("claims.npy").write_bytes(npy((2 ** 31, 2 ** 31)))
    everywhere("an array that is not there", "claims.npy")


def images():
    for name, data in (("claims", png(65535, 65535)), ("line", png(2 ** 31 - 1, 1)),
                       ("nothing", PNG)):
        for part in "ab":
            folder = pathlib.Path(name, part)
            folder.mkdir(parents=True)
            (folder / "1.png").write_bytes(data)
        refused("a PNG that claims", "train", "plain.ini", "--set", f"data.set={name}", "--out", "out")
        run("a PNG that claims", "data", "info", name)
    os.makedirs("holes/a")
    os.makedirs("holes/b")
    holes("holes/a/1.png", png(65535, 65535))
    holes("holes/b/1.png", png(8, 8))
    refused("a PNG of 5 GB", "train", "plain.ini", "--set", "data.set=holes", "--out", "out")


def many():
    columns = 100_000 if sanitized else 1_000_000
    with open("wide.csv", "w", encoding="ascii") as f:
        for row in range(6):
            f.write(f"{row}," * columns + f"c{row % 2}\n")
    run("many columns", "data", "info", "wide.csv")
    run("many columns", "train", "plain.ini", "--set", "data.set=wide.csv", "--set",
        "model.arch=mlp-2", "--out", "wide")
    classes = 10_000 if sanitized else 100_000
    with open("classes.csv", "w", encoding="ascii") as f:
        for row in range(3 * classes):
            f.write(f"{row % 97},{row % 89},c{row % classes}\n")
    run("many classes", "data", "info", "classes.csv")
    run("many classes", "train", "plain.ini", "--set", "data.set=classes.csv", "--set",
        "train.limit=512", "--set", "train.batch=64", "--out", "classes")


def growing():
    """Rows that are there when it is opened, or a sentence; never half a row."""
    stop = threading.Event()
    path = pathlib.Path("growing.csv")
    path.write_text("1.5,2,x\n2.5,3,y\n" * 2000, encoding="ascii")

    def grow():
        with open(path, "a", encoding="ascii", buffering=1) as f:
            while not stop.is_set() and f.tell() < 50 << 20:
                f.write("1.5,2,x\n2.5,3,y\n" * 50)
                time.sleep(0.001)
    writer = threading.Thread(target=grow)
    writer.start()
    for _ in range(5):
        run("a file that grows", "data", "info", path)
        run("a file that grows", "predict", "trained", "--input", path, "--out", "grown.csv")
    stop.set()
    writer.join()


def main():
    with tempfile.TemporaryDirectory(prefix="sebays-hostile-") as place:
        os.chdir(place)
        rows = "".join(f"{i % 7},{i * i % 5},{'xy'[i % 2]}\n" for i in range(40))
        pathlib.Path("plain.csv").write_text(rows, encoding="ascii")
        pathlib.Path("plain.ini").write_text(
            "[data]\nset = plain.csv\n[model]\narch = mlp-4\n[method]\nname = dnn\n"
            "explore_epochs = 1\nexploit_epochs = 1\n[train]\nbatch = 8\nthreads = 1\n", encoding="ascii")
        run("no enemy", "train", "plain.ini", "--out", "trained", codes=(0,))
        for part in (not_files, large, images, many, growing):
            began = time.monotonic()
            part()
            print(f"{part.__name__}: {time.monotonic() - began:.1f} s", flush=True)
        os.chdir("/")
    for failure in failures:
        print("FAILED:", failure)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
