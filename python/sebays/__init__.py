"""sebays - calibrated ensembles of sparse Bayesian neural networks on CPUs.

    model = sebays.Model("runs/quickstart")          # use what was trained
    result = sebays.train("recipe.ini", out="run")   # train by a recipe
    sebays.SeBaySClassifier().fit(X, y)              # a scikit-learn estimator

Everything is computed by libsebays (include/sebays.h); see _library for how it is found.
"""
from ._library import (ArgumentError, Canceled, Error, FileError, FormatError, MissingError,
                       NumericError, OutOfMemory, library_path, version)
from ._model import Model, Outcomes, Uncertainty, export, inspect
from ._train import Progress, Result, Scores, options, plan, recipe_text, train

__version__ = version()
__all__ = ["ArgumentError", "Canceled", "Error", "FileError", "FormatError", "MissingError",
           "Model", "NumericError", "OutOfMemory", "Outcomes", "Progress", "Result", "Scores",
           "SeBaySClassifier", "Uncertainty", "export", "inspect", "library_path", "options",
           "plan", "recipe_text", "train", "version"]


def __getattr__(name):
    # scikit-learn takes a second to import, and not everybody has it.
    if name == "SeBaySClassifier":
        from ._classifier import SeBaySClassifier
        return SeBaySClassifier
    raise AttributeError(f"module 'sebays' has no attribute {name!r}")


def __dir__():
    return sorted([*globals(), "SeBaySClassifier"])
