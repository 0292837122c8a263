"""Writes docs/peers.md: every case of `peers`, measured now."""

from __future__ import annotations

from pathlib import Path

from peers import AGGREGATED, APART, TCP, UDP, Case

DOCUMENT = Path(__file__).parents[2] / "docs" / "peers.md"

HEAD = """# Beside ns-2.35 and ns-3.44

Made by `make validation`: goodput of all flows in Mbit/s, means over seeds; ± is half the 95 % interval (lasthop) or
the standard deviation (peer). The rows, with their scenarios, stand in `tests/data/peers.csv`; the settings under which
lasthop imitates a peer in `tests/validation/peers.py`. `expected` is the peer's figure, or what a known departure of
the peer from the standard makes of it.

## Held by the tests: saturated UDP within 2 %, TCP within 5 %

"""

AGGREGATED_HEAD = """
## Held by the tests, 802.11n and 802.11ax with A-MPDUs: saturated UDP within 4 %, downloads within 8 %

The table of ns-3's figures does not say how long the MAC's queue was under `pfifo` and `fqcodel`; lasthop has 1000 packets
(`pfifo`) or FQ-CoDel above 100 packets in the driver. ns-3.44 itself, run again with such queues for 15 s, gives totals within
2 % of lasthop's, as the notes say.

"""

APART_HEAD = """
## Where lasthop stands apart

Not asserted: the peer's own spread is over 5 %, or it departs from the standard in a way that no factor describes.

"""

COLUMNS = "| case | lasthop | peer | expected | difference | note |\n|---|---|---|---|---|---|\n"


def line(case: Case) -> str:
    peer, deviation = case.peer_bps()
    ours, half, _ = case.measure()
    expected = peer * case.factor
    cells = (
        case.name,
        f"{ours / 1e6:.3f} ± {half / 1e6:.3f}",
        f"{peer / 1e6:.3f} ± {deviation / 1e6:.3f}",
        f"{expected / 1e6:.3f}",
        f"{100 * (ours / expected - 1):+.1f} %",
        case.note,
    )
    return f"| {' | '.join(cells)} |\n"


def main() -> None:
    text = HEAD + COLUMNS + "".join(map(line, [*UDP, *TCP])) + AGGREGATED_HEAD + COLUMNS + "".join(map(line, AGGREGATED)) + APART_HEAD + COLUMNS + "".join(map(line, APART))
    DOCUMENT.write_text(text, encoding="utf-8")
    print(DOCUMENT)


if __name__ == "__main__":
    main()
