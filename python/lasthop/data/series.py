"""Time series as columns of numpy: what plots and claims read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from .. import _core
from .extras import pandas_for

if TYPE_CHECKING:
    import numpy
    import pandas


@dataclass(frozen=True)
class TimeSeries:
    """Samples, a row each; entities and metrics are places in their lists of names."""

    seeds: numpy.ndarray
    times_s: numpy.ndarray
    entities: numpy.ndarray
    metrics: numpy.ndarray
    values: numpy.ndarray
    entity_names: Sequence[str]
    metric_names: Sequence[str]

    @classmethod
    def of(cls, table: _core.Table) -> TimeSeries:
        """The samples of a table with the columns seed, time_s, entity, metric and value."""
        import numpy

        def column(name: str, kind: type) -> numpy.ndarray:
            return numpy.frombuffer(table.buffer(name), dtype=kind)

        return cls(
            column("seed", numpy.int64),
            column("time_s", numpy.float64),
            column("entity", numpy.int32),
            column("metric", numpy.int32),
            column("value", numpy.float64),
            table.names_of("entity"),
            table.names_of("metric"),
        )

    def __len__(self) -> int:
        return len(self.values)

    def where(self, rows: numpy.ndarray) -> TimeSeries:
        """The chosen rows."""
        columns = {name: getattr(self, name)[rows] for name in ("seeds", "times_s", "entities", "metrics", "values")}
        return replace(self, **columns)

    def of_metric(self, metric: str) -> TimeSeries:
        """The samples of one metric."""
        return self.where(self.metrics == _place(metric, self.metric_names))

    def of_entities(self, entities: Iterable[str]) -> TimeSeries:
        """The samples of some entities."""
        import numpy

        places = [_place(entity, self.entity_names) for entity in entities]
        return self.where(numpy.isin(self.entities, places))

    def of_seed(self, seed: int) -> TimeSeries:
        """The samples of one seed."""
        return self.where(self.seeds == seed)

    def known(self) -> TimeSeries:
        """The samples that have a value."""
        import numpy

        return self.where(~numpy.isnan(self.values))

    def present_metrics(self) -> list[str]:
        """The names of its metrics, in the order of their first sample."""
        return [self.metric_names[place] for place in _in_order(self.metrics)]

    def present_entities(self) -> list[str]:
        """The names of its entities, in the order of their first sample."""
        return [self.entity_names[place] for place in _in_order(self.entities)]

    def by_entity(self) -> Iterator[tuple[str, TimeSeries]]:
        """The samples of each entity, in the order of their first."""
        for place in _in_order(self.entities):
            yield self.entity_names[place], self.where(self.entities == place)

    def sums(self) -> tuple[list[float], numpy.ndarray]:
        """The times, and for each time and seed the sum over the samples; NaN for a seed without one at that time.

        A sample without a value adds nothing.
        """
        import numpy

        times, rows = numpy.unique(self.times_s, return_inverse=True)
        seeds, columns = numpy.unique(self.seeds, return_inverse=True)
        cells = rows * len(seeds) + columns
        size = len(times) * len(seeds)
        found = numpy.bincount(cells, weights=numpy.nan_to_num(self.values), minlength=size).astype(float)
        found[numpy.bincount(cells, minlength=size) == 0] = numpy.nan
        return times.tolist(), found.reshape(len(times), len(seeds))

    def means(self) -> tuple[list[float], numpy.ndarray]:
        """`sums`, each divided by the number of its samples that have a value."""
        import numpy

        times, totals = self.sums()
        counted = replace(self, values=(~numpy.isnan(self.values)).astype(float))
        with numpy.errstate(invalid="ignore"):
            return times, totals / counted.sums()[1]

    def frame(self) -> pandas.DataFrame:
        """The samples as a data frame, whose names are categories."""
        pandas = pandas_for("a data frame of time series")
        names: dict[str, Any] = {
            "entity": pandas.Categorical.from_codes(self.entities, self.entity_names),
            "metric": pandas.Categorical.from_codes(self.metrics, self.metric_names),
        }
        return pandas.DataFrame({"seed": self.seeds, "time_s": self.times_s, **names, "value": self.values})


def _place(name: str, names: Sequence[str]) -> int:
    return names.index(name) if name in names else -1


def _in_order(places: numpy.ndarray) -> list[int]:
    """The places that occur, in the order of their first row."""
    import numpy

    found, first = numpy.unique(places, return_index=True)
    places_in_order: list[int] = found[numpy.argsort(first)].tolist()
    return places_in_order
