import json
import os
import pathlib
import pickle
import subprocess
import threading
import unittest
from copy import deepcopy

import numpy as np

import sebays
from fixtures import (PROGRAM, REFERENCE, ROOT, SHORT, image_run, images, table, table_run,
                      write_set)

SAMPLINGS = ("draw", "draws", "mean", "activation-noise")  # by number, as in sebays.h


def reference(run, x, sampling, draws=3):
    """What a C program gets: one flat array of words."""
    rows, out = ROOT / "rows.f32", ROOT / "predictions.bin"
    x.astype(np.float32).tofile(rows)
    subprocess.run([REFERENCE, "predict", run.model_path, rows, str(sampling), str(draws), out],
                   check=True)
    return out.read_bytes()


def model_bytes(run):
    return pathlib.Path(run.model_path).read_bytes()


def header(model):
    return json.loads(model[8:8 + int.from_bytes(model[:8], "little")])["__metadata__"]


class Bits(unittest.TestCase):
    def check_run(self, run, x, floats):
        for number, sampling in enumerate(SAMPLINGS):
            with self.subTest(sampling), run.model(sampling=sampling, draws=3) as model:
                predictions = model.predictions(x)
                mine = b"".join(predictions[name].tobytes() for name in (
                    "probabilities", "members", "total", "aleatoric", "epistemic", "votes"))
                self.assertEqual(mine, reference(run, floats, number))

    def test_table_as_from_c(self):
        x, _ = table()
        self.check_run(table_run(), x, x)

    def test_images_as_from_c(self):
        x = (images()[0] / 255).astype(np.float32)
        self.check_run(image_run(), x, x.transpose(0, 3, 1, 2))


class Missing(unittest.TestCase):
    """NaN where no training row had one: training's mean, with one warning a call."""

    def test_rows(self):
        x, _ = table()
        with table_run().model() as model:
            whole = model.predict_proba(x)
            mean = np.array(json.loads(header(model_bytes(table_run()))["normalisation"])["mean"],
                            np.float32)
            lacks, filled = x.copy(), x.copy()
            lacks[[3, 70, 71], [2, 0, 4]] = np.nan
            filled[[3, 70, 71], [2, 0, 4]] = mean[[2, 0, 4]]
            with self.assertWarnsRegex(UserWarning, r"^X: 3 values .* where none was: 3\); the "
                                       r"first is in example 3 \(from 0\), feature 2 ") as told:
                p = model.predict_proba(lacks)
            self.assertEqual(len(told.warnings), 1)
            self.assertEqual(told.filename, __file__)
            np.testing.assert_array_equal(p, model.predict_proba(filled))
            np.testing.assert_array_equal(np.delete(p, [3, 70, 71], 0),
                                          np.delete(whole, [3, 70, 71], 0))
            for one in (lacks[3:4], lacks[:, :].astype(np.float64)):
                with self.assertWarns(UserWarning):
                    model.predict(one)
            lacks[70, 1] = np.inf
            with self.assertRaisesRegex(sebays.NumericError, r"example 70 .*: inf in feature 1 "):
                model.predict(lacks)

    def test_images(self):
        x = (images()[0] / 255).astype(np.float32)
        x[2, 3, 4, 1] = np.nan
        with image_run().model() as model, self.assertRaisesRegex(
                sebays.NumericError, "example 2 .*: nan in channel 1, row 3, column 4 "):
            model.predict(x)

    def test_refused_where_training_said_so(self):
        data = write_set("table", *table())
        run = sebays.train({"data.set": data, "model.arch": "mlp-4", "data.missing": "error"},
                           ROOT / "strict-run", SHORT, progress=False)
        x = table()[0].copy()
        x[5, 1] = np.nan
        with run.model() as model, self.assertRaisesRegex(
                sebays.NumericError, r"example 5 .*: nan in feature 1 \(from 0\); remove it"):
            model.predict(x)


