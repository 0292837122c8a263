"""The SNR of stations by the strength of their signals, where captures or hosts show it at the receiver.

A host's `iw` has the signal of each station at its own antenna. Captures of two kinds have it too: those of an AP, which does not hear
itself, and those in which both directions of each link are equally strong. A sniffer elsewhere hears all frames of an AP equally strong,
whatever their receivers.
"""

from __future__ import annotations

from .observation import Seen

NOISE_DBM = -93.99
"""thermal noise on 20 MHz and a noise figure of 7 dB, as the twin's nodes have it"""
ENOUGH = 50
"""samples of a link"""
ALIKE_DB = 2.0
"""by how much both directions of a link may differ at one place"""
APART_DB = 5.0
"""by how much links must differ for that to show something"""
OFF_DB = 3.0
"""by how much the true SNR may be off: signals of radios are calibrated no better, and noise figures differ"""


def snrs_db(seen: Seen) -> dict[str, float]:
    """The SNR of each station, on 20 MHz; empty if signals may be those of another place."""
    found: dict[str, float] = {}
    both: list[tuple[float, float]] = []
    for station, ap in seen.stations.items():
        up, down = (_mean_dbm(seen, ends) for ends in ((station, ap), (ap, station)))
        if seen.is_of_hosts:
            up = down if up is None else up
        if up is None:
            continue
        found[station] = up - NOISE_DBM
        if down is not None:
            both.append((up, down))
    if seen.is_of_hosts or not both:
        return found
    spread = max(down for _, down in both) - min(down for _, down in both)
    is_alike = all(abs(up - down) <= ALIKE_DB for up, down in both)
    return found if is_alike and spread >= APART_DB else {}


def _mean_dbm(seen: Seen, ends: tuple[str, str]) -> float | None:
    link = seen.links.get(ends)
    signal = link.signal if link is not None else None
    return signal.mean_dbm if signal is not None and signal.samples >= ENOUGH else None
