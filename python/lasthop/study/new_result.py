"""The result of a campaign before its first run."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from .. import _core
from ..data.origin import ADDRESS
from ..data.result import FORMAT, Result
from .scenario import Scenario, setting_of


def new_result(resolved: _core.ResolvedScenario, scenario: Scenario, warnings: list[str] | None = None) -> Result:
    """Returns a result of `scenario` without runs."""
    head = {
        "format": FORMAT,
        "lasthop": _core.__version__,
        "scenario": json.loads(resolved.to_json()),
        "warnings": list(map(str, resolved.warnings())) if warnings is None else warnings,
        "defaults": [dict(zip(("key", "value", "because"), taken, strict=True)) for taken in resolved.defaults()],
        "runs": [],
    }
    if contents := resolved.code_contents():
        names = {path: name for _, path, name, _ in resolved.code()}
        head["code"] = [
            {"key": setting_of(path), "file": names[path], "sha256": hashlib.sha256(content).hexdigest()}
            for path, content in contents
        ]
    # Paths of code are relative to the scenario's folder, and a result lies elsewhere.
    code = [
        (setting_of(path), str(Path(file).resolve()))
        for _, path, name, file in resolved.code()
        if not name.startswith(ADDRESS) and not Path(name).is_absolute()
    ]
    return Result(head, scenario_text=scenario.file_text(code), origin=scenario.origin)
