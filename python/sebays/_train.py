"""Training by a recipe, with progress, Ctrl-C and resume."""
import ctypes
import json
import os
import pathlib
import signal
import sys
import threading
from dataclasses import dataclass, field
from typing import NamedTuple

from . import _library
from ._library import Canceled, check, lib, new_handle, new_text
from ._model import Model
from ._progress import Line

REPORT_SECONDS = 0.2  # between two reports, and until Ctrl-C is noticed


class Scores(NamedTuple):
    """Figures on the test set of a run with classes; of continuous targets only nll is a
    number, and Result.figures has the others."""
    accuracy: float
    nll: float
    ece: float
    brier: float


class Progress(NamedTuple):
    """What a progress function is called with; None: unknown or does not apply."""
    phase: str
    done: int
    total: int
    member: int
    members: int
    epoch: int
    epochs: int
    rate: float
    seconds: float
    seconds_left: float
    loss: float
    accuracy: float
    ended: bool


@dataclass(frozen=True)
class Result:
    """What training gave; the files are in the run directory."""
    out: pathlib.Path
    ensemble: Scores
    members: list = field(repr=False)
    seconds: float
    images_per_second: float
    density: float
    figures: dict = field(default_factory=dict, repr=False)  # of the ensemble, by name

    @property
    def model_path(self):
        return self.out / "model.safetensors"

    @property
    def history(self):
        """One dict a validation, from metrics.jsonl."""
        with open(self.out / "metrics.jsonl", encoding="utf-8") as file:
            return [json.loads(line) for line in file]

    def model(self, **how):
        """The trained model, opened; how: as for Model."""
        return Model(self.model_path, **how)


# ---- recipes ----

def _text(value):
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, (list, tuple)):
        return " ".join(map(_text, value))
    return os.fsdecode(value) if isinstance(value, os.PathLike) else str(value)


def _flat(options):
    """{"section.key": value}, {"section__key": value} or {"section": {"key": value}}."""
    for name, value in (options or {}).items():
        if isinstance(value, dict):
            for key, inner in value.items():
                yield f"{name}.{key}", inner
        else:
            yield name.replace("__", ".", 1), value


class _Recipe:
    """A checked recipe, given back at the end of a with block."""

    def __init__(self, recipe, *options):
        by_name = recipe is None or isinstance(recipe, dict)
        self.handle = new_handle(lib.sebays_recipe_new) if by_name else \
            new_handle(lib.sebays_recipe_load, os.fsencode(recipe))
        try:
            for one in (recipe if by_name else None, *options):
                for name, value in _flat(one):
                    check(lib.sebays_recipe_set(self.handle, name.encode(),
                                                _text(value).encode()))
            check(lib.sebays_recipe_check(self.handle))
        except BaseException:
            self.__exit__()
            raise

    def __enter__(self):
        return self.handle

    def __exit__(self, *_):
        lib.sebays_recipe_free(self.handle)


def recipe_text(recipe=None, options=None, *, comments=False, **more):
    """The recipe, completed and checked, as an INI file that names every option."""
    with _Recipe(recipe, options, more) as handle:
        return new_text(lib.sebays_recipe_text, handle, comments)


def options():
    """Every option: default, meaning, range; as text."""
    return new_text(lib.sebays_options_text)


def _data_dir(path):
    """Where data sets are looked for last; the command line's place unless told."""
    if path is None:
        home = os.environ.get("XDG_DATA_HOME") or os.path.expanduser("~/.local/share")
        path = os.path.join(home, "sebays")
    return os.fsencode(path)


def plan(recipe=None, options=None, *, data_dir=None, isa=None, **more):
    """What a run would take: weights by layer, arithmetic, memory, time; as text."""
    run = _library.RunOptions(isa=isa and isa.encode(), data_dir=_data_dir(data_dir))
    with _Recipe(recipe, options, more) as handle:
        return new_text(lib.sebays_plan, handle, ctypes.byref(run))


# ---- running ----

class _Interrupt:
    """Notes Ctrl-C instead of raising it in the middle of the library.

    An exception cannot pass through C, so while a run lasts SIGINT only sets a flag, which
    stops the run at its next safe point. A handler that is not Python's own stays."""

    def __init__(self):
        self.caught = False
        self.mine = (threading.current_thread() is threading.main_thread() and
                     signal.getsignal(signal.SIGINT) is signal.default_int_handler)

    def _note(self, *_):
        self.caught = True

    def __enter__(self):
        if self.mine:
            signal.signal(signal.SIGINT, self._note)
        return self

    def __exit__(self, *_):
        if self.mine:
            signal.signal(signal.SIGINT, signal.default_int_handler)


