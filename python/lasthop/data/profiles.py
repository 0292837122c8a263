"""Profiles of TCP whose name stands for a version: the version of a stored result, and the one of today.

`tcp.profile = "linux"` is a version of Linux, which a later release of lasthop may replace by another. The scenario in a result has the
version, and the scenario file next to it the name, so that a reader learns of a move.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator
from functools import cache
from typing import Any

from .. import _core

DEFAULT = "linux"
# Names that are no versions themselves.
MOVING = frozenset({"linux"})
SMALLEST = '[bss]\nstandard = "802.11n"\n[[station]]\nname = "a"\n[tcp]\nprofile = "{}"\n'


@cache
def version_today(name: str) -> str:
    """Returns the version for which the name of a profile stands."""
    resolved = json.loads(_core.resolve(SMALLEST.format(name), "scenario", []).to_json())
    return str(resolved["tcp"]["profile"])


def moved(text: str, scenario: dict[str, Any]) -> list[str]:
    """Returns a warning for each name in a scenario file that stood for another version when `scenario`, its resolved form, was
    run."""
    if not text:
        return []
    try:
        written = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return []
    warnings = []
    for place, name, version in _names(written, scenario):
        if name in MOVING and version not in (name, version_today(name)):
            warnings.append(
                f'{place} = "{name}" was "{version}" when this was run and is "{version_today(name)}" now: '
                f"a new run differs; `--set {place}={version}` repeats this one"
            )
    return list(dict.fromkeys(warnings))


def _names(written: dict[str, Any], scenario: dict[str, Any]) -> Iterator[tuple[str, str, str]]:
    """Places with the name that is written there, and the version that was run."""
    tcp = _table(written.get("tcp"))
    if isinstance(version := _table(scenario.get("tcp")).get("profile"), str):
        yield "tcp.profile", str(tcp.get("profile", DEFAULT)), version
    flows = scenario.get("flow")
    for own, ran in zip(_tables(written.get("flow")), _tables(flows), strict=False):
        name, version = own.get("profile"), ran.get("profile")
        if isinstance(name, str) and isinstance(version, str):
            yield "flow.*.profile", name, version


def _table(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _tables(value: Any) -> list[dict[str, Any]]:
    return [_table(item) for item in value] if isinstance(value, list) else []
