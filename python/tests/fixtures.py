"""Small models, trained once a test run."""
import atexit
import functools
import os
import pathlib
import tempfile

import numpy as np

import sebays

REFERENCE = os.environ["SEBAYS_REFERENCE"]
PROGRAM = os.environ["SEBAYS_PROGRAM"]  # the command line
MEMORY = "/dev/shm" if os.access("/dev/shm", os.W_OK | os.X_OK) else None
_directory = tempfile.TemporaryDirectory(prefix="sebays-tests-", dir=MEMORY)
atexit.register(_directory.cleanup)
ROOT = pathlib.Path(_directory.name)
SHORT = {"method.explore_epochs": 2, "method.exploit_epochs": 2, "method.delta_t": 4,
         "method.members": 3, "method.sparsity": 0.8, "train.batch": 32, "train.threads": 1,
         "data.split": "stratified"}


def write_set(name, x, y):
    directory = ROOT / name
    directory.mkdir(exist_ok=True)
    np.save(directory / "x.npy", x)
    np.save(directory / "y.npy", y)
    return directory


def table(n=120, features=5, classes=3):
    rng = np.random.RandomState(1)
    y = np.arange(n) % classes
    return (rng.standard_normal((n, features)) + y[:, None]).astype(np.float32), y


def images(n=90):
    rng = np.random.RandomState(2)
    y = np.arange(n) % 3
    x = rng.randint(0, 60, (n, 12, 10, 3)) + 60 * y[:, None, None, None]
    return x.astype(np.uint8), y


@functools.lru_cache(None)
def table_run():
    data = write_set("table", *table())
    return sebays.train({"data.set": data, "model.arch": "mlp-16-8"}, ROOT / "table-run", SHORT,
                        progress=False)


@functools.lru_cache(None)
def image_run():
    data = write_set("images", *images())
    return sebays.train({"data.set": data, "model.arch": "mlp-16"}, ROOT / "image-run", SHORT,
                        progress=False)
