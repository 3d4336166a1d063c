"""The shared library: found, loaded, and its functions with their types.

The structures mirror include/sebays.h field by field; tests/test_abi.py compares sizes and
offsets with the compiler's.
"""
import ctypes
import ctypes.util
import os
import pathlib
import sys
import warnings
from ctypes import (CFUNCTYPE, POINTER, Structure, c_bool, c_char_p, c_double, c_int, c_size_t,
                    c_ssize_t, c_uint32, c_uint64, c_void_p)

SERIES = "0.1"  # of the interface below; before 1.0 a minor version may change it


# ---- structures ----

class Progress(Structure):
    _fields_ = [("phase", c_char_p), ("done", c_uint64), ("total", c_uint64),
                ("member", c_uint32), ("members", c_uint32), ("epoch", c_uint32),
                ("epochs", c_uint32), ("rate", c_double), ("seconds", c_double),
                ("seconds_left", c_double), ("loss", c_double), ("accuracy", c_double),
                ("bytes", c_bool), ("ended", c_bool)]


PROGRESS_FN = CFUNCTYPE(c_bool, c_void_p, POINTER(Progress))
LOG_FN = CFUNCTYPE(None, c_void_p, c_int, c_char_p)


class RunOptions(Structure):
    _fields_ = [("out", c_char_p), ("isa", c_char_p), ("resume", c_bool),
                ("data_dir", c_char_p), ("progress", PROGRESS_FN),
                ("progress_context", c_void_p), ("progress_seconds", c_double),
                ("log", LOG_FN), ("log_context", c_void_p), ("data_path", c_char_p),
                ("force", c_bool), ("ranks", c_void_p), ("one_member", c_bool), ("member", c_uint32),
                ("dense_from", c_char_p)]


class Scores(Structure):
    _fields_ = [("accuracy", c_double), ("nll", c_double), ("ece", c_double),
                ("brier", c_double)]


class ExportOptions(Structure):
    _fields_ = [("format", c_char_p), ("out", c_char_p), ("samples", c_char_p),
                ("first_member", c_uint32), ("members", c_uint32), ("sigma", c_bool),
                ("progress", PROGRESS_FN), ("progress_context", c_void_p),
                ("progress_seconds", c_double)]


class PredictorOptions(Structure):
    _fields_ = [("max_batch", c_uint32), ("threads", c_uint32), ("isa", c_char_p),
                ("sampling", c_int), ("draws", c_uint32)]


class Examples(Structure):
    _fields_ = [("data", c_void_p), ("count", c_size_t), ("type", c_int), ("layout", c_int),
                ("stride", c_ssize_t * 4), ("first", c_uint64)]


class Prediction(Structure):
    _fields_ = [("probabilities", c_void_p), ("members", c_void_p), ("total", c_void_p),
                ("aleatoric", c_void_p), ("epistemic", c_void_p), ("votes", c_void_p),
                ("far", c_void_p)]


class Outcomes(Structure):
    _fields_ = [("mean", c_void_p), ("sd", c_void_p), ("aleatoric", c_void_p),
                ("epistemic", c_void_p), ("levels", POINTER(c_double)),
                ("level_count", c_size_t), ("quantiles", c_void_p),
                ("member_means", c_void_p), ("member_variances", c_void_p),
                ("far", c_void_p)]


class DataOptions(Structure):
    _fields_ = [("split", c_int), ("data_dir", c_char_p), ("label", c_char_p),
                ("ignore", c_char_p), ("look", c_bool), ("like", c_void_p)]


DRAW, DRAWS, MEAN, NOISE = range(4)       # enum sebays_sampling
F32, U8 = range(2)                        # enum sebays_type
NCHW, NHWC, STRIDED = range(3)            # enum sebays_layout
DEBUG, INFO, WARN = range(3)              # enum sebays_level


# ---- errors ----

class Error(Exception):
    """What the library refused or failed at; its sentence says what to do."""


class OutOfMemory(Error, MemoryError):
    pass


class ArgumentError(Error, ValueError):
    """An argument, an option or a recipe says what cannot be."""


class FileError(Error, OSError):
    """The operating system refused: open, read, write."""


class FormatError(Error, ValueError):
    """A file is not what its format promises."""


class NumericError(Error, ArithmeticError):
    """A number that must be finite is not."""


class Canceled(Error):
    """A callback asked to stop."""


class MissingError(Error, RuntimeError):
    """The library was built without an optional part."""


ERRORS = (None, OutOfMemory, ArgumentError, FileError, FormatError, NumericError, Canceled,
          MissingError)  # by sebays_status


def check(status):
    if status:
        kind = ERRORS[status] if status < len(ERRORS) else Error
        raise kind(lib.sebays_message().decode("utf-8", "replace"))


def warn(text):
    """A warning about what the caller of this package did, in the caller's line."""
    package, level, frame = os.path.dirname(__file__), 2, sys._getframe(1)
    while frame.f_back and os.path.dirname(frame.f_code.co_filename) == package:
        frame, level = frame.f_back, level + 1
    warnings.warn(text, stacklevel=level)


# ---- functions ----

