"""Loads the code of scenarios before anything runs, and notes each file of code."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from hashlib import sha256

from .. import _core
from ..data.origin import USER, Origin, Source
from ..study.code.watching import patience_s, watched
from ..study.scenario import Scenario
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
    """Loads the code of the user's scenarios, with one note for each file; raises `ScenarioError` if that fails."""
    _load((resolved, USER) for resolved in scenarios)


def load_code_of(scenarios: Iterable[Scenario]) -> None:
    """The same for scenarios of any origin; code of somebody else is noted with its SHA-256."""
    _load((scenario.resolve(), scenario.origin) for scenario in scenarios)


def _load(scenarios: Iterable[tuple[_core.ResolvedScenario, Origin]]) -> None:
    said: set[str] = set()
    for resolved, origin in scenarios:
        for notice in _notices(resolved, origin):
            if notice not in said:
                note(notice)
                said.add(notice)
        if resolved.code():
            with _told_of_calls():
                resolved.load_code()


def _notices(resolved: _core.ResolvedScenario, origin: Origin) -> list[str]:
    """A sentence for each file of code; raises `ScenarioError` if one is missing, which is not code.

    The user's own linear policies are only numbers.
    """
    contents = dict(resolved.code_contents())
    if origin.source is Source.USER:
        return [
            f"{name} is code of the scenario's and runs with your rights"
            for language, _, name, _ in resolved.code()
            if language != "linear"
        ]
    return [
        f"{file} is code, comes from {origin.source.value} and runs with your rights "
        f"(SHA-256 {sha256(contents[key]).hexdigest()})"
        for _, key, _, file in resolved.code()
    ]
