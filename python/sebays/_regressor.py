"""A scikit-learn regressor."""
from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import RegressorMixin

from ._estimator import TableEstimator
from ._model import Outcomes


class SeBaySRegressor(RegressorMixin, TableEstimator):
    """An ensemble of sparse Bayesian networks for continuous targets of rows of a table.

    Rows are arrays of numbers, or a pandas DataFrame that may also have columns of texts
    (categorical, object or string dtype) and booleans. NaN is a missing value. Features and
    targets are normalised inside; predictions are in the targets' own units. What is None or
    "auto" the library chooses by the number of rows, as `sebays train table.csv --task
    regression` does: for the same rows and settings it is the same model.

    Parameters
    ----------
    method : str
        A row of the method table: sebays, bays, edst, dst, static, bnn, bnn-ensemble, dnn,
        dnn-ensemble, ...
    arch : str
        "auto", or "mlp-H1-H2...", the hidden layers.
    noise : None, "shared" or "per-example"
        Whether targets scatter alike everywhere, or the network says how much at each row.
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
        Share of the rows that is only used to calibrate conformal intervals; 0: none.
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
    n_features_in_, feature_names_in_
        As everywhere in scikit-learn.
    model_ : Model
        The trained model.
    model_bytes_ : bytes
        Its file, which is what a pickle holds.
    n_iter_ : int
        Epochs trained in all.
    history_ : list of dict
        One a validation: epoch, loss, val_nll, val_rmse, ... (None without validation rows).

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sebays import SeBaySRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = SeBaySRegressor(random_state=0).fit(X, y)
    >>> mean, sd = model.predict(X, return_std=True)
    >>> low, high = model.predict_interval(X, coverage=0.9)
    >>> model.predict_quantiles(X, [0.05, 0.5, 0.95]).shape
    (442, 3)
    """

    def __init__(self, method: str = "sebays", arch: str = "auto", *,
                 noise: str | None = None, members: int | None = None,
                 sparsity: float | None = None, explore_epochs: int | None = None,
                 exploit_epochs: int | None = None, batch_size: int | None = None,
                 learning_rate: float | None = None, prior_variance: float | None = None,
                 validation_fraction: float | None = None,
                 calibration_fraction: float = 0, sampling: str = "draw", draws: int = 10,
                 random_state=None, n_jobs: int | None = None,
                 options: dict[str, Any] | None = None, verbose: bool = False):
        super().__init__(
            method, arch, members=members, sparsity=sparsity, explore_epochs=explore_epochs,
            exploit_epochs=exploit_epochs, batch_size=batch_size,
            learning_rate=learning_rate, prior_variance=prior_variance,
            validation_fraction=validation_fraction, sampling=sampling, draws=draws,
            random_state=random_state, n_jobs=n_jobs, options=options, verbose=verbose)
        self.noise = noise
        self.calibration_fraction = calibration_fraction

    # ---- fitting ----

    def fit(self, X, y, sample_weight=None) -> SeBaySRegressor:
        """Trains on the rows of X and their targets y, [n] or [n][targets] numbers; returns
        self.

        sample_weight: how much each row counts, [n] numbers from 0. A row of weight 0 is as
        if it were not there.
        """
        _refuse_dates(y)
        X, y = self._take(X, y, multi_output=True, y_numeric=True)
        y = _as_targets(y)
        X, y, weights = self._that_count(X, y, self._given_weights(X, sample_weight))
        if len(X) < 2:
            raise ValueError(f"SeBaySRegressor needs rows to learn from, at least 2; there "
                             f"{'is 1 sample' if len(X) == 1 else 'are no samples'} of a "
                             "weight above 0")
        self._one = y.ndim == 1
        return self._fit_rows(X, y, weights)

    def _task(self):
        return {"data.task": "regression", "model.noise": self.noise,
                "data.calibration": self._calibration()}

    @staticmethod
    def _outputs(y):
        return 2 * (1 if y.ndim == 1 else y.shape[1])

    # ---- prediction ----

    def _shaped(self, values, axis=-1):
        """float64, of one target given as a column [n][1], too."""
        values = np.asarray(values, np.float64)
        flat = not self._one and self.model_.targets == 1
        return np.expand_dims(values, axis) if flat else values

    def predict(self, X, return_std: bool = False):
        """The mean of each row's targets: float64 [n], or [n][targets] as y was.

        return_std: also their standard deviations, of the data's noise and of what the
        members do not know together.
        """
        rows = self._rows(X)
        if not return_std:
            return self._shaped(self.model_.predict(rows))
        out = self.model_.outcomes(rows)
        return self._shaped(out.mean), self._shaped(out.sd)

    def predict_interval(self, X, coverage: float = 0.9, conformal: bool = False):
        """The ends (low, high) of a central interval of each target that has it with
        probability coverage, as the ensemble sees it; conformal: an interval that holds that
        coverage whatever the model, if it was fitted with calibration_fraction."""
        self._check_coverage(coverage)
        rows = self._rows(X)
        ends = self.model_.interval(rows, coverage, conformal=conformal)
        return self._shaped(ends[0]), self._shaped(ends[1])

    def predict_quantiles(self, X, q=(0.05, 0.5, 0.95)) -> np.ndarray:
        """Quantiles of each target at the levels q: float64 [n][levels], or
        [n][targets][levels]; of one level as a number [n], or [n][targets]."""
        rows, levels = self._rows(X), np.atleast_1d(np.asarray(q, np.float64))
        if levels.ndim != 1 or not ((levels > 0) & (levels < 1)).all():
            raise ValueError(f"q = {q}: want levels between 0 and 1, such as 0.05")
        out = self._shaped(self.model_.quantiles(rows, levels), -2)
        return out[..., 0] if np.ndim(q) == 0 else out

    def predict_uncertainty(self, X) -> Outcomes:
        """Mean, standard deviation, and what of it is aleatoric (the data's noise) and
        epistemic (how far members disagree), in the targets' units."""
        rows = self._rows(X)
        return Outcomes(*map(self._shaped, self.model_.outcomes(rows)))

    # ---- what scikit-learn asks ----

    def _more_tags(self):
        return {**super()._more_tags(), "multioutput": True}

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags


def _refuse_dates(y):
    """Dates would become nanoseconds since 1970."""
    kinds = y.dtypes if hasattr(y, "columns") else [getattr(y, "dtype", None)]
    if any(getattr(kind, "kind", "O") in "mM" for kind in kinds):
        raise ValueError("y has dates or times; make numbers of them, such as days since some "
                         "day")


def _as_targets(y):
    """y as float64, [n] or [n][targets] of finite numbers."""
    if hasattr(y, "toarray"):
        raise ValueError("y is a sparse matrix; want an array of numbers")
    try:
        y = np.asarray(y, np.float64)
    except (TypeError, ValueError):
        raise ValueError("y has values that are no numbers; SeBaySRegressor predicts "
                         "continuous targets, SeBaySClassifier classes") from None
    if y.ndim == 2 and y.shape[1] == 0:
        raise ValueError("y has no columns; want one a target")
    if not np.isfinite(y).all():
        raise ValueError("y has NaN or infinite values; leave their rows out")
    return y
