#!/usr/bin/python3
"""Exports models and runs the code of docs/interop.md on them, beside the library itself.

usage: run.py SEBAYS LIBSEBAYS_SO

What a machine cannot test is said in a line that begins with NOT TESTED.
"""
import gzip
import importlib.util
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

if importlib.util.find_spec("numpy") is None:
    print("NOT TESTED: exports in NumPy and PyTorch (needs python3-numpy)")
    sys.exit(77)

import numpy as np

SOURCE = pathlib.Path(__file__).resolve().parent.parent.parent
PAGE = SOURCE / "docs" / "interop.md"
FASHION = pathlib.Path("/usr/share/datasets/fashion-mnist")
CLOSE = 1e-5
SHORT = {"method.name": "sebays", "method.members": 2, "method.explore_epochs": 2,
         "method.exploit_epochs": 1, "method.delta_t": 2, "method.sparsity": 0.7,
         "train.batch": 32, "data.split": "stratified"}
SEBAYS = os.path.abspath(sys.argv[1])
os.environ["SEBAYS_LIBRARY"] = os.path.abspath(sys.argv[2])
sys.dont_write_bytecode = True
sys.path.insert(0, str(SOURCE / "python"))

import sebays


def blocks():
    """The page's Python code: loading in PyTorch, networks, ensemble, NumPy."""
    found = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(), re.M | re.S)
    assert len(found) == 4, f"{len(found)} blocks of Python in {PAGE}"
    return found


def run(*words):
    subprocess.run([SEBAYS, *map(str, words), "--quiet"], check=True,
                   stdout=subprocess.DEVNULL)


def train(name, data, arch, **more):
    recipe = pathlib.Path(name + ".ini")
    recipe.write_text("")
    options = {**SHORT, "data.set": data, "model.arch": arch, **more}
    sets = [word for item in options.items() for word in ("--set", "%s=%s" % item)]
    run("train", recipe, "--out", name, *sets)
    return name


def close(what, have, want):
    """The largest difference; want is what the library says."""
    have, want = np.asarray(have), np.asarray(want)
    assert have.shape == want.shape, f"{what}: shape {have.shape}, want {want.shape}"
    assert want.std() > 1e-3, f"{what}: says the same of every example"
    far = np.abs(have - want).max()
    assert far < CLOSE, f"{what}: differs by {far}"
    return far


def compare(what, run_directory, sampling, names, x):
    with sebays.Model(run_directory, sampling=sampling) as model:
        far = max(close(what + ", members", names["each"], model.members(x)),
                  close(what, names["probabilities"], model.predict_proba(x)))
        assert len(names["each"]) == 2, f"{what}: {len(names['each'])} members"
        print(f"{what}: within {far:.1e}")
        return model.class_names


# ---- data ----


def write_images(directory, **arrays):
    os.mkdir(directory)
    for name, array in arrays.items():
        np.save(f"{directory}/{name}.npy", array)
    return "./" + directory


def random_images(n, shape):
    rng = np.random.RandomState(1)
    y = np.arange(n) % 4
    x = rng.randint(0, 60, (n, *shape)) + 60 * y[:, None, None, None]
    return x.astype(np.uint8), y


def fashion(split, n):
    """The first images of a split, and their labels."""
    with gzip.open(FASHION / f"{split}-images-idx3-ubyte.gz") as f:
        x = np.frombuffer(f.read(16 + n * 784)[16:], np.uint8).reshape(n, 28, 28, 1)
    with gzip.open(FASHION / f"{split}-labels-idx1-ubyte.gz") as f:
        y = np.frombuffer(f.read(8 + n)[8:], np.uint8)
    return x, y.astype(np.int64)


# ---- NumPy ----


def check_numpy(code):
    table = SOURCE / "tests" / "tables" / "iris.csv"
    directory = train("iris", table, "mlp-16-8")
    rows = np.genfromtxt(table, delimiter=",")
    x = rows[:, ~np.isnan(rows).any(0)].astype(np.float32)
    assert x.shape == (150, 4), f"{x.shape} numbers in {table}"
    for sampling in "draw", "mean":
        run("export", directory, "--format", "npz", "--samples", sampling, "--out",
            "table.npz")
        names = {"x": x}
        exec(compile(code, "interop.md, NumPy", "exec"), names)
        classes = compare(f"NumPy, mlp, {sampling}", directory, sampling, names, x)
        assert set(names["names"]) <= set(classes), names["names"]
        assert tuple(names["z"]["class_names"]) == classes
        assert str(names["z"]["sampling"]) == sampling
    assert sum(line.strip() != "" for line in code.splitlines()) == 10, "ten lines"
    check_parts(directory)


