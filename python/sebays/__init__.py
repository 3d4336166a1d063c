"""sebays - calibrated ensembles of sparse Bayesian neural networks on CPUs.

    model = sebays.Model("runs/quickstart")          # use what was trained
    result = sebays.train("recipe.ini", out="run")   # train by a recipe
    sebays.SeBaySClassifier().fit(X, y)              # scikit-learn estimators of classes
    sebays.SeBaySRegressor().fit(X, y)               # ... and of continuous targets

Everything is computed by libsebays (include/sebays.h); see _library for how it is found.
"""
from ._library import (ArgumentError, Canceled, Error, FileError, FormatError, MissingError,
                       NumericError, OutOfMemory, library_path, version)
from ._model import Model, Outcomes, Uncertainty, export, inspect
from ._train import Progress, Result, Scores, options, plan, recipe_text, train

__version__ = version()
__all__ = ["ArgumentError", "Canceled", "Error", "FileError", "FormatError", "MissingError",
           "Model", "NumericError", "OutOfMemory", "Outcomes", "Progress", "Result", "Scores",
           "SeBaySClassifier", "SeBaySRegressor", "Uncertainty", "export", "inspect", "library_path",
           "options", "plan", "recipe_text", "train", "version"]


def __getattr__(name):
    # scikit-learn takes a second to import, and not everybody has it.
    if name == "SeBaySClassifier":
        from ._classifier import SeBaySClassifier
        return SeBaySClassifier
    if name == "SeBaySRegressor":
        from ._regressor import SeBaySRegressor
        return SeBaySRegressor
    raise AttributeError(f"module 'sebays' has no attribute {name!r}")


def __dir__():
    return sorted([*globals(), "SeBaySClassifier", "SeBaySRegressor"])
