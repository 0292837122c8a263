"""Arguments of the package as callers give them: numbers of Python or NumPy, names, paths; each wrong one is one sentence.

An argument of the wrong type raises `TypeError`, an impossible one of the right type `ValueError`.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterable
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
