"""Captures of 802.11 and TCP, analysed: a result like the result of a run, as far as captures allow."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from .. import _core
from ..data import recording as recordings
from ..data.arguments import ArgumentError
from ..data.nulls import fill
from ..data.origin import Origin, Source
from ..data.result import FORMAT, Result
from .recognition import refusal

#: Tables of a recording that captures can fill.
TABLES_TOLD = ("ppdu", "segment", "rtt")


def analyze(
    files: Sequence[str | os.PathLike[str]],
    from_s: float | None = None,
    to_s: float | None = None,
    interval_s: float | None = 1.0,
    show: Callable[[float], None] | None = None,
    record: str | Iterable[str] | None = None,
    *,
    writes: bool = False,
) -> Result:
    """A result of the captures in `files`, pcap or pcapng, from `from_s` to `to_s`.

    Times are in seconds from the beginning of the captures; if these begin in 1970, as those of a simulation do,
    from then on. Quantities that captures lack are null; `capture` of the run has facts that runs lack, such as the
    share of frames that the sniffer missed. `interval_s` is the time between rows of the time series, None for no series. `show` receives
    the progress, from 0 to 1. `writes` keeps when each flow that pauses had how many bytes of new data. `record` names tables of a
    recording (`TABLES_TOLD`), whose times count from the same moment. Raises `ValueError` with a sentence if a file is no
    capture, `OSError` if one cannot be read.

    Files of test tools are read by `lasthop.testbed.read`.
    """
    paths = [os.fspath(file) for file in files]
    for path in paths:
        if os.path.isfile(path) and (sentence := refusal(path)) is not None:
            raise ValueError(sentence)
    whole = 2 * sum(Path(path).stat().st_size for path in paths)

    def tell(done: int) -> None:
        if show is not None:
            show(min(1.0, done / max(whole, 1)))

    tables = tables_told(record)
    with recordings.NewRecordings() if tables else nullcontext() as new:
        asked = recordings.Request(tables).into(new.directory) if new is not None else None
        text, series, notes = _core.analyze(paths, from_s, to_s, interval_s, tell, asked)
    run = json.loads(text)
    fill(run)
    for link in run["capture"]["links"]:
        link["sent"]["modes"] = [{"name": _mode_name(mode), **mode} for mode in link["sent"]["modes"]]
    for flow in [] if writes else run["capture"]["flows"]:
        del flow["load"]["writes"]
    span = run["capture"]
    scenario = {
        "name": Path(paths[0]).stem,
        "description": f"read from {', '.join(paths)}",
        "warmup": f"{span['from_s']!r} s",
        "duration": f"{span['to_s']!r} s",
        "bss": [],
        "station": [],
        "flow": [],
    }
    head = {"format": FORMAT, "lasthop": _core.__version__, "scenario": scenario, "warnings": notes, "runs": [run]}
    text = f"# No scenario: {scenario['description']}.\n"
    result = Result(head, scenario_text=text, origin=Origin(Source.CAPTURE))
    if series:
        result.add_series(run["seed"], series)
    if new is not None:
        result.keep_recordings(new)
    return result


def _mode_name(mode: dict[str, Any]) -> str:
    """A mode among the modes of a link: "ht-mcs15-2x40MHz-400ns", "dsss-11Mbps-short"."""
    if mode["mcs"] is None:
        return f"{mode['format']}-{mode['rate_bps'] / 1e6:g}Mbps{'-short' if mode['has_short_preamble'] else ''}"
    return f"{mode['format']}-mcs{mode['mcs']}-{mode['streams']}x{mode['width_mhz']}MHz-{mode['guard_ns']}ns"


def tables_told(record: str | Iterable[str] | None) -> tuple[str, ...]:
    """The tables that are recorded. Raises `ArgumentError` for a table that captures cannot fill."""
    if record is None:
        return ()
    tables = recordings.tables_of(recordings.chosen(record))
    if untold := sorted(tables - set(TABLES_TOLD)):
        have = f"they have these tables of a recording: {', '.join(TABLES_TOLD)}"
        raise ArgumentError(recordings.RECORD, f": captures do not have {', '.join(untold)}; {have}")
    return tuple(table for table in TABLES_TOLD if table in tables)
