"""Model files, and predictions from them."""
import ctypes
import math
import os
import tempfile
import threading
from contextlib import contextmanager
from typing import NamedTuple

import numpy as np

from . import _library
from ._library import check, lib, new_handle, new_text, warn

SAMPLING = {"draw": _library.DRAW, "draws": _library.DRAWS, "mean": _library.MEAN,
            "activation-noise": _library.NOISE}


class Uncertainty(NamedTuple):
    """Entropies in nats, one an example."""
    total: np.ndarray      # of the mean prediction: how unsure, all in all
    aleatoric: np.ndarray  # mean over members: what data leave open
    epistemic: np.ndarray  # the difference: how far members disagree


class Outcomes(NamedTuple):
    """Continuous targets in their own units: float32 [n], or [n][targets] of several.

    sd is the deviation of the mixture of the members' Gaussians; its square is the sum of
    those of the other two."""
    mean: np.ndarray
    sd: np.ndarray
    aleatoric: np.ndarray  # what data leave open
    epistemic: np.ndarray  # how far members disagree


def inspect(path):
    """What a model file (or that of a run directory) holds, as text."""
    return new_text(lib.sebays_inspect, os.fsencode(path))


def export(path, out, format, *, samples="draw", member=None, sigma=False):
    """Writes a model file's (or a run directory's) members for other programs.

    format: "onnx" (the ensemble as a graph), "safetensors-dense" or "npz" (dense arrays);
    samples: "draw" or "mean"; member: only this one; sigma: the deviations, too.
    """
    options = _library.ExportOptions(
        format=format.encode(), out=os.fsencode(out), samples=samples.encode(),
        first_member=member or 0, members=0 if member is None else 1, sigma=sigma)
    check(lib.sebays_export(os.fsencode(path), ctypes.byref(options)))


