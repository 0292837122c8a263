"""Code that scenarios bring: loaded before anything runs, and said so."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from .. import _core
from ..code.watching import patience_s, watched
from ._mistake import Mistake
from ._output import note


def say_of_choice(choice: str | None) -> None:
    """Says of a congestion control on the command line that it is code, if a file has it: its kind is that of a table."""
    if choice is not None and choice.lstrip().startswith("{"):
        note(f"{choice} is code and runs with your rights")


@contextmanager
def told_of_calls() -> Iterator[None]:
    """Says of each call of code within it that does not return that it does not."""
    try:
        patience_s()
    except ValueError as error:
        raise Mistake(str(error)) from None
    with watched(lambda where: note(f"warning: {where}; Ctrl-C ends it")):
        yield


def load_code(scenarios: Iterable[_core.ResolvedScenario]) -> None:
    """Loads the code of scenarios, and says once of each file that it is code; raises `ScenarioError` where that fails."""
    said: set[str] = set()
    for resolved in scenarios:
        resolved.code_contents()  # raises if a file is missing, which is not code
        for _, _, name, _ in resolved.code():
            if name not in said:
                note(f"{name} is code of the scenario's and runs with your rights")
                said.add(name)
        if resolved.code():
            with told_of_calls():
                resolved.load_code()
