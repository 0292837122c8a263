"""Data files of Flent (`.flent`, `.flent.gz`): throughput and pings of its standard tests.

The format is that of Flent's manual, "The Data File Format": `results` over `x_values`, `raw_values` as the tools measured them,
`metadata` with facts of each series. The host that ran Flent is the station.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from itertools import pairwise
from typing import Any

from ...data.foreign_text import Unreadable, parsed_json
from ...data.quantities import FLOW, SERIES
from . import flent_times
from .dscp import dscp_of
from .model import BULK, PING, WEB, Flow, Series, Test, add_level, is_number, level_mean

# Series that Flent computes from others; newer files mark them, in older ones their names show it.
COMPUTED = re.compile(r"( avg| sum| fairness| totals|^totals?)$|^TCP totals$", re.IGNORECASE)
ZONE_S = 900.0
"""zones differ by quarters of an hour"""
NO_TOS = (None, 0xFFFF_FFFF)
# Units of throughput, in bit/s; a file without units has megabits.
RATE_UNITS = {"bits/s": 1.0, "Kbits/s": 1e3, "Mbits/s": 1e6, "Gbits/s": 1e9}
# Samples of the sender's socket, `TCP upload::1::tcp_rtt`: the series of a flow, and the factor to its unit.
SOCKET: dict[str, tuple[str, float]] = {
    "tcp_cwnd": (SERIES.cwnd_segments, 1.0),
    "tcp_ssthresh": (SERIES.ssthresh_segments, 1.0),
    "tcp_rtt": (SERIES.rtt_s, 1e-3),
    "tcp_delivery_rate": ("delivery_rate_bps", 1e6),
    "tcp_pacing_rate": ("pacing_rate_bps", 1e6),
}
# A series below another, which is a facet of it; numbers are parallel streams.
FACET = re.compile(r"(?P<flow>.+)::(?P<facet>[A-Za-z_]\w*)")


def looks_like_flent(text: str) -> bool:
    """Whether a text that begins so is a data file of Flent."""
    return text.lstrip().startswith("{") and any(
        f'"{key}"' in text for key in ("x_values", "raw_values", "FLENT_VERSION", "BATCH_NAME")
    )


def test_of(file: str, text: str) -> Test:
    """The test in the text of a data file. Raises `Unreadable` if its format is not Flent's."""
    document = _document(file, text)
    metadata, x_values = document["metadata"], document["x_values"]
    notes: list[str] = []
    test = Test(
        "flent",
        f"flent {metadata.get('FLENT_VERSION', '')}".strip(),
        _name(metadata),
        [file],
        [],
        None,
        0.0,
        0.0,
        notes,
    )
    test.began_s = _began(metadata, document["raw_values"])
    kinds = {name: _kind(name, _series_meta(metadata, name)) for name in document["results"]}
    series = {name: _series(x_values, document["results"][name]) for name, kind in kinds.items() if kind is not None}
    empty = [name for name, found in series.items() if not found.values]
    if empty:
        notes.append(f"{file}: has no values of {', '.join(empty)}; Flent's tools gave none for it")
    load = [found for name, found in series.items() if kinds[name] not in (PING, WEB) and found.values]
    spans = load or [found for found in series.values() if found.values]
    if not spans:
        raise Unreadable(f"{file}: has no values of throughput, ping or pages; other series are not read")
    # A value of throughput covers the step that ends there. Before and after the load there are only pings.
    step_s = x_values[1] - x_values[0] if load and len(x_values) > 1 else 0.0
    test.from_s = max(0.0, min(found.times_s[0] for found in spans) - step_s)
    test.to_s = max(found.times_s[-1] for found in spans)
    flows: dict[str, Flow] = {}
    for name, found in series.items():
        kind = kinds[name]
        if kind is not None and (found.values or kind not in (PING, WEB)):
            raw = [row for row in document["raw_values"].get(name) or () if isinstance(row, dict)]
            flows[name] = _flow(name, kind, found, raw, metadata, test)
    test.flows += flows.values()
    sampled = {name for name in document["results"] if _add_socket(name, flows, x_values, document["results"], test)}
    left = [
        name
        for name, kind in kinds.items()
        if kind is None and name not in sampled and not _is_computed(name, _series_meta(metadata, name))
    ]
    if left:
        notes.append(f"{file}: neither throughput, ping nor pages, and left out: {', '.join(left)}")
    return test


def _document(file: str, text: str) -> dict[str, Any]:
    document = parsed_json(file, text, "give the file as Flent wrote it, .flent or .flent.gz")
    if not isinstance(document, dict):
        raise Unreadable(f"{file}: is no JSON object; give the file as Flent wrote it")
    kinds = {"metadata": dict, "results": dict, "x_values": list}
    absent = [key for key, kind in kinds.items() if not isinstance(document.get(key), kind)]
    if absent:
        raise Unreadable(f"{file}: has no {absent[0]}, which a data file of Flent has; give the file as Flent wrote it")
    raw = document.get("raw_values")
    rows = raw.items() if isinstance(raw, dict) else ()
    document["raw_values"] = {name: values for name, values in rows if isinstance(values, list)}
    x_values = document["x_values"]
    if not all(map(is_number, x_values)) or any(later <= now for now, later in pairwise(x_values)):
        raise Unreadable(f"{file}: x_values are not times that grow; only tests over time are read")
    for name, values in document["results"].items():
        if not isinstance(values, list) or len(values) != len(x_values):
            raise Unreadable(f"{file}: results.{name} has not one value for each of the {len(x_values)} x_values")
    return document


