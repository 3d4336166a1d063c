"""What the scikit-learn estimators share: parameters, training, rows, pickles."""
from __future__ import annotations

import functools
import json
import math
import os
import re
import shutil
import tempfile
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state, column_or_1d
from sklearn.utils.validation import _check_sample_weight, check_is_fitted

from ._model import Model
from ._table import Table, target_names, is_mixed
from ._train import train

try:
    from sklearn.utils.validation import validate_data
except ImportError:  # scikit-learn before 1.6
    def validate_data(estimator, *arrays, **how):
        return estimator._validate_data(*arrays, **how)

SET = "rows"
WEIGHTS = "weights"
IN_MEMORY_MOST = 8 << 20  # bytes
MEMORY = "/dev/shm"
STATE = 1  # of a pickle's layout; one that is not known is refused
MEMBERS_MOST = 16  # of any method that is not told


_ALLOW_NAN = {"force_all_finite": "allow-nan"}
if not hasattr(BaseEstimator, "_validate_data"):  # scikit-learn from 1.6
    _ALLOW_NAN = {"ensure_all_finite": "allow-nan"}


class TableEstimator(BaseEstimator):
    """An ensemble for rows of a table; a subclass says what is predicted of them:
    fit, _task and _outputs."""

    def __init__(self, method: str = "sebays", arch: str = "auto", *,
                 members: int | None = None, sparsity: float | None = None,
                 explore_epochs: int | None = None, exploit_epochs: int | None = None,
                 batch_size: int | None = None, learning_rate: float | None = None,
                 prior_variance: float | None = None,
                 validation_fraction: float | None = None, sampling: str = "draw",
                 draws: int = 10, random_state=None, n_jobs: int | None = None,
                 options: dict[str, Any] | None = None, verbose: bool = False):
        self.method = method
        self.arch = arch
        self.members = members
        self.sparsity = sparsity
        self.explore_epochs = explore_epochs
        self.exploit_epochs = exploit_epochs
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.prior_variance = prior_variance
        self.validation_fraction = validation_fraction
        self.sampling = sampling
        self.draws = draws
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.options = options
        self.verbose = verbose

    # ---- rows ----

    def _take(self, X, y, **how):
        """X and y, checked: numbers as float32, a DataFrame with texts as a Table. how: of
        y, as scikit-learn's validation takes it."""
        self._table = None
        if not is_mixed(X):
            return validate_data(self, X, y, dtype=np.float32, **_ALLOW_NAN, **how)
        name = type(self).__name__
        if y is None:
            raise ValueError(f"{name} requires y to be passed, but it is None")
        names = np.asarray(X.columns, dtype=object)
        self.feature_names_in_ = names
        self.n_features_in_ = len(names)
        self._table = Table(X)
        y = np.asarray(y)
        several = how.get("multi_output", False)
        if not several and y.shape == (len(X), 1):
            y = column_or_1d(y, warn=True)
        if y.ndim not in ((1, 2) if several else (1,)) or len(y) != len(X):
            raise ValueError(f"y has shape {y.shape}; want ({len(X)},), one a row of X" +
                             (", or a column a target" if several else ""))
        return self._table.encode(X), y

    def _given_weights(self, X, sample_weight):
        """sample_weight, checked; None: all the same."""
        if sample_weight is None:
            return None
        weights = _check_sample_weight(sample_weight, X, dtype=np.float64)
        if (weights < 0).any():
            raise ValueError("sample_weight: negative values; want numbers from 0")
        return weights

    @staticmethod
    def _that_count(X, y, weights):
        """The rows of a weight above 0, and their weights; None: all the same."""
        if weights is None:
            return X, y, None
        if not (weights > 0).all():
            X, y, weights = X[weights > 0], y[weights > 0], weights[weights > 0]
        return X, y, None if (weights == weights[:1]).all() else weights

    # ---- training ----

    def _fit_rows(self, X, y, weights):
        """Trains on checked rows and keeps what scikit-learn's users look for."""
        recipe = self._recipe(len(X), weights is not None, y)
        history, model_bytes, trained = self._train(recipe, X, y, weights)
        self.n_iter_ = trained["epochs"]
        self.history_ = history
        self.model_bytes_ = model_bytes
        self.model_ = self._open()
        if self._table is not None:
            self._table.learn(model_bytes)
        return self

    def _train(self, recipe, X, y, weights):
        """The history, the model's file and its figures. Memory that turns out to be too
        little for the files of a run is no failure: there is the disk."""
        place = _place(X.nbytes, _run_bytes(self, X, self._outputs(y)))
        try:
            return self._train_in(place, recipe, X, y, weights)
        except OSError:
            if place is None:
                raise
        return self._train_in(None, recipe, X, y, weights)

    def _train_in(self, place, recipe, X, y, weights):
        with tempfile.TemporaryDirectory(prefix="sebays-", dir=place) as directory:
            path = _write_rows(directory, X, y, weights, self._table)
            try:
                result = train(recipe, os.path.join(directory, "run"), self.options,
                               data_path=path, progress=bool(self.verbose),
                               _said=lambda text: self._as_given(text, path))
            except KeyboardInterrupt:
                raise KeyboardInterrupt(f"{type(self).__name__}.fit was interrupted") from None
            with open(result.out / "results.json", encoding="utf-8") as file:
                trained = json.load(file)
            with open(result.model_path, "rb") as file:
                return result.history, file.read(), trained

    def _as_given(self, text, path):
        """A sentence of the library, about what was given instead of the file made of it."""
        text = text.replace(path, "X and y" if self._table is None else "X")
        return text if self._table is None else _name_columns(self._table.names, text)

    def _recipe(self, n, weighted, y):
        """What is given, by the names of options; the library chooses the rest."""
        given = {
            "data.validation": _held_out(self.validation_fraction, n),
            "method.members": self.members,
            "method.sparsity": self.sparsity,
            "method.explore_epochs": self.explore_epochs,
            "method.exploit_epochs": self.exploit_epochs,
            "method.prior_variance": self.prior_variance,
            "train.batch": self.batch_size,
            "train.lr": self.learning_rate,
            "data.weight": WEIGHTS if weighted else None,
            "data.header": "yes" if self._table is not None else None,
            **self._task(),
        }
        return {
            "data.set": SET,  # what it is called: a model does not depend on where rows were
            "data.test_share": 0,  # scoring is scikit-learn's business
            "data.label": ",".join(target_names(y)) if self._table is not None else "",
            "model.arch": self.arch,
            "method.name": self.method,
            "train.seed": self._seed(),
            "train.threads": self._threads(),
            "train.checkpoint_seconds": 0,
            **{name: value for name, value in given.items() if value is not None},
        }

    def _calibration(self):
        """data.calibration, of the estimators' calibration_fraction."""
        if not 0 <= self.calibration_fraction < 1:
            raise ValueError(f"calibration_fraction = {self.calibration_fraction}: want a "
                             "share from 0 to below 1")
        return self.calibration_fraction or None

    @staticmethod
    def _check_coverage(coverage):
        if not 0 < coverage < 1:
            raise ValueError(f"coverage = {coverage}: want a share between 0 and 1, such as 0.9")

    def _seed(self):
        if isinstance(self.random_state, (int, np.integer)):
            return int(self.random_state)
        return int(check_random_state(self.random_state).randint(2 ** 31 - 1))

    def _threads(self):
        if self.n_jobs is None:
            return 1
        return 0 if self.n_jobs < 0 else self.n_jobs

    def _open(self):
        model = Model(self.model_bytes_, sampling=self.sampling, draws=self.draws,
                      threads=self._threads())
        names = getattr(self, "feature_names_in_", None)
        model._reword = functools.partial(_name_columns, None if names is None else list(names))
        return model

    # ---- prediction ----

    def _rows(self, X):
        check_is_fitted(self)
        if self._table is not None:
            return self._table.inputs(X)
        return validate_data(self, X, dtype=np.float32, reset=False, **_ALLOW_NAN)

    def predict_far(self, X) -> np.ndarray:
        """How unlike the training rows each row is: the share of those that are less unlike
        the rest, float32 in [0, 1]. Near 1: nothing like it was trained on, whatever the
        predictions say."""
        return self.model_.far(self._rows(X))

    # ---- pickling: the model is its file ----

    def __getstate__(self):
        state = super().__getstate__().copy()
        state.pop("model_", None)
        state["_sebays_state"] = STATE
        return state

    def __setstate__(self, state):
        state = state.copy()
        version = state.pop("_sebays_state", STATE)  # pickles without one have the first layout
        if version != STATE:
            raise ValueError(f"the pickle is of version {version}; this sebays reads version "
                             f"{STATE}: open it with the sebays that wrote it, or fit again")
        super().__setstate__(state)
        if "model_bytes_" in self.__dict__:
            self.model_ = self._open()

    # ---- what scikit-learn asks ----

    def _more_tags(self):
        return {"allow_nan": True, "_xfail_checks": {
            "check_sample_weights_invariance":
                "rows in another order are another training: batches follow the order"}}

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