class Model:
    """A trained ensemble: a model file, a run directory, or the file's bytes.

    sampling says how posteriors are used: "draw" (the one kept with each member), "draws"
    (the mean over several), "mean", "activation-noise". threads: 0 means one a processor;
    predictions are the same bits for any number. Any number of Python threads may use a model.
    """

    def __init__(self, source, *, sampling="draw", draws=10, threads=0, isa=None):
        if sampling not in SAMPLING:
            raise ValueError(f"sampling = {sampling!r}: want one of {', '.join(SAMPLING)}")
        self._handle = None
        self._lock = threading.Lock()
        self._idle = {}  # max_batch: predictors that nobody is using
        self._busy = 0
        self._reword = str  # who opens it for others has better words for columns
        self._predictor_options = dict(threads=threads, isa=isa and isa.encode(),
                                       sampling=SAMPLING[sampling], draws=draws)
        self.sampling = sampling
        self._handle = _open(source)
        self.member_count = lib.sebays_model_members(self._handle)
        self.classes = lib.sebays_model_classes(self._handle)
        names = [lib.sebays_model_class_name(self._handle, i) for i in range(self.classes)]
        self.class_names = None if None in names else tuple(name.decode() for name in names)
        self.targets = lib.sebays_model_targets(self._handle)
        self.target_names = tuple(lib.sebays_model_target_name(self._handle, i).decode()
                                  for i in range(self.targets))
        self.target_widths = tuple(lib.sebays_model_target_width(self._handle, i)
                                   for i in range(self.targets))
        self.calibrated = lib.sebays_model_calibrated(self._handle)
        self.has_far = lib.sebays_model_has_far(self._handle)
        self.shape = tuple(f(self._handle) for f in (
            lib.sebays_model_channels, lib.sebays_model_height, lib.sebays_model_width))
        self.arch = lib.sebays_model_arch(self._handle).decode()
        self.method = lib.sebays_model_method(self._handle).decode()
        self.density = lib.sebays_model_density(self._handle)
        self.bayesian = lib.sebays_model_bayesian(self._handle)
        self.recipe = lib.sebays_model_recipe(self._handle).decode()

    def __repr__(self):
        return (f"<sebays.Model {self.method} {self.arch}: {self.member_count} members, "
                f"density {self.density:.3g}, {self._predicts()}, "
                f"input {'x'.join(map(str, self.shape))}>")

    def _predicts(self):
        return (f"{self.classes} classes" if self.classes else
                "target " + self.target_names[0] if self.targets == 1 else
                f"{self.targets} targets")

    # ---- its life ----

    def close(self):
        """Gives the memory back; closing twice is fine."""
        with self._lock:
            if self._busy:
                raise RuntimeError("the model is in use by another thread; close it after that")
            for predictors in self._idle.values():
                for predictor in predictors:
                    lib.sebays_predictor_free(predictor)
            self._idle.clear()
            if self._handle:
                lib.sebays_model_free(self._handle)
            self._handle = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def __del__(self):
        if getattr(self, "_handle", None):
            self.close()

    def __reduce__(self):
        raise TypeError("a Model cannot be pickled or copied; send the path of its run and open "
                        "that there, or fork, or pickle a SeBaySClassifier or SeBaySRegressor")

    @contextmanager
    def _predictor(self, max_batch):
        """A predictor serves one thread at a time: takes an idle one, or makes another."""
        with self._lock:
            if not self._handle:
                raise ValueError("the model is closed")
            idle = self._idle.setdefault(max_batch, [])
            taken = idle.pop() if idle else None
            self._busy += 1
        try:
            if taken is None:
                options = _library.PredictorOptions(max_batch=max_batch,
                                                    **self._predictor_options)
                taken = new_handle(lib.sebays_predictor_new, self._handle,
                                   ctypes.byref(options))
            yield taken
        finally:
            with self._lock:
                self._busy -= 1
                if taken is not None:
                    idle.append(taken)

    # ---- predictions ----

    def predict(self, x, *, layout=None):
        """The most probable class of each example, counted from 0: int64 [n]. Of a model of
        continuous targets, their means: float32 [n], or [n][targets] of several."""
        if self.targets:
            return self._outcomes(x, layout, "mean")["mean"]
        return self.predict_proba(x, layout=layout).argmax(axis=1)

    def predict_proba(self, x, *, layout=None):
        """Probabilities, the mean over members: float32 [n][classes].

        x is float32 or uint8 (pixels from 0 to 255) and is used where it lies, whatever its
        strides; other types are converted once. Tables are [n][features]; images [n][h][w]
        if grey, [n][channels][h][w] (layout "nchw") or [n][h][w][channels] ("nhwc"); without
        a layout the one that fits is taken.
        """
        return self._probabilities(x, layout, "probabilities")["probabilities"]

    def members(self, x, *, layout=None):
        """Each member's probabilities: float32 [members][n][classes]."""
        return self._probabilities(x, layout, "members")["members"]

    def votes(self, x, *, layout=None):
        """How many members hold a class most probable: uint32 [n][classes]."""
        return self._probabilities(x, layout, "votes")["votes"]

    def uncertainty(self, x, *, layout=None):
        """Total, aleatoric and epistemic uncertainty, in nats: float32 [n] each."""
        return Uncertainty(**self._probabilities(x, layout, *Uncertainty._fields))

    def far(self, x, *, layout=None):
        """How unlike the training rows examples are, of either kind of model: float32 [n] in
        [0, 1], the share of those rows that are less unlike the rest. Near 1: nothing like it
        was trained on, however sure the members are."""
        ask = self._outcomes if self.targets else self._probabilities
        return ask(x, layout, "far")["far"]

    def predictions(self, x, *, layout=None):
        """All of it from one pass: a dict of probabilities, members, votes, total,
        aleatoric, epistemic and, where the model knows it, far."""
        return self._probabilities(x, layout, *(name for name, _ in _library.Prediction._fields_
                                         if name != "far" or self.has_far))

    def sets(self, x, coverage=0.9, *, layout=None):
        """Conformal sets of classes, if the model was trained with data.calibration: bool
        [n][classes], whether a class is in the example's set. It has the true class with at
        least that probability, whatever the model; it may be empty."""
        if self.targets:
            raise ValueError("the model predicts continuous targets, which have no sets; ask "
                             "for interval(x, coverage, conformal=True)")
        p = self.predict_proba(x, layout=layout).astype(np.float64)
        return 1 - p <= self.conformal_factor(coverage)

    # ---- continuous targets ----

    def outcomes(self, x, *, layout=None):
        """Mean and deviations of continuous targets: Outcomes."""
        return Outcomes(**self._outcomes(x, layout, *Outcomes._fields))

    def quantiles(self, x, levels, *, layout=None):
        """Quantiles of the mixture: float32 [n][levels], or [n][targets][levels]."""
        return self._outcomes(x, layout, "quantiles", levels=levels)["quantiles"]

    def interval(self, x, coverage=0.9, *, conformal=False, layout=None):
        """The ends (low, high) of a central interval of that coverage. conformal: mean +-
        factor * sd instead, which holds its coverage whatever the model, if that was trained
        with data.calibration."""
        if not conformal:
            ends = self.quantiles(x, [(1 - coverage) / 2, (1 + coverage) / 2], layout=layout)
            return ends[..., 0], ends[..., 1]
        factor = np.array([self.conformal_factor(coverage, t) for t in range(self.targets)])
        out = self._outcomes(x, layout, "mean", "sd")
        wide = (factor if self.targets > 1 else factor[0]) * out["sd"]
        return out["mean"] - wide, out["mean"] + wide

    def conformal_factor(self, coverage, target=0):
        """Of the calibration part: the interval mean +- factor * sd of a target, or the set
        of classes whose probability is at least 1 - factor, has the truth with at least that
        probability."""
        out = ctypes.c_double()
        with self._lock:
            if not self._handle:
                raise ValueError("the model is closed")
            check(lib.sebays_model_conformal(self._handle, target, coverage,
                                             ctypes.byref(out)))
        if math.isinf(out.value) and target == 0:  # once, of several
            n = self.calibrated
            warn(f"the model was calibrated with {n} row{'s' * (n != 1)}, and a coverage of "
                 f"{coverage} needs {math.ceil(coverage / (1 - coverage) - 1e-9)}: every " +
                 ("interval is infinite" if self.targets else "set has all classes") +
                 f"; ask for at most {math.floor(1000 * n / (n + 1)) / 1000:.3g}, or keep more "
                 "rows to calibrate with")
        return out.value

    def member_outcomes(self, x, *, layout=None):
        """Means and variances of each member: two of float32 [members][n], or
        [members][n][targets]."""
        out = self._outcomes(x, layout, "member_means", "member_variances")
        return out["member_means"], out["member_variances"]

    def _outcomes(self, x, layout, *wanted, levels=()):
        x, examples = self._examples(x, layout)
        n, t, levels = len(x), max(self.targets, 1), np.array(levels, np.float64)
        shapes = dict(quantiles=(n, t, len(levels)), member_means=(self.member_count, n, t),
                      member_variances=(self.member_count, n, t), far=(n,))
        out = {name: np.empty(shapes.get(name, (n, t)), np.float32) for name in wanted}
        asked = _library.Outcomes(
            levels=levels.ctypes.data_as(ctypes.POINTER(ctypes.c_double)),
            level_count=len(levels), **{name: a.ctypes.data for name, a in out.items()})
        with self._predictor(1 if n == 1 else 0) as predictor:
            self._ask(lib.sebays_predict_outcomes, predictor, examples, asked)
        axis = {"quantiles": 1}
        return out if t > 1 else {name: a if name == "far" else
                                  a.squeeze(axis.get(name, a.ndim - 1))
                                  for name, a in out.items()}

    # ---- all of them ----

    def _ask(self, function, predictor, examples, out):
        """Warns of numbers that are missing where no training row lacked one."""
        check(function(predictor, ctypes.byref(examples), ctypes.byref(out)))
        note = lib.sebays_predictor_note(predictor)
        if note:
            warn(self._reword("X: " + note.decode("utf-8", "replace")))

    def _examples(self, x, layout):
        """x as the library reads it, which must stay, and what says how."""
        x, strides = _as_examples(np.asarray(x), self.shape, layout)
        return x, _library.Examples(
            data=x.ctypes.data, count=len(x), type=_library.U8 if x.dtype == np.uint8 else
            _library.F32, layout=_library.STRIDED, stride=strides)

    def _probabilities(self, x, layout, *wanted):
        x, examples = self._examples(x, layout)
        n, k = len(x), self.classes
        shapes = dict(probabilities=(n, k), members=(self.member_count, n, k), votes=(n, k),
                      total=(n,), aleatoric=(n,), epistemic=(n,), far=(n,))
        out = {name: np.empty(shapes[name], np.uint32 if name == "votes" else np.float32)
               for name in wanted}
        prediction = _library.Prediction(**{name: a.ctypes.data for name, a in out.items()})
        with self._predictor(1 if n == 1 else 0) as predictor:
            self._ask(lib.sebays_predict, predictor, examples, prediction)
        return out


