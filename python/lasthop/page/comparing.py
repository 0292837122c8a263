"""Two runs side by side.

`GET /api/compare?a=KEY&b=KEY`: the differences of their scenarios and of their numbers, and the explanation. `GET
/api/compare/plot?a=KEY&b=KEY&kind=…`: both in one of the plots of `lasthop plot`, as SVG.
"""

from __future__ import annotations

from collections.abc import Iterator
from threading import Lock
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from ..data.confidence import Estimate
from ..data.result import Result
from ..data.temporary import TemporaryFolder
from ..study.comparison import Comparison, compare
from ..views import plot
from ..views.explain import CHANNEL_TERMS, FLOW_TERMS, Change, Difference, difference_of, explanation_of
from .desk import Desk
from .library import Library

# Plots of one result or several, with numbers and series that every stored result has.
PLOTS = ("goodput", "goodput_over_time", "rtt", "cwnd", "queue", "airtime", "jain", "latency_cdf", "latency_throughput")
MOST_DIFFERENCES = 200
# matplotlib draws one picture at a time.
_drawing = Lock()


def routes(desk: Desk) -> list[Route]:
    """Returns the routes of this part of the page."""

    async def both(request: Request) -> JSONResponse:
        keys = [_key(request, side) for side in "ab"]
        return JSONResponse(await run_in_threadpool(_compared, desk.library, *keys))

    async def picture(request: Request) -> Response:
        keys = [_key(request, side) for side in "ab"]
        kind = request.query_params.get("kind", PLOTS[0])
        drawn = await run_in_threadpool(_drawn, desk.library, keys, kind)
        return Response(drawn, media_type="image/svg+xml")

    return [Route("/api/compare", both), Route("/api/compare/plot", picture)]


def _key(request: Request, side: str) -> str:
    key = request.query_params.get(side, "")
    if not key:
        raise ValueError(f"{side}: which run? tick two in the list of runs")
    return key


def _compared(library: Library, *keys: str) -> dict[str, Any]:
    results = [library.result(key) for key in keys]
    sides = [{"key": key, **_side(library, key, result)} for key, result in zip(keys, results, strict=True)]
    return {**compared(sides, results), "plots": PLOTS}


def compared(sides: list[dict[str, Any]], results: list[Result]) -> dict[str, Any]:
    """Two results side by side; each of `sides` has the `key`, `name`, `seeds` and `warnings` of one."""
    a, b = results
    rows = [_row(row) for row in compare(a, b)]
    scenarios = _differences(a.scenario, b.scenario)
    return {"sides": sides, "rows": rows, "scenarios": scenarios, "why": _explained(sides, results)}


def _side(library: Library, key: str, result: Result) -> dict[str, Any]:
    entry = library.entry(key)
    name = entry.name if entry.kind == "result" else result.name
    return {"name": name, "scenario": result.name, "seeds": result.seeds, "warnings": result.warnings}


def _row(row: Comparison) -> dict[str, Any]:
    def scaled(estimate: Estimate | None) -> dict[str, Any] | None:
        return estimate and estimate.scaled(row.scale)._asdict()

    change = row.difference
    difference = change and {
        **(scaled(change.estimate) or {}),
        "paired": change.paired,
        "narrowing": change.narrowing,
        "told": change.is_told(),
    }
    return {
        "label": row.label,
        "unit": row.unit,
        "decimals": row.decimals,
        "a": scaled(row.a),
        "b": scaled(row.b),
        "difference": difference,
    }


def _explained(sides: list[dict[str, Any]], results: list[Result]) -> dict[str, Any]:
    """The explanation of the difference, or the reason for its absence."""
    for side, result in zip(sides, results, strict=True):
        if not result.runs or not all("account" in run for run in result.runs):
            remedy = "run it again here, or with `lasthop run --explain`"
            return {"missing": side["key"], "said": f"{side['name']} has no account of its time; {remedy}"}
    difference = difference_of(*map(explanation_of, results))
    return {
        "answers": difference.answers(),
        "flows": _changes(difference, "flows"),
        "channel": _changes(difference, "channel"),
    }


def _changes(difference: Difference, part: str) -> list[dict[str, Any]]:
    names = FLOW_TERMS if part == "flows" else CHANNEL_TERMS
    return [_change(change, names) for change in getattr(difference, part) if max(change.a, change.b) >= 0.0005]


def _change(change: Change, names: dict[str, str]) -> dict[str, Any]:
    interval = change.difference and change.difference.estimate._asdict()
    return {"term": names[change.term], "a": change.a, "b": change.b, "difference": interval}


def _differences(a: dict[str, Any], b: dict[str, Any]) -> list[dict[str, Any]]:
    """The keys of two resolved scenarios with different values; null for a missing one."""
    first, second = dict(_flat(a)), dict(_flat(b))
    keys = [key for key in dict.fromkeys([*first, *second]) if first.get(key) != second.get(key)]
    shown = [key for key in keys if not _repeats(key, first, second, keys)]
    return [{"key": key, "a": first.get(key), "b": second.get(key)} for key in shown[:MOST_DIFFERENCES]]


def _repeats(key: str, first: dict[str, Any], second: dict[str, Any], keys: list[str]) -> bool:
    """Whether a flow's key only repeats a difference of `[tcp]`."""
    section, _, rest = key.partition(".")
    general = f"tcp.{rest.partition('.')[2]}"
    same = all(side.get(key) == side.get(general) for side in (first, second))
    return section == "flow" and general in keys and same


def _flat(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    entries = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else None
    if entries is None:
        if value is not None:
            yield path, value
        return
    for key, item in entries:
        if path or key not in ("sweep",):
            yield from _flat(item, f"{path}.{key}" if path else str(key))


def _drawn(library: Library, keys: list[str], kind: str) -> bytes:
    """A plot of several results as SVG. Raises `LookupError` if one of them lacks the data, and `ValueError`."""
    if kind not in PLOTS:
        raise ValueError(f"unknown plot {kind!r}; one of: {', '.join(PLOTS)}")
    results = [library.result(key) for key in keys]
    with _drawing, TemporaryFolder("lasthop-plot") as folder:
        file = folder.path / "plot.svg"
        plot.draw(kind, results, out=file)
        return file.read_bytes()
