"""A kernel in virtual time and lasthop side by side: a short row of each table of docs/kernel.md."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path
from statistics import mean
from typing import Any

import pytest
from emulator import is_from
from lasthop.kernel.emulation import EmulationError, Kernel, find_kernel

ROOT = Path(__file__).parents[2]
sys.path.append(str(ROOT / "tests" / "kernel" / "oracle"))
import air
import cake
import links
import pacing
import paths
import queues
import saturated
import tables
import txqs
import versions
import wifi_tables
import windows
from records import Segment

NAME = os.environ.get("LASTHOP_KERNEL", "own")


@pytest.fixture(scope="module")
def kernel() -> Kernel:
    """A kernel for virtual time."""
    try:
        found = find_kernel(NAME)
    except EmulationError as error:
        pytest.skip(str(error))
    if found.virtual != "exact":
        pytest.skip(f"{found.path} has no time travel")
    return found


def recordings(name: str) -> list[dict[str, Any]]:
    """The comparisons of this name that are kept, oldest kernel first."""
    found = [json.loads(file.read_text()) for file in versions.kept_files(name)]
    assert found
    return found


def test_cubic_agrees_with_a_kernels_cubic(kernel: Kernel) -> None:
    """8 s instead of 20 s, and a seed of the kernel: a window differs by a tenth from seed to seed."""
    short = ('duration="8 s"', 'warmup="2 s"')
    runs = {side: air.run(side, "cubic", seeds, NAME, short) for side, seeds in (("kernel", 1), ("profile", 5))}
    goodput, window = (
        {side: mean(getattr(it, key) for it in found) for side, found in runs.items()}
        for key in ("up_bps", "cwnd_p50_segments")
    )
    assert goodput["profile"] == pytest.approx(goodput["kernel"], rel=tables.GOODPUT)
    assert window["profile"] == pytest.approx(window["kernel"], rel=0.2)


@pytest.mark.skipif(shutil.which("cargo") is None, reason="the replay of arrivals needs cargo")
def test_fq_codel_delays_and_drops_as_a_kernels(kernel: Kernel) -> None:
    """8 s have a hundred drops and more; a kernel drops a little sooner, as docs/kernel.md says."""
    theirs, (ours,) = queues.compare(queues.CASES["fq_codel"], kernel, duration_s=8, replays=1)
    assert theirs.dropped > 50
    assert ours.delay_mean_s == pytest.approx(theirs.delay_mean_s, rel=0.15)
    assert ours.dropped == pytest.approx(theirs.dropped, rel=0.15)


@pytest.mark.skipif(shutil.which("cargo") is None, reason="the replay of arrivals needs cargo")
def test_cake_shapes_and_drops_as_a_kernels() -> None:
    """The distribution's kernel has CAKE as a module. Drops are the same to the last packet in 20 s; some part in others."""
    try:
        stock = find_kernel("stock")
    except EmulationError as error:
        pytest.skip(str(error))
    if stock.module("net/sched/sch_cake") is None:
        pytest.skip(f"{stock.path} has no sch_cake")
    theirs, (ours,), _ = cake.compare(cake.CASES["shaper"], stock, duration_s=8, replays=1)
    assert theirs.dropped > 50
    assert ours.delay_mean_s == pytest.approx(theirs.delay_mean_s, rel=0.02)
    assert ours.dropped == pytest.approx(theirs.dropped, rel=0.05)


def test_the_tables_of_cake_can_be_made_from_the_recording() -> None:
    for kept in recordings("cake"):
        assert list(kept["cases"]) == list(cake.CASES)
        rows = list(tables.queue_rows({"disciplines": kept["cases"]}))
        assert all("pass" in row for row in rows if row.split()[1] in ("unlimited", "shaper", "atm", "rtt"))


OUT_LINKS = {"fading"}
"""Links of the recording whose goodput is out: a channel that changes while frames wait in the kernel's radio."""


OUT_TXQS = {
    "airtime, AQL": "share, delay, fast",
    "airtime, no AQL": "share, delay, fast, delay, slow",
    "in turn, no AQL": "delay, fast, delay, slow",
}
"""What is out of queues of stations: radios of the patch take frames of one station as long as they may."""

OUT_CELLS: set[str] = set()
"""Saturated cells that are out."""


def test_random_paths_go_as_a_kernels() -> None:
    kept = recordings("paths")[-1]
    drawn = paths.drawn(kept["draw"], paths.PATHS, versions.profile_of(kept["kernel"]))
    assert list(drawn) == [path["text"] for path in kept["paths"]]
    assert paths.outliers(kept["paths"]) == []
    for path in (kept["paths"][number] for number in (4, 5, 8, 15)):
        ours = paths.simulated(path["text"])
        assert ours["goodput_bps"] == pytest.approx(path["kernel"]["goodput_bps"], rel=0.02)
        assert ours["marks"] == pytest.approx(path["kernel"]["marks"], rel=0.15)


