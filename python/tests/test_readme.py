import contextlib
import io
import importlib.util
import os
import pathlib
import re
import tempfile
import unittest

README = pathlib.Path(__file__).resolve().parent.parent / "README.md"


@unittest.skipIf(importlib.util.find_spec("sklearn") is None,
                 "needs scikit-learn; Debian: python3-sklearn")
class Readme(unittest.TestCase):
    def test_examples(self):
        blocks = re.findall(r"^```python\n(.*?)^```", README.read_text(), re.M | re.S)
        self.assertEqual(len(blocks), 4)
        names, before, said, shown = {}, os.getcwd(), io.StringIO(), io.StringIO()
        with tempfile.TemporaryDirectory() as place, contextlib.redirect_stdout(said), \
                contextlib.redirect_stderr(shown):
            os.chdir(place)
            try:
                for block in blocks:
                    exec(compile(block, "README.md", "exec"), names)
            finally:
                os.chdir(before)
        self.assertGreater(names["clf"].score(names["X_test"], names["y_test"]), 0.9)
        self.assertGreater(names["reg"].score(names["rows"][350:], names["target"][350:]), 0.3)
        self.assertIn("8 members", said.getvalue())
        self.assertIn("explore", shown.getvalue())
        self.assertEqual(names["each"].shape, (8, 569, 2))
