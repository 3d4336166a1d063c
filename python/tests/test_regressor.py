import importlib.util
import os
import pickle
import subprocess
import tempfile
import unittest
import warnings

import numpy as np

import sebays

if importlib.util.find_spec("sklearn") is None:
    raise unittest.SkipTest("needs scikit-learn; Debian: python3-sklearn")

from sklearn.base import clone
from sklearn.datasets import load_diabetes
from sklearn.model_selection import cross_val_score
from sklearn.utils.estimator_checks import check_estimator

from test_classifier import PASSED_OVER, name_of

SHORT = {"explore_epochs": 4, "exploit_epochs": 2, "members": 2, "arch": "mlp-16"}


def rows(n=400, seed=0):
    """Numbers, and a target that scatters the more the larger the first of them is."""
    r = np.random.RandomState(seed)
    x = r.rand(n, 3).astype(np.float32)
    return x, 100 + 30 * x[:, 0] - 20 * x[:, 1] + r.randn(n) * (0.5 + 4 * x[:, 0])


class Checks(unittest.TestCase):
    def test_check_estimator(self):
        count = 0
        for estimator, check in check_estimator(sebays.SeBaySRegressor(**SHORT),
                                                generate_only=True):
            with self.subTest(name_of(check)), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                try:
                    check(estimator)
                    count += 1
                except unittest.SkipTest as skip:
                    self.assertTrue(any(why in str(skip) for why in PASSED_OVER.values()))
                    print(f"\nNOT TESTED: {name_of(check)} ({skip})")
        print(f"check_estimator: {count} checks passed")
        self.assertGreaterEqual(count, 44)


