"""DataFrames with columns of texts, as the library reads tables.

The library learns what columns mean from a table as text. Texts are written as tokens in their
sorted order, so that nothing in them (separators, words for missing values) matters; a model
says which of them it knows, and in that order they are numbers to it.
"""
import csv
import ctypes
import decimal
import json
import numbers
import os
import struct
import tempfile
import warnings

import numpy as np

from . import _library


NUMBERS = numbers.Real, decimal.Decimal, np.bool_


def is_mixed(X):
    """Whether X is a DataFrame with a column that is not of numbers."""
    kinds = getattr(X, "dtypes", None)
    if not hasattr(X, "columns") or not hasattr(X, "iloc") or kinds is None:
        return False
    return any(not _numeric(kind) for kind in kinds)


def _numeric(kind):
    return getattr(kind, "kind", "O") in "iufb" and not hasattr(kind, "categories")


def _has_numbers(column):
    """Whether a column is numbers, perhaps as objects beside None. Dates are refused."""
    kind = column.dtype
    if _numeric(kind):
        return True
    if hasattr(kind, "categories"):
        return False
    there = [value for value, gone in zip(column, np.asarray(column.isna())) if not gone]
    dates = [value for value in there if hasattr(value, "year")]
    if getattr(kind, "kind", "O") == "m" or dates:
        raise ValueError(f"X: column {column.name!r} has dates or times, such as "
                         f"{(dates or there or ['none'])[0]}; make numbers of them (a year, a "
                         "month, days since some day), or leave the column out")
    return bool(there) and all(isinstance(value, NUMBERS) for value in there)


def _checked(values, name):
    """Numbers that a 32-bit float can hold, or NaN."""
    if (np.abs(values) > np.finfo(np.float32).max).any():
        raise ValueError(f"X: column {name!r} has infinity or a value too large for a 32-bit "
                         "float")
    return values


def _texts(column):
    """The texts of a column; None where one is missing."""
    missing = np.asarray(column.isna())
    return [None if gone else str(value) for value, gone in zip(column, missing)]


def _order(texts):
    """As the library sorts: by value if all are numbers, else by bytes."""
    try:
        return sorted(texts, key=lambda text: (float(text), text.encode()))
    except ValueError:
        return sorted(texts, key=str.encode)


def _kind(texts):
    """What the library takes a column of these texts for, as in a file."""
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, "texts.csv")
        with open(path, "w", newline="", encoding="utf-8") as file:
            out = csv.writer(file)
            out.writerow(["text", "number", "label"])
            out.writerows([text, n, label] for n, text in enumerate(texts) for label in "ab")
        data = _library.new_handle(_library.lib.sebays_data_open, os.fsencode(path),
                                   ctypes.byref(_library.DataOptions(look=True)))
    try:
        info = _library.new_text(_library.lib.sebays_data_info, data, True)
    finally:
        _library.lib.sebays_data_free(data)
    return json.loads(info)["columns"][0]["kind"]


def _refuse_slips(column, texts):
    """Dates and numbers with marks are no categories, unless they are said to be."""
    if not texts or hasattr(column.dtype, "categories") or \
            not all(any(c.isdigit() for c in text) for text in texts):
        return
    try:
        kind = _kind(sorted(texts))
    except (_library.Error, UnicodeEncodeError):
        return  # texts that no file could have
    if kind == "dates":
        raise ValueError(f"X: column {column.name!r} has dates or times, such as {min(texts)}; "
                         "make numbers of them (a year, a month, days since some day), or leave "
                         "the column out")
    if kind == "numbers with marks":
        raise ValueError(f"X: column {column.name!r} has numbers with commas, per cent or signs "
                         f"of money, such as {min(texts)}; make numbers of them, or leave the "
                         "column out; categories are said by astype('category')")


def target_names(y):
    """What the columns of y, [n] or [n][targets], are called in a table."""
    return ["label"] if y.ndim == 1 else [f"y{i}" for i in range(y.shape[1])]


def _target_texts(y):
    """The fields of a row's y: a class's number, or targets."""
    if y.dtype.kind == "i":
        return [str(int(y))]
    return [repr(float(value)) for value in np.atleast_1d(y)]


