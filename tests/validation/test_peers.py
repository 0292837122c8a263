"""ns-2.35 and ns-3.44 under their own settings: saturated UDP within 2 %, TCP within 5 %; with A-MPDUs 4 % and 8 %."""

import os

import pytest
from peers import AGGREGATED, TCP, UDP, Case

SEEDS = None if os.environ.get("LASTHOP_ALL") else 2
"""all of a case, as in `make validation`, or two"""


@pytest.mark.parametrize("case", [*UDP, *TCP, *AGGREGATED], ids=lambda case: case.name)
def test_goodput_is_that_of_the_peer(case: Case) -> None:
    peer, deviation = case.peer_bps()
    assert deviation < 0.05 * peer, "rows with a larger spread are for orientation, not for assertion"
    ours, half, _ = case.measure(SEEDS)
    expected = peer * case.factor
    assert ours == pytest.approx(expected, rel=case.tolerance), (
        f"{ours / 1e6:.3f} ± {half / 1e6:.3f} Mbit/s, {case.row[0]} {peer / 1e6:.3f}, expected {expected / 1e6:.3f}"
    )