def test_rates_of_links_are_chosen_as_by_a_kernels_minstrel_ht() -> None:
    """Against the recording of a kernel: goodput, and the distribution of airtime over rates."""
    kept = recordings("links")[-1]["links"]
    assert list(kept) == list(links.LINKS)
    assert all(len(side) == links.SEEDS for sides in kept.values() for side in sides.values())
    assert {row.split(" | ")[0][2:] for row in wifi_tables.link_rows({"links": kept}) if "| out" in row} == OUT_LINKS
    for name in ("20 m", "28 m", "802.11a", "a walk"):
        ours, theirs = links.runs("ours", links.LINKS[name], seeds=3), kept[name]["kernel"]
        goodput = mean(run["goodput_bps"] for run in theirs)
        assert mean(run.goodput_bps for run in ours) == pytest.approx(goodput, rel=wifi_tables.GOODPUT), name
        mine = wifi_tables.distribution([asdict(run) for run in ours])
        assert links.overlap(wifi_tables.distribution(theirs), mine) > 0.9, name


def test_stations_share_an_access_point_as_with_a_kernels_queues() -> None:
    kept = recordings("txqs")[-1]["cases"]
    assert list(kept) == list(txqs.CASES)
    assert all(len(side) == txqs.SEEDS for sides in kept.values() for side in sides.values())
    rows = {row.split(" | ")[0][2:]: row for row in wifi_tables.txq_rows({"cases": kept})}
    assert {name: row.rpartition("out: ")[2].split(" |")[0] for name, row in rows.items() if "out: " in row} == OUT_TXQS


def test_drops_in_debugfs_are_those_of_all_txqs() -> None:
    head = "tid ac backlog-bytes backlog-packets new-flows drops marks overlimit collisions tx-bytes tx-packets flags\n"
    rows = "0 2 168740 110 62 48 0 0 0 4567500 2986 0x0(RUN)\n1 3 0 0 0 2 0 0 0 0 0 0x0(RUN)\n"
    assert txqs.dropped(head + rows + head + rows) == 100


def test_saturated_cells_are_those_of_a_kernels_frames() -> None:
    """Against the recording of a kernel, of which a second run of a seed is the first, bit for bit."""
    kept = recordings("cells")[-1]["cells"]
    assert list(kept) == list(saturated.CELLS)
    for name, sides in kept.items():
        assert all(run["associated"] == saturated.CELLS[name].stations for run in sides["kernel"])
        assert sides["again"] == sides["kernel"][0]
    assert {row.split(" | ")[0][2:] for row in wifi_tables.cell_rows({"cells": kept}) if "| out" in row} == OUT_CELLS
    name = "10 stations, MCS 7"
    (ours,), _ = saturated.runs("ours", saturated.CELLS[name], range(1, 2))
    for key in ("goodput_bps", "collision_probability", "data_airtime"):
        assert getattr(ours, key) == pytest.approx(mean(run[key] for run in kept[name]["kernel"]), rel=0.05), key


def test_a_window_grows_to_where_a_kernels_does(kernel: Kernel) -> None:
    if not is_from(kernel.version, 6, 12):
        pytest.skip(
            f"Linux {kernel.version} opens its window by other rules than the current one, which the profile follows"
        )
    found = windows.compare(NAME, seed=2)
    assert found["profile"].offered_bytes == found["kernel"].offered_bytes
    assert found["profile"].after_flight_bytes == found["kernel"].after_flight_bytes
    # One that may have 32 MiB still grows at the end of the download.
    largest = tables.GROWING if is_from(kernel.version, 6, 16) else tables.WINDOW
    assert found["profile"].final_bytes == pytest.approx(found["kernel"].final_bytes, rel=largest)
    assert found["profile"].half_s == pytest.approx(found["kernel"].half_s, rel=0.1)


def test_a_paced_sender_keeps_the_gaps_of_fq(kernel: Kernel) -> None:
    """Over a device that takes single segments, in avoidance."""
    span = (2.0, 4.0)
    theirs = pacing.pace(pacing.by_kernel(kernel, {"sender_discipline": "fq", "duration_s": 4.5}), span)
    ours = pacing.pace(pacing.by_profile(kernel, {"tcp.min_burst": 1, "duration": "5 s"}), span)
    assert ours.gap_p50_s == pytest.approx(theirs.gap_p50_s, rel=0.05)
    assert ours.burst_mean == pytest.approx(1, rel=0.02)


def test_the_tables_can_be_made_from_the_recordings() -> None:
    for kept in recordings("air"):
        assert [row.split()[1] for row in tables.air_rows(kept)] == list(air.CONTROLS)


def test_a_record_of_a_segment_is_read_as_it_was_written() -> None:
    header = bytes.fromhex("45000034 12340000 40060000 0a000101 0a000201 ea6013880000000700000009801000ff00000000 0101")
    segment = Segment.of(5, True, header + bytes(10))
    assert segment is not None
    assert (segment.server, segment.identification, segment.bytes, segment.payload) == (5000, 0x1234, 52, 0)
    assert (segment.sequence, segment.acknowledgement, segment.window) == (7, 9, 255)


def test_make_kernel_gives_the_reason_for_leaving_out_virtual_time(tmp_path: Path) -> None:
    told = {**os.environ, "LASTHOP_KERNEL": str(tmp_path / "none")}
    tables = ROOT / "tests" / "kernel" / "oracle" / "tables.py"
    ended = subprocess.run((sys.executable, tables), capture_output=True, text=True, env=told, check=False)
    assert ended.returncode == 77
    assert "none" in ended.stderr