def _name_columns(names, text):
    """Columns of the file, or features, by the names they have in X, if it has any."""
    if names is None:
        return text
    text = re.sub(r"feature (\d+) \(from 0\)", lambda m: f"column {names[int(m[1])]!r}", text)
    return re.sub(r"\(c(\d+)\)", lambda m: f"({names[int(m[1])]})", text)


def _place(rows, run):
    """Where the files of a fit are kept for its while: so many bytes of rows, so many of a
    run. Checkpoints are synced to the disk, which takes longer than training on a few rows:
    small fits stay in memory if they can. A container may have little of that."""
    small = rows <= IN_MEMORY_MOST and "TMPDIR" not in os.environ
    if not small or not os.access(MEMORY, os.W_OK | os.X_OK):
        return None
    return MEMORY if 2 * (rows + run) <= shutil.disk_usage(MEMORY).free else None


def _run_bytes(estimator, X, outputs):
    """About: of a run directory with two checkpoints, a third being written, a model."""
    arch = "mlp-256-128" if estimator.arch == "auto" else estimator.arch
    sizes = [X.shape[1], *map(int, re.findall(r"-(\d+)", arch)), outputs]
    weights = sum(a * b + b for a, b in zip(sizes, sizes[1:]))
    members = estimator.members or MEMBERS_MOST
    member = 12 * weights                   # mean, deviation, position
    checkpoint = 20 * weights + member * (members + 1)  # with momenta; the best so far
    return 3 * checkpoint + member * members + 65536


def _held_out(fraction, n):
    """Rows kept for validation, a whole number; None: the library's choice."""
    if fraction is None:
        return None
    if not 0 <= fraction < 1:
        raise ValueError(f"validation_fraction = {fraction}: want a share from 0 to below 1")
    return math.ceil(fraction * n)


def _write_rows(directory, X, y, weights, table):
    """The data set SET in a directory; returns its path."""
    path = os.path.join(directory, SET)
    if table is not None:
        path += ".csv"
        table.write(path, X, y, weights)
        return path
    os.mkdir(path)
    np.save(os.path.join(path, "x.npy"), X)
    np.save(os.path.join(path, "y.npy"), y)
    if weights is not None:
        np.save(os.path.join(path, WEIGHTS + ".npy"), weights)
    return path
