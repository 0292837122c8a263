"""Words that keys of scenario files take, by their names: `ath9k` is a value of `station.driver`.

The JSON Schema has them. Names of algorithms are not among them; `lasthop show` describes those as such.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from .. import _core

DEFINITIONS = "$defs"
SCHEMA = Mapping[str, Any]


class KeyOfValue(NamedTuple):
    """A key that takes a word, and its meaning."""

    key: str
    help: str


def keys_with(word: str) -> list[KeyOfValue]:
    """The keys with this word among their values; a flow's key that `[tcp]` has too only there."""
    schema = json.loads(_core.schema_json())
    found = list(dict.fromkeys(each for each in _in_section(schema, schema, "") if word in each[1]))
    keys = {key for key, _, _ in found}
    return [
        KeyOfValue(key, text)
        for key, _, text in found
        if f"tcp.{key.removeprefix('flow.')}" not in keys - {key} or not key.startswith("flow.")
    ]


Found = tuple[str, tuple[str, ...], str]


def _in_section(whole: SCHEMA, node: SCHEMA, path: str) -> Iterator[Found]:
    """The keys of a table, each with its words and its meaning."""
    for name, key in node.get("properties", {}).items():
        if name == "kind" and "enum" not in key:
            continue
        at = f"{path}.{name}" if path else name
        yield from _in_key(whole, key, at, key.get("description", ""))


def _in_key(whole: SCHEMA, node: SCHEMA, path: str, text: str) -> Iterator[Found]:
    """The words of a value at `path`, and the keys of the tables that it may be instead."""
    if reference := node.get("$ref"):
        name = reference.rpartition("/")[2]
        yield from _in_key(whole, whole[DEFINITIONS][name], path, text)
        return
    for one in node.get("anyOf", [node]):
        if kind := one.get("properties", {}).get("kind", {}).get("const"):
            yield from _in_section(whole, one, kind)
        elif "properties" in one:
            yield from _in_section(whole, one, path)
        elif one is not node and ("anyOf" in one or "$ref" in one):
            yield from _in_key(whole, one, path, text)
        elif items := one.get("items"):
            yield from _in_key(whole, items, path, text)
        elif words := one.get("enum"):
            yield path, tuple(words), text