class CommandLine(unittest.TestCase):
    """sebays predict writes the floats that Python gets, and so C."""

    SAMPLES = {"draw": (), "draws": ("--samples", "3"), "mean": ("--samples", "mean"),
               "activation-noise": ("--samples", "noise")}

    def lines(self, run, path, *words):
        done = subprocess.run([PROGRAM, "predict", run.out, "--input", path, "--format", "json",
                               "--probabilities", "--members", "--quiet", *words],
                              check=True, stdout=subprocess.PIPE)
        return [json.loads(line) for line in done.stdout.splitlines()]

    def check_run(self, run, x, *paths):
        for sampling, words in self.SAMPLES.items():
            draws = 3 if sampling == "draws" else 1
            with self.subTest(sampling), run.model(sampling=sampling, draws=draws) as model:
                predictions = model.predictions(x)
                for path in paths:
                    self.same(predictions, self.lines(run, path, *words))

    def same(self, predictions, lines):
        for name in ("probabilities", "total", "aleatoric", "epistemic", "votes"):
            have = np.array([line[name] for line in lines], predictions[name].dtype)
            self.assertEqual(have.tobytes(), predictions[name].tobytes(), name)
        members = np.array([line["members"] for line in lines], np.float32).transpose(1, 0, 2)
        self.assertEqual(members.tobytes(), predictions["members"].tobytes())
        self.assertEqual([line["label"] for line in lines],
                         predictions["probabilities"].argmax(1).tolist())

    def test_table(self):
        x, y = table()
        np.savetxt(ROOT / "rows.csv", np.column_stack((x, y)), "%.9g", ",")
        np.save(ROOT / "rows.npy", x)
        self.check_run(table_run(), x, ROOT / "rows.csv", ROOT / "rows.npy")

    def test_images(self):
        x, _ = images()
        np.save(ROOT / "pixels.npy", x)
        self.check_run(image_run(), x, ROOT / "pixels.npy")

    def test_array(self):
        x, _ = images()
        np.save(ROOT / "pixels.npy", x)
        subprocess.run([PROGRAM, "predict", image_run().out, "--input", ROOT / "pixels.npy",
                        "--format", "npy", "--out", ROOT / "p.npy", "--quiet"], check=True)
        with image_run().model() as model:
            np.testing.assert_array_equal(np.load(ROOT / "p.npy"), model.predict_proba(x))


class Figures(unittest.TestCase):
    def test_predictions_fit_together(self):
        x, _ = table()
        with sebays.Model(table_run().out) as model:
            p, members = model.predict_proba(x), model.members(x)
            u, votes = model.uncertainty(x), model.votes(x)
            np.testing.assert_array_equal(model.predict(x), p.argmax(1))
        self.assertEqual(members.shape, (3, len(x), 3))
        np.testing.assert_allclose(members.mean(0), p, atol=1e-6)
        np.testing.assert_allclose(-(p * np.log(p)).sum(1), u.total, atol=1e-5)
        np.testing.assert_allclose(-(members * np.log(members)).sum(2).mean(0), u.aleatoric,
                                   atol=1e-5)
        np.testing.assert_allclose(u.total - u.aleatoric, u.epistemic, atol=1e-5)
        self.assertEqual(votes.sum(), 3 * len(x))

    def test_properties(self):
        with table_run().model() as m:
            self.assertEqual((m.classes, m.class_names, m.shape, m.arch, m.method, m.bayesian),
                             (3, None, (5, 1, 1), "mlp-16-8", "sebays", True))
            self.assertAlmostEqual(m.density, table_run().density, delta=1e-6)
            self.assertIn("arch = mlp-16-8", m.recipe)
            self.assertIn("3 members", repr(m))
        self.assertIn("mlp-16-8", sebays.inspect(table_run().out))

    def test_export(self):
        run = table_run().out
        for name in "onnx", "npz", "safetensors-dense":
            sebays.export(run, ROOT / name, name)
            self.assertGreater((ROOT / name).stat().st_size, 1000)
        whole, one = ROOT / "npz", ROOT / "one"
        sebays.export(run, one, "npz", member=2, samples="mean", sigma=True)
        with np.load(whole) as a, np.load(one) as b:
            self.assertEqual([list(a["members"]), list(b["members"])], [[0, 1, 2], [2]])
            self.assertEqual([str(a["sampling"]), str(b["sampling"])], ["draw", "mean"])
            self.assertIn("member.2.0.weight_sigma", b.files)
        with self.assertRaisesRegex(sebays.ArgumentError, "there is no member 3"):
            sebays.export(run, one, "npz", member=3)

    def test_class_names(self):
        csv = pathlib.Path(__file__).parents[2] / "tests" / "tables" / "iris.csv"
        run = sebays.train({"data.set": csv, "data.split": "stratified", "model.arch": "mlp-8"},
                           ROOT / "iris", method__explore_epochs=1, method__exploit_epochs=1,
                           progress=False)
        with run.model() as model:
            self.assertEqual(len(model.class_names), 3)
            self.assertTrue(any("setosa" in name for name in model.class_names))


