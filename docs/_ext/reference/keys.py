"""A page for each section of a scenario file, with every key: from the JSON Schema and from what `lasthop show` says."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from lasthop import ScenarioError, _core

from .markup import code, inline, title

# Definitions of the schema that are sections of a file; the others are quantities with a unit, or kinds of algorithm.
SECTIONS = ("bss", "station", "wall", "interferer", "flow", "change", "agent")
TOP = "scenario"
ABOUT = {
    TOP: "Keys at the top of the file, before the first section.",
    "channel": "Section `[channel]`: how signals travel and when they are heard.",
    "bss": "Section `[bss]`, or several `[[bss]]`: the basic service set, its access point under `bss.ap`.",
    "station": "Sections `[[station]]`: one station, or `count` like ones.",
    "wall": 'Sections `[[wall]]`: what `path_loss = "multi_wall"` counts between two stations.',
    "interferer": "Sections `[[interferer]]`: microwave ovens, Bluetooth, recorded airtime of neighbours.",
    "wired": "Section `[wired]`: the link from the access point to the servers.",
    "tcp": "Section `[tcp]`: the stack of every host. A flow may have any of these keys itself, in its `[[flow]]`.",
    "flow": "Sections `[[flow]]`: who sends what to whom, and when.",
    "quic": "Section `[quic]`: flows over QUIC.",
    "change": "Sections `[[change]]`: settings that change while the simulation runs; `lasthop list knob` has them.",
    "agent": "Sections `[[agent]]`: policies that turn knobs while the simulation runs.",
    "emulation": "Section `[emulation]`: only for `lasthop emulate`.",
    "sweep": "Section `[sweep]`: settings that `lasthop sweep` varies, each with a list of values.",
}


@dataclass(frozen=True)
class Key:
    """A key by its dotted path, with all that there is to say of it."""

    path: str
    form: str
    default: str
    help: str
    profiles: Mapping[str, str]


# Choices of the schema whose names are on the page of another kind.
LISTED_WITH = {"stack_control": "congestion_control"}


def pages() -> Iterator[tuple[str, str]]:
    """Names and texts of the pages, the list of sections first."""
    sections = by_section()
    rows = "".join(f"* :doc:`{name}`: {inline(ABOUT[name])}\n" for name in sections)
    tree = ".. toctree::\n   :hidden:\n\n" + "".join(f"   {name}\n" for name in sections)
    told = "Every key has a default except :confval:`bss.standard`; at least one ``[[station]]`` is needed. ``--set PATH=VALUE`` takes the paths below; an item of a list has its index, from 0: ``station.0.count``."
    yield "index", f"{title('Scenario keys')}\n{told}\n\n{rows}\n{tree}"
    for name, keys in sections.items():
        yield name, "\n".join([title(name), inline(ABOUT[name]) + "\n", *map(_key, keys)])


def by_section() -> dict[str, list[Key]]:
    """The keys of each section, in the order of the schema."""
    schema = json.loads(_core.schema_json())
    found: dict[str, list[Key]] = {}
    for name, node in schema["properties"].items():
        below = list(_below(schema, name, node))
        found.setdefault(name if below or name == "sweep" else TOP, []).extend(below or [_made(schema, name, node)])
    of_all = {key.path.removeprefix("tcp.") for key in found["tcp"]}
    found["flow"] = [_inherited(key) if key.path.removeprefix("flow.") in of_all else key for key in found["flow"]]
    return {TOP: found.pop(TOP), **found}


def _inherited(key: Key) -> Key:
    """A key of a flow that `[tcp]` gives to all flows."""
    return replace(key, default="", help=f"{key.help} Without it the flow has that of `[tcp]`.", profiles={})


def _below(schema: Mapping[str, Any], path: str, node: Mapping[str, Any]) -> Iterator[Key]:
    """The keys under `path`, each before its own."""
    for table in _tables(schema, node):
        for name, child in table.get("properties", {}).items():
            yield _made(schema, f"{path}.{name}", child)
            yield from _below(schema, f"{path}.{name}", child)


def _tables(schema: Mapping[str, Any], node: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """The tables that a value may be, without those of algorithms, which have a page of their own."""
    reference = node.get("$ref", "").rpartition("/")[2]
    if reference in SECTIONS:
        node = schema["$defs"][reference]
    if node.get("properties"):
        yield node
    elif "anyOf" in node:
        # A section may be one table or a list of them: the same table.
        yield from next(([table] for choice in node["anyOf"] for table in _tables(schema, choice)), [])
    elif "items" in node:
        yield from _tables(schema, node["items"])


def _made(schema: Mapping[str, Any], path: str, node: Mapping[str, Any]) -> Key:
    section, _, name = path.rpartition(".")
    told = _shown(section or TOP).get(name, {})
    default = told.get("default") if told else None
    if default is None and "default" in node:
        default = _toml(node["default"])
    return Key(
        path,
        _form(schema, node),
        default or "",
        node.get("description") or told.get("help", ""),
        told.get("default_with_profile", {}),
    )


def _shown(section: str) -> dict[str, dict[str, Any]]:
    """What `lasthop show` has of a section; nothing where it has no such section."""
    try:
        return {entry["name"]: entry for entry in json.loads(_core.show_json(section)).get("parameters", [])}
    except ScenarioError:
        return {}


def _form(schema: Mapping[str, Any], node: Mapping[str, Any]) -> str:
    """What may stand there, as a sentence in reStructuredText."""
    if "const" in node:
        return code(_toml(node["const"]))
    if "enum" in node:
        return " | ".join(code(_toml(value)) for value in node["enum"])
    if name := node.get("$ref", "").rpartition("/")[2]:
        meant = schema["$defs"][name]
        if "pattern" in meant:
            return (
                f"a {name.replace('_', ' ')}, e.g. {code(_toml(meant['examples'][0]))}"
                if meant.get("examples")
                else f"a {name.replace('_', ' ')}"
            )
        return (
            f":doc:`{name} </reference/keys/{name}>`"
            if name in SECTIONS
            else f":ref:`{name.replace('_', ' ')} <algorithms-{LISTED_WITH.get(name, name)}>`"
        )
    if "anyOf" in node:
        return ", or ".join(dict.fromkeys(_form(schema, choice) for choice in node["anyOf"]))
    if node.get("type") == "array":
        return f"a list of: {_form(schema, node['items'])}" if "items" in node else "a list"
    return {
        "object": "a table",
        "string": "a string",
        "integer": "a whole number",
        "number": "a number",
        "boolean": "true or false",
    }[node["type"]]


def _toml(value: Any) -> str:
    """A value as it is written in a scenario file."""
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key} = {_toml(one)}" for key, one in value.items()) + " }" if value else "{}"
    if isinstance(value, list):
        return f"[{', '.join(map(_toml, value))}]"
    return json.dumps(value, ensure_ascii=False)


def _key(key: Key) -> str:
    facts = [f"   :Form: {key.form}"]
    facts += [f"   :Default: {code(key.default)}"] if key.default else []
    facts += [f"   :With profile {profile}: {code(value)}" for profile, value in key.profiles.items()]
    return "\n".join([f".. confval:: {key.path}", "", f"   {inline(key.help)}", "", *facts, ""])
