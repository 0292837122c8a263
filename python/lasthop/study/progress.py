"""Progress of a campaign: a bar in a terminal or a notebook, plain lines elsewhere, or no output."""

from __future__ import annotations

import sys
import time
from collections import deque
from contextlib import AbstractContextManager, suppress
from typing import Any, TextIO

from ..data.terminal import printable

# A log of ten thousand runs needs fewer lines; the longer it takes, the fewer a minute.
LINES_AT_ONCE = 20
LINE_EVERY_S = 2.0
LINES_APART = 0.04
# A seed that takes longer than this has lines of its own.
PART_EVERY_S = 10.0
# A remaining time is based on the speed over this time; a machine that gets other work is slower from then on.
WINDOW_S = 30.0
# A remaining time is shown after this time.
TOLD_AFTER_S = 2.0
# A smaller part of the work is no basis for an estimate.
LEAST_PART = 0.002
# Minimum interval between drawings of a bar in a notebook.
DRAWN_EVERY_S = 0.2


class Progress(AbstractContextManager["Progress"]):
    """Shows the progress of the seeds; this one is silent."""

    @staticmethod
    def silent() -> Progress:
        """Is silent."""
        return Progress()

    @staticmethod
    def in_terminal(label: str = "running", of: str = "seeds") -> Progress:
        """A bar on standard error."""
        return _Bar(label, of)

    @staticmethod
    def here(label: str = "running", of: str = "seeds") -> Progress:
        """A bar where somebody watches: below the cell of a notebook, else on standard error."""
        return _Cell(label, of) if in_notebook() else _Bar(label, of)

    @staticmethod
    def in_lines(stream: TextIO, label: str = "running", of: str = "seeds") -> Progress:
        """A line on `stream` whenever a seed is finished, but after the first few only one in some seconds."""
        return _Lines(stream, label, of)

    @staticmethod
    def fitting(label: str = "running", of: str = "seeds") -> Progress:
        """Returns the progress display that suits standard error."""
        return Progress.in_terminal(label, of) if sys.stderr.isatty() else Progress.in_lines(sys.stderr, label, of)

    def update(self, fraction: float, finished: int, seeds: int) -> None:
        """`fraction` of the work is done, and `finished` of the `seeds`."""

    def say(self, what: str) -> None:
        """Sets further text to show from now on, such as `± 3.1 %`."""

    def step(self, what: str) -> None:
        """A step of the work begins, such as `round 1 of 2`: it is shown at once."""
        self.say(what)

    def __exit__(self, *_: object) -> None:
        return None


def progress_here() -> bool:
    """Whether somebody watches: a terminal or a notebook."""
    return sys.stderr.isatty() or in_notebook()


def in_notebook() -> bool:
    """Whether this process is the kernel of a notebook."""
    if "IPython" not in sys.modules:
        return False
    shell = sys.modules["IPython"].get_ipython()
    return getattr(shell, "kernel", None) is not None


class _Bar(Progress):
    def __init__(self, label: str, of: str) -> None:
        self._label, self._of = printable(label), of
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
        self._bar.update(self._task, completed=fraction, seeds=f"{finished}/{seeds} {self._of}{self._said}")

    def say(self, what: str) -> None:
        self._said = f", {what}" if what else ""

    def __exit__(self, *_: object) -> None:
        self._bar.stop()


class _Cell(Progress):
    """A bar below the cell that runs, drawn by the browser: it needs no widgets. It goes when the work is done."""

    def __init__(self, label: str, of: str) -> None:
        self._label, self._of = label, of
        self._handle: Any = None
        self._said = self._shown = ""
        self._drawn_at = 0.0

    def __enter__(self) -> Progress:
        from IPython.display import display

        self._handle = display(self._looks(0.0, ""), raw=True, display_id=True)  # type: ignore[no-untyped-call]  # IPython's
        return self

    def update(self, fraction: float, finished: int, seeds: int) -> None:
        text = f"{finished}/{seeds} {self._of}{self._said}"
        now = time.monotonic()
        # Each drawing is a message to the browser.
        if now > self._drawn_at + DRAWN_EVERY_S and (shown := f"{fraction:.2f} {text}") != self._shown:
            self._drawn_at, self._shown = now, shown
            self._handle.update(self._looks(fraction, text), raw=True)

    def say(self, what: str) -> None:
        self._said = f", {what}" if what else ""

    def __exit__(self, *_: object) -> None:
        self._handle.update({"text/html": "", "text/plain": ""}, raw=True)

    def _looks(self, fraction: float, text: str) -> dict[str, str]:
        from html import escape

        bar = f'<progress value="{fraction:.4f}" max="1" style="width: 20em; vertical-align: middle"></progress>'
        said = f"{fraction:.0%} {text}".strip()
        return {
            "text/html": f"<span>{escape(self._label)} {bar} {escape(said)}</span>",
            "text/plain": f"{self._label} {said}",
        }


class _Lines(Progress):
    def __init__(self, stream: TextIO, label: str, of: str) -> None:
        self._stream = stream
        self._label, self._of = printable(label), of
        self._finished = self._lines = 0
        self._shown = 0.0
        self._seen: deque[tuple[float, float]] = deque()
        self._begun_at = self._wrote_at = time.monotonic()
        self._said = ""

    def update(self, fraction: float, finished: int, seeds: int) -> None:
        now = time.monotonic()
        self._look(now, fraction)
        pause = max(LINE_EVERY_S, LINES_APART * (now - self._begun_at))
        is_due = self._lines < LINES_AT_ONCE or finished == seeds or now > self._wrote_at + pause
        rest = f"{self._said}{self._rest(now, fraction)}"
        if finished > self._finished and is_due:
            self._finished = finished
            self._write(now, f"{finished} of {seeds} {self._of} finished{rest}")
        elif now > self._wrote_at + max(PART_EVERY_S, pause) and self._shown < fraction < 1:
            self._write(
                now, f"{100 * fraction:.0f} % of {seeds} {self._of if seeds != 1 else self._of.removesuffix('s')}{rest}"
            )
        else:
            return
        self._shown = fraction

    def say(self, what: str) -> None:
        self._said = f", {what}" if what else ""

    def step(self, what: str) -> None:
        self._write(time.monotonic(), what)

    def _write(self, now: float, what: str) -> None:
        self._wrote_at = now
        self._lines += 1
        # Runs do not stop because their progress has no reader any more.
        with suppress(BrokenPipeError):
            self._stream.write(f"{self._label}: {what}\n")
            self._stream.flush()

    def _look(self, now: float, fraction: float) -> None:
        """Keeps the samples of the last `WINDOW_S`, one a second, and the last one before that."""
        if not self._seen or now >= self._seen[-1][0] + 1:
            self._seen.append((now, fraction))
        while len(self._seen) > 2 and self._seen[1][0] < now - WINDOW_S:
            self._seen.popleft()

    def _rest(self, now: float, fraction: float) -> str:
        """How long it will take as it has gone lately, once there is something to go by."""
        # Work before the first look was not done at this speed.
        begun, before = self._seen[0]
        if now - begun < TOLD_AFTER_S or not before + LEAST_PART < fraction < 1:
            return ""
        return f", about {_length((now - begun) * (1 - fraction) / (fraction - before))} left"


def _length(seconds: float) -> str:
    if seconds < 90:
        return f"{max(1, round(seconds))} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 90 else f"{minutes // 60} h {minutes % 60} min"