class Table:
    """What the columns of a DataFrame are. After learn() rows can be predicted."""

    def __init__(self, X):
        self.names = list(X.columns)
        self.tokens = []  # a column: {text: number in sorted order}; None: numbers
        for i in range(len(self.names)):
            texts = None if _has_numbers(X.iloc[:, i]) else \
                {text for text in _texts(X.iloc[:, i]) if text is not None}
            _refuse_slips(X.iloc[:, i], texts)
            self.tokens.append(None if texts is None else
                               {text: k for k, text in enumerate(_order(texts))})
        self.codes = None

    @staticmethod
    def _numbers(column):
        try:
            return column.to_numpy(dtype=float, na_value=np.nan)
        except (TypeError, ValueError):
            raise ValueError(f"X: column {column.name!r} has values that are no numbers, as it "
                             "had only when it was fitted") from None

    def encode(self, X):
        """float64 [n][columns]: numbers, or the numbers of tokens; NaN: missing, -1: new."""
        out = np.empty((len(X), len(self.tokens)))
        for i, tokens in enumerate(self.tokens):
            column = X.iloc[:, i]
            if tokens is None:
                out[:, i] = _checked(self._numbers(column), self.names[i])
            else:
                out[:, i] = [np.nan if text is None else tokens.get(text, -1)
                             for text in _texts(column)]
        return out

    def write(self, path, rows, y, weights):
        """The encoded rows as a table with columns c0, c1, ..., those of y and
        perhaps weights."""
        def field(i, value):
            if value != value:
                return ""
            return repr(float(np.float32(value))) if self.tokens[i] is None else \
                f"t{int(value):07d}"
        with open(path, "w", newline="", encoding="utf-8") as file:
            out = csv.writer(file)
            out.writerow([f"c{i}" for i in range(rows.shape[1])] + target_names(y) +
                         ["weights"] * (weights is not None))
            for n, row in enumerate(rows):
                out.writerow([field(i, value) for i, value in enumerate(row)] +
                             _target_texts(y[n]) +
                             ([] if weights is None else [repr(float(weights[n]))]))

    def learn(self, model):
        """Which tokens a model, the bytes of its file, knows as which number."""
        size, = struct.unpack("<Q", model[:8])
        header = json.loads(model[8:8 + size])
        columns = json.loads(header["__metadata__"]["columns"])["columns"]
        self.codes = [{word: k for k, word in enumerate(columns[i])}
                      if isinstance(columns[i], list) else {}
                      for i in range(len(self.tokens))]

    def _check_names(self, X):
        """The columns that fit saw, in their order."""
        if not hasattr(X, "columns"):
            raise ValueError("X: want a DataFrame, as for fit")
        names = list(X.columns)
        if names == self.names:
            return
        absent = [name for name in self.names if name not in names]
        extra = [name for name in names if name not in self.names]
        raise ValueError("X: want the columns that fit saw: " + (
            f"there is no {absent[0]!r}" if absent else
            f"{extra[0]!r} is not one of them" if extra else
            "these are they, in another order; say X[model.feature_names_in_]"))

    def inputs(self, X):
        """float32 [n][columns]: rows as the model takes them."""
        self._check_names(X)
        out = self.encode(X).astype(np.float32)
        for i, tokens in enumerate(self.tokens):
            if tokens is None:
                continue
            codes = self.codes[i]
            number = np.full(len(tokens) + 1, np.nan, np.float32)  # the last: a new text
            for k in range(len(tokens)):
                number[k] = codes.get(f"t{k:07d}", np.nan)
            missing = np.isnan(out[:, i])
            new = number[np.where(missing, -1, out[:, i]).astype(int)]
            if (np.isnan(new) & ~missing).any():
                warnings.warn(
                    f"X: {int((np.isnan(new) & ~missing).sum())} of {len(X)} rows have a text in "
                    f"column {self.names[i]!r} that no training row had; it counts as none of "
                    "the column's texts", stacklevel=4)
            out[:, i] = new
            out[missing, i] = codes.get("", np.nan)
        return out
