"""`lasthop check`: whether scenario files are right, without running any."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable, Sequence
from dataclasses import replace

from .. import _core
from ..data.diagnostic import Diagnostic, ScenarioError
from ..study.scenario import load
from . import _arguments
from ._output import note, put


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of `lasthop check`."""
    parser.add_argument("files", metavar="FILE", nargs="+", help="scenario files (TOML)")
    _arguments.add_settings(parser)
    parser.add_argument(
        "--json",
        action="store_true",
        help="write mistakes and warnings to standard output as JSON: an array of objects",
    )
    parser.add_argument("--strict", action="store_true", help="treat warnings as errors")


def execute(arguments: argparse.Namespace) -> int:
    """Prints one sentence for each mistake and warning of each file; status 2 after a mistake."""
    found = [each for file in arguments.files for each in _check(file, arguments.settings)]
    if arguments.json:
        put(json.dumps([each.to_dict() for each in found], indent=2, ensure_ascii=False) + "\n")
    else:
        for each in found:
            note(str(each))
    return 2 if any(each.severity == "error" or arguments.strict for each in found) else 0


def _check(file: str, settings: Iterable[tuple[str, str]]) -> Sequence[Diagnostic]:
    """The mistakes in a file with settings over it, or else its warnings."""
    try:
        scenario = load(file)
        for path, value in settings:
            scenario = scenario.set(path, value)
        resolved = scenario.resolve()
        return [replace(warning, file=file) for warning in (*resolved.warnings(), *_of_a_kernels_stack(resolved))]
    except ScenarioError as error:
        return error.diagnostics
    except OSError as error:
        return [Diagnostic(error.strerror or str(error), kind="file", file=str(error.filename or file))]


def _of_a_kernels_stack(resolved: _core.ResolvedScenario) -> list[Diagnostic]:
    """The keys without effect if a kernel has the Wi-Fi stack; raises `ScenarioError` if it cannot carry the flows."""
    emulation = json.loads(resolved.to_json()).get("emulation") or {}
    if emulation.get("wifi_stack") != "kernel":
        return []
    sentences = json.loads(_core.emulation_plan_json(resolved, 1))["warnings"]
    ours = (sentence.removeprefix("emulate: ") for sentence in sentences if "wifi_stack" in sentence)
    return [Diagnostic(sentence, kind="no_effect", severity="warning") for sentence in ours]
