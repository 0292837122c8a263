"""What a user may ask of a plot."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

# Heeded by every plot; those that are about an axis of values by every one that has a single such axis.
FOR_ALL = ("title", "size", "x_label")
OF_VALUES = ("y_label", "y_min", "y_max", "log_y")
OF_CURVES = ("legend",)


@dataclass(frozen=True)
class Options:
    """Each is the option of `lasthop plot` of this name; what is not given the plot chooses itself.

    `flow`, `node` and `traffic` are patterns, one or several; `size` is width and height in inches.
    """

    metric: str | None = None
    x: str | None = None
    by: str | None = None
    only: Mapping[str, str] = field(default_factory=dict)
    flow: str | Sequence[str] = ()
    node: str | Sequence[str] = ()
    traffic: str | Sequence[str] = ()
    log_x: bool = False
    log_y: bool = False
    title: str | None = None
    x_label: str | None = None
    y_label: str | None = None
    y_min: float | None = None
    y_max: float | None = None
    legend: str | None = None
    size: tuple[float, float] | None = None

    def given(self) -> list[str]:
        """The names of those that were given."""
        return [each.name for each in fields(self) if getattr(self, each.name) not in (None, {}, False, (), [], "")]

    @classmethod
    def of(cls, **options: Any) -> Options:
        """Options by their names; raises `TypeError` for one that there is not."""
        known = [each.name for each in fields(cls)]
        for name in options:
            if name not in known:
                raise TypeError(f"plot has no option {name!r}; it has: {', '.join(known)}")
        return cls(**options)
