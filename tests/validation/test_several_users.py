"""Goodput with several users in a PPDU beside ns-3.44: UDP within 3 %, TCP within 7 %, and the signs of what each part of OFDMA changes."""

import os

import pytest
from several_users import APART, CELLS, HELD, WITHIN, Cell

SEEDS = 8 if os.environ.get("LASTHOP_ALL") else 3
"""as many as ns-3's, or more in `make validation`"""


def test_all_cells_were_measured() -> None:
    assert len(CELLS) == 30 and set(APART) < set(CELLS)


@pytest.mark.parametrize("cell", HELD, ids=lambda cell: cell.name)
def test_goodput_is_that_of_ns3(cell: Cell) -> None:
    assert cell.measure(SEEDS) == pytest.approx(cell.theirs, rel=WITHIN[cell.transport])


@pytest.mark.parametrize("stations", [4, 8])
def test_downlink_alone_costs_tcp_downloads_and_triggers_win_it_back(stations: int) -> None:
    """The signs, in both simulators."""
    columns = [Cell(f"TCP down, {stations} stations, {column}") for column in ("off", "downlink", "BSRP", "MU EDCA")]
    for off, downlink, asked, held in ([cell.theirs for cell in columns], [cell.measure(1) for cell in columns]):
        assert downlink < 0.9 * off
        assert 1.05 * downlink < asked < held
        assert held > 0.97 * off


def test_tcp_uploads_of_four_stations_collapse_under_mu_edca() -> None:
    off, held = (Cell(f"TCP up, 4 stations, {column}") for column in ("off", "MU EDCA"))
    assert held.theirs < 0.4 * off.theirs
    assert held.measure(2) < 0.4 * off.measure(2)