def check_parts(directory):
    """One member alone is the same member; deviations are where weights are."""
    run("export", directory, "--format", "npz", "--samples", "mean", "--member", 1,
        "--sigma", "--out", "one.npz")
    whole, one = np.load("table.npz"), np.load("one.npz")
    arrays = [name for name in one.files if re.match(r"member\.", name)]
    assert arrays and all(name.startswith("member.1.") for name in arrays), arrays
    assert list(one["members"]) == [1]
    deviations = [name for name in arrays if name.endswith("_sigma")]
    assert len(deviations) == 3
    for name in set(arrays) - set(deviations):
        assert np.array_equal(one[name], whole[name]), name
    for name in deviations:
        weight = one[name[:-len("_sigma")]]
        assert (one[name][weight != 0] > 0).all() and (one[name] == 0).any(), name


# ---- PyTorch ----


def run_page(codes, directory, sampling, x):
    run("export", directory, "--format", "safetensors-dense", "--samples", sampling,
        "--out", "lenet.safetensors")
    names = {"x": x}
    for code in codes:
        exec(compile(code, "interop.md, PyTorch", "exec"), names)
    return names


def check_torch(codes):
    import torch
    torch.set_num_threads(1)  # tests share the machine with each other
    assert sum(line.strip() != "" for line in codes[0].splitlines()) == 10, "ten lines"
    x, y = random_images(48, (16, 12, 3))
    data = write_images("small", x=x, y=y)
    pixels = np.ascontiguousarray(x.transpose(0, 3, 1, 2)) / np.float32(255)
    for arch in "mlp-20", "resnet-20", "wrn-10-1", "wrn-16-2":
        directory = train(arch, data, arch, **{"train.batch": 16})
        for sampling in "draw", "mean":
            names = run_page(codes, directory, sampling, pixels)
            compare(f"PyTorch, {arch}, {sampling}", directory, sampling, names, pixels)
    if not FASHION.is_dir():
        print("NOT TESTED: lenet in PyTorch (needs Debian's dataset-fashion-mnist)")
        return
    test_x, test_y = fashion("t10k", 300)
    x, y = fashion("train", 2000)
    data = write_images("fashion", x_train=x, y_train=y, x_test=test_x, y_test=test_y)
    directory = train("lenet", data, "lenet")
    pixels = np.ascontiguousarray(test_x.transpose(0, 3, 1, 2)) / np.float32(255)
    for sampling in "mean", "draw":
        names = run_page(codes, directory, sampling, pixels)
        compare(f"PyTorch, lenet, {sampling}", directory, sampling, names, pixels)
    check_attack(names, directory, pixels, test_y)


def check_attack(names, directory, pixels, labels):
    """FGSM by PyTorch's gradients beside ours; names are those of the kept draw."""
    import torch
    import torch.nn.functional as F
    run("eval", directory, "--attack", "fgsm")
    results = json.loads(pathlib.Path(directory, "results.json").read_text())
    ours = results["evaluation"]["attack"][0]["acc"]
    clean, label = torch.as_tensor(pixels), torch.as_tensor(labels)
    logits = [lambda x, m=m: names["lenet"](f"member.{m}.", (x - names["mean"]) / names["sd"])
              for m in names["members"]]
    for m, want in enumerate(ours):
        x = clean.clone().requires_grad_()
        F.cross_entropy(logits[m](x), label).backward()
        bad = (clean + 8 / 255 * x.grad.sign()).clamp(0, 1)
        with torch.no_grad():
            mean = torch.stack([F.softmax(f(bad), 1) for f in logits]).mean(0)
        have = (mean.argmax(1) == label).double().mean().item()
        off = abs(have - want) * len(labels)
        print(f"FGSM against member {m}: accuracy {want:.4f}, by PyTorch {have:.4f}")
        assert off < 2.5, f"FGSM against member {m}: {off} images apart"
        assert want < results["evaluation"]["test"]["ensemble"]["acc"] - 0.02


def main():
    codes = blocks()
    with tempfile.TemporaryDirectory(prefix="sebays-interop-") as place:
        os.chdir(place)
        check_numpy(codes[3])
        if importlib.util.find_spec("torch") is None:
            print("NOT TESTED: exports in PyTorch (needs python3-torch)")
        else:
            check_torch(codes[:3])
        os.chdir("/")


if __name__ == "__main__":
    main()
