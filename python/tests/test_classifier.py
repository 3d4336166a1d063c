import datetime
import importlib.util
import json
import os
import pathlib
import pickle
import shutil
import subprocess
import tempfile
import unittest
import warnings
from unittest import mock

import numpy as np

import sebays
from fixtures import PROGRAM, ROOT

if importlib.util.find_spec("sklearn") is None:
    raise unittest.SkipTest("needs scikit-learn; Debian: python3-sklearn")

from sklearn.base import clone
from sklearn.datasets import load_iris, make_classification, make_moons
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import cross_val_score
from sklearn.utils.estimator_checks import check_estimator

from sebays import _estimator

# Checks that scikit-learn itself passes over, and why.
PASSED_OVER = {
    "check_classifier_data_not_an_array": "pandas is not installed",
    "check_sample_weights_invariance": "rows in another order are another training",
}


def name_of(check):
    return getattr(check, "func", check).__name__


class Checks(unittest.TestCase):
    def test_check_estimator(self):
        count = 0
        for estimator, check in check_estimator(sebays.SeBaySClassifier(), generate_only=True):
            with self.subTest(name_of(check)), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                try:
                    check(estimator)
                    count += 1
                except unittest.SkipTest as skip:
                    self.assertTrue(any(why in str(skip) for why in PASSED_OVER.values()))
                    print(f"\nNOT TESTED: {name_of(check)} ({skip})")
        print(f"check_estimator: {count} checks passed")
        self.assertGreaterEqual(count, 41)

    def test_weights_of_one_are_none(self):
        """What of the check that is passed over holds."""
        from sklearn.utils import estimator_checks
        check = getattr(estimator_checks, "check_sample_weights_invariance", None)
        if check is None:
            self.skipTest("this scikit-learn has another check of weights")
        check("SeBaySClassifier", sebays.SeBaySClassifier(random_state=0), kind="ones")


