"""The identity of a run: the resolved scenario, the files that it refers to, the seed, and the engine.

Names and descriptions do not: two files with the same meaning in other words ask for the same runs.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from ... import _core
from ...data.diagnostic import refused
from ...data.origin import ADDRESS
from ..scenario import Scenario, setting_of

NOT_PART_OF_A_RUN = ("name", "description", "sweep")


class Job(NamedTuple):
    """A run that is wanted; `series` names the metrics whose time series are kept, one value a second."""

    scenario: Scenario
    seed: int
    series: tuple[str, ...] = ()


class Identity(NamedTuple):
    """A scenario as the engine runs it, and its identity."""

    resolved: _core.ResolvedScenario
    document: dict[str, Any]
    files: dict[str, bytes]
    """the contents of files that the scenario refers to, by setting path such as `flow.0.traffic.file`"""
    key: str


class Identities:
    """Identities of scenarios, each resolved once."""

    def __init__(self) -> None:
        self._known: dict[Scenario, Identity] = {}
        # The hash of a scenario takes longer than all else of a run's key, and jobs come scenario by scenario.
        self._last: tuple[Scenario, Identity] | None = None

    def of(self, scenario: Scenario) -> Identity:
        """The identity of `scenario`; raises `ScenarioError`."""
        if self._last is not None and self._last[0] is scenario:
            return self._last[1]
        identity = self._known.get(scenario) or identify(scenario)
        if not identity.files:  # a file may change between two calls
            self._known[scenario] = identity
            self._last = (scenario, identity)
        return identity


class Identified:
    """The base of stores, which know runs by their keys."""

    def __init__(self) -> None:
        self._identities = Identities()

    def key(self, job: Job) -> str:
        """The key of a run; raises `ScenarioError` if the scenario is wrong."""
        return run_key(self.identity(job).key, job.seed)

    def identity(self, job: Job) -> Identity:
        """The scenario of a job as the engine runs it."""
        return self._identities.of(job.scenario)


def identify(scenario: Scenario) -> Identity:
    """Resolves `scenario` and reads the files that it refers to; raises `ScenarioError`."""
    resolved = scenario.resolve()
    document = json.loads(resolved.to_json())
    traces = traces_of(document, Path(scenario.file_name).parent)
    code = code_of(resolved)
    return Identity(resolved, document, traces | code, _scenario_key(document, traces, code))


def run_key(scenario_key: str, seed: int) -> str:
    """The key of one run by this engine, as a UUID."""
    # The same text as from `_canonical`, a dozen times as fast.
    return _uuid(f'{{"engine":"{engine_identity()}","scenario":"{scenario_key}","seed":{seed}}}')


def engine_identity() -> str:
    """The version and a digest of the engine's sources: however they are compiled, they compute the same."""
    return f"{_core.__version__}+{_core.source_digest}"


def code_of(resolved: _core.ResolvedScenario) -> dict[str, bytes]:
    """Returns the contents of a scenario's files of code, by setting path such as `tcp.congestion_control.file`; raises
    `ScenarioError`.
    """
    for _, path, name, _ in resolved.code():
        if name.startswith(ADDRESS):
            raise refused(
                f"{name} is in this process alone, and a store knows code by its file",
                "name a file",
                kind="code",
                key=path,
            )
    return {setting_of(path): content for path, content in resolved.code_contents()}


def _scenario_key(document: Mapping[str, Any], files: Mapping[str, bytes], code: Mapping[str, bytes]) -> str:
    told = {name: value for name, value in document.items() if name not in NOT_PART_OF_A_RUN}
    told = json.loads(json.dumps(told))
    for path, content in files.items():
        # The content of the file counts, not its name.
        _table_at(told, path)["file"] = hashlib.sha256(content).hexdigest()
    if code:
        told["code"] = {path: hashlib.sha256(content).hexdigest() for path, content in code.items()}
    return _uuid(_canonical(told))


def traces_of(document: Mapping[str, Any], folder: Path) -> dict[str, bytes]:
    """The contents of the traces of a resolved scenario, by setting path; their names begin in `folder`."""
    return {path: (folder / name).read_bytes() for path, name in _files(document)}


def _files(document: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The files of traces, by the path of the setting that names them."""
    wired = document.get("wired", {})
    for key in ("rate", "rate_up"):
        if isinstance(wired.get(key), dict):
            yield f"wired.{key}.file", wired[key]["file"]
    for number, flow in enumerate(document.get("flow", [])):
        traffic = flow.get("traffic")
        if isinstance(traffic, dict) and "file" in traffic:
            yield f"flow.{number}.traffic.file", traffic["file"]


def _table_at(document: Any, path: str) -> Any:
    for step in path.split(".")[:-1]:
        document = document[int(step) if step.isdigit() else step]
    return document


def _canonical(value: Any) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def _uuid(text: str) -> str:
    """A digest in the form of a UUID, which `uuid` would take 10 ms to load for."""
    digits = hashlib.sha256(text.encode()).hexdigest()
    return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:32]))
