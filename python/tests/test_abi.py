import ctypes
import re
import subprocess
import unittest

from fixtures import REFERENCE
from sebays import _library


def python_lines():
    for name in ("Progress", "RunOptions", "Scores", "ExportOptions", "PredictorOptions",
                 "Examples", "Prediction", "Outcomes", "DataOptions"):
        struct = getattr(_library, name)
        c_name = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()
        yield f"{c_name} 0 {ctypes.sizeof(struct)}"
        for field, _ in struct._fields_:
            place = getattr(struct, field)
            yield f"{c_name}.{field} {place.offset} {place.size}"


class Abi(unittest.TestCase):
    def test_structures_are_the_compilers(self):
        c = subprocess.run([REFERENCE, "abi"], check=True, capture_output=True, text=True)
        self.assertEqual(list(python_lines()), c.stdout.splitlines())