TEXT = POINTER(c_void_p)  # char **; kept as an address, so that it can be given back
HANDLE = POINTER(c_void_p)
FUNCTIONS = {  # name: (result, arguments); handles are addresses
    "version": (c_char_p, []),
    "message": (c_char_p, []),
    "text_free": (None, [c_void_p]),
    "recipe_new": (c_int, [HANDLE]),
    "recipe_load": (c_int, [c_char_p, HANDLE]),
    "recipe_free": (None, [c_void_p]),
    "recipe_set": (c_int, [c_void_p, c_char_p, c_char_p]),
    "recipe_check": (c_int, [c_void_p]),
    "recipe_text": (c_int, [c_void_p, c_bool, TEXT]),
    "options_text": (c_int, [TEXT]),
    "train": (c_int, [c_void_p, POINTER(RunOptions), HANDLE]),
    "result_free": (None, [c_void_p]),
    "result_members": (c_uint32, [c_void_p]),
    "result_member": (Scores, [c_void_p, c_uint32]),
    "result_ensemble": (Scores, [c_void_p]),
    "result_figures": (c_uint32, [c_void_p]),
    "result_figure_name": (c_char_p, [c_void_p, c_uint32]),
    "result_figure": (c_double, [c_void_p, c_uint32, c_uint32]),
    "result_seconds": (c_double, [c_void_p]),
    "result_images_per_second": (c_double, [c_void_p]),
    "result_density": (c_double, [c_void_p]),
    "plan": (c_int, [c_void_p, POINTER(RunOptions), TEXT]),
    "inspect": (c_int, [c_char_p, TEXT]),
    "data_open": (c_int, [c_char_p, POINTER(DataOptions), HANDLE]),
    "data_free": (None, [c_void_p]),
    "data_info": (c_int, [c_void_p, c_bool, TEXT]),
    "model_open": (c_int, [c_char_p, HANDLE]),
    "model_free": (None, [c_void_p]),
    "model_members": (c_uint32, [c_void_p]),
    "model_classes": (c_uint32, [c_void_p]),
    "model_class_name": (c_char_p, [c_void_p, c_uint32]),
    "model_targets": (c_uint32, [c_void_p]),
    "model_target_name": (c_char_p, [c_void_p, c_uint32]),
    "model_calibrated": (c_uint32, [c_void_p]),
    "model_target_width": (c_double, [c_void_p, c_uint32]),
    "model_conformal": (c_int, [c_void_p, c_uint32, c_double, POINTER(c_double)]),
    "model_channels": (c_uint32, [c_void_p]),
    "model_height": (c_uint32, [c_void_p]),
    "model_width": (c_uint32, [c_void_p]),
    "model_arch": (c_char_p, [c_void_p]),
    "model_method": (c_char_p, [c_void_p]),
    "model_density": (c_double, [c_void_p]),
    "model_bayesian": (c_bool, [c_void_p]),
    "model_has_far": (c_bool, [c_void_p]),
    "model_recipe": (c_char_p, [c_void_p]),
    "predictor_new": (c_int, [c_void_p, POINTER(PredictorOptions), HANDLE]),
    "predictor_free": (None, [c_void_p]),
    "predictor_note": (c_char_p, [c_void_p]),
    "export": (c_int, [c_char_p, POINTER(ExportOptions)]),
    "predict": (c_int, [c_void_p, POINTER(Examples), POINTER(Prediction)]),
    "predict_outcomes": (c_int, [c_void_p, POINTER(Examples), POINTER(Outcomes)]),
}


# ---- finding it ----

def candidates():
    """Where the library may be, best first: beside the package, in the build directory of
    the source tree the package is in, where the system looks, in this Python's prefix."""
    package = pathlib.Path(__file__).resolve().parent
    yield str(package / "libsebays.so")
    if (package.parent.parent / "include" / "sebays.h").exists():
        yield str(package.parent.parent / "build" / "libsebays.so")
    yield f"libsebays.so.{SERIES}"
    found = ctypes.util.find_library("sebays")
    if found:
        yield found
    for prefix in dict.fromkeys([sys.prefix, "/usr/local"]):
        yield os.path.join(prefix, "lib", "libsebays.so")


def load():
    told = os.environ.get("SEBAYS_LIBRARY")
    failures = []
    for path in [told] if told else candidates():
        if os.path.isabs(path) and not os.path.exists(path) and not told:
            continue
        try:
            return ctypes.CDLL(path), path
        except OSError as failure:
            failures.append(str(failure))
    if told:
        raise ImportError(f"SEBAYS_LIBRARY = {told}: {failures[0]}; want the path of "
                          "libsebays.so, or leave it unset")
    raise ImportError("libsebays.so was not found: install it (cmake --install build), or set "
                      f"the environment variable SEBAYS_LIBRARY to its path ({failures[-1]})")


def bind(library, path):
    try:
        for name, (result, arguments) in FUNCTIONS.items():
            function = getattr(library, "sebays_" + name)
            function.restype, function.argtypes = result, arguments
    except AttributeError as failure:
        raise ImportError(f"{path} is not libsebays {SERIES}: {failure}; set SEBAYS_LIBRARY to "
                          "the path of one that is") from None
    have = library.sebays_version().decode()
    if not have.startswith(SERIES + "."):
        raise ImportError(f"{path} is libsebays {have}, and this package is for {SERIES}: "
                          "install both from the same version")


lib, _path = load()
bind(lib, _path)


def version():
    """The library's version."""
    return lib.sebays_version().decode()


def library_path():
    """What was loaded."""
    return _path


def new_handle(function, *arguments):
    out = c_void_p()
    check(function(*arguments, ctypes.byref(out)))
    return out


def new_text(function, *arguments):
    out = new_handle(function, *arguments)
    try:
        return ctypes.string_at(out).decode("utf-8", "replace")
    finally:
        lib.sebays_text_free(out)
