#!/usr/bin/python3
"""Exports models of every architecture and form as ONNX, and computes them elsewhere.

usage: onnx.py SEBAYS LIBSEBAYS_SO DIRECTORY

A reader of the tests' own (onnx_check.py) checks each file and computes it in NumPy; ONNX
Runtime computes it where it is in DIRECTORY or can be put there (tools/onnxruntime). Both
must give what the library predicts. What a machine cannot test is said in a line that begins
with NOT TESTED.
"""
import importlib.util
import json
import os
import pathlib
import subprocess
import sys
import tempfile

if importlib.util.find_spec("numpy") is None:
    print("NOT TESTED: ONNX exports (needs python3-numpy)")
    sys.exit(0)

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
SOURCE = HERE.parent.parent
SEBAYS = os.path.abspath(sys.argv[1])
PLACE = os.path.abspath(sys.argv[3])
os.environ["SEBAYS_LIBRARY"] = os.path.abspath(sys.argv[2])
sys.dont_write_bytecode = True
sys.path[:0] = [str(SOURCE / "python"), str(HERE)]

import onnx_check
import sebays

CLOSE = 1e-5
NAMES = 'a"\\b', "naïve €", "🎉", "a name, member.0.value.1"
SHORT = {"data.set": "images", "data.split": "stratified", "method.explore_epochs": 1,
         "method.exploit_epochs": 1, "method.delta_t": 2, "train.batch": 16,
         "train.threads": 1}
# What is trained: architecture, method, more options. Of every form one at least; the plane is
# 24 x 17, so that pools meet odd sizes.
CASES = [
    ("mlp-12-9", "sebays", {}),
    ("mlp", "dnn", {}),
    ("lenet", "sebays", {"method.members": 2}),
    ("resnet-8", "sebays", {"method.members": 2}),
    ("wrn-10-1", "edst", {"method.members": 3}),
    ("wrn-10-2", "bnn", {}),
    ("wrn-10-1", "mc-dropout", {"method.passes": 2}),
    ("lenet", "mc-dropout", {"method.passes": 2}),
    ("resnet-8", "mimo", {"method.members": 2}),
    ("wrn-10-1", "batch-ensemble", {"method.members": 2}),
    ("wrn-10-1", "rank1-bnn", {"method.members": 2}),
    ("resnet-8", "treenet", {"method.members": 2}),
]


def onnxruntime():
    """What NODE_PATH must be, or None."""
    try:
        made = subprocess.run([SOURCE / "tools" / "onnxruntime", PLACE], capture_output=True,
                              text=True, timeout=300, check=False)
    except subprocess.TimeoutExpired:
        made = None
    if made and made.returncode == 0:
        return made.stdout.strip()
    why = made.stderr.strip() if made else "npm took too long"
    print(f"NOT TESTED: ONNX exports in ONNX Runtime (needs onnxruntime-node from npm; {why})")
    return None


def run_there(node_path, path, x):
    x.tofile("x.f32")
    out = subprocess.run(["node", HERE / "onnx_run.js", path, "x.f32", *map(str, x.shape)],
                         env={**os.environ, "NODE_PATH": node_path}, check=True,
                         stdout=subprocess.PIPE).stdout
    return {name: np.array(a["data"], np.float32).reshape(a["dims"])
            for name, a in json.loads(out).items()}


def close(what, have, want):
    assert have.shape == want.shape, f"{what}: shape {have.shape}, want {want.shape}"
    assert want.std() > 1e-3, f"{what}: says the same of every example"
    far = np.abs(have - want).max()
    assert far < CLOSE, f"{what}: differs by {far}"
    return far


