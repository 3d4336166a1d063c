"""What the bench_* scripts share: finding PyTorch and running programs that print JSON."""
import json
import os
import pathlib
import resource
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
BENCH = ROOT / "build" / "bench"
PEERS = ROOT / "bench" / "peers"


def python_with_torch():
    """The first Python that can import torch, or None."""
    for python in (sys.executable, "python3", "/usr/bin/python3"):
        try:
            if subprocess.run([python, "-c", "import torch"], capture_output=True,
                              check=False).returncode == 0:
                return python
        except OSError:
            pass
    return None


def find_torch():
    """The same, with a word to the user when there is none."""
    python = python_with_torch()
    if not python:
        print("PyTorch is not installed; peers not measured (Debian: python3-torch)")
    return python


def rows_of(text):
    return [json.loads(line) for line in text.splitlines() if line.startswith("{")]


def run(*command):
    """The JSON objects that the command prints, one a line."""
    tool = pathlib.Path(sys.argv[0]).name
    if not BENCH.exists():
        sys.exit(f"{tool}: build/bench is not there; run `make build` first")
    done = subprocess.run([str(c) for c in command], stdout=subprocess.PIPE, text=True,
                          check=False)
    if done.returncode != 0:
        sys.exit(f"{tool}: {command[0]} failed (exit code {done.returncode})")
    return rows_of(done.stdout)


class Others:
    """How many processors, on average, worked for someone else since this was made: all
    busy time, stolen time included, less that of the programs run from here. None where
    the system does not tell."""

    def __init__(self):
        self.start = self._now()

    @staticmethod
    def _now():
        try:
            stat = pathlib.Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:9]
        except OSError:
            return None
        user, nice, system, _, _, irq, softirq, steal = map(int, stat)
        busy = (user + nice + system + irq + softirq + steal) / os.sysconf("SC_CLK_TCK")
        child = resource.getrusage(resource.RUSAGE_CHILDREN)
        return time.monotonic(), busy - child.ru_utime - child.ru_stime

    def processors(self):
        now = self._now()
        if not now or not self.start:
            return None
        return max(0.0, (now[1] - self.start[1]) / (now[0] - self.start[0]))
