"""A reader of ONNX files that shares nothing with the writer: the wire format, the rules of a
graph, and the operators in NumPy.

check(bytes) gives a Graph in which every value is defined once, before it is used, with the
inputs, attributes and types that its operator has; run(graph, x) computes its outputs, and
fails where shapes are not what the file declares.
"""
import struct
from dataclasses import dataclass, field

import numpy as np

# ---- the wire format ----


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            assert value < 2 ** 64, "a number of more than 64 bits"
            return value, at
        assert shift < 70, "a number that does not end"


def fields(data):
    """(number, value) of each field of a message; its bytes are used up exactly."""
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        number, kind = key >> 3, key & 7
        if kind == 0:
            value, at = varint(data, at)
        elif kind == 2:
            size, at = varint(data, at)
            value = data[at:at + size]
            assert len(value) == size, f"field {number}: {size} bytes, {len(value)} are there"
            at += size
        else:
            assert kind == 5, f"field {number} of kind {kind}"
            value, at = struct.unpack_from("<f", data, at)[0], at + 4
        yield number, value


def message(data, names):
    """{name: [values]}; names: {number: name}. A field that has none is a mistake."""
    out = {name: [] for name in names.values()}
    for number, value in fields(data):
        assert number in names, f"field {number}, know {names}"
        out[names[number]].append(value)
    return out


def one(values, default=None):
    assert len(values) == 1 or (not values and default is not None), values
    return values[0] if values else default


def text(value):
    return bytes(value).decode("utf-8")


# ---- the messages ----

TYPES = {1: np.dtype("<f4"), 7: np.dtype("<i8")}


@dataclass
class Node:
    op: str
    inputs: list
    outputs: list
    attributes: dict


@dataclass
class Graph:
    name: str
    nodes: list
    tensors: dict
    inputs: dict
    outputs: dict
    meta: dict = field(default_factory=dict)


def attribute(data):
    m = message(data, {1: "name", 2: "f", 3: "i", 8: "ints", 20: "type"})
    kind = {1: "f", 2: "i", 7: "ints"}[one(m["type"])]
    empty = [k for k in ("f", "i", "ints") if k != kind]
    assert not any(m[k] for k in empty), "an attribute of two types"
    return text(one(m["name"])), m["ints"] if kind == "ints" else one(m[kind])


def node(data):
    m = message(data, {1: "input", 2: "output", 3: "name", 4: "op", 5: "attribute"})
    attributes = dict(map(attribute, m["attribute"]))
    assert len(attributes) == len(m["attribute"]), "an attribute twice"
    assert text(one(m["name"]))
    return Node(text(one(m["op"])), [*map(text, m["input"])], [*map(text, m["output"])],
                attributes)


def tensor(data):
    m = message(data, {1: "dim", 2: "type", 8: "name", 9: "raw"})
    array = np.frombuffer(one(m["raw"]), TYPES[one(m["type"])])
    return text(one(m["name"])), array.reshape(m["dim"])


def value(data):
    m = message(data, {1: "name", 2: "type"})
    inner = message(one(message(one(m["type"]), {1: "tensor"})["tensor"]),
                    {1: "element", 2: "shape"})
    assert one(inner["element"]) == 1, "not a float tensor"
    dims = []
    for d in message(one(inner["shape"]), {1: "dim"})["dim"]:
        d = message(d, {1: "value", 2: "name"})
        dims.append(one(d["value"]) if d["value"] else text(one(d["name"])))
    return text(one(m["name"])), dims


def model(data):
    m = message(memoryview(data), {1: "ir", 2: "producer", 7: "graph", 8: "opset", 14: "meta"})
    assert one(m["ir"]) == 7 and text(one(m["producer"])) == "sebays"
    opset = message(one(m["opset"]), {2: "version"})
    assert one(opset["version"]) == 13
    g = message(one(m["graph"]), {1: "node", 2: "name", 5: "tensor", 11: "input", 12: "output"})
    tensors = dict(map(tensor, g["tensor"]))
    assert len(tensors) == len(g["tensor"]), "a tensor twice"
    meta = [message(x, {1: "key", 2: "value"}) for x in m["meta"]]
    return Graph(text(one(g["name"])), [*map(node, g["node"])], tensors,
                 dict(map(value, g["input"])), dict(map(value, g["output"])),
                 {text(one(x["key"])): text(one(x["value"])) for x in meta})


# ---- rules ----

# Of each operator: how many inputs, and the attributes it must have in opset 13.
OPERATORS = {
    "Add": (2, 2, set()), "BatchNormalization": (5, 5, {"epsilon"}), "Clip": (3, 3, set()),
    "Concat": (1, 999, {"axis"}),
    "Conv": (2, 3, {"kernel_shape", "pads", "strides"}), "Div": (2, 2, set()),
    "Exp": (1, 1, set()), "Expand": (2, 2, set()),
    "Flatten": (1, 1, {"axis"}), "Gemm": (2, 3, {"transB"}), "GlobalAveragePool": (1, 1, set()),
    "MaxPool": (1, 1, {"kernel_shape", "strides"}), "Mul": (2, 2, set()),
    "ReduceMean": (1, 1, {"axes", "keepdims"}), "Relu": (1, 1, set()),
    "Shape": (1, 1, set()), "Slice": (4, 4, set()), "Softmax": (1, 1, {"axis"}),
    "Sqrt": (1, 1, set()), "Sub": (2, 2, set()), "Unsqueeze": (2, 2, set()),
}


