"""The recordings of a result as files for qvis and for Perfetto."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path

from ...data.nulls import is_measured
from ...data.result import Result
from . import perfetto, qlog
from .flows import QuicFlow, TcpFlow, captured_flows, logged_flows


def to_qlog(
    result: Result,
    directory: str | os.PathLike[str],
    seed: int | None = None,
    *,
    show: Callable[[float], None] | None = None,
) -> list[Path]:
    """Writes a qlog file for each end of each TCP and QUIC flow of a seed into `directory`, for qvis; returns their paths.

    Uses the recorded tables `segment` for TCP, `quic` for QUIC, and `window` and `rtt` if present. `seed` may be omitted if only one was
    recorded. `show` is called with the progress, from 0 to 1. Raises `LookupError` if neither was recorded.
    """
    recordings, seed, run = result.recorded(["segment", "quic"], seed)
    flows: Mapping[str, TcpFlow | QuicFlow]
    flows = captured_flows(run) if is_measured(run) else logged_flows(result.scenario, run)
    return qlog.write(recordings, seed, flows, result.name, Path(directory), show)


def to_perfetto(
    result: Result,
    file: str | os.PathLike[str],
    seed: int | None = None,
    *,
    show: Callable[[float], None] | None = None,
) -> None:
    """Writes a trace of a seed for Perfetto: nodes with their PPDUs, queues, drops, windows and RTTs.

    Uses the recorded tables; arrows between PPDUs need `carries` as well as `ppdu`. `seed` may be omitted if only one
    was recorded. `show` is called with the progress, from 0 to 1. Raises `LookupError` without a recording.
    """
    recordings, seed, run = result.recorded(perfetto.TABLES, seed)
    (nodes,), (flows,) = run.columns("nodes", ["name"]), run.columns("flows", ["id"])
    perfetto.write(recordings, seed, nodes, flows, Path(file), show)
