"""Progress of a campaign: a bar in a terminal or a notebook, plain lines elsewhere, or nothing."""

from __future__ import annotations

import sys
from contextlib import AbstractContextManager
from typing import Any, TextIO


class Progress(AbstractContextManager["Progress"]):
    """Says how far the seeds are; this one says nothing."""

    @staticmethod
    def silent() -> Progress:
        """Says nothing."""
        return Progress()

    @staticmethod
    def in_terminal(label: str = "running") -> Progress:
        """A bar on standard error."""
        return _Bar(label)

    @staticmethod
    def in_lines(stream: TextIO, label: str = "running") -> Progress:
        """A line on `stream` whenever a seed is finished."""
        return _Lines(stream, label)

    @staticmethod
    def fitting(label: str = "running") -> Progress:
        """What suits standard error."""
        return Progress.in_terminal(label) if sys.stderr.isatty() else Progress.in_lines(sys.stderr, label)

    def update(self, fraction: float, finished: int, seeds: int) -> None:
        """`fraction` of the work is done, and `finished` of the `seeds`."""

    def say(self, what: str) -> None:
        """What else is to be shown from now on, such as `± 3.1 %`."""

    def __exit__(self, *_: object) -> None:
        return None


def progress_here() -> bool:
    """Whether somebody watches: a terminal or a notebook."""
    return sys.stderr.isatty() or "ipykernel" in sys.modules


class _Bar(Progress):
    def __init__(self, label: str) -> None:
        self._label = label
        self._bar: Any = None
        self._said = ""

    def __enter__(self) -> Progress:
        # Imported here: it costs a tenth of a second that piped runs need not pay.
        from rich.console import Console
        from rich.progress import BarColumn, TextColumn, TimeRemainingColumn
        from rich.progress import Progress as RichProgress

        self._bar = RichProgress(
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.percentage:>3.0f} %"),
            TextColumn("{task.fields[seeds]}"),
            TimeRemainingColumn(),
            console=Console(file=sys.stderr),
            transient=True,
        )
        self._bar.start()
        self._task = self._bar.add_task(self._label, total=1.0, seeds="")
        return self

    def update(self, fraction: float, finished: int, seeds: int) -> None:
        self._bar.update(self._task, completed=fraction, seeds=f"{finished}/{seeds} seeds{self._said}")

    def say(self, what: str) -> None:
        self._said = f", {what}" if what else ""

    def __exit__(self, *_: object) -> None:
        self._bar.stop()


class _Lines(Progress):
    def __init__(self, stream: TextIO, label: str) -> None:
        self._stream = stream
        self._label = label
        self._finished = 0
        self._said = ""

    def update(self, fraction: float, finished: int, seeds: int) -> None:
        if finished > self._finished:
            self._finished = finished
            self._stream.write(f"{self._label}: {finished} of {seeds} seeds finished{self._said}\n")
            self._stream.flush()

    def say(self, what: str) -> None:
        self._said = f", {what}" if what else ""