class Classifier(unittest.TestCase):
    def test_learns(self):
        for x, y, least in ((*load_iris(return_X_y=True), 0.93),
                            (*make_moons(400, noise=0.15, random_state=0), 0.94)):
            scores = cross_val_score(sebays.SeBaySClassifier(random_state=0), x, y, cv=3)
            self.assertGreater(scores.mean(), least)

    def test_many_rows_are_held_out(self):
        x, y = make_classification(3000, 8, n_informative=6, random_state=0)
        e = sebays.SeBaySClassifier(random_state=0).fit(x, y)
        self.assertIn("split = stratified\n", e.model_.recipe)
        self.assertIn("validation = 300\n", e.model_.recipe)
        self.assertGreater(e.score(x, y), 0.9)

    def test_the_command_line_gives_the_same(self):
        """The same rows from a CSV file, without a recipe: the same probabilities."""
        x, y = make_classification(2500, 8, n_informative=5, random_state=1)
        x = x.astype(np.float32)
        for rows in 150, 2500:
            e = sebays.SeBaySClassifier(random_state=4).fit(x[:rows], y[:rows])
            with tempfile.TemporaryDirectory() as directory:
                table, run = os.path.join(directory, "t.csv"), os.path.join(directory, "run")
                with open(table, "w", encoding="utf-8") as file:
                    for row, label in zip(x[:rows], y[:rows]):
                        file.write(",".join(repr(float(v)) for v in row) + f",{label}\n")
                subprocess.run([os.environ["SEBAYS_PROGRAM"], "train", table, "--out", run,
                                "--quiet", "--set", "data.test_share=0", "--set",
                                "train.seed=4"], check=True, stdout=subprocess.DEVNULL)
                with sebays.Model(run) as model:
                    np.testing.assert_array_equal(model.predict_proba(x),
                                                  e.model_.predict_proba(x))

    def test_weights(self):
        x, y = make_moons(300, noise=0.4, random_state=0)
        plain = sebays.SeBaySClassifier(random_state=0).fit(x, y)
        same = sebays.SeBaySClassifier(random_state=0).fit(x, y, np.full(300, 0.3))
        self.assertEqual(plain.model_bytes_, same.model_bytes_)
        without = sebays.SeBaySClassifier(random_state=0).fit(x[:200], y[:200])
        zero = sebays.SeBaySClassifier(random_state=0).fit(x, y, np.arange(300) < 200)
        self.assertEqual(without.model_bytes_, zero.model_bytes_)
        heavy = sebays.SeBaySClassifier(random_state=0, class_weight={1: 20}).fit(x, y)
        self.assertGreater(heavy.predict(x).mean(), plain.predict(x).mean())
        rare = np.concatenate([np.flatnonzero(y == 0), np.flatnonzero(y == 1)[:15]])
        some = sebays.SeBaySClassifier(random_state=0).fit(x[rare], y[rare])
        balanced = sebays.SeBaySClassifier(random_state=0, class_weight="balanced").fit(
            x[rare], y[rare])
        self.assertGreater(balanced.predict(x).mean(), some.predict(x).mean())
        for weights, why in ((np.full(300, -1.0), "negative"), (np.full(300, np.nan), "NaN"),
                             (np.zeros(300), "at least 2 classes")):
            with self.assertRaisesRegex(ValueError, why):
                sebays.SeBaySClassifier().fit(x, y, weights)
        with self.assertRaisesRegex(ValueError, "class_weight = 'even'"):
            sebays.SeBaySClassifier(class_weight="even").fit(x, y)
        for weights, why in (({2: 1}, "no class 2"), ({0: -1}, "0 has -1; want a number from 0"),
                             ({0: np.nan}, "0 has nan")):
            with self.assertRaisesRegex(ValueError, why):
                sebays.SeBaySClassifier(class_weight=weights).fit(x, y)

    def test_far_rows_are_told(self):
        """Members agree on what is far away; how far it is says so. One row has the bits that
        it has among many, with any number of threads and on any kernels."""
        x, y = make_moons(400, noise=0.1, random_state=0)
        near = make_moons(300, noise=0.1, random_state=1)[0]
        box = np.random.default_rng(0).uniform(-8, 8, (2000, 2))
        away = np.sqrt(((box[:, None] - x[None]) ** 2).sum(-1)).min(1) > 2
        e = sebays.SeBaySClassifier(random_state=0).fit(x, y)
        here, there = e.predict_far(near), e.predict_far(box[away])
        truth = np.repeat([0, 1], [len(here), len(there)])
        self.assertGreater(roc_auc_score(truth, np.concatenate([here, there])), 0.99)
        self.assertGreater(there.min(), 0.95)
        self.assertLess((here > 0.95).mean(), 0.1)
        self.assertTrue(0.4 < here.mean() < 0.6)
        rows = near[:21].astype(np.float32)
        for options in dict(threads=1), dict(threads=3), dict(isa="scalar"):
            with sebays.Model(e.model_bytes_, **options) as model:
                np.testing.assert_array_equal(model.far(rows), here[:21])
                np.testing.assert_array_equal(model.predictions(rows)["far"], here[:21])
                for i in range(3):
                    np.testing.assert_array_equal(model.far(rows[i:i + 1]), here[i:i + 1])

    def test_missing_values(self):
        x, y = load_iris(return_X_y=True)
        x[::7, 2] = np.nan
        e = sebays.SeBaySClassifier(random_state=0).fit(x, y)
        self.assertGreater(e.score(x, y), 0.9)
        self.assertEqual(e.n_iter_, len(e.history_))
        np.testing.assert_allclose(np.exp(e.predict_log_proba(x)), e.predict_proba(x),
                                   atol=1e-12)

    def test_conformal_sets(self):
        """As sebays predict --conformal writes them; they have the class as often as said."""
        r = np.random.RandomState(0)
        y = np.arange(900) % 3
        x = (r.randn(900, 4) + 1.2 * np.eye(3, 4)[y]).astype(np.float32)
        e = sebays.SeBaySClassifier(random_state=0, calibration_fraction=0.3).fit(x[:600], y[:600])
        for coverage in (0.8, 0.95):
            have = e.predict_set(x[600:], coverage)
            self.assertEqual((have.dtype, have.shape), (np.dtype(bool), (300, 3)))
            self.assertGreater(have[np.arange(300), y[600:]].mean(), coverage - 0.06)
        self.assertGreater(have.sum(), e.predict_set(x[600:], 0.8).sum())
        path, rows = ROOT / "sets.safetensors", ROOT / "sets.csv"
        path.write_bytes(e.model_bytes_)
        np.savetxt(rows, x[600:], delimiter=",", fmt="%.9g")
        done = subprocess.run([PROGRAM, "predict", path, "--input", rows, "--conformal",
                               "--coverage", "0.95", "--format", "json", "--quiet"],
                              check=True, stdout=subprocess.PIPE)
        want = [json.loads(line)["set"] for line in done.stdout.splitlines()]
        self.assertEqual([{str(k) for k in np.flatnonzero(row)} for row in have],
                         [set(map(str, names)) for names in want])
        with self.assertWarnsRegex(UserWarning, "calibrated with 180 rows, and a coverage of "
                                   "0.999 needs 999: every set has all classes"):
            self.assertTrue(e.predict_set(x[600:], 0.999).all())
        with self.assertRaisesRegex(ValueError, "calibration"):
            sebays.SeBaySClassifier(random_state=0).fit(x, y).predict_set(x)
        with self.assertRaisesRegex(ValueError, "coverage = 90"):
            e.predict_set(x, 90)

    @unittest.skipUnless(importlib.util.find_spec("pandas"), "needs pandas; Debian: python3-pandas")
    def test_data_frames(self):
        import pandas
        r = np.random.RandomState(0)
        x = pandas.DataFrame({"size": r.randn(300), "kind": r.choice(["a,b", "NA", None], 300),
                              "grade": pandas.Categorical(r.choice(["10", "9"], 300)),
                              "wet": r.rand(300) > 0.5})
        y = np.where((x.kind == "a,b") ^ x.wet, "yes", "no")
        e = sebays.SeBaySClassifier(random_state=0).fit(x, y)
        self.assertGreater(e.score(x, y), 0.97)
        self.assertEqual(list(e.feature_names_in_), list(x.columns))
        again = pickle.loads(pickle.dumps(e))
        new = x.copy()
        new.loc[0, "kind"] = "never seen"
        self.assertTrue(np.isfinite(again.predict_proba(new)).all())
        np.testing.assert_array_equal(again.predict_proba(new)[1:], e.predict_proba(x)[1:])
        with self.assertWarnsRegex(UserWarning, "1 of 300 rows have a text in column 'kind'"):
            e.predict(new)
        new = x.copy()
        new.loc[7, "size"] = np.nan
        with self.assertWarnsRegex(UserWarning, r"^X: 1 value .* example 7 .* column 1 \(size\)$"):
            e.predict_proba(new)
        for other, why in ((x[["kind", "size", "grade", "wet"]], "in another order"),
                           (x.drop(columns="grade"), "there is no 'grade'"),
                           (x.assign(more=1), "'more' is not one of them"),
                           (x.to_numpy(), "want a DataFrame")):
            with self.assertRaisesRegex(ValueError, why):
                e.predict(other)

    @unittest.skipUnless(importlib.util.find_spec("pandas"), "needs pandas; Debian: python3-pandas")
    def test_columns_that_are_not_what_they_seem(self):
        """Numbers as objects are numbers; what would become texts in silence is refused."""
        import pandas
        r = np.random.RandomState(0)
        x = pandas.DataFrame({"size": r.randn(120), "kind": r.choice(["a", "b"], 120)})
        y = np.where(x["size"] > 0, "yes", "no")
        number = pandas.Series([1, 2.5, None, np.float32(3)] * 30)
        plain = sebays.SeBaySClassifier(random_state=0).fit(x.assign(more=number), y)
        same = x.assign(more=number.astype(object).where(number.notna(), None))
        self.assertEqual(same["more"].dtype, object)
        self.assertEqual(plain.model_bytes_,
                         sebays.SeBaySClassifier(random_state=0).fit(same, y).model_bytes_)
        big = x["size"].copy()
        big[5] = np.inf
        for column, why in ((pandas.date_range("2024-01-01", periods=120), "dates or times"),
                            (pandas.to_timedelta(np.arange(120), "D"), "dates or times"),
                            ([datetime.date(2024, 1, 1)] * 120, "such as 2024-01-01"),
                            ([f"2024-01-{k % 28 + 1:02d}" for k in range(120)], "dates or times"),
                            ([f"{k % 9} %" for k in range(120)], "per cent .* such as 0 %"),
                            ([f"1,{k % 9}" for k in range(120)], "numbers with commas"),
                            (big, "'more' has infinity"), (x["size"] * 1e300, "too large")):
            with self.assertRaisesRegex(ValueError, why):
                sebays.SeBaySClassifier().fit(x.assign(more=column), y)
        marks = pandas.Series([f"{k % 9} %" for k in range(120)])
        sebays.SeBaySClassifier().fit(x.assign(more=marks.astype("category")), y)
        with self.assertRaisesRegex(ValueError, "'more' has infinity"):
            plain.predict(x.assign(more=big))
        with self.assertRaisesRegex(ValueError, "'more' has values that are no numbers"):
            plain.predict(x.assign(more="b"))
        with self.assertRaisesRegex(ValueError, r"^X: column 3 \(more\) has more than 1000"):
            rows = pandas.concat([x] * 10, ignore_index=True)
            sebays.SeBaySClassifier().fit(
                rows.assign(more=[f"t{i}" for i in range(1200)]), np.tile(y, 10))


    def test_labels_of_any_kind(self):
        x, y = load_iris(return_X_y=True)
        want = sebays.SeBaySClassifier(random_state=3).fit(x, y).predict(x)
        for labels in (np.array(["c", "a", "b"]), np.array([7.0, -1.0, 2.5e9 // 1]),
                       np.array(["x", "yy", "zzz"], object), np.array([-5, 0, 10 ** 12])):
            order = np.sort(labels)
            e = sebays.SeBaySClassifier(random_state=3).fit(x, order[y])
            np.testing.assert_array_equal(e.classes_, order)
            np.testing.assert_array_equal(e.predict(x), order[want])

    def test_pickle_and_clone(self):
        x, y = make_moons(100, random_state=0)
        e = sebays.SeBaySClassifier(random_state=0, sampling="mean").fit(x, y)
        again = pickle.loads(pickle.dumps(e))
        np.testing.assert_array_equal(again.predict_proba(x), e.predict_proba(x))
        self.assertEqual(again.model_.sampling, "mean")
        self.assertFalse(hasattr(clone(e), "model_"))
        pickle.loads(pickle.dumps(clone(e)))

    def test_seed_and_threads(self):
        x, y = make_moons(200, noise=0.2, random_state=0)

        def fit(**how):
            return sebays.SeBaySClassifier(explore_epochs=2, exploit_epochs=2, **how).fit(x, y)
        self.assertEqual(fit(random_state=5).model_bytes_, fit(random_state=5,
                                                               n_jobs=2).model_bytes_)
        self.assertIn("seed = 5\n", fit(random_state=5).model_.recipe)
        self.assertNotEqual(fit().model_bytes_, fit().model_bytes_)

    def test_rows_are_those_given(self):
        """Whatever is called as the set is, where the program happens to be."""
        x, y = make_moons(200, noise=0.2, random_state=0)
        want = sebays.SeBaySClassifier(random_state=5).fit(x, y).model_bytes_
        before = os.getcwd()
        with tempfile.TemporaryDirectory() as directory:
            os.chdir(directory)
            try:
                os.mkdir("rows")
                for part in "train", "test":
                    np.save(f"rows/x_{part}.npy", np.zeros((40, 7), np.float32))
                    np.save(f"rows/y_{part}.npy", np.arange(40) % 4)
                self.assertEqual(
                    sebays.SeBaySClassifier(random_state=5).fit(x, y).model_bytes_, want)
                shutil.rmtree("rows")
                pathlib.Path("rows").write_text("not a data set")
                self.assertEqual(
                    sebays.SeBaySClassifier(random_state=5).fit(x, y).model_bytes_, want)
            finally:
                os.chdir(before)

    def test_little_memory(self):
        """/dev/shm of a container has 64 MB: not by the size of the rows alone, and if it is
        full all the same, the disk serves."""
        x, y = make_moons(60, random_state=0)
        want = sebays.SeBaySClassifier(random_state=0).fit(x, y).model_bytes_
        wide = sebays.SeBaySClassifier(arch="mlp-2048-2048", members=7)
        self.assertGreater(_estimator._run_bytes(wide, np.zeros((5, 100)), 10), 64 << 20)
        with tempfile.TemporaryDirectory() as memory, \
                mock.patch.object(_estimator, "MEMORY", memory), \
                mock.patch.dict(os.environ):
            os.environ.pop("TMPDIR", None)
            free = shutil.disk_usage(memory)
            self.assertEqual(_estimator._place(1000, 1000), memory)
            self.assertIsNone(_estimator._place(1000, free.free))
            places = []

            def train(recipe, out, *more, **how):
                places.append(out.startswith(memory))
                if out.startswith(memory):
                    raise sebays.FileError("cannot write: No space left on device")
                return sebays.train(recipe, out, *more, **how)
            with mock.patch.object(_estimator, "train", train):
                e = sebays.SeBaySClassifier(random_state=0).fit(x, y)
            self.assertEqual(places, [True, False])
            self.assertEqual(e.model_bytes_, want)
            self.assertEqual(os.listdir(memory), [])

    def test_every_method(self):
        x, y = make_moons(200, noise=0.1, random_state=0)
        for method in ("sebays", "bays", "edst", "dst", "static", "bnn", "bnn-ensemble", "dnn",
                       "dnn-ensemble"):
            with self.subTest(method):
                e = sebays.SeBaySClassifier(method, "mlp-32-16", random_state=0).fit(x, y)
                self.assertEqual((e.model_.method, e.model_.arch), (method, "mlp-32-16"))
                self.assertGreater(e.score(x, y), 0.85)

    def test_uncertainty(self):
        x, y = make_moons(200, noise=0.1, random_state=0)
        e = sebays.SeBaySClassifier(random_state=0, members=4).fit(x, y)
        u = e.predict_uncertainty([[0.5, 0.25], *x])
        self.assertEqual(e.model_.member_count, 4)
        self.assertEqual(u.total.shape, (201,))
        self.assertGreater(u.total[0], np.median(u.total))

    def test_refusals(self):
        x, y = make_moons(50, random_state=0)
        with self.assertRaisesRegex(ValueError, "at least 2 classes; y has 1 class"):
            sebays.SeBaySClassifier().fit(x, y * 0)
        with self.assertRaisesRegex(ValueError, "validation_fraction = 1"):
            sebays.SeBaySClassifier(validation_fraction=1).fit(x, y)
        with self.assertRaisesRegex(sebays.ArgumentError, "method.name"):
            sebays.SeBaySClassifier("guess").fit(x, y)
        for gone in (None, np.nan):
            with self.assertRaisesRegex(ValueError, "y has missing values"):
                sebays.SeBaySClassifier().fit(x, np.array([gone, *"ab" * 24, "a"], object))
        with self.assertRaisesRegex(ValueError, "float32"), np.errstate(all="ignore"):
            sebays.SeBaySClassifier().fit(x * 1e300, y)
