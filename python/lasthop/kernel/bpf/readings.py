"""Counters of loaded programs, and the records of `ack_loss` as a result."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import fmean
from typing import Any

from ..._core import SeriesFile, __version__
from ...data.quantities import FLOW, SERIES
from ...data.tables import Samples
from . import layout
from .requirements import PINS, HostError, ready

# Series of the detector alone: no run has these over time.
NORMAL_JUMP, MISSING, HALVINGS = "normal_jump", "acks_missing", "halvings"


def sockets() -> list[layout.Socket]:
    """The sockets under `ack_loss`, in the order of their beginning, those that are gone too: the last 1024."""
    found = map(layout.socket_of, ready().values(str(PINS / "ack_loss" / "sockets")))
    return sorted(socket for socket in found if socket is not None)


def counts(place: Path) -> tuple[int, int]:
    """The two counts of a classifier: pure ACKs and those left out, or data and pure ACKs."""
    (raw,) = ready().values(str(place / "counts"))
    return layout.COUNTS.unpack(raw)


def records(for_s: float, goes_on: Callable[[], bool] = lambda: True) -> Iterator[layout.Record]:
    """Reads the events of sockets under `ack_loss` for a time. There must be no other reader."""
    extension = ready()
    ends = time.monotonic() + for_s
    while (left := ends - time.monotonic()) > 0 and goes_on():
        for raw in extension.records(str(PINS / "ack_loss" / "records"), min(left, 0.2)):
            yield layout.record_of(raw)


def write_result(directory: Path, found: list[layout.Record]) -> int:
    """Writes a result: `result.json` with a row for each socket, and `timeseries.parquet`; returns the number of its rows.

    A flow's id is the addresses of its socket. Missing ACKs and halvings are in the series, a row each. Time is from the first record on, and the seed is 1.
    """
    if not found:
        raise HostError("no socket used ack_loss in that time; nothing is written")
    names = {socket.serial: f"{socket.local}-{socket.remote}" for socket in sockets()}
    by_flow: dict[str, list[layout.Record]] = {}
    for record in found:
        by_flow.setdefault(names.get(record.serial, str(record.serial)), []).append(record)
    directory.mkdir(parents=True, exist_ok=True)
    run = {
        "seed": 1,
        "flows": [_flow(name, own) for name, own in by_flow.items()],
        **{part: {} for part in ("totals", "medium")},
        **{part: [] for part in ("nodes", "links")},
        "simulator": {"kind": "host", "kernel": os.uname().release},
    }
    scenario = {"name": f"{os.uname().nodename}, ack_loss"}
    warnings = ["sockets of a real host: there is no scenario, no air and no goodput in this result"]
    document = {
        "format": 1,
        "lasthop": __version__,
        "scenario": scenario,
        "warnings": warnings,
        "runs": [run],
        "summary": {},
    }
    (directory / "result.json").write_text(json.dumps(document, indent=1))
    return _write_series(directory / "timeseries.parquet", by_flow, found[0].time_s)


def _flow(name: str, own: list[layout.Record]) -> dict[str, Any]:
    return {
        "id": name,
        "station": "host",
        "direction": "up",
        "transport": "tcp",
        "congestion_control": "ack_loss",
        FLOW.cwnd_max_segments: max(record.cwnd_segments for record in own),
        FLOW.rtt_mean_s: fmean(record.srtt_s for record in own),
        FLOW.ack_losses_detected: sum(record.missing for record in own),
        HALVINGS: sum(record.event == "halved" for record in own),
    }


def _write_series(file: Path, by_flow: dict[str, list[layout.Record]], began_s: float) -> int:
    found: dict[tuple[str, str], Samples] = {}
    for name, own in by_flow.items():
        for record in own:
            for metric, value in _values(record):
                samples = found.setdefault((name, metric), Samples(name, metric, [], []))
                samples.times_s.append(record.time_s - began_s)
                samples.values.append(float(value))
    writer = SeriesFile(file)
    for samples in found.values():
        writer.add(1, samples)
    writer.close()
    return sum(len(samples.values) for samples in found.values())


def _values(record: layout.Record) -> Iterator[tuple[str, float]]:
    yield SERIES.cwnd_segments, record.cwnd_segments
    if record.ssthresh_segments is not None:
        yield SERIES.ssthresh_segments, record.ssthresh_segments
    yield SERIES.rtt_s, record.srtt_s
    yield NORMAL_JUMP, record.normal_jump_segments
    if record.missing:
        yield MISSING, record.missing
    if record.event == "halved":
        yield HALVINGS, 1
