"""Writes the tables of docs/peers.md into docs/recorded: every case of `peers`, measured now."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterable, Iterator
from pathlib import Path

from cells import Cell
from contention import FALLBACK, FALLBACK_APART, HELD, NOT_HELD, TABLE, compare, fallback_name, measure_fallback, table
from networks import NETWORKS
from networks_compared import compare as compare_network
from peers import AGGREGATED, APART, TCP, UDP, Case
from several_users import CELLS

FOLDER = Path(__file__).parents[2] / "docs" / "recorded"

COLUMNS = ("case", "lasthop", "peer", "expected", "difference", "note")


def cells_of(case: Case) -> list[str]:
    """The row of a case; the kept figure of the peer times its factor is what is expected."""
    peer, deviation = case.peer_bps()
    ours, half, _ = case.measure()
    expected = peer * case.factor
    return [
        case.name,
        f"{ours / 1e6:.3f} ± {half / 1e6:.3f}",
        f"{peer / 1e6:.3f} ± {deviation / 1e6:.3f}",
        f"{expected / 1e6:.3f}",
        f"{100 * (ours / expected - 1):+.1f} %",
        case.note,
    ]


def write(name: str, head: Iterable[str], rows: Iterable[Iterable[str]]) -> None:
    """A table of `docs/recorded`, in which the site finds it."""
    file = FOLDER / f"{name}.tsv"
    file.write_text("".join("\t".join(row) + "\n" for row in (head, *rows)), encoding="utf-8")
    print(file)


def measure_ns3_again(python: str) -> None:
    """Renews `tests/data/ns3.csv` with an interpreter that has ns-3.44; takes about an hour."""
    programs = Path(__file__).parent / "ns3"
    rows = [
        subprocess.run([python, name], cwd=programs, check=True, capture_output=True, text=True).stdout
        for name in ("rate_fallback.py", "contention.py", "wide.py", "several_users.py")
    ]
    TABLE.write_text("cell,quantity,mean,std,seeds,seconds\n" + "".join(rows), encoding="utf-8")


def contention_rows(cells: Iterable[Cell], *, notes: bool) -> Iterator[list[str]]:
    """A row for each quantity of each cell."""
    for cell in cells:
        for found in compare(cell):
            row = [cell.name, found.quantity, f"{found.ours:.3f}", f"{found.theirs:.3f}", f"± {found.allowed:.3f}"]
            yield [*row, cell.note] if notes else row


def network_rows() -> Iterator[list[str]]:
    """A row for each part of each network."""
    for network in NETWORKS:
        for found in compare_network(network):
            figures = [f"{found.ours:.2f}", f"{found.theirs:.2f}", f"± {found.allowed:.2f}"]
            yield [network.name, found.quantity, *figures, network.because]


def fallback_rows() -> Iterator[list[str]]:
    """A row for each number of stations and rate control."""
    for stations, kind in (*FALLBACK, *FALLBACK_APART):
        name = fallback_name(stations, kind)
        ours, retries = measure_fallback(stations, kind)
        theirs = table()[name]
        peer = theirs["ip_mbps"]
        yield [
            name,
            f"{ours.mean:.3f} ± {ours.deviation:.3f}",
            f"{peer.mean:.3f} ± {peer.deviation:.3f}",
            f"{retries:.3f}",
            f"{theirs['retries'].mean:.3f}",
        ]


def several_users_rows() -> Iterator[list[str]]:
    """A row for each cell with PPDUs of several users."""
    for cell in CELLS:
        ours, theirs = cell.measure(3), cell.theirs
        yield [cell.name, f"{ours:.1f}", f"{theirs:.1f}", f"{100 * (ours / theirs - 1):+.1f} %"]


def main() -> None:
    if python := os.environ.get("NS3_PYTHON"):
        measure_ns3_again(python)
    for name, cases in (("peers-held", [*UDP, *TCP]), ("peers-aggregated", AGGREGATED), ("peers-apart", APART)):
        write(name, COLUMNS, map(cells_of, cases))
    quantities = ("cell", "quantity", "lasthop", "ns-3.44", "allowed")
    write("contention-held", quantities, contention_rows(HELD, notes=False))
    write("contention-apart", (*quantities, "note"), contention_rows(NOT_HELD, notes=True))
    write("networks", ("network", "part", "lasthop", "ns-3.44", "allowed", "note"), network_rows())
    write("rate-control", ("cell", "lasthop", "ns-3.44", "repeated, lasthop", "ns-3.44"), fallback_rows())
    write("several-users", ("flows", "lasthop", "ns-3.44", "difference"), several_users_rows())


if __name__ == "__main__":
    main()
