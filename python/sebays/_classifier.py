"""A scikit-learn classifier."""
from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets

from ._estimator import TableEstimator
from ._model import Uncertainty


class SeBaySClassifier(ClassifierMixin, TableEstimator):
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
    calibration_fraction : float
        Share of the rows that is only used to calibrate the sets of predict_set; 0: none.
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
                 validation_fraction: float | None = None, calibration_fraction: float = 0,
                 class_weight: str | dict | None = None, sampling: str = "draw",
                 draws: int = 10, random_state=None, n_jobs: int | None = None,
                 options: dict[str, Any] | None = None, verbose: bool = False):
        super().__init__(
            method, arch, members=members, sparsity=sparsity, explore_epochs=explore_epochs,
            exploit_epochs=exploit_epochs, batch_size=batch_size,
            learning_rate=learning_rate, prior_variance=prior_variance,
            validation_fraction=validation_fraction, sampling=sampling, draws=draws,
            random_state=random_state, n_jobs=n_jobs, options=options, verbose=verbose)
        self.class_weight = class_weight
        self.calibration_fraction = calibration_fraction

    # ---- fitting ----

    def fit(self, X, y, sample_weight=None) -> SeBaySClassifier:
        """Trains on the rows of X and their classes y, of any type; returns self.

        sample_weight: how much each row counts, [n] numbers from 0. A row of weight 0 is as
        if it were not there.
        """
        _refuse_missing(y)
        X, y = self._take(X, y)
        check_classification_targets(y)
        X, y, weights = self._that_count(X, y, self._weights(X, y, sample_weight))
        classes, labels = np.unique(y, return_inverse=True)
        if len(classes) < 2:
            raise ValueError("SeBaySClassifier needs rows of at least 2 classes; "
                             f"y has {len(classes)} class" + "es" * (len(classes) == 0))
        self.classes_ = classes
        return self._fit_rows(X, labels.astype(np.int64), weights)

    def _weights(self, X, y, sample_weight):
        """sample_weight times those of a dict of class weights; None: all the same."""
        weights = self._given_weights(X, sample_weight)
        if isinstance(self.class_weight, dict):
            weights = np.ones(len(y)) if weights is None else weights.copy()
            for name, weight in self.class_weight.items():
                if not (y == name).any():
                    raise ValueError(f"class_weight: y has no class {name!r}")
                if not 0 <= weight < np.inf:
                    raise ValueError(f"class_weight: {name!r} has {weight}; want a number from 0")
                weights[y == name] *= weight
        elif self.class_weight not in (None, "balanced"):
            raise ValueError(f"class_weight = {self.class_weight!r}: want None, "
                             "'balanced' or a dict")
        return weights

    def _task(self):
        return {"data.task": "classification", "data.calibration": self._calibration(),
                "train.class_weights":
                "balanced" if self.class_weight == "balanced" else None}

    @staticmethod
    def _outputs(y):
        return int(y.max()) + 1

    # ---- prediction ----

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

    def predict_set(self, X, coverage: float = 0.9) -> np.ndarray:
        """Conformal sets, if it was fitted with calibration_fraction: bool [n][classes],
        columns as in classes_, whether a class is in the row's set. A set has the true class
        with at least probability coverage, whatever the model, for rows from where the
        training rows came from; it may be empty."""
        self._check_coverage(coverage)
        rows = self._rows(X)
        return self.model_.sets(rows, coverage)

    def predict_uncertainty(self, X) -> Uncertainty:
        """Total, aleatoric and epistemic uncertainty of each row, in nats."""
        rows = self._rows(X)
        return self.model_.uncertainty(rows)


def _refuse_missing(y):
    """A class that is not there is none; sorting would fail at it, or take it for one."""
    y = np.asarray(y)
    if y.dtype.kind == "O" and y.ndim > 0 and any(map(_is_missing, y.ravel())):
        raise ValueError("y has missing values (None, NaN); leave their rows out")


def _is_missing(value):
    return value is None or type(value).__name__ in ("NAType", "NaTType") or \
        isinstance(value, float) and value != value
