"""Loads the code of scenarios before anything runs, and notes each file of code."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from .. import _core
from ..study.code.watching import patience_s, watched
from ._output import note


@contextmanager
def code_of_choice(choice: str | None) -> Iterator[None]:
    """Notes that a congestion control of the command line is code, and warns of a call that does not return.

    Only a table can name a file of code.
    """
    if choice is None or not choice.lstrip().startswith("{"):
        yield
        return
    note(f"{choice} is code and runs with your rights")
    with _told_of_calls():
        yield


@contextmanager
def _told_of_calls() -> Iterator[None]:
    patience_s()
    with watched(lambda where: note(f"warning: {where}; Ctrl-C ends it")):
        yield


def load_code(scenarios: Iterable[_core.ResolvedScenario]) -> None:
    """Loads the code of scenarios, with one note for each file; raises `ScenarioError` if that fails."""
    said: set[str] = set()
    for resolved in scenarios:
        resolved.code_contents()  # raises if a file is missing, which is not code
        for _, _, name, _ in resolved.code():
            if name not in said:
                note(f"{name} is code of the scenario's and runs with your rights")
                said.add(name)
        if resolved.code():
            with _told_of_calls():
                resolved.load_code()
