"""A line of text that follows a run: in a terminal, in a notebook, in a file.

Terminals and notebooks both go back to the beginning of a line at a carriage return, so one
way serves them; what is shorter than the line before is filled up with blanks. A file gets
a line every minute instead.
"""
import shutil
import sys
import time

from . import _library

FILE_SECONDS = 60


def _left(seconds):
    seconds = int(seconds + 0.5)
    hours, minutes = seconds // 3600, seconds // 60 % 60
    return (f"{hours}:{minutes:02}" if hours else f"{minutes}") + f":{seconds % 60:02} left"


def describe(p):
    """One line about a Progress."""
    parts = [p.phase]
    if p.members:
        parts.append(f"member {p.member + 1}/{p.members}")
    if p.epochs:
        parts.append(f"epoch {p.epoch + 1}/{p.epochs}")
    if p.total:
        parts.append(f"{100 * p.done // p.total} %")
    if p.rate:
        parts.append(f"{p.rate:.0f} images/s")
    if p.loss is not None:
        parts.append(f"loss {p.loss:.4g}")
    if p.accuracy is not None:
        parts.append(f"val {100 * p.accuracy:.2f} %")
    if p.seconds_left is not None and not p.ended:
        parts.append(_left(p.seconds_left))
    return "  ".join(parts)


def _is_live(file):
    """Whether a carriage return goes back on it: a terminal, or a notebook's output."""
    return file.isatty() or "ipykernel" in sys.modules


class Line:
    def __init__(self, file):
        self.file, self.live = file, _is_live(file)
        self.shown = 0  # characters of the line that stands there
        self.said = -FILE_SECONDS

    def progress(self, report):
        text, now = describe(report), time.monotonic()
        if self.live:
            text = text[:shutil.get_terminal_size().columns - 1]
            self.file.write("\r" + text.ljust(self.shown))
            self.shown = len(text)
        elif report.ended or now - self.said >= FILE_SECONDS:
            self.file.write(text + "\n")
            self.said = now
        self.file.flush()

    def log(self, level, line):
        if level < _library.INFO:
            return
        if self.shown:
            self.file.write("\r" + " " * self.shown + "\r")
        self.shown = 0
        self.file.write(("warning: " if level >= _library.WARN else "") + line + "\n")
        self.file.flush()

    def end(self):
        if self.shown:
            self.file.write("\n")
        self.shown = 0
        self.file.flush()
