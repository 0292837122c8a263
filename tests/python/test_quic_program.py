"""The QUIC of a simulated flow is that of a program over a kernel's UDP: goodput within 2 %, RTT within 5 %."""

from __future__ import annotations

import json

import pytest
from emulator import some_kernel_or_skip
from quic_program import DATA, PATHS, built, by_program, paths, simulated

RECORDED = json.loads(DATA.read_text(encoding="utf-8"))
# Both run the same code on the same model of the network. A kernel adds its scheduling, less than 0.1 ms, and the program looks at its
# socket once for each datagram; losses therefore come at other moments.
GOODPUT, RTT = 0.02, 0.05


def agrees(found, expected):
    """Whether the numbers of a simulation are those of a program."""
    assert found["goodput_bps"] == pytest.approx(expected["goodput_bps"], rel=GOODPUT)
    assert found["rtt_mean_s"] == pytest.approx(expected["rtt_mean_s"], rel=RTT)


def test_the_recorded_paths_are_the_random_ones():
    assert [row["path"] for row in RECORDED] == paths() and len(RECORDED) == PATHS
    # They differ, and the queue overflows on some.
    assert len({row["program"]["goodput_bps"] for row in RECORDED}) == PATHS
    assert any(row["program"]["packets_lost"] > 10 for row in RECORDED)


@pytest.mark.parametrize("row", RECORDED, ids=lambda row: "{rate}M-{delay}ms-{limit}".format(**row["path"]))
def test_a_simulated_flow_is_like_the_recorded_program(row):
    agrees(simulated(row["path"]), row["program"])


def test_a_program_in_a_guest_is_like_its_simulation():
    some_kernel_or_skip()
    program = built()
    if program is None:
        pytest.skip("the program was not built: cargo build -p lasthop-quic-transfer")
    path = {**paths()[0], "rate": 8, "delay": 10, "limit": 40}
    agrees(simulated(path), by_program(path, program))
