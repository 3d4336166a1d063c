import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import sebays

PACKAGE = pathlib.Path(__file__).resolve().parent.parent


def run(code, path=PACKAGE, **environment):
    env = {k: v for k, v in os.environ.items() if k != "SEBAYS_LIBRARY"}
    env.update(environment, PYTHONPATH=str(path), PYTHONDONTWRITEBYTECODE="1")
    return subprocess.run([sys.executable, "-c", code], env=env, cwd="/", capture_output=True,
                          text=True)


class Finding(unittest.TestCase):
    def test_told_wrongly(self):
        r = run("import sebays", SEBAYS_LIBRARY="/nowhere/libsebays.so")
        self.assertIn("ImportError: SEBAYS_LIBRARY = /nowhere/libsebays.so: ", r.stderr)
        self.assertIn("want the path of libsebays.so, or leave it unset", r.stderr)

    def test_another_library(self):
        r = run("import sebays", SEBAYS_LIBRARY="libm.so.6")
        self.assertIn("ImportError: libm.so.6 is not libsebays 0.1", r.stderr)

    def test_beside_the_package(self):
        with tempfile.TemporaryDirectory() as place:
            copy = pathlib.Path(place) / "sebays"
            shutil.copytree(PACKAGE / "sebays", copy,
                            ignore=shutil.ignore_patterns("__pycache__"))
            r = run("import sebays", place)
            if r.returncode:  # unless one is installed on this machine
                self.assertIn("ImportError: libsebays.so was not found: install it", r.stderr)
                self.assertIn("set the environment variable SEBAYS_LIBRARY", r.stderr)
            shutil.copy(os.environ["SEBAYS_LIBRARY"], copy / "libsebays.so")
            r = run("import sebays; print(sebays.library_path())", place)
            self.assertEqual(r.stdout.strip(), str(copy / "libsebays.so"), r.stderr)

    def test_versions_agree(self):
        text = (PACKAGE / "pyproject.toml").read_text()
        self.assertEqual(re.search(r'^version = "(.*)"', text, re.M)[1], sebays.__version__)

    def test_everything_named_is_there(self):
        needs_sklearn = {"SeBaySClassifier"}
        for name in set(sebays.__all__) - needs_sklearn:
            self.assertTrue(hasattr(sebays, name), name)
        self.assertIn("SeBaySClassifier", dir(sebays))
        r = run("import sebays, sys; assert 'sklearn' not in sys.modules",
                SEBAYS_LIBRARY=os.environ["SEBAYS_LIBRARY"])
        self.assertEqual(r.returncode, 0, r.stderr)


@unittest.skipIf(run("import setuptools, wheel, pip").returncode, "needs pip, setuptools and "
                 "wheel; Debian: python3-pip python3-setuptools python3-wheel")
class Pip(unittest.TestCase):
    def test_install_offline(self):
        with tempfile.TemporaryDirectory() as place:
            source, target = pathlib.Path(place) / "python", pathlib.Path(place) / "target"
            shutil.copytree(PACKAGE, source, ignore=shutil.ignore_patterns(
                "__pycache__", "build", "*.egg-info"))
            subprocess.run([sys.executable, "-m", "pip", "install", "-q", "--no-index",
                            "--no-build-isolation", "--no-deps", "--target", target, source],
                           check=True, capture_output=True)
            r = run("import sebays; print(sebays.__file__, sebays.version())", target,
                    SEBAYS_LIBRARY=os.environ["SEBAYS_LIBRARY"])
            self.assertEqual(r.stdout.split(), [str(target / "sebays" / "__init__.py"),
                                                sebays.version()], r.stderr)
