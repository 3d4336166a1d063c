"""A scikit-learn classifier; the only module that imports scikit-learn."""
from __future__ import annotations

import json
import math
import os
import re
import shutil
import tempfile
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, check_is_fitted

from ._model import Model, Uncertainty
from ._table import Table, is_mixed
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
MEMBERS_MOST = 8  # of any method that is not told


_ALLOW_NAN = {"force_all_finite": "allow-nan"}
if not hasattr(BaseEstimator, "_validate_data"):  # scikit-learn from 1.6
    _ALLOW_NAN = {"ensure_all_finite": "allow-nan"}


class SeBaySClassifier(ClassifierMixin, BaseEstimator):
    """An ensemble of sparse Bayesian networks for rows of a table.

    Rows are arrays of numbers, or a pandas DataFrame that may also have columns of texts
    (categorical, object or string dtype) and booleans. NaN is a missing value. Features are
    normalised inside. What is None or "auto" the library chooses by the number of rows, as
    `sebays train table.csv` does: for the same rows and settings it is the same model.

    Parameters
    ----------
    method : str
        A row of the method table: sebays, bays, edst, dst, static, bnn, bnn-ensemble, dnn,
        dnn-ensemble, ...
    arch : str
        "auto", or "mlp-H1-H2...", the hidden layers.
    members : int or None
        Networks in the ensemble.
    sparsity : float or None
        Share of weights that do not exist.
    explore_epochs, exploit_epochs : int or None
        Epochs of exploration, and of each member after it.
    batch_size, learning_rate, prior_variance : int, float, float; or None
        As their names say.
    validation_fraction : float or None
        Share of the rows that picks the best epoch of each member. 0: none, the last epoch
        is taken.
    class_weight : None, "balanced" or dict
        How much the rows of a class count; balanced: all classes the same.
    sampling, draws : str, int
        How posteriors are used in prediction, see Model.
    random_state : int, RandomState or None
        train.seed.
    n_jobs : int or None
        Threads; None: 1, which is best for small networks on tables; -1: one a processor.
        Results are the same for any number.
    options : dict or None
        "section.key": value, further options of the recipe; they come last.
    verbose : bool
        Whether to show progress.

    Attributes
    ----------
    classes_, n_features_in_, feature_names_in_
        As everywhere in scikit-learn.
    model_ : Model
        The trained model.
    model_bytes_ : bytes
        Its file, which is what a pickle holds.
    n_iter_ : int
        Epochs trained in all.
    history_ : list of dict
        One a validation: epoch, loss, val_acc, val_nll, ... (None without validation rows).

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sebays import SeBaySClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = SeBaySClassifier(random_state=0).fit(X, y)
    >>> model.predict_proba(X).shape
    (150, 3)
    """

    def __init__(self, method: str = "sebays", arch: str = "auto", *,
                 members: int | None = None, sparsity: float | None = None,
                 explore_epochs: int | None = None, exploit_epochs: int | None = None,
                 batch_size: int | None = None, learning_rate: float | None = None,
                 prior_variance: float | None = None,
                 validation_fraction: float | None = None,
                 class_weight: str | dict | None = None, sampling: str = "draw",
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
        self.class_weight = class_weight
        self.sampling = sampling
        self.draws = draws
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.options = options
        self.verbose = verbose

    # ---- fitting ----

    def fit(self, X, y, sample_weight=None) -> SeBaySClassifier:
        """Trains on the rows of X and their classes y, of any type; returns self.

        sample_weight: how much each row counts, [n] numbers from 0. A row of weight 0 is as
        if it were not there.
        """
        X, y = self._take(X, y)
        check_classification_targets(y)
        weights = self._weights(X, y, sample_weight)
        if weights is not None and not (weights > 0).all():
            X, y, weights = X[weights > 0], y[weights > 0], weights[weights > 0]
        if weights is not None and (weights == weights[:1]).all():
            weights = None
        classes, labels = np.unique(y, return_inverse=True)
        if len(classes) < 2:
            raise ValueError("SeBaySClassifier needs rows of at least 2 classes; "
                             f"y has {len(classes)} class" + "es" * (len(classes) == 0))
        recipe = self._recipe(len(X), weights is not None)
        result, model_bytes, trained = self._train(recipe, X, labels, weights, len(classes))
        self.classes_ = classes
        self.n_iter_ = trained["epochs"]
        self.history_ = result["history"]
        self.model_bytes_ = model_bytes
        self.model_ = self._open()
        if self._table is not None:
            self._table.learn(model_bytes)
        return self

    def _take(self, X, y):
        """X and y, checked: numbers as float32, a DataFrame with texts as a Table."""
        self._table = None
        if not is_mixed(X):
            return validate_data(self, X, y, dtype=np.float32, **_ALLOW_NAN)
        if y is None:
            raise ValueError("SeBaySClassifier requires y to be passed, but it is None")
        names = np.asarray(X.columns, dtype=object)
        self.feature_names_in_ = names
        self.n_features_in_ = len(names)
        self._table = Table(X)
        y = np.asarray(y)
        if y.ndim != 1 or len(y) != len(X):
            raise ValueError(f"y has shape {y.shape}; want ({len(X)},), one a row of X")
        return self._table.encode(X), y

    def _weights(self, X, y, sample_weight):
        """sample_weight times those of a dict of class weights; None: all the same."""
        weights = None
        if sample_weight is not None:
            weights = _check_sample_weight(sample_weight, X, dtype=np.float64)
            if (weights < 0).any():
                raise ValueError("sample_weight: negative values; want numbers from 0")
        if isinstance(self.class_weight, dict):
            weights = np.ones(len(y)) if weights is None else weights.copy()
            for name, weight in self.class_weight.items():
                weights[y == name] *= weight
        elif self.class_weight not in (None, "balanced"):
            raise ValueError(f"class_weight = {self.class_weight!r}: want None, "
                             "'balanced' or a dict")
        return weights

    def _train(self, recipe, X, labels, weights, classes):
        """The result, the model's file and its figures. Memory that turns out to be too
        little for the files of a run is no failure: there is the disk."""
        place = _place(X.nbytes, _run_bytes(self, X, classes))
        try:
            return self._train_in(place, recipe, X, labels, weights)
        except OSError:
            if place is None:
                raise
        return self._train_in(None, recipe, X, labels, weights)

    def _train_in(self, place, recipe, X, labels, weights):
        with tempfile.TemporaryDirectory(prefix="sebays-", dir=place) as directory:
            path = _write_rows(directory, X, labels, weights, self._table)
            try:
                result = train(recipe, os.path.join(directory, "run"), self.options,
                               data_path=path, progress=bool(self.verbose))
            except KeyboardInterrupt:
                raise KeyboardInterrupt("SeBaySClassifier.fit was interrupted") from None
            with open(result.out / "results.json", encoding="utf-8") as file:
                trained = json.load(file)
            with open(result.model_path, "rb") as file:
                return {"history": result.history}, file.read(), trained

    def _recipe(self, n, weighted):
        """What is given, by the names of options; the library chooses the rest."""
        given = {
            "data.task": "classification",
            "data.validation": _held_out(self.validation_fraction, n),
            "method.members": self.members,
            "method.sparsity": self.sparsity,
            "method.explore_epochs": self.explore_epochs,
            "method.exploit_epochs": self.exploit_epochs,
            "method.prior_variance": self.prior_variance,
            "train.batch": self.batch_size,
            "train.lr": self.learning_rate,
            "train.class_weights": "balanced" if self.class_weight == "balanced" else None,
            "data.weight": WEIGHTS if weighted else None,
            "data.header": "yes" if self._table is not None else None,
        }
        return {
            "data.set": SET,  # what it is called: a model does not depend on where rows were
            "data.test_share": 0,  # scoring is scikit-learn's business
            "data.label": "label" if self._table is not None else "",
            "model.arch": self.arch,
            "method.name": self.method,
            "train.seed": self._seed(),
            "train.threads": self._threads(),
            "train.checkpoint_seconds": 0,
            **{name: value for name, value in given.items() if value is not None},
        }

    def _seed(self):
        if isinstance(self.random_state, (int, np.integer)):
            return int(self.random_state)
        return int(check_random_state(self.random_state).randint(2 ** 31 - 1))

    def _threads(self):
        if self.n_jobs is None:
            return 1
        return 0 if self.n_jobs < 0 else self.n_jobs

    def _open(self):
        return Model(self.model_bytes_, sampling=self.sampling, draws=self.draws,
                     threads=self._threads())

    # ---- prediction ----

    def _rows(self, X):
        check_is_fitted(self)
        if self._table is not None:
            return self._table.inputs(X)
        return validate_data(self, X, dtype=np.float32, reset=False, **_ALLOW_NAN)

    def predict_proba(self, X) -> np.ndarray:
        """Probabilities, the mean over members, columns as in classes_: float64
        [n][classes]. They are the model's, divided by their sum in float64."""
        rows = self._rows(X)
        p = self.model_.predict_proba(rows).astype(np.float64)
        return p / p.sum(axis=1, keepdims=True)

    def predict_log_proba(self, X) -> np.ndarray:
        """Their logarithms; what is too small for a float32 counts as its least one."""
        return np.log(np.maximum(self.predict_proba(X), np.finfo(np.float32).tiny))

    def predict(self, X) -> np.ndarray:
        """The most probable class of each row."""
        rows = self._rows(X)
        return self.classes_[self.model_.predict(rows)]

    def predict_uncertainty(self, X) -> Uncertainty:
        """Total, aleatoric and epistemic uncertainty of each row, in nats."""
        rows = self._rows(X)
        return self.model_.uncertainty(rows)

    def predict_far(self, X) -> np.ndarray:
        """How unlike the training rows each row is: the share of those that are less unlike
        the rest, float32 in [0, 1]. Near 1: nothing like it was trained on, whatever the
        probabilities say."""
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


def _place(rows, run):
    """Where the files of a fit are kept for its while: so many bytes of rows, so many of a
    run. Checkpoints are synced to the disk, which takes longer than training on a few rows:
    small fits stay in memory if they can. A container may have little of that."""
    small = rows <= IN_MEMORY_MOST and "TMPDIR" not in os.environ
    if not small or not os.access(MEMORY, os.W_OK | os.X_OK):
        return None
    return MEMORY if 2 * (rows + run) <= shutil.disk_usage(MEMORY).free else None


def _run_bytes(estimator, X, classes):
    """About: of a run directory with two checkpoints, a third being written, a model."""
    arch = "mlp-256-128" if estimator.arch == "auto" else estimator.arch
    sizes = [X.shape[1], *map(int, re.findall(r"-(\d+)", arch)), classes]
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


def _write_rows(directory, X, labels, weights, table):
    """The data set SET in a directory; returns its path."""
    path = os.path.join(directory, SET)
    if table is not None:
        path += ".csv"
        table.write(path, X, labels, weights)
        return path
    os.mkdir(path)
    np.save(os.path.join(path, "x.npy"), X)
    np.save(os.path.join(path, "y.npy"), labels.astype(np.int64))
    if weights is not None:
        np.save(os.path.join(path, WEIGHTS + ".npy"), weights)
    return path
