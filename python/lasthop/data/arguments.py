"""Arguments of the package as callers give them: numbers of Python or NumPy, names, paths; each wrong one is one sentence.

An argument of the wrong type raises `TypeError`, an impossible one of the right type `ValueError`.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterable
from dataclasses import dataclass
from numbers import Real
from operator import index
from typing import Any, TypeGuard

SHOWN = 60


def shown(value: Any) -> str:
    """A value in a message, on one line and not too long."""
    value = value.item() if hasattr(value, "item") and getattr(value, "shape", None) == () else value
    text = " ".join(repr(value).split())
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}..."


def is_whole(value: Any) -> TypeGuard[int]:
    """Whether a value is a whole number, of Python or of NumPy; a truth value is none."""
    if isinstance(value, bool) or type(value).__name__ in ("bool", "bool_"):
        return False
    try:
        index(value)
    except TypeError:
        return False
    return True


def whole(name: str, value: Any, what: str) -> int:
    """A whole number; raises `TypeError`."""
    if not is_whole(value):
        raise TypeError(f"{name}: {what} is needed, a whole number, not {shown(value)}")
    return index(value)


def seconds(name: str, value: Any) -> float:
    """A number of seconds; raises `TypeError`, also for a text such as "1 s"."""
    return real(name, value, "a number of seconds, such as 0.5,")


def real(name: str, value: Any, what: str) -> float:
    """A number that is one; raises `TypeError` and `ValueError`."""
    if not isinstance(value, Real) or isinstance(value, bool):
        raise TypeError(f"{name}: {what} is needed, not {shown(value)}")
    if math.isnan(value):
        raise ValueError(f"{name}: {what} is needed, not {shown(value)}")
    return float(value)


def names(name: str, value: Any, what: str) -> tuple[str, ...]:
    """Names, one or several; raises `TypeError`."""
    found = (value,) if isinstance(value, str) else tuple(value) if isinstance(value, Iterable) else (None,)
    wrong = next((each for each in found if not isinstance(each, str)), None)
    if not all(isinstance(each, str) for each in found):
        raise TypeError(f"{name}: {what} is needed, or several, not {shown(value if wrong is None else wrong)}")
    return found


def path(name: str, value: Any, what: str) -> str | os.PathLike[str]:
    """The name of a file or directory; raises `TypeError`."""
    if not isinstance(value, str | os.PathLike):
        raise TypeError(f"{name}: {what} is needed, not {shown(value)}")
    return value


@dataclass(frozen=True)
class Argument:
    """An argument in a message. Python and the command line spell its name differently."""

    name: str
    #: an example of it in Python, and on the command line, instead of its name
    python: str | None = None
    option: str | None = None

    def in_python(self) -> str:
        """`y_min`."""
        return self.name if self.python is None else self.python

    def on_command_line(self) -> str:
        """`--y-min`."""
        return f"--{self.name.replace('_', '-')}" if self.option is None else self.option


class _Worded(Exception):
    """A message in parts. As text it has the words of Python."""

    def __init__(self, *parts: str | Argument) -> None:
        super().__init__("".join(part if isinstance(part, str) else part.in_python() for part in parts))
        self.parts = parts

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), self.parts

    def on_command_line(self) -> str:
        """The message in the words of the command line."""
        return "".join(part if isinstance(part, str) else part.on_command_line() for part in self.parts)


class ArgumentError(_Worded, ValueError):
    """An impossible argument: the parts of the message."""


class ArgumentLookupError(_Worded, LookupError):
    """An argument that names something absent: the parts of the message."""


def on_command_line(error: Exception) -> str:
    """The message of an error in the words of the command line."""
    return error.on_command_line() if isinstance(error, _Worded) else str(error.args[0])
