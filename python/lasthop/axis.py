"""Splits the values of an axis on a command line at commas, and axes at semicolons, except those inside brackets or quotes."""

from __future__ import annotations

import tomllib
from typing import Any

CLOSES = {"]": "[", "}": "{"}


def axis_values(text: str) -> list[Any]:
    """The values in `text`, numbers as numbers; raises `ValueError` where one is missing or a bracket is open."""
    values = [value.strip() for value in split(text, ",")]
    if not all(values):
        raise ValueError("a value is missing; write e.g. PATH=1,2,4")
    return [_number(value) for value in values]


def split(text: str, between: str) -> list[str]:
    """The parts of `text`; raises `ValueError` where a bracket or a quote is open."""
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
    try:
        value = tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text
    return value if isinstance(value, int | float) and not isinstance(value, bool) and repr(value) == text else text
