#!/usr/bin/env python3
"""compare - our t-SNE beside scikit-learn's, on the same points, by trustworthiness.

usage: compare.py EMBED, the program made of embed.c
"""
import os
import subprocess
import sys
import warnings

SYSTEM = "/usr/bin/python3"

try:
    import numpy
    from sklearn.datasets import load_iris
    from sklearn.manifold import TSNE, trustworthiness
except ImportError as error:
    if os.path.exists(SYSTEM) and not os.path.samefile(sys.executable, SYSTEM):
        os.execv(SYSTEM, [SYSTEM, *sys.argv])  # where Debian's packages are
    print(f"NOT TESTED: t-SNE beside scikit-learn's (needs python3-sklearn: {error})")
    sys.exit(77)

ALLOWED = 0.02


def blobs():
    rng = numpy.random.default_rng(1)
    return numpy.concatenate([rng.normal(0, 1, (40, 20)) + 10 * numpy.eye(20)[k]
                              for k in range(3)])


def path():
    """Random walks away from one point, as training trajectories are."""
    rng = numpy.random.default_rng(2)
    start = numpy.cumsum(rng.normal(0, 1, (30, 50)), axis=0)
    ways = [start[-1] + numpy.cumsum(rng.normal(0, 1, (30, 50)), axis=0) for _ in range(3)]
    return numpy.concatenate([start, *ways])


def ours(program, x):
    text = f"{x.shape[0]} {x.shape[1]}\n" + "\n".join(
        " ".join(f"{v:.9g}" for v in row) for row in x)
    out = subprocess.run([program], input=text, text=True, capture_output=True, check=True)
    return numpy.array([[float(v) for v in line.split()] for line in out.stdout.splitlines()])


def main():
    failed = 0
    for name, x in (("blobs", blobs()), ("iris", load_iris().data), ("path", path())):
        x = x.astype(numpy.float32)
        perplexity = min(30.0, (len(x) - 1) / 3)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            theirs = TSNE(method="exact", init="pca", learning_rate="auto",
                          perplexity=perplexity, random_state=0).fit_transform(x)
        a = trustworthiness(x, ours(sys.argv[1], x))
        b = trustworthiness(x, theirs)
        ok = a >= b - ALLOWED
        failed += not ok
        print(f"{name}: trustworthiness {a:.4f}, scikit-learn's {b:.4f}"
              f"{'' if ok else ': WORSE'}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
