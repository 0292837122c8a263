"""The state that all parts of the page share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from .jobs import Jobs
from .library import Library


@dataclass
class Desk:
    """The state that all parts of the page share."""

    library: Library
    jobs: Jobs = field(default_factory=Jobs)
    # Functions to call once when the page ends, the last first.
    at_end: list[Callable[[], object]] = field(default_factory=list)
    # Whether Ctrl-C was pressed: endless streams then end.
    is_ending: Callable[[], bool] = lambda: False
    # Called for a run whose page is about to be shown.
    expect: Callable[[str], None] = lambda run: None

    def __post_init__(self) -> None:
        self.at_end.append(self.jobs.close)

    def close(self) -> None:
        """Ends the jobs still running."""
        while self.at_end:
            self.at_end.pop()()
