import functools
import json
import subprocess
import unittest

import numpy as np

import sebays
from fixtures import PROGRAM, ROOT, SHORT, table_run, write_set

SETTINGS = {**SHORT, "data.split": "random", "data.calibration": 0.2, "method.members": 2,
            "train.lr": 0.02, "method.prior_variance": 1}


def rows(n=150):
    rng = np.random.RandomState(4)
    x = rng.standard_normal((n, 3)).astype(np.float32)
    noise = rng.standard_normal((n, 2)) * (0.2, 5)
    return x, np.stack([x[:, 0] * 2, 100 + 30 * x[:, 1]], axis=1) + noise


@functools.lru_cache(None)
def run(targets):
    x, y = rows()
    data = write_set(f"outcomes{targets}", x, y[:, 0] if targets == 1 else y)
    return sebays.train({"data.set": data, "model.arch": "mlp-16"}, ROOT / f"outcomes-run{targets}",
                        SETTINGS, progress=False)


class Outcomes(unittest.TestCase):
    def test_the_model_says_what_it_predicts(self):
        with run(2).model() as model:
            self.assertEqual((model.classes, model.targets), (0, 2))
            self.assertEqual(model.target_names, ("y1", "y2"))
            self.assertIn("2 targets", repr(model))
            self.assertGreater(model.calibrated, 20)
        with run(1).model() as model:
            self.assertIn("target y", repr(model))
        self.assertEqual(sorted(run(1).figures), ["crps", "mae", "nll", "rmse"])

    def test_shapes_and_the_mixture(self):
        x, _ = rows()
        for targets, shape in ((1, (150,)), (2, (150, 2))):
            with run(targets).model() as model:
                out, (means, variances) = model.outcomes(x), model.member_outcomes(x)
                self.assertEqual(out.mean.shape, shape)
                self.assertEqual(means.shape, (2, *shape))
                np.testing.assert_allclose(out.mean, means.mean(axis=0), rtol=1e-5, atol=1e-5)
                width = np.array(model.target_widths if targets > 1 else model.target_widths[0])
                self.assertTrue((width > 0).all() and (width != 1).all())
                np.testing.assert_allclose(out.aleatoric ** 2,
                                           width ** 2 * variances.mean(axis=0), rtol=1e-4)
                np.testing.assert_allclose(out.epistemic, width * means.std(axis=0),
                                           rtol=1e-3, atol=1e-4)
                np.testing.assert_allclose(out.sd ** 2, out.aleatoric ** 2 + out.epistemic ** 2,
                                           rtol=1e-4)
                self.assertTrue(np.array_equal(model.predict(x), out.mean))

    def test_intervals(self):
        x, _ = rows()
        with run(2).model() as model:
            low, high = model.interval(x, 0.8)
            levels = model.quantiles(x, [0.1, 0.5, 0.9])
            self.assertTrue(np.array_equal(levels[..., 0], low))
            self.assertTrue(np.array_equal(levels[..., 2], high))
            self.assertTrue((low < levels[..., 1]).all() and (levels[..., 1] < high).all())
            out = model.outcomes(x)
            low, high = model.interval(x, 0.8, conformal=True)
            for t in range(2):
                np.testing.assert_allclose((high - low)[:, t] / out.sd[:, t],
                                           2 * model.conformal_factor(0.8, t), rtol=1e-4)

    def test_the_command_line_writes_the_same_floats(self):
        x, _ = rows()
        np.savetxt(ROOT / "outcomes.csv", x, delimiter=",", fmt="%.9g")
        done = subprocess.run([PROGRAM, "predict", run(2).out, "--input", ROOT / "outcomes.csv",
                               "--format", "json", "--coverage", "0.8", "--quiet"],
                              check=True, stdout=subprocess.PIPE)
        lines = [json.loads(line)["targets"] for line in done.stdout.splitlines()]
        with run(2).model() as model:
            out, (low, high) = model.outcomes(x), model.interval(x, 0.8)
            for t in range(2):
                for name, want in (*out._asdict().items(), ("low", low), ("high", high)):
                    have = np.array([line[t][name] for line in lines], np.float32)
                    self.assertTrue(np.array_equal(have, want[:, t]), name)

    def test_the_wrong_question(self):
        x, _ = rows()
        with run(1).model() as model, self.assertRaisesRegex(sebays.ArgumentError, "no probab"):
            model.predict_proba(x)
        with table_run().model() as model, self.assertRaisesRegex(sebays.ArgumentError, "classes"):
            model.outcomes(np.zeros((2, 5)))
