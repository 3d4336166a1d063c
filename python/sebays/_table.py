"""DataFrames with columns of texts, as the library reads tables.

The library learns what columns mean from a table as text. Texts are written as tokens in their
sorted order, so that nothing in them (separators, words for missing values) matters; a model
says which of them it knows, and in that order they are numbers to it.
"""
import csv
import json
import struct

import numpy as np


def is_mixed(X):
    """Whether X is a DataFrame with a column that is not of numbers."""
    kinds = getattr(X, "dtypes", None)
    if not hasattr(X, "columns") or not hasattr(X, "iloc") or kinds is None:
        return False
    return any(not _numeric(kind) for kind in kinds)


def _numeric(kind):
    return getattr(kind, "kind", "O") in "iufb" and not hasattr(kind, "categories")


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
        for i, kind in enumerate(X.dtypes):
            texts = None if _numeric(kind) else \
                {text for text in _texts(X.iloc[:, i]) if text is not None}
            self.tokens.append(None if texts is None else
                               {text: k for k, text in enumerate(_order(texts))})
        self.codes = None

    def encode(self, X):
        """float64 [n][columns]: numbers, or the numbers of tokens; NaN: missing, -1: new."""
        out = np.empty((len(X), len(self.tokens)))
        for i, tokens in enumerate(self.tokens):
            column = X.iloc[:, i]
            if tokens is None:
                out[:, i] = column.to_numpy(dtype=float, na_value=np.nan)
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

    def inputs(self, X):
        """float32 [n][columns]: rows as the model takes them."""
        if list(getattr(X, "columns", [])) != self.names:
            raise ValueError("X: want a DataFrame with the columns that fit saw: " +
                             ", ".join(map(str, self.names)))
        out = self.encode(X).astype(np.float32)
        for i, tokens in enumerate(self.tokens):
            if tokens is None:
                continue
            codes = self.codes[i]
            number = np.full(len(tokens) + 1, np.nan, np.float32)  # the last: a new text
            for k in range(len(tokens)):
                number[k] = codes.get(f"t{k:07d}", np.nan)
            missing = np.isnan(out[:, i])
            out[:, i] = number[np.where(missing, -1, out[:, i]).astype(int)]
            out[missing, i] = codes.get("", np.nan)
        return out
