#!/usr/bin/env python3
"""make.py - the NumPy fixtures of this folder, cut from Fashion-MNIST and CIFAR-10.

    make.py FASHION_DIRECTORY CIFAR10_DIRECTORY

want.bin has what readers must give for the first four images of Fashion-MNIST's training
set, cut to 12 x 10 pixels: bytes [4][12][10]. cifar.bin: two images of CIFAR-10's test
set, cut to 8 x 8, bytes [2][3][8][8].
"""
import gzip
import pathlib
import struct
import sys
import zlib

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent


def save(name, array, version=(1, 0)):
    with open(HERE / name, "wb") as f:
        np.lib.format.write_array(f, np.asanyarray(array), version=version)


def npy(array):
    import io
    f = io.BytesIO()
    np.save(f, array)
    return f.getvalue()


def zip64(name, members):
    """Every size and offset in zip64 fields, and the zip64 end records."""
    body, directory = b"", b""
    for member, data in members:
        extra = struct.pack("<HHQQQ", 1, 24, len(data), len(data), len(body))
        common = struct.pack("<HHHHHI", 45, 0, 0, 0, 0x21, zlib.crc32(data))
        directory += (b"PK\1\2" + struct.pack("<H", 45) + common
                      + struct.pack("<IIHHHHHII", 0xffffffff, 0xffffffff, len(member),
                                    len(extra), 0, 0, 0, 0, 0xffffffff)
                      + member.encode() + extra)
        body += (b"PK\3\4" + common + struct.pack("<IIHH", len(data), len(data), len(member), 0)
                 + member.encode() + data)
    start = len(body)
    body += directory
    end = len(body)
    body += b"PK\6\6" + struct.pack("<QHHIIQQQQ", 44, 45, 45, 0, 0, len(members), len(members),
                                    len(directory), start)
    body += b"PK\6\7" + struct.pack("<IQI", 0, end, 1)
    body += b"PK\5\6" + struct.pack("<HHHHIIH", 0, 0, 0xffff, 0xffff, 0xffffffff, 0xffffffff, 0)
    (HERE / name).write_bytes(body)


def main():
    fashion, cifar = map(pathlib.Path, sys.argv[1:])
    raw = gzip.open(fashion / "train-images-idx3-ubyte.gz").read(16 + 4 * 784)
    x = np.frombuffer(raw, np.uint8, 4 * 784, 16).reshape(4, 28, 28)[:, 8:20, 9:19].copy()
    y = np.frombuffer(gzip.open(fashion / "train-labels-idx1-ubyte.gz").read(12), np.uint8, 4, 8)
    record = np.frombuffer((cifar / "test_batch.bin").read_bytes(), np.uint8, 2 * 3073)
    c = record.reshape(2, 3073)[:, 1:].reshape(2, 3, 32, 32)[:, :, 12:20, 12:20].copy()
    (HERE / "want.bin").write_bytes(x.tobytes())
    (HERE / "cifar.bin").write_bytes(c.tobytes())

    save("u1.npy", x)
    save("u1-fortran.npy", np.asfortranarray(x))
    save("u1-v2.npy", x, (2, 0))
    save("u1-v3.npy", x, (3, 0))
    save("nhwc.npy", c.transpose(0, 2, 3, 1).copy())
    save("nchw.npy", c)
    for kind in ("<f4", ">f4", "<f8", ">i2", "<i8", "<u4"):
        save(f"{'big' if kind[0] == '>' else 'little'}-{kind[1:]}.npy", x.astype(kind))
    table = x.reshape(4, -1)[:, 50:57]
    save("table-f4.npy", table.astype("<f4"))
    save("table-u1.npy", table)
    save("table-i1.npy", table.astype(np.int16).astype(np.int8))
    save("table-fortran.npy", np.asfortranarray(table.astype("<f8")))
    save("labels.npy", y.astype("<i8"))
    np.savez(HERE / "whole.npz", x=x, y=y.astype("<i4"))
    np.savez_compressed(HERE / "parts.npz", x_train=x[:3], y_train=y[:3], x_test=x[3:],
                        y_test=y[3:])
    zip64("zip64.npz", [("x.npy", npy(x)), ("y.npy", npy(y))])


if __name__ == "__main__":
    main()
