import io
import os
import shutil
import signal
import unittest
import warnings
from unittest import mock

import numpy as np

import sebays
from fixtures import ROOT, SHORT, table_run, write_set
from sebays import _progress

RECIPE = {"data": {"set": ROOT / "table"}, "model.arch": "mlp-16-8"}


def model_bytes(out):
    return (out / "model.safetensors").read_bytes()


class Train(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.whole = table_run()

    def test_result(self):
        r = self.whole
        self.assertEqual(len(r.members), 3)
        self.assertTrue(0 <= r.ensemble.accuracy <= 1 and r.ensemble.nll > 0)
        self.assertTrue(r.seconds > 0 and r.images_per_second > 0 and 0.1 < r.density < 0.4)
        self.assertEqual(len(r.history), 8)  # epochs
        self.assertTrue(r.model_path.exists())

    def test_ways_to_say_options(self):
        want = sebays.recipe_text(None, {"train.batch": 7, "train.nesterov": True})
        self.assertEqual(want, sebays.recipe_text({"train": {"batch": 7}}, train__nesterov=True))
        ini = ROOT / "recipe.ini"
        ini.write_text("[train]\nbatch = 9\nnesterov = yes\n")
        self.assertEqual(want, sebays.recipe_text(ini, {"train.batch": 7}))
        self.assertIn("batch = 7", want)
        self.assertIn("milestones = 1 2", sebays.recipe_text(method__name="dnn",
                                                             train__milestones=[1, 2]))
        self.assertIn("[train]", sebays.options())
        self.assertIn("mlp-16-8", sebays.plan(RECIPE, SHORT))

    def test_refusals(self):
        with self.assertRaisesRegex(sebays.ArgumentError, "train.bach"):
            sebays.train(RECIPE, ROOT / "never", train__bach=3)
        with self.assertRaisesRegex(ValueError, "train needs out"):
            sebays.train(RECIPE)
        with self.assertRaisesRegex(sebays.Error, "no-such-set"):
            sebays.train(out=ROOT / "never", data__set="no-such-set", progress=False)
        self.assertFalse((ROOT / "never" / "model.safetensors").exists())

    def test_progress_function(self):
        seen = []
        with mock.patch("sebays._train.REPORT_SECONDS", 0):
            sebays.train(RECIPE, ROOT / "watched", SHORT, progress=seen.append)
        self.assertEqual({p.phase for p in seen}, {"explore", "exploit"})
        self.assertTrue(seen[-1].ended)
        self.assertEqual((seen[0].member, seen[0].members, seen[0].epochs), (0, 3, 2))
        self.assertEqual(model_bytes(ROOT / "watched"), model_bytes(self.whole.out))

    def interrupted(self, name, stop, error):
        out, calls = ROOT / name, []

        def progress(report):
            calls.append(report)
            return stop() if len(calls) == 9 else None
        with mock.patch("sebays._train.REPORT_SECONDS", 0):
            with self.assertRaisesRegex(error, "resume=True|on purpose"):
                sebays.train(RECIPE, out, SHORT, progress=progress)
        self.assertEqual(len(calls), 9)
        self.assertFalse((out / "model.safetensors").exists())
        sebays.train(RECIPE, out, SHORT, resume=True, progress=False)
        self.assertEqual(model_bytes(out), model_bytes(self.whole.out))

    def test_false_stops_and_resume_goes_on(self):
        self.interrupted("stopped", lambda: False, sebays.Canceled)

    def test_ctrl_c_stops_and_resume_goes_on(self):
        self.interrupted("ctrl-c", lambda: os.kill(os.getpid(), signal.SIGINT),
                         KeyboardInterrupt)
        self.assertIs(signal.getsignal(signal.SIGINT), signal.default_int_handler)

    def test_ctrl_c_counts_where_the_checkpoint_fails(self):
        out = ROOT / "unsaved"

        def progress(_):
            os.kill(os.getpid(), signal.SIGINT)
            shutil.rmtree(out, ignore_errors=True)
        with mock.patch("sebays._train.REPORT_SECONDS", 0):
            with self.assertRaisesRegex(KeyboardInterrupt, "cannot create"):
                sebays.train(RECIPE, out, SHORT, progress=progress)

    def test_an_exception_in_the_function_comes_through(self):
        def fail():
            raise LookupError("on purpose")
        self.interrupted("failed", fail, LookupError)


class Warned(unittest.TestCase):
    """What the library warns of is a warning of Python's, of the line that asked."""

    def train(self, name):
        rng = np.random.RandomState(0)
        data = write_set("noise", rng.randn(60, 3).astype(np.float32), np.arange(60) % 2)
        more = {"data.calibration": 5, "method.explore_epochs": 1, "method.exploit_epochs": 1}
        return sebays.train({"data.set": data, "model.arch": "mlp-4"}, ROOT / name, SHORT,
                            progress=False, **{k.replace(".", "__"): v for k, v in more.items()})

    def test_warnings_can_be_seen_and_filtered(self):
        file = io.StringIO()
        with mock.patch("sys.stderr", file), warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            self.train("warned")
        said = [w for w in told if "data.calibration keeps 5 rows" in str(w.message)]
        self.assertEqual(len(said), 1)
        self.assertEqual((said[0].category, said[0].filename), (UserWarning, __file__))
        self.assertEqual(file.getvalue(), "")

    def test_one_that_is_an_error_ends_the_run(self):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with self.assertRaisesRegex(UserWarning, "data.calibration keeps 5 rows"):
                self.train("strict")


class Terminal(io.StringIO):
    def isatty(self):
        return True


def report(**more):
    values = dict.fromkeys(sebays.Progress._fields)
    values.update(phase="explore", done=50, total=200, seconds=1.0, ended=False, **more)
    return sebays.Progress(**values)


class Shown(unittest.TestCase):
    def test_words(self):
        full = report(member=0, members=3, epoch=1, epochs=4, rate=123.4, seconds_left=3725.0,
                      loss=0.51234, accuracy=0.875)
        self.assertEqual(_progress.describe(full),
                         "explore  member 1/3  epoch 2/4  25 %  123 examples/s  loss 0.5123  "
                         "val 87.50 %  1:02:05 left")
        self.assertEqual(_progress.describe(full, 60), "explore  member 1/3  epoch 2/4  "
                         "val 87.50 %  1:02:05 left")
        self.assertEqual(_progress.describe(full, 4), "expl")
        self.assertEqual(_progress.describe(report()), "explore  25 %")

    def test_terminal_updates_one_line(self):
        file = Terminal()
        line = _progress.Line(file)
        line.progress(report(loss=0.5))
        line.progress(report())
        line.log(1, "member 1")
        line.progress(report())
        line.end()
        self.assertEqual(file.getvalue(), "\rexplore  25 %  loss 0.5\rexplore  25 %          "
                         "\r             \rmember 1\n\rexplore  25 %\n")

    def test_file_gets_few_lines(self):
        file = io.StringIO()
        line = _progress.Line(file)
        for _ in range(5):
            line.progress(report())
        line.log(2, "careful")
        line.end()
        self.assertEqual(file.getvalue(), "explore  25 %\nwarning: careful\n")
