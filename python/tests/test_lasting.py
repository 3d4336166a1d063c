"""What goes on for long, or side by side: memory that stays, processes, threads, Ctrl-C.

In the suite for seconds; SEBAYS_LONG=1 in the environment has 10,000 predictions and 200 fits.
"""
import _thread
import concurrent.futures
import multiprocessing
import os
import pickle
import signal
import threading
import unittest

import numpy as np

import sebays
from fixtures import table, table_run

try:
    from sklearn.model_selection import GridSearchCV
    from sebays import SeBaySClassifier
except ImportError:
    SeBaySClassifier = None

LONG = bool(os.environ.get("SEBAYS_LONG"))
PREDICTIONS, FITS = (10_000, 200) if LONG else (400, 6)
GROWTH = 3 << 20  # bytes a process may grow by, whatever the number of calls
MEMORY = "/proc/self/statm"


def resident():
    with open(MEMORY, encoding="ascii") as f:
        return int(f.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def small(**parameters):
    return SeBaySClassifier(arch="mlp-8", members=2, explore_epochs=2, exploit_epochs=1,
                            random_state=1, **parameters)


def in_child(seed, predictions):
    x, y = table()
    predictions.put(small(n_jobs=2).fit(x, y).predict_proba(x) if seed is None else
                pickle.loads(seed).predict_proba(x))


class Flat(unittest.TestCase):
    def grows(self, call, times):
        for _ in range(times // 4 + 3):  # until caches and the allocator have what they want
            call()
        before = resident()
        for _ in range(times):
            call()
        return resident() - before


class LastingModels(Flat):
    @unittest.skipUnless(os.path.exists(MEMORY), f"needs {MEMORY}")
    def test_predictions_keep_no_memory(self):
        x, _ = table()
        with table_run().model(threads=2) as model:
            self.assertLess(self.grows(lambda: model.predictions(x), PREDICTIONS), GROWTH)

    @unittest.skipUnless(os.path.exists(MEMORY), f"needs {MEMORY}")
    def test_models_keep_no_memory(self):
        x, _ = table()
        path = table_run().model_path

        def open_and_ask():
            with sebays.Model(path, threads=1) as model:
                model.predict(x)
        self.assertLess(self.grows(open_and_ask, PREDICTIONS // 4), GROWTH)


@unittest.skipUnless(SeBaySClassifier, "needs scikit-learn")
class LastingFits(Flat):
    @unittest.skipUnless(os.path.exists(MEMORY), f"needs {MEMORY}")
    def test_fits_keep_no_memory(self):
        x, y = table()
        self.assertLess(self.grows(lambda: small().fit(x, y), FITS), GROWTH)

    def test_fits_leave_no_threads_or_files(self):
        x, y = table()
        small(n_jobs=1).fit(x, y)
        before = len(os.listdir("/proc/self/fd")) if os.path.exists("/proc/self/fd") else 0
        small(n_jobs=1).fit(x, y)
        if before:
            self.assertEqual(len(os.listdir("/proc/self/fd")), before)
        self.assertEqual(threading.active_count(), 1)

    def test_threads_fit_at_once(self):
        x, y = table()
        want = small().fit(x, y).model_bytes_
        with concurrent.futures.ThreadPoolExecutor(3) as pool:
            fits = [pool.submit(small(n_jobs=2).fit, x, y) for _ in range(3)]
            self.assertTrue(all(fit.result().model_bytes_ == want for fit in fits))

    def test_children(self):
        """By fork, with and without a model of the parent's, and by spawn with a pickle."""
        x, y = table()
        parent = small(n_jobs=2).fit(x, y)
        want = parent.predict_proba(x)
        for way, seed in (("fork", None), ("fork", pickle.dumps(parent)),
                          ("spawn", pickle.dumps(parent))):
            context = multiprocessing.get_context(way)
            predictions = context.Queue()
            child = context.Process(target=in_child, args=(seed, predictions))
            child.start()
            np.testing.assert_array_equal(predictions.get(timeout=300), want)
            child.join()

    def test_search_in_processes(self):
        x, y = table()
        search = GridSearchCV(small(), {"sparsity": [0.3, 0.6]}, cv=2, n_jobs=2).fit(x, y)
        alone = GridSearchCV(small(), {"sparsity": [0.3, 0.6]}, cv=2, n_jobs=1).fit(x, y)
        np.testing.assert_array_equal(search.cv_results_["mean_test_score"],
                                      alone.cv_results_["mean_test_score"])

    def test_interrupts_in_a_loop(self):
        """As in a notebook: interrupted again and again, it goes on as if nothing had been."""
        before = signal.signal(signal.SIGINT, signal.default_int_handler)  # nohup ignores it
        self.addCleanup(signal.signal, signal.SIGINT, before)
        x, y = table()
        want = small().fit(x, y).model_bytes_
        for delay in (0.02, 0.05, 0.1):
            timer = threading.Timer(delay, _thread.interrupt_main)
            endless = SeBaySClassifier(arch="mlp-8", explore_epochs=50_000, random_state=1)
            with self.assertRaises(KeyboardInterrupt):
                timer.start()
                endless.fit(x, y)
            timer.join()
            self.assertEqual(small().fit(x, y).model_bytes_, want)

    def test_pickle_of_another_version(self):
        x, y = table()
        state = small().fit(x, y).__getstate__()
        self.assertEqual(state["_sebays_state"], 1)
        again = SeBaySClassifier()
        with self.assertRaisesRegex(ValueError, "the pickle is of version 2; this sebays reads"):
            again.__setstate__({**state, "_sebays_state": 2})
        del state["_sebays_state"]  # of a sebays that did not say
        again.__setstate__(state)
        self.assertEqual(again.predict(x).shape, y.shape)


if __name__ == "__main__":
    unittest.main()