def check(data):
    g = model(data)
    assert not set(g.inputs) & set(g.tensors)
    defined, used = {*g.tensors, *g.inputs}, set()
    for n in g.nodes:
        least, most, wanted = OPERATORS[n.op]
        assert least <= len(n.inputs) <= most, (n.op, n.inputs)
        assert set(n.attributes) == wanted, (n.op, n.attributes)
        for name in n.inputs:
            assert name in defined, f"{n.op} reads {name}, which nothing before it gives"
        for name in n.outputs:
            assert name and name not in defined, f"{name} is given twice"
        assert len(n.outputs) == 1
        defined |= set(n.outputs)
        used |= set(n.inputs)
    assert set(g.outputs) <= defined
    unused = defined - used - set(g.outputs)
    assert not unused, f"nothing reads {unused}"
    return g


# ---- operators ----


def windows(x, kernel, stride):
    """[n][c][rows][columns][kernel][kernel]"""
    every = np.lib.stride_tricks.sliding_window_view(x, kernel, (2, 3))
    return every[:, :, ::stride[0], ::stride[1]]


def conv(a, x, w, b=None):
    top, left, bottom, right = a["pads"]
    x = np.pad(x, ((0, 0), (0, 0), (top, bottom), (left, right)))
    assert a["kernel_shape"] == [*w.shape[2:]] and w.shape[1] == x.shape[1]
    y = np.tensordot(windows(x, w.shape[2:], a["strides"]), w, ((1, 4, 5), (1, 2, 3)))
    y = y.transpose(0, 3, 1, 2)
    return y if b is None else y + b[:, None, None]


def batch_norm(a, x, weight, bias, mean, var):
    assert weight.shape == (x.shape[1],)
    weight, bias, mean, var = (v.reshape(-1, *[1] * (x.ndim - 2))
                               for v in (weight, bias, mean, var))
    return (x - mean) / np.sqrt(var + a["epsilon"]) * weight + bias


def gemm(a, x, w, b=0):
    assert a["transB"] == 1 and x.ndim == w.ndim == 2
    return x @ w.T + b


def softmax(a, x):
    e = np.exp(x - x.max(a["axis"], keepdims=True))
    return e / e.sum(a["axis"], keepdims=True)


def slice_of(a, x, start, end, axes):
    assert start.shape == end.shape == axes.shape
    at = [slice(None)] * x.ndim
    for i, axis in enumerate(axes):
        assert 0 <= start[i] < end[i] <= x.shape[axis]
        at[axis] = slice(start[i], end[i])
    return x[tuple(at)]


RUN = {
    "Add": lambda a, x, y: x + y,
    "BatchNormalization": batch_norm,
    "Clip": lambda a, x, least, most: np.clip(x, least, most),
    "Concat": lambda a, *x: np.concatenate(x, a["axis"]),
    "Conv": conv,
    "Div": lambda a, x, y: x / y,
    "Exp": lambda a, x: np.exp(x),
    "Expand": lambda a, x, shape: np.broadcast_to(x, np.broadcast_shapes(x.shape, tuple(shape))),
    "Flatten": lambda a, x: x.reshape(len(x), -1),
    "Gemm": gemm,
    "GlobalAveragePool": lambda a, x: x.mean((2, 3), keepdims=True),
    "MaxPool": lambda a, x: windows(x, a["kernel_shape"], a["strides"]).max((4, 5)),
    "Mul": lambda a, x, y: x * y,
    "ReduceMean": lambda a, x: x.mean(tuple(a["axes"]), keepdims=bool(a["keepdims"])),
    "Relu": lambda a, x: np.maximum(x, 0),
    "Shape": lambda a, x: np.array(x.shape, np.int64),
    "Slice": slice_of,
    "Softmax": softmax,
    "Sqrt": lambda a, x: np.sqrt(x),
    "Sub": lambda a, x, y: x - y,
    "Unsqueeze": lambda a, x, axes: np.expand_dims(x, tuple(axes)),
}


def same_shape(name, have, want, n):
    want = tuple(n if d == "n" else d for d in want)
    assert have == want, f"{name}: shape {have}, the file says {want}"


def run(g, x):
    """{output: array} of the examples x."""
    (name, shape), = g.inputs.items()
    same_shape(name, x.shape, shape, len(x))
    values = {**g.tensors, name: x}
    for n in g.nodes:
        y = RUN[n.op](n.attributes, *(values[i] for i in n.inputs))
        assert y.dtype == np.float32 or n.op in ("BatchNormalization", "Shape"), (n.op, y.dtype)
        values[n.outputs[0]] = y if n.op == "Shape" else y.astype(np.float32)
    for name, shape in g.outputs.items():
        same_shape(name, values[name].shape, shape, len(x))
    return {name: values[name] for name in g.outputs}
