#!/usr/bin/python3
"""Runs the tests of the Python package: run.py LIBSEBAYS_SO REFERENCE_PROGRAM SEBAYS

What a machine cannot test is said in a line that begins with NOT TESTED.
"""
import importlib.util
import os
import pathlib
import sys
import unittest

HERE = pathlib.Path(__file__).resolve().parent


def main():
    if importlib.util.find_spec("numpy") is None:
        print("NOT TESTED: the Python package (needs NumPy for", sys.executable +
              "; Debian: python3-numpy)")
        return 77
    for name, path in zip(("LIBRARY", "REFERENCE", "PROGRAM"), sys.argv[1:4]):
        os.environ["SEBAYS_" + name] = os.path.abspath(path)
    sys.dont_write_bytecode = True
    sys.path[:0] = [str(HERE.parent), str(HERE)]
    suite = unittest.defaultTestLoader.discover(str(HERE))
    result = unittest.TextTestRunner(stream=sys.stdout, verbosity=2).run(suite)
    for test, reason in result.skipped:
        print(f"NOT TESTED: {test.id()} ({reason})")
    return 0 if result.wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main())