def compare(what, node_path, run, path, x, sampling, member=None):
    """The exported file beside the library, in NumPy and in ONNX Runtime."""
    graph = onnx_check.check(path.read_bytes())
    with sebays.Model(run, sampling=sampling) as model:
        want = model.members(x)
        assert np.array_equal(model.members(x[:1]), want[:, :1]), f"{what}: one alone differs"
    want = want if member is None else want[member:member + 1]
    where = [("NumPy", onnx_check.run(graph, x))]
    if node_path:
        where.append(("ONNX Runtime", run_there(node_path, path, x)))
        where.append(("ONNX Runtime, one", run_there(node_path, path, x[:1])))
    for name, have in where:
        n = have["members"].shape[1]
        far = max(close(f"{what}, {name}", have["members"], want[:, :n]),
                  close(f"{what}, {name}", have["probabilities"], want[:, :n].mean(0)))
        print(f"{what}, {name}: {len(want)} members within {far:.1e}")
    return graph


def write_images():
    rng = np.random.RandomState(1)
    y = np.arange(48) % 4
    x = rng.randint(0, 60, (48, 24, 17, 3)) + 60 * y[:, None, None, None]
    os.mkdir("images")
    np.save("images/x.npy", x.astype(np.uint8))
    np.save("images/y.npy", y)
    return np.ascontiguousarray(x.transpose(0, 3, 1, 2), np.float32) / np.float32(255)


def train(name, options):
    sebays.train({**SHORT, **options}, name, progress=False)
    return pathlib.Path(name)


def check_networks(node_path, x):
    for i, (arch, method, more) in enumerate(CASES):
        run = train(f"run{i}", {"model.arch": arch, "method.name": method, **more})
        path = run / "m.onnx"
        sebays.export(run, path, "onnx")
        graph = compare(f"{arch}, {method}", node_path, run, path, x, "draw")
        masks = [name for name in graph.tensors if ".keep." in name]
        assert bool(masks) == (method == "mc-dropout" and arch.startswith("wrn")), masks
        assert graph.meta["arch"] == graph.name == arch and graph.meta["method"] == method
    run = pathlib.Path("run0")  # three Gaussian members
    sebays.export(run, run / "mean.onnx", "onnx", samples="mean")
    compare("means", node_path, run, run / "mean.onnx", x, "mean")
    sebays.export(run, run / "one.onnx", "onnx", member=1)
    compare("one member", node_path, run, run / "one.onnx", x, "draw", member=1)


def check_table(node_path):
    table = SOURCE / "tests" / "tables" / "iris.csv"
    run = train("iris", {"data.set": table, "model.arch": "mlp-8", "train.batch": 32})
    rows = np.genfromtxt(table, delimiter=",")
    x = rows[:, ~np.isnan(rows).any(0)].astype(np.float32)
    sebays.export(run, run / "m.onnx", "onnx")
    graph = compare("iris", node_path, run, run / "m.onnx", x, "draw")
    assert graph.inputs == {"input": ["n", 4]}, graph.inputs
    assert "setosa" in graph.meta["class_names"] and graph.meta["columns"]


def compare_outcomes(what, node_path, run, path, x, member=None):
    """Of continuous targets: close in units of the target's deviation."""
    graph = onnx_check.check(path.read_bytes())
    with sebays.Model(run) as model:
        means, variances = (a.reshape(len(a), len(x), -1) for a in model.member_outcomes(x))
        out = {name: a.reshape(len(x), -1) for name, a in model.outcomes(x)._asdict().items()}
    want = {"mean": out["mean"], "sd": out["sd"], "member_means": means,
            "member_variances": variances}
    if member is not None:
        means, variances = means[member:member + 1], variances[member:member + 1]
        want = {"mean": means[0], "sd": np.sqrt(variances[0]), "member_means": means,
                "member_variances": variances}
    unit = np.array(json.loads(graph.meta["targets"])["sd"])
    where = [("NumPy", onnx_check.run(graph, x))]
    if node_path:
        where.append(("ONNX Runtime", run_there(node_path, path, x)))
        where.append(("ONNX Runtime, one", run_there(node_path, path, x[:1])))
    for name, have in where:
        assert set(have) == set(want), set(have)
        n, far = len(have["mean"]), 0
        for key, value in want.items():
            value, scale = value[..., :n, :], unit ** (2 if key == "member_variances" else 1)
            assert have[key].shape == value.shape, (what, key, have[key].shape, value.shape)
            far = max(far, np.abs((have[key] - value) / scale).max())
        assert far < CLOSE, f"{what}, {name}: differs by {far} of a target's deviation"
        print(f"{what}, {name}: {len(means)} members within {far:.1e} deviations")
    assert member is not None or out["epistemic"].max() > 0, f"{what}: members agree"
    assert graph.outputs == {"mean": ["n", len(unit)], "sd": ["n", len(unit)],
                             "member_means": [len(means), "n", len(unit)],
                             "member_variances": [len(means), "n", len(unit)]}, graph.outputs