class _Callbacks:
    """What the library calls; the first exception is kept and ends the run."""

    def __init__(self, show, interrupt, said):
        self.show, self.interrupt, self.failure, self.said = show, interrupt, None, said
        self.progress_fn = _library.PROGRESS_FN(self._progress)
        self.log_fn = _library.LOG_FN(self._log)

    def _progress(self, _, report):
        try:
            wanted = self.show.progress(_progress_of(report.contents))
            return wanted is not False and not self.interrupt.caught and not self.failure
        except BaseException as failure:
            self.failure = self.failure or failure
            return False

    def _log(self, _, level, line):
        try:
            self.show.log(level, self.said(line.decode("utf-8", "replace")))
        except BaseException as failure:
            self.failure = self.failure or failure


def _progress_of(r):
    def known(value):
        return None if value != value else value
    return Progress(
        r.phase.decode(), r.done, r.total or None, r.member if r.members else None,
        r.members or None, r.epoch if r.epochs else None, r.epochs or None, r.rate or None,
        r.seconds, r.seconds_left if r.seconds_left >= 0 else None, known(r.loss),
        known(r.accuracy), r.ended)


class _Function:
    """The user's own progress function; warnings go where Python's go, and can be filtered."""

    def __init__(self, function):
        self.progress = function

    def log(self, level, line):
        if level >= _library.WARN:
            _library.warn(line)

    def end(self):
        pass


def _shown_by(progress):
    if callable(progress):
        return _Function(progress)
    return Line(sys.stderr) if progress else _Function(lambda report: None)


def train(recipe=None, out=None, options=None, *, resume=False, progress=True, data_dir=None,
          data_path=None, force=False, isa=None, _said=str, **more):
    """Trains and returns a Result.

    recipe: a recipe file, a dict of options, or None for the defaults. Options by name, in
    the dict `options` ("section.key": value) or as section__key=value, come after it.
    out: the run directory. progress: True shows a line on standard error, False nothing; or
    a function that is called with a Progress and returns False to stop (Canceled is raised).
    What the library warns of stands beside that line; without it, it is a UserWarning.
    data_path: where the training set is; data.set is then only what it is called.

    Ctrl-C writes a checkpoint and raises KeyboardInterrupt; resume=True goes on from there,
    and the model is the same, byte for byte, as without the interruption. force: resume even if
    the data changed, as long as its size, columns and classes did not.
    """
    if out is None:
        raise ValueError("train needs out: the run directory")
    show, interrupt = _shown_by(progress), _Interrupt()
    calls = _Callbacks(show, interrupt, _said)
    run = _library.RunOptions(
        out=os.fsencode(out), isa=isa and isa.encode(), resume=resume,
        data_dir=_data_dir(data_dir), progress=calls.progress_fn,
        progress_seconds=REPORT_SECONDS, log=calls.log_fn,
        data_path=None if data_path is None else os.fsencode(data_path), force=force)
    with _Recipe(recipe, options, more) as handle:
        try:
            with interrupt:
                result = new_handle(lib.sebays_train, handle, ctypes.byref(run))
        except Canceled as canceled:
            if calls.failure:
                raise calls.failure from None
            said = f"{canceled}; train(..., out={os.fspath(out)!r}, resume=True) goes on from there"
            if interrupt.caught:
                raise KeyboardInterrupt(said) from None
            raise Canceled(said) from None
        except Exception as failure:
            if interrupt.caught:  # what was asked for comes first: nobody is to try again
                raise KeyboardInterrupt(str(failure)) from failure
            said = _said(str(failure))
            if said != str(failure):
                raise type(failure)(said) from None
            raise
        finally:
            show.end()
    if calls.failure:  # a warning at the end that was made an error
        lib.sebays_result_free(result)
        raise calls.failure
    if interrupt.caught:  # too late to stop anything
        lib.sebays_result_free(result)
        raise KeyboardInterrupt(f"the run in {os.fspath(out)} was finished")
    return _take(result, out)


def _take(result, out):
    """The figures of a result, which is given back."""
    try:
        def scores(s):
            return Scores(s.accuracy, s.nll, s.ece, s.brier)
        count = lib.sebays_result_members(result)
        return Result(pathlib.Path(out), scores(lib.sebays_result_ensemble(result)),
                      [scores(lib.sebays_result_member(result, i)) for i in range(count)],
                      lib.sebays_result_seconds(result),
                      lib.sebays_result_images_per_second(result),
                      lib.sebays_result_density(result),
                      {lib.sebays_result_figure_name(result, i).decode():
                       lib.sebays_result_figure(result, count, i)
                       for i in range(lib.sebays_result_figures(result))})
    finally:
        lib.sebays_result_free(result)
