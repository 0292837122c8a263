"""What a user may ask of a plot."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields

# Heeded by every plot.
FOR_ALL = ("title",)


@dataclass(frozen=True)
class Options:
    """Each is the option of `lasthop plot` of this name; what is not given the plot chooses itself."""

    metric: str | None = None
    x: str | None = None
    by: str | None = None
    only: Mapping[str, str] = field(default_factory=dict)
    log_x: bool = False
    title: str | None = None

    def given(self) -> list[str]:
        """The names of those that were given."""
        return [each.name for each in fields(self) if getattr(self, each.name) not in (None, {}, False)]
