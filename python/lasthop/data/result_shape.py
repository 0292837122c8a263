"""Whether a document has the shape of a result: the JSON Schema of `lasthop self schema --result`, applied to tables.

A run is checked column by column, as a table of a thousand stations has many cells of few kinds. Keys that a
reader does not need may be absent, as versions add keys; in a list of rows an absent key is the same as null. The summary is not read, and not checked.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Any

from .. import _core
from .._core import Run

KINDS: dict[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "null": (type(None),),
}
# Words of a schema that are looked at cell by cell.
SLOW = {"const", "pattern", "exclusiveMinimum", "exclusiveMaximum"}
# Parts of a run, and names in their rows, that every version has had. A row without its name is refused, and so is one whose name is null.
NEEDED = {
    "seed": (),
    "totals": (),
    "medium": (),
    "flows": ("id", "station"),
    "nodes": ("name",),
    "links": ("node", "peer"),
}
Schema = Mapping[str, Any]


@cache
def _schema() -> Schema:
    """The schema, where only the keys that a reader needs are required."""
    found: dict[str, Any] = json.loads(_core.result_schema_json())
    run = found["properties"]["runs"]["items"]
    run["required"] = list(NEEDED)
    for name, part in run["properties"].items():
        row = part.get("items", part)
        row["required"] = list(NEEDED.get(name, ()))
        for key in row["required"]:
            row["properties"][key]["type"] = "string"
    return found


def mistake_of(head: Mapping[str, Any], runs: Iterable[Run] | None) -> str | None:
    """The first difference between a result and the schema, with its place in the document; None if there is none."""
    if runs is None:
        return "runs: is not a list of objects"
    parts = dict(_schema()["properties"])
    of_run = parts.pop("runs")["items"]
    del parts["summary"]
    absent = [key for key in _schema()["required"] if key in parts and key not in head]
    if absent:
        return f"{absent[0]}: is missing"
    differences = (
        found for key, schema in parts.items() if key in head for found in _differences(head[key], schema, key)
    )
    of_runs = (found for place, run in enumerate(runs) for found in _of_run(run, of_run, f"runs[{place}]"))
    return next(differences, None) or next(of_runs, None)


def _of_run(run: Run, schema: Schema, place: str) -> Iterator[str]:
    for key, of_part in schema["properties"].items():
        where = f"{place}.{key}"
        is_rows = of_part.get("type") == "array" and "properties" in of_part["items"]
        if key not in run:
            yield from [f"{where}: is missing"] if key in schema["required"] else []
        elif is_rows and not run.has_rows(key, []):
            yield f"{where}: is not a list of objects"
        elif is_rows:
            yield from _of_columns(run, key, of_part["items"], where)
        else:
            yield from _differences(run[key], of_part, where)


def _of_columns(run: Run, part: str, schema: Schema, place: str) -> Iterator[str]:
    names = list(schema["properties"])
    columns = run.columns(part, names)
    for name, column in zip(names, columns, strict=True):
        of_cell = schema["properties"][name]
        may_be_absent = name not in schema["required"]
        for number, value in _odd(column, of_cell):
            if value is not None or not may_be_absent:
                yield from _differences(value, of_cell, f"{place}[{number}].{name}")


def _odd(column: list[Any], schema: Schema) -> Iterator[tuple[int, Any]]:
    """Cells that need a look: all, unless their types are the plain ones of the schema and their bounds hold."""
    plain = {kind for name in _types(schema) for kind in KINDS[name]} - {dict, list}
    if set(map(type, column)) <= plain and not SLOW & schema.keys():
        numbers = [value for value in column if value is not None] if "minimum" in schema or "maximum" in schema else []
        low, high = schema.get("minimum"), schema.get("maximum")
        if not numbers or ((low is None or min(numbers) >= low) and (high is None or max(numbers) <= high)):
            return
    yield from enumerate(column)


def _types(schema: Schema) -> list[str]:
    kind = schema.get("type", [])
    return [kind] if isinstance(kind, str) else kind


def _differences(value: Any, schema: Schema, place: str) -> Iterator[str]:
    """The differences of a value from a schema, each with its place."""
    if "const" in schema and (value != schema["const"] or isinstance(value, bool)):
        yield f"{place}: is not {schema['const']!r}"
    kinds = _types(schema)
    if kinds and not any(_is(value, kind) for kind in kinds):
        yield f"{place}: is not {' or '.join(kinds)}"
        return
    if isinstance(value, int | float) and not isinstance(value, bool):
        yield from _beyond(value, schema, place)
    if isinstance(value, str) and "pattern" in schema and not re.search(schema["pattern"], value):
        yield f"{place}: is not as {schema['pattern']}"
    if isinstance(value, list) and "items" in schema:
        for number, each in _odd(value, schema["items"]):
            yield from _differences(each, schema["items"], f"{place}[{number}]")
    if isinstance(value, dict):
        yield from _of_object(value, schema, place)


def _of_object(value: dict[str, Any], schema: Schema, place: str) -> Iterator[str]:
    known = schema.get("properties", {})
    for key in schema.get("required", ()):
        if key not in value:
            yield f"{place}.{key}: is missing"
    for key, each in value.items():
        if (of_value := known.get(key, schema.get("additionalProperties"))) is not None:
            yield from _differences(each, of_value, f"{place}.{key}")


def _is(value: Any, kind: str) -> bool:
    if isinstance(value, bool):
        return kind == "boolean"
    if kind == "integer" and isinstance(value, float):
        return value.is_integer()
    return isinstance(value, KINDS[kind])


def _beyond(value: float, schema: Schema, place: str) -> Iterator[str]:
    if value < schema.get("minimum", value) or value <= schema.get("exclusiveMinimum", float("-inf")):
        yield f"{place}: {value!r} is below its least value"
    if value > schema.get("maximum", value) or value >= schema.get("exclusiveMaximum", float("inf")):
        yield f"{place}: {value!r} is above its greatest value"
