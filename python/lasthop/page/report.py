"""`lasthop report`: the page of a run, or of two side by side, as one file that opens from disk.

It has the same modules as the server's page, and the server's answers: tiles of the whole run down to the resolution of
a screen, and within a window down to each PPDU, with the details that a click opens. Modules are in an import map of
`data:` addresses, answers in one gzipped block; the file loads no other resource.
"""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Iterator
from fnmatch import fnmatchcase
from html import escape
from typing import Any, NamedTuple

from .._core import __version__
from ..study.progress import Progress
from .browser import STATIC, as_data, module_map, modules
from .explaining import Slices
from .frames import contents_of, packet_facts, ppdu_facts
from .recording_view import RecordingView

# Tiles of the whole run are kept this many levels below the one that covers it: some 2000 bins.
DEEP = 3
# Number of PPDUs in the default window, about.
PPDUS = 6000
# Numbers of PPDUs among these that can be clicked, and of packets.
CLICKED = 8000
FLOWS = 6
SCRIPTS = ("vendor/uPlot.iife.min.js", "vendor/Arrow.es2015.min.js")
# Pages that need a server.
SERVED = {
    "main.js",
    "runs.js",
    "scenario.js",
    "editor.js",
    "completion.js",
    "map.js",
    "job.js",
    "saving.js",
    "papers.js",
}
SHEETS = ("vendor/uPlot.min.css", "style.css", "run.css", "pages.css")


class Window(NamedTuple):
    """The part of a run shown in full detail, in ns."""

    begin: int
    end: int


class Side(NamedTuple):
    """A run of a report."""

    opened: RecordingView
    window: Window
    flows: list[int]
    slices: Slices


def window_of(opened: RecordingView, from_s: float | None, length_s: float | None) -> Window:
    """The requested window, else one of some thousand PPDUs after the warm-up. Raises `ValueError` for an empty one."""
    recorded = opened.recorded
    begin = recorded.warmup_ns if from_s is None else round(from_s * 1e9)
    if not 0 <= begin < recorded.duration_ns:
        raise ValueError(f"the run of {recorded.duration_ns / 1e9:g} s ends before {begin / 1e9:g} s")
    if length_s is not None:
        return Window(begin, min(begin + round(length_s * 1e9), recorded.duration_ns))
    start = opened.air.start
    first = int(start.searchsorted(begin))
    last = first + PPDUS
    return Window(begin, int(start[last]) if last < len(start) else recorded.duration_ns)


def chosen_flows(opened: RecordingView, patterns: list[str]) -> list[int]:
    """Flows with curves in a report: the matching ones, else the TCP flows with the least goodput. Raises
    `LookupError`.
    """
    flows = list(enumerate(opened.recorded.flows))
    if patterns:
        matching = [n for n, flow in flows if any(fnmatchcase(flow.name, pattern) for pattern in patterns)]
        if not matching:
            raise LookupError(
                f"no flow matches {' or '.join(patterns)}; the run has {', '.join(flow.name for _, flow in flows[:20])}"
            )
        return matching
    goodput = opened.summary["goodput"]
    busy = sorted((flow.traffic != "bulk", flow.transport != "tcp", goodput[flow.name], n) for n, flow in flows)
    return [n for *_, n in busy[:FLOWS]]


def document(sides: list[Side], progress: Progress, compared: dict[str, Any] | None = None) -> Iterator[str]:
    """The file, piece by piece. `compared` is the answer of `GET /api/compare` for two runs."""
    answers: dict[str, bytes] = {}
    for number, side in enumerate(sides):
        for address, answer in _answers(side):
            answers[f"{number}/{address}"] = answer
            progress.update((number + min(len(answers) / 20_000, 0.9)) / len(sides), number, len(sides))
    if compared is not None:
        answers["compared"] = json.dumps(compared).encode()
    title = " and ".join(side.opened.summary["name"] for side in sides)
    yield from _head(title)
    yield '<script type="text/plain" id="answers">'
    yield base64.b64encode(_packed(answers)).decode()
    yield "</script>\n</body>\n</html>\n"


def _answers(side: Side) -> Iterator[tuple[str, bytes]]:
    opened, window = side.opened, side.window
    recorded, air = opened.recorded, opened.air
    described = {**opened.described(), "key": None, "window": [window.begin, window.end]}
    yield "", json.dumps(described).encode()
    for group in range(air.groups):
        yield from _tiles(
            f"air/{group}", lambda level, index, group=group: opened.air_tile(group, level, index), side, DEEP
        )
    if recorded.has("backoff"):
        yield from _tiles("backoffs", opened.backoff_tile, side, -1)
    for chart, of in described["charts"].items():
        if recorded.has(of["table"]):
            for entity in side.flows if chart != "queue" else _queues(side):
                kind = f"curves/{chart}/{entity}"
                yield from _tiles(
                    kind, lambda level, index, c=chart, e=entity: opened.curve_tile(c, e, level, index), side, 2
                )
    for row in air.within(window.begin, window.end)[:CLICKED]:
        ppdu = int(air.columns["ppdu"][row])
        yield f"ppdus/{ppdu}", json.dumps(ppdu_facts(recorded, air, ppdu)).encode()
    yield from _packets(side)
    yield from _explained(side)


