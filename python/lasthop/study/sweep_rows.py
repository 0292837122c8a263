"""The rows of a sweep: numbers of each run by point and seed, packed as they come in, since a hundred thousand dicts take 200 MB."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple, overload

from ..data.metric import GLOB
from ..data.metric import chosen as chosen_names
from ..data.quantities import TOTALS
from ..data.queue_report import Losses, Queues, queues_of
from ..data.runs import Run

# Seeds of a point, in their order, from which its warm-up is judged.
WARMUP_SEEDS = 200
SETTLING = (TOTALS.goodput_parts_bps, TOTALS.unsettled_s)


class Taken(NamedTuple):
    """The part of a run that a sweep shows: numbers by name, and the input of warnings."""

    names: tuple[str, ...]
    values: tuple[float, ...]
    parts_bps: array[float] | None
    unsettled_s: float | None
    queues: Queues | None
    run: Run | None = None
    """all of it, where a rule reads it"""


@dataclass(frozen=True)
class Taking:
    """Takes the numbers of `shown` of a run, wherever that is; `whole`: and the run itself."""

    shown: tuple[str, ...]
    whole: bool = False

    def __call__(self, run: Run) -> Taken:
        """Takes them."""
        found = run.numbers(_tables(self.shown))
        names = _shown_of(self.shown, tuple(found))
        (parts,), (unsettled,) = run.columns("totals", SETTLING)
        values = tuple(found.values()) if len(names) == len(found) else tuple(found[name] for name in names)
        packed = array("d", parts) if parts else None
        return Taken(names, values, packed, unsettled, queues_of(run), run if self.whole else None)


@lru_cache(maxsize=64)
def _tables(patterns: tuple[str, ...]) -> list[str] | None:
    """The parts of a run that contain all matches of `patterns`; None if that may be any part."""
    tables = [pattern.partition(".")[::2] for pattern in patterns]
    is_known = all(rest and not GLOB.search(table) for table, rest in tables)
    return sorted({table for table, _ in tables}) if is_known else None


@lru_cache(maxsize=64)
def _shown_of(shown: tuple[str, ...], names: tuple[str, ...]) -> tuple[str, ...]:
    """Runs of a campaign have the same few sets of names."""
    return tuple(chosen_names(shown, names))


class PointRows:
    """The rows of one point, and the input of its warnings."""

    def __init__(self, shapes: list[tuple[tuple[str, bool], ...]]) -> None:
        #: of all points: names with whether the number is a whole one
        self._shapes = shapes
        self._last = -1
        #: by run, as they came: its place among the seeds, its shape, and the place of its values
        self._places, self._shape_of, self._starts = array("q"), array("l"), array("q")
        self._values = array("d")
        self._settling: dict[int, tuple[array[float] | None, float | None]] = {}
        self.losses = Losses()

    def __len__(self) -> int:
        return len(self._places)

    def add(self, place: int, taken: Taken) -> None:
        """Adds the run of the seed at `place`."""
        self._places.append(place)
        self._shape_of.append(self._shape(taken))
        self._starts.append(len(self._values))
        self._values.extend(taken.values)
        if place < WARMUP_SEEDS:
            self._settling[place] = (taken.parts_bps, taken.unsettled_s)
        self.losses.add(taken.queues)

    def _shape(self, taken: Taken) -> int:
        shape = tuple(zip(taken.names, (isinstance(value, int) for value in taken.values), strict=True))
        # Mostly the one of the run before.
        if self._last < 0 or self._shapes[self._last] != shape:
            if shape not in self._shapes:
                self._shapes.append(shape)
            self._last = self._shapes.index(shape)
        return self._last

    def rows(self, values: Mapping[str, Any], seeds: Sequence[int]) -> Iterator[dict[str, Any]]:
        """A row for each run in the order of the seeds, after the `values` of the point."""
        for number in sorted(range(len(self)), key=self._places.__getitem__):
            shape, start = self._shapes[self._shape_of[number]], self._starts[number]
            own = zip(shape, self._values[start : start + len(shape)], strict=True)
            numbers = {name: int(value) if is_whole else value for (name, is_whole), value in own}
            yield {**values, "seed": seeds[self._places[number]], **numbers}

    def settling(self) -> list[dict[str, Any]]:
        """The totals of runs that `warmup_warning` reads."""
        totals = (self._settling[place] for place in sorted(self._settling))
        return [
            {"totals": {TOTALS.goodput_parts_bps: parts, TOTALS.unsettled_s: unsettled}} for parts, unsettled in totals
        ]


class Rows(Sequence[dict[str, Any]]):
    """A row for each point and seed, made as it is read."""

    def __init__(self, points: Sequence[tuple[Mapping[str, Any], Sequence[int], PointRows]] = ()) -> None:
        self._points = points

    def __len__(self) -> int:
        return sum(len(rows) for _, _, rows in self._points)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        for values, seeds, rows in self._points:
            yield from rows.rows(values, seeds)

    @overload
    def __getitem__(self, index: int) -> dict[str, Any]: ...

    @overload
    def __getitem__(self, index: slice) -> list[dict[str, Any]]: ...

    def __getitem__(self, index: int | slice) -> dict[str, Any] | list[dict[str, Any]]:
        return list(self)[index]
