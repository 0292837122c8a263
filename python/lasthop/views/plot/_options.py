"""The options of a plot."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from numbers import Real
from typing import Any

from ...data.arguments import names, real, shown

# Options of every plot; those about an axis of values apply to every plot with a single such axis.
FOR_ALL = ("title", "size", "x_label", "label")
OF_VALUES = ("y_label", "y_min", "y_max", "log_y")
OF_CURVES = ("legend",)
OF_NUMBERS_ALONG = ("x_min", "x_max")


@dataclass(frozen=True)
class Options:
    """Each is the option of `lasthop plot` of this name; what is not given the plot chooses itself.

    `flow`, `node` and `traffic` are patterns, one or several; `size` is width and height in inches. `label` has other names
    for curves, panels and words along an axis, by the name that they would have.
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
    label: Mapping[str, str] = field(default_factory=dict)
    x_min: float | None = None
    x_max: float | None = None
    y_min: float | None = None
    y_max: float | None = None
    legend: str | None = None
    size: tuple[float, float] | None = None

    def __post_init__(self) -> None:
        """Raises `TypeError` for what is no text, number or truth value where one is needed."""
        for name in ("metric", "x", "by", "title", "x_label", "y_label", "legend"):
            if not isinstance(getattr(self, name), str | None):
                raise TypeError(f"{name}: a text is needed, not {shown(getattr(self, name))}")
        for name in ("flow", "node", "traffic"):
            names(name, getattr(self, name), "a pattern of names")
        for name in ("log_x", "log_y"):
            if not isinstance(getattr(self, name), bool):
                raise TypeError(f"{name}: True or False is needed, not {shown(getattr(self, name))}")
        for name in ("x_min", "x_max", "y_min", "y_max"):
            if getattr(self, name) is not None:
                real(name, getattr(self, name), "a number")
        if self.size is not None:
            size = self.size if isinstance(self.size, tuple | list) and len(self.size) == 2 else [self.size, None]
            if not all(isinstance(inches, Real) for inches in size):
                raise TypeError(
                    f"size: a width and a height in inches are needed, such as (7, 3), not {shown(self.size)}"
                )
        examples = {"only": "settings and their values are needed, such as {'wired.delay': '5 ms'}"}
        examples["label"] = "names and what they become are needed, such as {'fifo': 'FIFO'}"
        for name, example in examples.items():
            given = getattr(self, name)
            if not isinstance(given, Mapping) or (
                name == "label" and not all(isinstance(each, str) for each in given.values())
            ):
                raise TypeError(f"{name}: {example}, not {shown(given)}")

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