def _tiles(kind: str, tile: Any, side: Side, deep: int) -> Iterator[tuple[str, bytes]]:
    """Tiles of a kind from the one that covers the run down: `deep` levels everywhere, and down to exact ones in the
    window.
    """
    top = max(side.opened.recorded.duration_ns - 1, 1).bit_length()
    waiting = [(top, 0)]
    while waiting:
        level, index = waiting.pop()
        content = tile(level, index)
        yield f"{kind}/{level}/{index}", content
        begin, end = index << level, (index + 1) << level
        in_window = begin < side.window.end and end > side.window.begin
        if _is_exact(content) or level <= 12 or not (in_window or level > top - deep):
            continue
        waiting += [
            (level - 1, child)
            for child in (2 * index, 2 * index + 1)
            if child << (level - 1) < side.opened.recorded.duration_ns
        ]


def _is_exact(content: bytes) -> bool:
    import pyarrow

    with pyarrow.ipc.open_stream(content) as stream:
        return bool(stream.schema.metadata[b"exact"] == b"1")


def _queues(side: Side) -> list[int]:
    """Nodes with the queues of the chosen flows: the APs, and stations that send data."""
    recorded = side.opened.recorded
    flows = [recorded.flows[flow] for flow in side.flows]
    names = {flow.station for flow in flows if flow.up}
    names |= {recorded.nodes[recorded.node_of[flow.station]].ap for flow in flows}
    return sorted(recorded.node_of[name] for name in names)


def _packets(side: Side) -> Iterator[tuple[str, bytes]]:
    """Packets of the chosen flows that were on the air in the window."""
    opened, window = side.opened, side.window
    if not opened.recorded.has("carries"):
        return
    addresses: set[str] = set()
    for row in opened.air.within(window.begin, window.end):
        for run in contents_of(opened.recorded, int(opened.air.columns["ppdu"][row])) or ():
            if run["flow_number"] not in side.flows:
                continue
            for packet in range(run["packet"], run["packet"] + run["packets"]):
                address = f"packets/{run['flow_number']}/{'up' if run['up'] else 'down'}/{packet}"
                if address not in addresses and len(addresses) < CLICKED:
                    addresses.add(address)
                    facts = packet_facts(opened.recorded, opened.air, run["flow_number"], run["up"], packet)
                    yield address, json.dumps(facts).encode()


def _explained(side: Side) -> Iterator[tuple[str, bytes]]:
    if side.slices.time is None:
        return
    yield "explained", json.dumps(side.slices.summary()).encode()
    for number, shares in enumerate(side.slices.time["flows"].values()):
        yield f"explained/{number}", json.dumps(shares).encode()


def _packed(answers: dict[str, bytes]) -> bytes:
    """A directory of lengths as JSON, a newline, then the answers one after another; gzipped the same way each time."""
    directory = json.dumps(
        {address: len(answer) for address, answer in answers.items()}, separators=(",", ":")
    ).encode()
    return gzip.compress(b"\n".join((directory, b"".join(answers.values()))), 6, mtime=0)


def _head(title: str) -> Iterator[str]:
    yield f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>{escape(title)} · lasthop</title>\n'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">\n<meta name="color-scheme" content="light dark">\n'
    # A strict policy, whatever names a scenario has.
    policy = "default-src 'none'; script-src 'unsafe-inline' data:; style-src 'unsafe-inline'; img-src data:"
    yield f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
    for sheet in SHEETS:
        yield f"<style>{(STATIC / sheet).read_text(encoding='utf-8')}</style>\n"
    addresses = {
        name: as_data((STATIC / name).read_bytes(), "text/javascript") for name in modules() if name not in SERVED
    }
    yield f'<script type="importmap">{json.dumps(module_map(addresses))}</script>\n'
    for script in SCRIPTS:
        text = (STATIC / script).read_text(encoding="utf-8").replace("</script", r"<\/script")
        yield f"<script>{text}</script>\n"
    yield f'</head>\n<body data-version="{escape(__version__)}">\n<header><span class="brand">lasthop</span>'
    yield f'<nav><span class="quiet">{escape(title)}</span></nav>'
    yield '<button id="theme" type="button" title="light or dark (L)" aria-label="light or dark">◐</button></header>\n'
    yield '<main id="main" tabindex="-1"><p class="quiet">unpacking …</p></main>\n<div id="notes" role="status" aria-live="polite"></div>\n'
    yield "<script type=\"module\">import 'lasthop/report.js';</script>\n"