def _open(source):
    if not isinstance(source, (bytes, bytearray, memoryview)):
        return new_handle(lib.sebays_model_open, os.fsencode(source))
    # The library maps a file: once it is open, its name is not needed any more.
    descriptor, path = tempfile.mkstemp(prefix="sebays-", suffix=".safetensors")
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(source)
        return new_handle(lib.sebays_model_open, os.fsencode(path))
    finally:
        os.unlink(path)


# ---- arrays ----

def _as_examples(x, shape, layout):
    """x with a type the library reads, and bytes to the next example, channel, row, column."""
    channels, height, width = shape
    table = height == 1 and width == 1
    x = _as_type(x, table)
    if x.ndim == 2 and x.shape[1] == channels * height * width:
        if table:
            return x, (*x.strides, 0, 0)
        x = np.ascontiguousarray(x).reshape(len(x), *shape)  # flat images, channels first
        return x, x.strides
    kinds = {"nchw": (channels, height, width), "nhwc": (height, width, channels)}
    if layout not in (None, *kinds):
        raise ValueError(f"layout = {layout!r}: want nchw, nhwc or None")
    if x.ndim == 3 and channels == 1 and x.shape[1:] == (height, width):
        return x, (x.strides[0], 0, *x.strides[1:])
    if x.ndim == 4:
        # As the data readers do: channels come last if there are 1, 3 or 4 of them.
        order = [layout] if layout else ["nhwc", "nchw"] if channels in (1, 3, 4) else \
            ["nchw", "nhwc"]
        for kind in order:
            if x.shape[1:] == kinds[kind]:
                n, a, b, c = x.strides
                return x, (n, a, b, c) if kind == "nchw" else (n, c, a, b)
    raise ValueError(f"an array of shape {x.shape}; the model takes " + _shapes_taken(shape, table))


def _shapes_taken(shape, table):
    c, h, w = shape
    if table:
        return f"(n, {c})"
    grey = f"(n, {h}, {w}), " if c == 1 else ""
    return f"{grey}(n, {c}, {h}, {w}), (n, {h}, {w}, {c}) or (n, {c * h * w})"


def _as_type(x, table):
    """float32 or uint8 in native order as it is, everything else converted."""
    usable = x.dtype == np.float32 or (x.dtype == np.uint8 and not table)
    if usable and x.flags.aligned:
        return x
    if x.dtype.kind not in "fiub" or (x.dtype.kind in "iu" and not table and
                                      x.dtype != np.uint8):
        raise TypeError(f"an array of {x.dtype}; want " +
                        ("numbers" if table else "floats (0 to 1) or uint8 (0 to 255)"))
    return x.astype(x.dtype if usable else np.float32)