def _name(metadata: dict[str, Any]) -> str:
    return " ".join(str(metadata[key]) for key in ("NAME", "TITLE") if metadata.get(key))


def _series_meta(metadata: dict[str, Any], name: str) -> dict[str, Any]:
    of_all = metadata.get("SERIES_META")
    own = of_all.get(name) if isinstance(of_all, dict) else None
    return own if isinstance(own, dict) else {}


def _is_computed(name: str, meta: dict[str, Any]) -> bool:
    return "COMPUTED_LATE" in meta or COMPUTED.search(name) is not None


def _kind(name: str, meta: dict[str, Any]) -> str | None:
    """`up`, `down`, a ping, or pages; None for series of no flow."""
    if _is_computed(name, meta):
        return None
    lower = name.lower()
    if lower.startswith("ping"):
        return PING
    if lower.startswith("http latency"):
        return WEB
    if str(meta.get("UNITS", "Mbits/s")) not in RATE_UNITS or FACET.fullmatch(name):
        return None
    return next(
        (kind for word, kind in (("upload", "up"), ("download", "down")) if re.search(rf"\b{word}\b", lower)), None
    )


def _series(x_values: list[float], values: list[Any]) -> Series:
    rows = zip(x_values, values, strict=True)
    return Series.of((time_s, float(value)) for time_s, value in rows if is_number(value))


def _flow(name: str, kind: str, found: Series, raw: list[dict[str, Any]], metadata: dict[str, Any], test: Test) -> Flow:
    meta = _series_meta(metadata, name)
    label = re.sub(r"[^a-z0-9]+", "-", name.lower().replace("(ms)", "")).strip("-")
    flow = Flow(
        station=str(metadata.get("LOCAL_HOST") or "station"),
        server=str(metadata.get("HOST") or "server"),
        direction="up" if kind == PING else "down" if kind == WEB else kind,
        transport="udp" if kind == PING or label.startswith("udp") else "tcp",
        traffic=kind if kind in (PING, WEB) else BULK,
        name=label,
        dscp=next((dscp_of(meta[key]) for key in ("DATA_TOS", "UPSTREAM_TOS") if meta.get(key) not in NO_TOS), None),
    )
    if kind == PING:
        flent_times.add_ping(flow, found, raw, meta, test)
    elif kind == WEB:
        flent_times.add_pages(flow, found, meta, test)
    else:
        _add_throughput(flow, found, meta, test)
    return flow


def _add_throughput(flow: Flow, found: Series, meta: dict[str, Any], test: Test) -> None:
    if not found.values:
        return
    scale = RATE_UNITS[meta.get("UNITS", "Mbits/s")]
    bps = Series(found.times_s, [value * scale for value in found.values])
    flow.series[SERIES.goodput_bps] = bps
    # The interim results of netperf belong to the host on which it runs.
    flow.is_as_written = flow.direction == "up"
    mean = meta.get("MEAN_VALUE")
    flow.reported_mean = mean * scale if is_number(mean) else None
    # netperf's own number, if it is there: the bytes at the receiver over the time of the test.
    flow.values[FLOW.goodput_bps] = mean * scale if is_number(mean) else level_mean(bps, test.from_s, test.to_s)
    flow.values[FLOW.bytes_delivered] = meta.get("BYTES_RECVD") if is_number(meta.get("BYTES_RECVD")) else None
    if isinstance(meta.get("CONG_CONTROL"), str):
        flow.congestion_control = meta["CONG_CONTROL"]
    again = str(meta.get("TCP_RETRANSMIT", ""))
    flow.values[FLOW.segments_retransmitted] = int(again) if again.isdecimal() and len(again) < 19 else None


def _add_socket(
    name: str, flows: dict[str, Flow], x_values: list[float], results: dict[str, list[Any]], test: Test
) -> bool:
    """Adds samples of a socket to the flow that they belong to; returns whether the series are such samples."""
    facet = FACET.fullmatch(name)
    if facet is None or facet["facet"] not in SOCKET or facet["flow"] not in flows:
        return False
    flow, (metric, scale) = flows[facet["flow"]], SOCKET[facet["facet"]]
    found = _series(x_values, results[name])
    flow.series[metric] = Series(found.times_s, [value * scale for value in found.values])
    add_level(flow, metric, test)
    return True


def _began(metadata: dict[str, Any], raw_values: dict[str, Any]) -> float | None:
    """When the test began, in seconds since 1970. Older versions write the local time, without its zone; samples have seconds since 1970."""
    text = metadata.get("T0") or metadata.get("TIME")
    began_s = _moment(text)
    rows = (row for values in raw_values.values() for row in values[:1])
    samples_s = [row["t"] for row in rows if isinstance(row, dict) and is_number(row.get("t"))]
    if began_s is None or not samples_s or str(text).endswith("Z"):
        return began_s
    offset_s: float = min(samples_s) - began_s
    return began_s + ZONE_S * round(offset_s / ZONE_S)


def _moment(text: Any) -> float | None:
    """Seconds since 1970 of a time as Flent writes it: UTC unless it has a zone."""
    try:
        moment = datetime.fromisoformat(text)
    except (TypeError, ValueError):
        return None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