class Arrays(unittest.TestCase):
    """Whatever the memory looks like, the answer is the same."""

    def same(self, model, want, *arrays, **how):
        for x in arrays:
            np.testing.assert_array_equal(model.predict_proba(x, **how), want)

    def test_table_layouts(self):
        x, _ = table()
        wide = np.zeros((2 * len(x), 11), np.float32)
        wide[::2, 1::2] = x
        shifted = np.zeros(4 * x.size + 1, np.uint8)[1:].view(np.float32).reshape(x.shape)
        shifted[:] = x
        with table_run().model() as m:
            want = m.predict_proba(x)
            self.same(m, want, np.asfortranarray(x), wide[::2, 1::2], x.astype(">f4"),
                      x.astype(np.float64), shifted, x.tolist(), x[::-1][::-1])
            np.testing.assert_array_equal(m.predict_proba(x[::-1]), want[::-1])
            np.testing.assert_array_equal(m.predict_proba(x[7:8]), want[7:8])
            self.assertEqual(m.predict_proba(x[:0]).shape, (0, 3))
            np.testing.assert_array_equal(m.predict_proba(np.ones((4, 5), np.uint8)),
                                          m.predict_proba(np.ones((4, 5), np.float32)))

    def test_image_layouts(self):
        x, _ = images()
        first = np.ascontiguousarray(x.transpose(0, 3, 1, 2))
        with image_run().model() as m:
            want = m.predict_proba(x)
            self.same(m, want, first, first.reshape(len(x), -1), x.copy("F"))
            self.same(m, want, x, layout="nhwc")
            self.same(m, want, first, first.transpose(0, 1, 2, 3).copy("F"), layout="nchw")
            flipped = m.predict_proba(x[:, :, ::-1])
            np.testing.assert_array_equal(flipped, m.predict_proba(x[:, :, ::-1].copy()))

    def test_used_without_a_copy(self):
        from sebays._model import _as_examples
        x, _ = images()
        for view in (x, x[::2, :, ::-1], x.transpose(0, 3, 1, 2)):
            self.assertIs(_as_examples(view, (3, 12, 10), None)[0], view)
        rows = table()[0][::-3]
        self.assertIs(_as_examples(rows, (5, 1, 1), None)[0], rows)

    def test_refusals(self):
        with table_run().model() as m:
            with self.assertRaisesRegex(ValueError, r"shape \(2, 4\); the model takes \(n, 5\)"):
                m.predict(np.zeros((2, 4), np.float32))
            with self.assertRaisesRegex(sebays.NumericError, "finite: inf in feature 0"):
                m.predict(np.full((2, 5), np.inf, np.float32))
            with self.assertRaisesRegex(TypeError, "want numbers"):
                m.predict(np.full((2, 5), "a"))
        with image_run().model() as m:
            with self.assertRaisesRegex(TypeError, r"int64; want floats \(0 to 1\) or uint8"):
                m.predict(np.zeros((2, 12, 10, 3), np.int64))
            with self.assertRaisesRegex(ValueError, "want nchw, nhwc or None"):
                m.predict(np.zeros((2, 12, 10, 3), np.uint8), layout="hwcn")


class Life(unittest.TestCase):
    def test_from_bytes(self):
        x, _ = table()
        data = table_run().model_path.read_bytes()
        with sebays.Model(data) as a, sebays.Model(table_run().model_path) as b:
            np.testing.assert_array_equal(a.predict_proba(x), b.predict_proba(x))
        with self.assertRaises(sebays.FormatError):
            sebays.Model(data[:100])

    def test_no_pickles(self):
        with table_run().model() as model:
            for copy in pickle.dumps, deepcopy:
                with self.assertRaisesRegex(TypeError, "send the path of its run"):
                    copy(model)

    def test_closed(self):
        model = table_run().model()
        model.close()
        model.close()
        with self.assertRaisesRegex(ValueError, "the model is closed"):
            model.predict(table()[0])

    def test_missing(self):
        with self.assertRaisesRegex(sebays.FileError, "nowhere"):
            sebays.Model(ROOT / "nowhere")
        with self.assertRaisesRegex(ValueError, "sampling = 'x'"):
            sebays.Model(table_run().out, sampling="x")

    def test_threads_share_a_model(self):
        x, _ = table()
        with table_run().model(threads=1) as model:
            want, got = model.predict_proba(x), []

            def work():
                got.extend(model.predict_proba(x) for _ in range(20))
            threads = [threading.Thread(target=work) for _ in range(4)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        self.assertEqual(len(got), 80)
        for p in got:
            np.testing.assert_array_equal(p, want)

    def test_after_fork(self):
        x, _ = table()
        with table_run().model(threads=3) as model:
            want = model.predict_proba(x)
            reader, writer = os.pipe()
            child = os.fork()
            if child == 0:  # no way back into the tests from here
                try:
                    os.write(writer, b"same" if np.array_equal(model.predict_proba(x), want)
                             else b"other")
                finally:
                    os._exit(0)
            os.close(writer)
            with open(reader, "rb") as answer:
                self.assertEqual(answer.read(), b"same")
            os.waitpid(child, 0)