class Regressor(unittest.TestCase):
    def test_learns(self):
        scores = cross_val_score(sebays.SeBaySRegressor(random_state=0),
                                 *load_diabetes(return_X_y=True), cv=3)
        self.assertGreater(scores.mean(), 0.4)
        x, y = rows()
        e = sebays.SeBaySRegressor(random_state=0).fit(x, y)
        self.assertGreater(e.score(*rows(seed=1)), 0.85)
        self.assertEqual(e.n_iter_, len(e.history_))
        self.assertIn("val_nll", e.history_[-1])

    def test_answers(self):
        x, y = rows()
        e = sebays.SeBaySRegressor(random_state=0).fit(x, y)
        mean, sd = e.predict(x, return_std=True)
        np.testing.assert_array_equal(mean, e.predict(x))
        self.assertEqual((mean.shape, mean.dtype), ((400,), np.float64))
        u = e.predict_uncertainty(x)
        np.testing.assert_allclose(sd ** 2, u.aleatoric ** 2 + u.epistemic ** 2, rtol=1e-4)
        low, high = e.predict_interval(x, 0.8)
        quantiles = e.predict_quantiles(x, [0.1, 0.5, 0.9])
        np.testing.assert_array_equal(quantiles[:, 0], low)
        np.testing.assert_array_equal(quantiles[:, 2], high)
        np.testing.assert_array_equal(e.predict_quantiles(x, 0.5), quantiles[:, 1])
        test, truth = rows(seed=1)
        low, high = e.predict_interval(test)
        self.assertGreater(((low < truth) & (truth < high)).mean(), 0.8)

    def test_width(self):
        x, y = rows(120)
        e = sebays.SeBaySRegressor(random_state=0, **SHORT).fit(x, y)
        plain = sebays.SeBaySRegressor(random_state=0, options={"model.width": "none"},
                                       **SHORT).fit(x, y)
        (width,), (one,) = e.model_.target_widths, plain.model_.target_widths
        self.assertEqual(one, 1)
        self.assertNotEqual(width, 1)
        mean, sd = e.predict(x, return_std=True)
        same, other = plain.predict(x, return_std=True)
        np.testing.assert_array_equal(mean, same)
        np.testing.assert_allclose(sd, width * other, rtol=1e-6)
        np.testing.assert_array_equal(e.model_.member_outcomes(x),
                                      plain.model_.member_outcomes(x))

    def test_noise_of_each_example(self):
        x, y = rows(1500)
        how = {"random_state": 0, "explore_epochs": 40, "learning_rate": 0.01}
        e = sebays.SeBaySRegressor(noise="per-example", **how).fit(x, y)
        sd = e.predict_uncertainty(x).aleatoric
        self.assertGreater(sd[x[:, 0] > 0.8].mean(), 2 * sd[x[:, 0] < 0.2].mean())
        e = sebays.SeBaySRegressor(noise="shared", **how).fit(x, y)
        self.assertLess(np.ptp(e.predict_uncertainty(x).aleatoric), 1e-4)

    def test_several_targets(self):
        x, y = rows()
        both = np.stack([y, -1e-3 * y], axis=1)
        e = sebays.SeBaySRegressor(random_state=0).fit(x, both)
        self.assertEqual(e.predict(x).shape, (400, 2))
        self.assertEqual(e.predict_interval(x)[1].shape, (400, 2))
        self.assertEqual(e.predict_quantiles(x, [0.1, 0.9, 0.5]).shape, (400, 2, 3))
        self.assertEqual(e.predict_quantiles(x, 0.5).shape, (400, 2))
        self.assertGreater(e.score(x, both), 0.85)
        column = sebays.SeBaySRegressor(random_state=0, **SHORT).fit(x, y[:, None])
        flat = sebays.SeBaySRegressor(random_state=0, **SHORT).fit(x, y)
        self.assertEqual(column.model_bytes_, flat.model_bytes_)
        self.assertEqual(column.predict(x).shape, (400, 1))
        self.assertEqual(column.predict_quantiles(x, [0.1, 0.9]).shape, (400, 1, 2))

    def test_conformal_intervals(self):
        x, y = rows(800)
        e = sebays.SeBaySRegressor(random_state=0, calibration_fraction=0.25).fit(x, y)
        self.assertEqual(e.model_.calibrated, 200)
        low, high = e.predict_interval(x, 0.8, conformal=True)
        np.testing.assert_allclose((high + low) / 2, e.predict(x), rtol=1e-5)
        test, truth = rows(2000, seed=1)
        low, high = e.predict_interval(test, 0.8, conformal=True)
        self.assertLess(abs(((low < truth) & (truth < high)).mean() - 0.8), 0.08)
        e = sebays.SeBaySRegressor(**SHORT).fit(x, y)
        with self.assertRaisesRegex(sebays.ArgumentError, "without a calibration part"):
            e.predict_interval(x, conformal=True)

    def test_the_command_line_gives_the_same(self):
        """The same rows from a CSV file, without a recipe: the same answers. Whole numbers
        are a target because it is said."""
        x, y = rows(2300)
        y = np.round(y)
        for n in 150, 2300:
            e = sebays.SeBaySRegressor(random_state=4, members=2, options={
                "method.explore_epochs": 3}).fit(x[:n], y[:n])
            with tempfile.TemporaryDirectory() as directory:
                table, run = os.path.join(directory, "t.csv"), os.path.join(directory, "run")
                with open(table, "w", encoding="utf-8") as file:
                    for row, target in zip(x[:n], y[:n]):
                        file.write(",".join(repr(float(v)) for v in row) + f",{target:g}\n")
                subprocess.run([os.environ["SEBAYS_PROGRAM"], "train", table, "--out", run,
                                "--task", "regression", "--quiet", "--set",
                                "data.test_share=0", "--set", "train.seed=4", "--set",
                                "method.members=2", "--set", "method.explore_epochs=3"],
                               check=True, stdout=subprocess.DEVNULL)
                with sebays.Model(run) as model:
                    np.testing.assert_array_equal(model.outcomes(x), e.model_.outcomes(x))

    def test_weights(self):
        x, y = rows(300)
        y = y + 40 * (np.arange(300) % 3 == 0)  # a third of the rows say something else
        how = {"random_state": 0}
        plain = sebays.SeBaySRegressor(**how).fit(x, y)
        same = sebays.SeBaySRegressor(**how).fit(x, y, np.full(300, 0.3))
        self.assertEqual(plain.model_bytes_, same.model_bytes_)
        without = sebays.SeBaySRegressor(**how).fit(x[:200], y[:200])
        zero = sebays.SeBaySRegressor(**how).fit(x, y, np.arange(300) < 200)
        self.assertEqual(without.model_bytes_, zero.model_bytes_)
        heavy = sebays.SeBaySRegressor(**how).fit(x, y, 1 + 20.0 * (np.arange(300) % 3 == 0))
        self.assertGreater(heavy.predict(x).mean(), plain.predict(x).mean() + 5)
        for weights, why in ((np.full(300, -1.0), "negative"), (np.full(300, np.nan), "NaN"),
                             (np.zeros(300), "no samples of a weight above 0")):
            with self.assertRaisesRegex(ValueError, why):
                sebays.SeBaySRegressor().fit(x, y, weights)

    @unittest.skipUnless(importlib.util.find_spec("pandas"), "needs pandas; Debian: python3-pandas")
    def test_data_frames(self):
        import pandas
        r = np.random.RandomState(0)
        x = pandas.DataFrame({"size": r.randn(300), "kind": r.choice(["a,b", "NA", None], 300),
                              "wet": r.rand(300) > 0.5})
        x.loc[::9, "size"] = np.nan
        y = 5.0 * (x.kind == "a,b") + 3.0 * x.wet + x["size"].fillna(0) + 0.3 * r.randn(300)
        targets = np.stack([y, 1e6 - y], axis=1)
        exact = 5.0 * (x.kind == "a,b") + 3.0 * x.wet + x["size"].fillna(0)
        for truth in y.to_numpy(), np.stack([exact, 1e6 - exact], axis=1), targets:
            e = sebays.SeBaySRegressor(random_state=0).fit(x, truth)
            self.assertGreater(e.score(x, truth), 0.9)
        self.assertEqual(list(e.feature_names_in_), list(x.columns))
        again = pickle.loads(pickle.dumps(e))
        new = x.copy()
        new.loc[0, "kind"] = "never seen"
        self.assertTrue(np.isfinite(again.predict(new)).all())
        np.testing.assert_array_equal(again.predict(new)[1:], e.predict(x)[1:])
        with self.assertRaisesRegex(ValueError, "in another order"):
            e.predict(x[["kind", "size", "wet"]])

    def test_pickle_clone_and_threads(self):
        x, y = rows(100)
        e = sebays.SeBaySRegressor(random_state=5, sampling="mean", **SHORT).fit(x, y)
        again = pickle.loads(pickle.dumps(e))
        np.testing.assert_array_equal(again.predict(x, return_std=True),
                                      e.predict(x, return_std=True))
        self.assertEqual(again.model_.sampling, "mean")
        self.assertFalse(hasattr(clone(e), "model_"))
        two = clone(e).set_params(n_jobs=2).fit(x, y)
        self.assertEqual(two.model_bytes_, e.model_bytes_)
        state = e.__getstate__()
        with self.assertRaisesRegex(ValueError, "the pickle is of version 99"):
            sebays.SeBaySRegressor().__setstate__({**state, "_sebays_state": 99})

    def test_refusals(self):
        x, y = rows(50)
        fitted = sebays.SeBaySRegressor(**SHORT).fit(x, y)
        for what, why in (
                (lambda: sebays.SeBaySRegressor().fit(x, np.where(y > 100, "a", "b")),
                 "no numbers|could not convert"),
                (lambda: sebays.SeBaySRegressor().fit(x, np.full(50, 7.5)),
                 "the target y is 7.5 in every row; there is nothing to learn"),
                (lambda: sebays.SeBaySRegressor().fit(x[:1], y[:1]), "1 sample"),
                (lambda: sebays.SeBaySRegressor().fit(x, np.where(y > 100, np.nan, y)), "NaN"),
                (lambda: sebays.SeBaySRegressor().fit(x, y.astype("M8[s]")),
                 "y has dates or times"),
                (lambda: sebays.SeBaySRegressor(**SHORT).fit(x, y * 1e-25),
                 "too small for a 32-bit float; want one from 1e-17"),
                (lambda: sebays.SeBaySRegressor(calibration_fraction=1).fit(x, y),
                 "calibration_fraction = 1"),
                (lambda: sebays.SeBaySRegressor(noise="loud").fit(x, y), "model.noise = loud"),
                (lambda: fitted.predict_interval(x, 1.5), "coverage = 1.5"),
                (lambda: fitted.predict_quantiles(x, [0.5, 1]), "want levels between 0 and 1")):
            with self.assertRaisesRegex(ValueError, why):
                what()


if __name__ == "__main__":
    unittest.main()