def check_outcomes(node_path):
    """Continuous targets: one and several, both kinds of noise, networks of images, too."""
    rng = np.random.RandomState(3)
    x = rng.rand(90, 4).astype(np.float32)
    y = np.stack([x[:, 0] * 1e4 + 5e4, 1e-3 * (x[:, 1] - x[:, 2] ** 2)], 1)
    y += rng.randn(*y.shape) * y.std(0) * 0.3
    np.savez("two.npz", x=x, y=y)
    np.savez("one.npz", x=x, y=y[:, 0])
    pictures = np.load("images/x.npy")
    np.savez("pictures.npz", x=pictures, y=pictures.mean((1, 2, 3)) + rng.randn(48))
    task = {"data.task": "regression", "data.split": "random"}
    for name, arch, method in (("two", "mlp-8-8", "sebays"), ("one", "mlp", "sebays"),
                               ("one", "mlp-8", "mc-dropout"), ("two", "mlp-8", "rank1-bnn"),
                               ("pictures", "wrn-10-1", "edst")):
        for noise in "shared", "per-example":
            what = f"{name}-{arch}-{method}-{noise}"
            more = {"method.passes" if method == "mc-dropout" else "method.members": 3}
            if arch == "mlp-8-8":
                more["model.width"] = "fitted"
            run = train(what, {**task, **more, "data.set": name + ".npz", "model.arch": arch,
                               "method.name": method, "model.noise": noise})
            of = np.ascontiguousarray(pictures.transpose(0, 3, 1, 2), np.float32) / \
                np.float32(255) if name == "pictures" else x
            sebays.export(run, run / "m.onnx", "onnx")
            compare_outcomes(what, node_path, run, run / "m.onnx", of)
            with sebays.Model(run) as model:
                assert (set(model.target_widths) != {1}) >= (arch == "mlp-8-8"), what
            sebays.export(run, run / "one.onnx", "onnx", member=1)
            compare_outcomes(what + ", member 1", node_path, run, run / "one.onnx", of, member=1)


def check_names(node_path):
    """Class names are texts of the file's, whatever is in them."""
    x = np.random.RandomState(2).rand(64, 5).astype(np.float32)
    lines = ["%g,%g,%g,%g,%g,%s" % (*row, '"%s"' % NAMES[i % 4].replace('"', '""'))
             for i, row in enumerate(x + np.arange(64)[:, None] % 4)]
    pathlib.Path("odd.csv").write_text("\n".join(lines))
    run = train("odd", {"data.set": "odd.csv", "model.arch": "mlp-8"})
    sebays.export(run, run / "m.onnx", "onnx")
    graph = compare("odd names", node_path, run, run / "m.onnx", x, "draw")
    assert set(json.loads(graph.meta["class_names"])) == set(NAMES), graph.meta["class_names"]


def check_command():
    for words in ([], ["--samples", "mean"], ["--member", "1"]):
        subprocess.run([SEBAYS, "export", "run0", "--format", "onnx", "--out", "c.onnx", "--quiet",
                        *words], check=True)
        name = {"": "m", "--samples": "mean", "--member": "one"}[words[0] if words else ""]
        same = pathlib.Path("c.onnx").read_bytes() == pathlib.Path(f"run0/{name}.onnx").read_bytes()
        assert same, f"sebays export {words} and sebays.export differ"


def main():
    node_path = onnxruntime()
    with tempfile.TemporaryDirectory(prefix="sebays-onnx-") as place:
        os.chdir(place)
        check_networks(node_path, write_images())
        check_table(node_path)
        check_outcomes(node_path)
        check_names(node_path)
        check_command()
        os.chdir("/")


if __name__ == "__main__":
    main()
