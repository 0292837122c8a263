"""The values of an axis: split at commas, and axes at semicolons, except inside brackets or quotes; and named for tables and charts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import PurePath
from typing import Any

CLOSES = {"]": "[", "}": "{"}
# Keys that name code of the user, which identify it better than its `kind`.
FILES = ("file", "library", "object")


def axis_values(text: str) -> list[Any]:
    """The values in `text`, numbers as numbers; raises `ValueError` if one is missing or a bracket is open."""
    values = [value.strip() for value in split(text, ",")]
    if not all(values):
        raise ValueError("a value is missing; write e.g. PATH=1,2,4")
    return [_number(value) for value in values]


def split(text: str, between: str) -> list[str]:
    """The parts of `text`; raises `ValueError` if a bracket or a quote is open."""
    parts, open_brackets, quote = [""], [], ""
    for sign in text:
        if quote:
            quote = "" if sign == quote else quote
        elif sign in "\"'":
            quote = sign
        elif sign in CLOSES.values():
            open_brackets.append(sign)
        elif sign in CLOSES and (not open_brackets or open_brackets.pop() != CLOSES[sign]):
            raise ValueError(f"{sign} without its opening bracket")
        elif sign == between and not open_brackets:
            parts.append("")
            continue
        parts[-1] += sign
    if quote or open_brackets:
        raise ValueError(f"a {quote or open_brackets[-1]} is not closed")
    return parts


def _number(text: str) -> Any:
    """A number where TOML reads one and writes it the same; all else stays text for the scenario to read."""
    import tomllib

    try:
        value = tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text
    return value if isinstance(value, int | float) and not isinstance(value, bool) and repr(value) == text else text


def short_names(values: Iterable[Any]) -> dict[Any, str]:
    """A name for each value: of an inline table its kind, or its file and class, and what else it sets; others as they are.

    Values whose short names are equal keep the whole text.
    """
    names = {value: _short(value) for value in values}
    count = Counter(names.values())
    return {value: name if count[name] == 1 else str(value) for value, name in names.items()}


def _short(value: Any) -> str:
    text = str(value)
    if not text.startswith("{"):
        return text
    import tomllib

    try:
        table = tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text
    return _name(table) or text


def _name(table: Mapping[str, Any]) -> str | None:
    """`mine.py:Mine alpha=2`, `cubic beta=0.5`; an empty text if the table has no kind."""
    rest = dict(table)
    kind = rest.pop("kind", None)
    files = [PurePath(str(rest.pop(key))).name for key in FILES if key in rest]
    name = f"{files[0]}:{rest.pop('class')}" if files and "class" in rest else files[0] if files else kind
    settings = [f"{key}={value}" for key, value in rest.items()]
    return " ".join([str(name), *settings]) if name else None
