"""A page for each kind of thing that a scenario chooses by name, with every algorithm and its parameters."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from lasthop import ScenarioError, _core

from .markup import code, escaped, inline, title


def pages() -> Iterator[tuple[str, str]]:
    """Names and texts of the pages, the list of kinds first."""
    kinds = by_kind()
    rows = "".join(
        f"* :doc:`{kind.replace('_', ' ')} <{kind}>`: {', '.join(code(entry['name']) for entry in entries)}\n"
        for kind, entries in kinds.items()
    )
    tree = ".. toctree::\n   :hidden:\n\n" + "".join(f"   {kind}\n" for kind in kinds)
    told = 'What a scenario chooses by name, as ``lasthop list`` and ``lasthop show NAME`` print it. A name alone takes the defaults below; a table sets parameters: ``{ kind = "cubic", beta = 0.7 }``.'
    yield "index", f"{title('Algorithms')}\n{told}\n\n{rows}\n{tree}"
    for kind, entries in kinds.items():
        label = f".. _algorithms-{kind}:\n"
        yield kind, "\n".join([label, title(kind.replace("_", " ")), *(_entry(kind, entry) for entry in entries)])


def by_kind() -> dict[str, list[dict[str, Any]]]:
    """All that can be chosen, with its parameters."""
    found: dict[str, list[dict[str, Any]]] = {}
    for entry in json.loads(_core.list_json(None)):
        if entry["kind"] == "quantity":
            continue
        found.setdefault(entry["kind"], []).append(entry | {"parameters": _parameters(entry["kind"], entry["name"])})
    return found


def _parameters(kind: str, name: str) -> list[dict[str, Any]]:
    """The parameters of one; a name that several kinds have is asked for with its kind."""
    for asked in (f"{kind}.{name}", name):
        try:
            shown = json.loads(_core.show_json(asked))
        except ScenarioError:
            continue
        if shown.get("kind") == kind:
            return shown.get("parameters", [])
    return []


def _entry(kind: str, entry: dict[str, Any]) -> str:
    facts = [f"   :Source: {inline(entry['source'])}"] if entry.get("source") not in (None, "", "—") else []
    facts += [f"   :Checked against: {inline(entry['status'])}"] if entry.get("status") else []
    parts = [
        title(escaped(entry["name"]), "-"),
        f".. algorithm:: {kind}.{entry['name']}",
        "",
        f"   {inline(entry['summary'])}",
        "",
        *facts,
        "",
    ]
    # A profile's parameters are the keys of [tcp], with the values that it gives them.
    if kind == "tcp.profile":
        return "\n".join([*parts, *_values(entry["parameters"])])
    return "\n".join([*parts, *(_parameter(kind, entry["name"], one) for one in entry["parameters"])])


def _values(parameters: list[dict[str, Any]]) -> list[str]:
    rows = [
        f"   * - :confval:`tcp.{one['name']}`\n     - {code(str(one['default']))}"
        for one in parameters
        if one.get("default") is not None
    ]
    return [".. list-table::", "   :header-rows: 1", "", "   * - key", "     - value", *rows, ""]


def _parameter(kind: str, name: str, one: dict[str, Any]) -> str:
    facts = [f"default {code(one['default'])}"] if one.get("default") is not None else []
    facts += [
        f"with profile {code(profile)} {code(value)}" for profile, value in one.get("default_with_profile", {}).items()
    ]
    facts += [escaped(one["form"])] if one.get("form") else []
    return f".. parameter:: {kind}.{name}.{one['name']}\n\n   {inline(one['help'])} ({'; '.join(facts)})\n"
