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


def describe(p, width=None):
    """One line about a Progress, without its least important parts where width is small."""
    parts = [(0, p.phase)]  # (the higher, the sooner it is left out; text)
    if p.members:
        parts.append((4, f"member {p.member + 1}/{p.members}"))
    if p.epochs:
        parts.append((1, f"epoch {p.epoch + 1}/{p.epochs}"))
    if p.total:
        parts.append((6, f"{100 * p.done // p.total} %"))
    if p.rate:
        parts.append((7, f"{p.rate:.0f} examples/s"))
    if p.loss is not None:
        parts.append((5, f"loss {p.loss:.4g}"))
    if p.accuracy is not None:
        parts.append((3, f"val {100 * p.accuracy:.2f} %"))
    if p.seconds_left is not None and not p.ended:
        parts.append((2, _left(p.seconds_left)))
    while width and len(parts) > 1 and len("  ".join(text for _, text in parts)) > width:
        parts.remove(max(parts))
    return "  ".join(text for _, text in parts)[:width]


def _is_live(file):
    """Whether a carriage return goes back on it: a terminal, or a notebook's output."""
    return file.isatty() or "ipykernel" in sys.modules


class Line:
    def __init__(self, file):
        self.file, self.live = file, _is_live(file)
        self.shown = 0  # characters of the line that stands there
        self.said = -FILE_SECONDS

    def progress(self, report):
        now = time.monotonic()
        # In the last column of a terminal the line would wrap.
        text = describe(report, shutil.get_terminal_size().columns - 1 if self.live else None)
        if self.live:
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
