"""Every PPDU of every node in some milliseconds, coloured by its outcome."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ...data.arguments import Argument, ArgumentError
from ._chart import Chart, Curve
from ._results import labels, of_first_seeds, results_only

if TYPE_CHECKING:
    from ...data.result import Result
    from ._options import Options

SUMMARY = "every PPDU of every node in some milliseconds (--x-min, --x-max), first seed; of runs with --record air"
NUMBERS_ALONG = True
OPTIONS = ("node",)
WITHOUT = ("log_y", "y_min", "y_max")
# The time shown by default: short enough to show single frames.
SHOWN_MS = 20.0
# More PPDUs would be indistinguishable.
MOST = 20_000
COLUMNS = ["start_ns", "duration_ns", "node", "kind", "mpdus", "decoded", "lost_to"]
KINDS = {
    "A-MPDU": "A-MPDU",
    "data": "data",
    "Ack": "Ack, BlockAck",
    "BlockAck": "Ack, BlockAck",
    "RTS": "RTS, CTS, BAR",
    "CTS": "RTS, CTS, BAR",
    "CTS-to-self": "RTS, CTS, BAR",
    "BlockAckReq": "RTS, CTS, BAR",
    "CF-End": "RTS, CTS, BAR",
    "MU-BAR": "RTS, CTS, BAR",
    "BSRP": "RTS, CTS, BAR",
    "trigger": "RTS, CTS, BAR",
    "Multi-STA BlockAck": "Ack, BlockAck",
    "QoS Null": "RTS, CTS, BAR",
    "beacon": "beacon",
}
LOST = {
    "collision": "lost to a collision",
    "interference": "lost to interference",
    "noise": "lost to noise",
    "interferer": "lost to an interferer",
}
PARTLY = "partly lost"
IN_ORDER = [*dict.fromkeys(KINDS.values()), PARTLY, *LOST.values()]


def chart(sources: Sequence[Any], options: Options) -> Chart:
    """Rows of spans in milliseconds of simulated time."""
    results = results_only(sources, "air")
    names = labels(results)
    nodes = list(dict.fromkeys(node["name"] for result in results for node in result.runs[0]["nodes"]))
    curves = [
        curve
        for result, name in zip(results, names, strict=True)
        for curve in _curves(result, nodes, options, name if len(results) > 1 else "")
    ]
    sent = {node for curve in curves for node in curve.x}
    # Silent nodes have a row if `--node` selects them.
    rows = tuple(node for node in nodes if options.node or node in sent)
    title = of_first_seeds("PPDUs on the air", results, {result.seeds[0] for result in results})
    # An outcome has the same colour in all panels.
    curves.sort(key=lambda curve: (names.index(curve.panel) if curve.panel else 0, IN_ORDER.index(curve.label)))
    return Chart("spans", title, "time (ms)", "node", tuple(curves), rows=rows, x_limits=_limits(results, options))


def _curves(result: Result, nodes: list[str], options: Options, panel: str) -> list[Curve]:
    import numpy

    table = result.recording("ppdu", result.seeds[0]).select(COLUMNS)
    start_ns = table["start_ns"].to_numpy()
    start_ms, end_ms = start_ns / 1e6, (start_ns + table["duration_ns"].to_numpy()) / 1e6
    if not len(start_ms):
        raise LookupError(f"{result.name}: its recording has no PPDU")
    low, high = _window(start_ms, options)
    shown = numpy.flatnonzero((end_ms > low) & (start_ms < high))
    if not len(shown):
        raise LookupError(
            f"{result.name}: no PPDU between {low:g} and {high:g} ms; the recording has {start_ms[0]:g} to {end_ms.max():g} ms"
        )
    if len(shown) > MOST:
        too_many = f": {len(shown)} PPDUs between {low:g} and {high:g} ms; at most {MOST} are distinguishable"
        raise ArgumentError(Argument("x_min"), ", ", Argument("x_max"), too_many)
    spans_of: dict[str, list[tuple[str, float, float]]] = {}
    for place, row in zip(shown, table.take(shown).to_pylist(), strict=True):
        if row["node"] in nodes:
            span = (row["node"], max(float(start_ms[place]), low), min(float(end_ms[place]), high))
            spans_of.setdefault(_outcome(row), []).append(span)
    return [_curve(label, spans, panel) for label, spans in spans_of.items()]


def _limits(results: Sequence[Result], options: Options) -> tuple[float, float]:
    """The ends of the axis, which reach beyond the first and the last PPDU: from the earliest window to the latest."""
    starts = (result.recording("ppdu", result.seeds[0])["start_ns"].to_numpy() / 1e6 for result in results)
    lows, highs = zip(*(_window(start_ms, options) for start_ms in starts), strict=True)
    return min(lows), max(highs)


def _window(start_ms: Any, options: Options) -> tuple[float, float]:
    """The window in milliseconds: the requested one, else from the first PPDU on."""
    low = options.x_min
    if low is None:
        low = float(start_ms[0]) if options.x_max is None else options.x_max - SHOWN_MS
    return low, low + SHOWN_MS if options.x_max is None else options.x_max


def _outcome(row: Mapping[str, Any]) -> str:
    """The kind of a PPDU, or the cause of its loss."""
    if row["lost_to"] is None or row["decoded"] is None:
        return KINDS[row["kind"]]
    return PARTLY if 0 < row["decoded"] < row["mpdus"] else LOST[row["lost_to"]]


def _curve(label: str, spans: list[tuple[str, float, float]], panel: str) -> Curve:
    senders, starts, ends = zip(*spans, strict=True)
    return Curve(label, senders, starts, starts, ends, panel=panel)
