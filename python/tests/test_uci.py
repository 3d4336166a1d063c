import importlib.util
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import numpy as np

TOOL = pathlib.Path(__file__).resolve().parent.parent.parent / "tools" / "uci"
SHORT = [f"--set={name}" for name in ("method.explore_epochs=60", "method.exploit_epochs=20",
                                      "method.members=2")]


@unittest.skipIf(importlib.util.find_spec("sklearn") is None,
                 "needs scikit-learn; Debian: python3-sklearn")
class Uci(unittest.TestCase):
    """tools/uci on a set of its form: a column that is not used, two splits."""

    def setUp(self):
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.place = pathlib.Path(place.name)
        (self.place / "yacht").mkdir()
        r = np.random.RandomState(0)
        x = r.randn(120, 3)
        np.savetxt(self.place / "yacht" / "data.txt", np.c_[x, x[:, 0] * 20 + r.randn(120)])
        self.put("features", [0, 1])
        self.put("target", [3])
        for split in range(2):
            order = r.permutation(120)
            self.put(f"train_{split}", order[:100])
            self.put(f"test_{split}", order[100:])

    def put(self, name, values):
        np.savetxt(self.place / "yacht" / f"index_{name}.txt", values, fmt="%d")

    def run_it(self, *more):
        return subprocess.run(
            [sys.executable, TOOL, self.place, "--splits", "2", "--jobs", "1", "--library",
             os.environ["SEBAYS_LIBRARY"], *SHORT, *more, "yacht"], check=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def test_tables(self):
        done = self.run_it()
        rows = [line.split(" | ") for line in done.stdout.splitlines()
                if line.startswith("| yacht")]
        self.assertEqual(len(rows), 3)
        likelihood, rmse = (float(row[1].split()[0]) for row in rows[:2])
        self.assertTrue(-6 < likelihood < -1 and 0.8 < rmse < 10, done.stdout)
        self.assertEqual(rows[0][2:5], ["-1.63", "-1.25", "-1.18"])
        self.assertIn(" ± ", rows[2][3])
        self.assertEqual(len(done.stderr.splitlines()), 2)

    def test_validation_never_reads_test_rows(self):
        for split in range(2):
            (self.place / "yacht" / f"index_test_{split}.txt").unlink()
        done = self.run_it("--validate", "--no-conformal")
        self.assertIn("nan", done.stdout)
        self.assertIn("of 1 sets", done.stdout)
