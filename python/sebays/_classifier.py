"""A scikit-learn classifier; the only module that imports scikit-learn."""
import math
import os
import re
import shutil
import tempfile

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from ._model import Model
from ._train import train

try:
    from sklearn.utils.validation import validate_data
except ImportError:  # scikit-learn before 1.6
    def validate_data(estimator, *arrays, **how):
        return estimator._validate_data(*arrays, **how)

SET = "rows"
HELD_OUT_FROM = 2000  # rows; with fewer all of them are trained on
HELD_OUT_MOST = 5000
IN_MEMORY_MOST = 8 << 20  # bytes
MEMORY = "/dev/shm"
STATE = 1  # of a pickle's layout; one that is not known is refused
MEMBERS_MOST = 4  # of any method that is not told


class SeBaySClassifier(ClassifierMixin, BaseEstimator):
    """An ensemble of sparse Bayesian networks for rows of numbers.

    Features are normalised inside. What is None is chosen from the number of rows.

    Parameters
    ----------
    method : a row of the method table: sebays, bays, edst, dst, static, bnn, bnn-ensemble,
        dnn, dnn-ensemble.
    arch : "auto", or "mlp-H1-H2...", the hidden layers.
    members : networks in the ensemble; None: 3, or the one of dnn and bnn.
    sparsity : share of weights that do not exist; None: 0.5 (dense methods: 0).
    explore_epochs, exploit_epochs : epochs of exploration, and of each member after it.
    batch_size, learning_rate, prior_variance : as their names say.
    validation_fraction : share of the rows that picks the best epoch of each member. 0: none,
        the last epoch is taken. None: 0 below 2000 rows, else 0.1, at most 5000 rows.
    sampling, draws : how posteriors are used in prediction, see Model.
    random_state : int, RandomState or None; train.seed.
    n_jobs : threads; None: 1, which is best for small networks on tables; -1: one a
        processor. Results are the same for any number.
    options : dict of "section.key": value, further options of the recipe; they come last.
    verbose : whether to show progress.

    Attributes
    ----------
    classes_, n_features_in_, feature_names_in_ : as everywhere in scikit-learn.
    model_ : the trained Model.
    model_bytes_ : its file, which is what a pickle holds.
    n_iter_ : epochs trained in all.
    """

    def __init__(self, method="sebays", arch="auto", *, members=None, sparsity=None,
                 explore_epochs=None, exploit_epochs=None, batch_size=None,
                 learning_rate=0.05, prior_variance=1.0, validation_fraction=None,
                 sampling="draw", draws=10, random_state=None, n_jobs=None, options=None,
                 verbose=False):
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

    # ---- fitting ----

    def fit(self, X, y):
        """Trains on the rows of X and their classes y, of any type; returns self."""
        X, y = validate_data(self, X, y, dtype=np.float32)
        check_classification_targets(y)
        classes, labels = np.unique(y, return_inverse=True)
        if len(classes) < 2:
            raise ValueError("SeBaySClassifier needs rows of at least 2 classes; y has 1 class")
        recipe = self._recipe(len(X))
        result, model_bytes = self._train(recipe, X, labels, len(classes))
        self.classes_ = classes
        self.n_iter_ = len(result.members) * recipe["method.exploit_epochs"] + \
            recipe["method.explore_epochs"]
        self.model_bytes_ = model_bytes
        self.model_ = self._open()
        return self

    def _train(self, recipe, X, labels, classes):
        """The result and the model's file. Memory that turns out to be too little for the
        files of a run is no failure: there is the disk."""
        place = _place(X.nbytes, _run_bytes(recipe, X.shape[1], classes))
        try:
            return self._train_in(place, recipe, X, labels)
        except OSError:
            if place is None:
                raise
        return self._train_in(None, recipe, X, labels)

    def _train_in(self, place, recipe, X, labels):
        with tempfile.TemporaryDirectory(prefix="sebays-", dir=place) as directory:
            held_out = recipe["data.split"] == "stratified"
            _write_rows(directory, X, labels, repeat=not held_out)
            try:
                result = train(recipe, os.path.join(directory, "run"), self.options,
                               data_path=os.path.join(directory, SET),
                               progress=bool(self.verbose))
            except KeyboardInterrupt:
                raise KeyboardInterrupt("SeBaySClassifier.fit was interrupted") from None
            with open(result.model_path, "rb") as file:
                return result, file.read()

    def _recipe(self, n):
        """Options by name, chosen for n rows where the parameters leave them open."""
        held_out = _held_out(self.validation_fraction, n)
        batch = self.batch_size or min(max(2 ** round(math.log2(n / 8)), 16), 256)
        steps = math.ceil((n - held_out) / batch)  # an epoch
        # Few rows need many epochs, many rows few; a third of the steps is exploration.
        explore = self.explore_epochs
        if explore is None:
            explore = max(math.ceil(160 / steps), 8)
        exploit = self.exploit_epochs or max(math.ceil(80 / steps), 4)
        recipe = {
            "data.task": "classification",
            "data.set": SET,  # what it is called: a model does not depend on where rows were
            "data.split": "stratified" if held_out else "tail",
            "data.validation": held_out or 1,
            "data.normalise": "computed",
            "model.arch": _arch(n) if self.arch == "auto" else self.arch,
            "method.name": self.method,
            "method.explore_epochs": explore,
            "method.exploit_epochs": exploit,
            "method.delta_t": max(explore * steps // 8, 1),
            "method.rate_decay": "cosine",
            "method.prior_variance": self.prior_variance,
            "method.kl_anneal_epochs": explore,
            "train.batch": batch,
            "train.lr": self.learning_rate,
            "train.lr_first": self.learning_rate / 5,
            "train.lr_second": self.learning_rate / 50,
            "train.seed": self._seed(),
            "train.threads": self._threads(),
            "train.validate_every": 1 if held_out else exploit,
            "train.checkpoint_seconds": 0,
        }
        sparsity = self.sparsity
        if sparsity is None and self.method not in ("dnn", "dnn-ensemble", "bnn",
                                                    "bnn-ensemble"):
            sparsity = 0.5
        for name, value in (("method.members", self.members), ("method.sparsity", sparsity)):
            if value is not None:
                recipe[name] = value
        return recipe

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
        return validate_data(self, X, dtype=np.float32, reset=False)

    def predict_proba(self, X):
        """Probabilities, the mean over members, columns as in classes_: float64
        [n][classes]. They are the model's, divided by their sum in float64."""
        rows = self._rows(X)
        p = self.model_.predict_proba(rows).astype(np.float64)
        return p / p.sum(axis=1, keepdims=True)

    def predict(self, X):
        """The most probable class of each row."""
        rows = self._rows(X)
        return self.classes_[self.model_.predict(rows)]

    def predict_uncertainty(self, X):
        """Total, aleatoric and epistemic uncertainty of each row, in nats."""
        rows = self._rows(X)
        return self.model_.uncertainty(rows)

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


def _place(rows, run):
    """Where the files of a fit are kept for its while: so many bytes of rows, so many of a
    run. Checkpoints are synced to the disk, which takes longer than training on a few rows:
    small fits stay in memory if they can. A container may have little of that."""
    small = rows <= IN_MEMORY_MOST and "TMPDIR" not in os.environ
    if not small or not os.access(MEMORY, os.W_OK | os.X_OK):
        return None
    return MEMORY if 2 * (rows + run) <= shutil.disk_usage(MEMORY).free else None


def _run_bytes(recipe, features, classes):
    """At most: of a run directory with two checkpoints, a third being written, a model."""
    sizes = [features, *map(int, re.findall(r"-(\d+)", recipe["model.arch"])), classes]
    weights = sum(a * b + b for a, b in zip(sizes, sizes[1:]))
    members = recipe.get("method.members", MEMBERS_MOST)
    member = 12 * weights                   # mean, deviation, position
    checkpoint = 20 * weights + member * (members + 1)  # with momenta; the best so far
    return 3 * checkpoint + member * members + 65536


def _held_out(fraction, n):
    """Rows kept for validation, a whole number."""
    if fraction is None:
        return min(n // 10, HELD_OUT_MOST) if n >= HELD_OUT_FROM else 0
    if not 0 <= fraction < 1:
        raise ValueError(f"validation_fraction = {fraction}: want a share from 0 to below 1")
    return math.ceil(fraction * n)


def _arch(n):
    return "mlp-64-32" if n < 2000 else "mlp-128-64" if n < 20_000 else "mlp-256-128"


def _write_rows(directory, X, labels, repeat):
    """The data set SET of a directory. The test part is one row, since scoring is
    scikit-learn's business. repeat: the last training row is there twice, so that what the
    library keeps for validation is not missing from what it trains on."""
    directory = os.path.join(directory, SET)
    os.mkdir(directory)
    rows = len(X) + repeat
    x = np.lib.format.open_memmap(os.path.join(directory, "x_train.npy"), "w+", np.float32,
                                  (rows, X.shape[1]))
    x[:len(X)] = X
    x[len(X):] = X[-1]
    x.flush()
    y = np.append(labels, labels[-1:]) if repeat else labels
    np.save(os.path.join(directory, "y_train.npy"), y.astype(np.int64))
    np.save(os.path.join(directory, "x_test.npy"), X[-1:])
    np.save(os.path.join(directory, "y_test.npy"), labels[-1:].astype(np.int64))
