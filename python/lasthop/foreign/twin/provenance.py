"""Values with their origin, and the lines of a scenario file that show it."""

from __future__ import annotations

from dataclasses import dataclass
from math import floor
from typing import Any, Generic, TypeVar

from ...study.scenario import toml_value

T = TypeVar("T")


@dataclass(frozen=True)
class Told(Generic[T]):
    """A value, and in words whence: "seen: …", "estimated: …", "fitted: …" or "assumed: …"."""

    value: T
    origin: str


@dataclass(frozen=True)
class Line:
    """A key of a section."""

    key: str
    value: Any
    origin: str

    def text(self) -> str:
        """The line in the file."""
        return f"{self.key} = {value_text(self.value)}  # {self.origin}"


@dataclass(frozen=True)
class Section:
    """A table of a scenario file: its header, and its lines."""

    header: str
    lines: tuple[Line, ...]

    def text(self) -> str:
        """The section in the file."""
        return "\n".join([*([self.header] if self.header else []), *(line.text() for line in self.lines)])


def value_text(value: Any) -> str:
    """As TOML has it on one line, tables with bare keys."""
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key} = {value_text(item)}" for key, item in value.items()) + " }"
    return toml_value(value)


def rate_text(bps: float) -> str:
    """A data rate, such as "5.5 Mbit/s"."""
    return f"{bps / 1e9:g} Gbit/s" if bps % 1e9 == 0 else f"{round(bps / 1e6, 3):.10g} Mbit/s"


def phy_rate_text(bps: float) -> str:
    """The rate of a mode, as tables of the standard round it: "960.7 Mbit/s"."""
    return f"{floor(bps / 1e5 + 0.5) / 10:g} Mbit/s"


def time_text(seconds: float) -> str:
    """A time to a microsecond, such as "10.02 ms"."""
    return f"{round(seconds * 1e3, 3):g} ms" if abs(seconds) < 1 else f"{round(seconds, 6):.10g} s"


def percent(share: float) -> str:
    """A share in percent."""
    return f"{100 * share:.2f} %"
