"""A selection of a result: some of its flows, nodes and links, and their time series."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

from ...data.arguments import Argument, ArgumentLookupError
from ...data.result import Result
from ...data.selection import matching
from ._results import traffic_of

if TYPE_CHECKING:
    from ...data.series import TimeSeries
    from ._options import Options

# The kind of entities of each option, and the plural for a title.
CHOICES = {"flow": "flows", "node": "nodes", "traffic": "traffic"}


class ChosenResult(Result):
    """`whole` with the flows of `options.flow` and `options.traffic`, and the nodes and links of `options.node`."""

    def __init__(self, whole: Result, options: Options) -> None:
        """Raises `LookupError` for a pattern without a match."""
        self.__dict__.update(whole.__dict__)
        for frame in ("flows", "nodes", "links", "timeseries", "series"):
            self.__dict__.pop(frame, None)
        self._whole = whole
        flows = _rows(whole, "flows")
        flow_ids = {row["id"] for row in flows}
        if options.flow:
            flow_ids &= set(matching("flow", options.flow, (row["id"] for row in flows), whole.name))
        if options.traffic:
            kinds = matching("traffic", options.traffic, map(traffic_of, flows), whole.name)
            flow_ids &= {row["id"] for row in flows if traffic_of(row) in kinds}
            if not flow_ids:
                rest = f" has such traffic; {_kinds(flows)}"
                raise ArgumentLookupError(f"{whole.name}: no flow that matches ", Argument("flow"), rest)
        nodes = [row["name"] for row in _rows(whole, "nodes")]
        self._nodes = set(matching("node", options.node, nodes, whole.name)) if options.node else None
        self._all_flow_ids, self._flow_ids = {row["id"] for row in flows}, flow_ids
        self.runs = [self._part_of(run) for run in whole.runs]

    @cached_property
    def series(self) -> TimeSeries:
        """The series of the selected flows, nodes and links."""
        series = self._whole.series
        return series.of_entities(filter(self._has, series.present_entities()))

    def _has(self, entity: str) -> bool:
        if entity in self._all_flow_ids:
            return entity in self._flow_ids
        return self._nodes is None or bool(self._nodes & set(entity.split("->")))

    def _part_of(self, run: dict[str, Any]) -> dict[str, Any]:
        part = {**run, "flows": [row for row in run["flows"] if row["id"] in self._flow_ids]}
        if self._nodes is not None:
            part["nodes"] = [row for row in run["nodes"] if row["name"] in self._nodes]
            part["links"] = [row for row in run["links"] if {row["node"], row["peer"]} & self._nodes]
        return part


def chosen(result: Result, options: Options) -> Result:
    """`result` itself without a selection."""
    return ChosenResult(result, options) if any(getattr(options, name) for name in CHOICES) else result


def is_part(result: Result) -> bool:
    """Whether some flows are left out, so the result's totals do not fit the selection."""
    return isinstance(result, ChosenResult) and result._flow_ids != result._all_flow_ids


def in_words(options: Options) -> str:
    """Returns the selection for a title: `; flows slow.*`."""
    selection = {name: getattr(options, name) for name in CHOICES if getattr(options, name)}
    texts = {name: value if isinstance(value, str) else ", ".join(value) for name, value in selection.items()}
    return "".join(f"; {CHOICES[name]} {text}" for name, text in texts.items())


def _rows(result: Result, kind: str) -> list[dict[str, Any]]:
    return [row for run in result.runs for row in run[kind]]


def _kinds(flows: list[dict[str, Any]]) -> str:
    return f"traffic is: {', '.join(dict.fromkeys(row['traffic'] for row in flows))}"
