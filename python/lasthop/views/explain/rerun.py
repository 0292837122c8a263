"""Runs a result again for an account of its time: a run depends on its scenario and seed alone."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from hashlib import sha256
from typing import Any

from ... import _core
from ...data.diagnostic import refused
from ...data.nulls import is_measured
from ...data.quantities import FLOW, TOTALS
from ...data.result import Result
from ...study.progress import Progress
from ...study.scenario import Scenario, setting_of, toml_value
from ...study.simulation import core_count, simulate
from .captured import is_captured

SETTING = "# --set "


def scenario_of(result: Result) -> Scenario:
    """The scenario of `result`: the file in its folder with the settings at its head, else the resolved one.

    Raises `ScenarioError` for a result of captures, which has no scenario.
    """
    if any("capture" in run for run in result.told_runs):
        raise refused(
            "read from a capture, which has no account of time",
            "`lasthop twin` makes a scenario of it",
            file=result.scenario["name"],
        )
    text = result._scenario_text or written_out(result.scenario)
    settings = []
    while text.startswith(SETTING):
        line, _, text = text.partition("\n")
        path, _, value = line.removeprefix(SETTING).partition("=")
        settings.append((path, value))
    name = str(result.source) if result.source else "scenario.toml"
    return Scenario(text, name, tuple(settings), result.origin)


def written_out(resolved: dict[str, Any]) -> str:
    """A resolved scenario as the text of a file."""
    lines, sections = [], []
    for key, value in _as_written(resolved).items():
        tables = value if isinstance(value, list) else [value]
        if not tables or not all(isinstance(table, dict) for table in tables):
            lines += [f"{key} = {toml_value(value)}"] if tables else []
            continue
        head = f"[[{key}]]" if isinstance(value, list) else f"[{key}]"
        sections += [line for table in tables for line in ("", head, *section_lines(table))]
    return "\n".join([*lines, *sections]) + "\n"


def section_lines(table: dict[str, Any]) -> list[str]:
    """The lines of a section, below its head."""
    return [f"{_key(key)} = {toml_value(value)}" for key, value in table.items()]


def _key(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else json.dumps(name, ensure_ascii=False)


def has_account(result: Result) -> bool:
    """Whether all runs have an account, so that no new run is needed."""
    return bool(result.runs) and all("account" in run for run in result.runs)


def to_be_run(sides: Iterable[Result | Scenario]) -> Iterator[Scenario]:
    """The scenarios among `sides`, and of results that must run again to be explained."""
    for side in sides:
        if not isinstance(side, Result):
            yield side
        elif side.runs and not has_account(side):
            check_simulated(side)
            yield scenario_of(side)


def with_account(result: Result, *, jobs: int | None = None, progress: Progress | None = None) -> Result:
    """`result` itself if it has an account, else the same runs again with one.

    Raises `ScenarioError` if they do not give the same numbers, and `KeyboardInterrupt` on Ctrl-C.
    """
    if has_account(result):
        return result
    if not result.runs:
        raise refused(
            "has no finished run to explain",
            file=_name(result),
        )
    check_simulated(result)
    progress = progress or Progress.silent()
    again = simulate(scenario_of(result), result.seeds, jobs or core_count(), None, progress, account=True)
    if again.interrupted:
        raise KeyboardInterrupt
    check_alike(result, [run["seed"] for run in again.runs], again.runs)
    again.source = result.source
    return again


def check_simulated(result: Result) -> None:
    """Raises `ScenarioError` if `result` was measured, emulated with a kernel, or used code that has changed since.

    A simulation cannot repeat any of these.
    """
    if is_captured(result):
        raise refused(
            "read from captures, which cannot be run again and have no account of all time",
            "`lasthop explain RESULT` alone explains them",
            file=_name(result),
        )
    if any(map(is_measured, result.runs)):
        raise refused(
            "read from files by `lasthop analyze`",
            "it has no scenario to run again",
            file=_name(result),
        )
    if any(run["simulator"].get("kind") == "emulation" for run in result.told_runs):
        raise refused(
            "emulated, which a simulation cannot repeat",
            "`lasthop emulate FILE --out DIR --explain --record all` keeps all that later questions need",
            file=_name(result),
        )
    check_code(result)


def check_code(result: Result) -> None:
    """Raises `ScenarioError` if a file of code differs from the one that ran."""
    if not result.code:
        return
    now = {
        setting_of(path): sha256(content).hexdigest() for path, content in scenario_of(result).resolve().code_contents()
    }
    for ran in result.code:
        current = now.get(ran["key"], "")
        if current != ran["sha256"]:
            raise refused(
                f"{ran['file']} has changed since it ran (SHA-256 {ran['sha256'][:12]}…, now {current[:12]}…)",
                "run it again with `lasthop run FILE --explain`",
                file=_name(result),
            )


def check_alike(result: Result, seeds: list[int], again: list[dict[str, Any]]) -> None:
    """Raises `ScenarioError` unless `again`, runs of `seeds`, have the numbers of those seeds in `result`."""
    by_seed = {run["seed"]: goodputs(run) for run in result.runs}
    if [by_seed.get(seed) for seed in seeds] != [goodputs(run) for run in again]:
        raise refused(
            f"made by lasthop {result.made_by}",
            f"running it again with this one ({_core.__version__}) gives other numbers; run it again with `lasthop run FILE --explain`",
            file=_name(result),
        )


def _name(result: Result) -> str:
    return str(result.source or "this result")


def goodputs(run: dict[str, Any]) -> list[Any]:
    """Returns the values that two runs of a seed must share: a later version may count more, but may not change
    results.
    """
    return [run["totals"][TOTALS.goodput_bps], *((flow["id"], flow[FLOW.goodput_bps]) for flow in run["flows"])]


def _as_written(value: Any) -> Any:
    """A resolved scenario as a file may have it: without unset keys, and with one of two mutually exclusive keys."""
    match value:
        case dict():
            section = {key: _as_written(item) for key, item in value.items() if item is not None}
            if "mss" in section:
                section.pop("packet_size", None)
            return section
        case list():
            return [_as_written(item) for item in value]
    return value
