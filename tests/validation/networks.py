"""Networks with A-MPDUs, wide channels and several BSSs, described once for both simulators.

`ns3/wide.py` builds them for ns-3.44 and writes `tests/data/ns3_networks.csv`; `Network.text` is the scenario file for
lasthop. Nothing here imports either of them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

from cells import DSCP

QUEUE_PACKETS = 2000
PACKET_BYTES = 1500
Place = tuple[float, float]


class Link(NamedTuple):
    """A standard and its mode. `bps` is the data rate; `ampdu_bytes` of None: the standard's greatest A-MPDU."""

    standard: str
    channel: int
    width_mhz: int
    streams: int
    mcs: int
    gi_ns: int
    bps: float
    ampdu_bytes: int | None = None
    amsdu_bytes: int | None = None
    minstrel: bool = False


class Station(NamedTuple):
    """A station that always has data for the AP of its BSS."""

    bss: int
    place: Place
    category: str = "be"
    walks_to: Place | None = None


@dataclass(frozen=True)
class Network:
    """APs in a row and their stations; those that walk do so from the end of the warm-up to the end."""

    name: str
    link: Link
    stations: tuple[Station, ...]
    aps: tuple[Place, ...] = ((0.0, 0.0),)
    # Widths of the BSSs, if they are not all the link's; their primary channel is 36.
    widths_mhz: tuple[int, ...] = ()
    seconds: float = 3.0
    warmup: float = 1.0
    # A share of the total, to which the errors of both are added.
    tolerance: float = 0.02
    # The total alone is held.
    total_only: bool = False
    # The reason for another tolerance, or for parts that are not held.
    because: str = ""

    def text(self, seconds: float | None = None) -> str:
        """The scenario file."""
        seconds = self.warmup + (seconds or self.seconds)
        text = (
            f'duration = "{seconds} s"\nwarmup = "{self.warmup} s"\n[channel]\nerror_model = "nist"\n'
            'path_loss = { kind = "log_distance", exponent = 3 }\ncapture = { threshold = "4 dB", late = "off" }\n'
        )
        text += "".join(self._bss(number, place) for number, place in enumerate(self.aps))
        text += "".join(self._station(number, station) for number, station in enumerate(self.stations))
        return text + '[wired]\nrate = "10 Gbit/s"\ndelay = "1 ms"\n'

    def width_mhz(self, bss: int) -> int:
        """The width of the channel of a BSS."""
        return self.widths_mhz[bss] if self.widths_mhz else self.link.width_mhz

    def _bss(self, number: int, place: Place) -> str:
        link = self.link
        interval = (
            {400: '"short"', 800: '"long"'}[link.gi_ns] if link.standard != "802.11ax" else f'"{link.gi_ns / 1000} us"'
        )
        limits = {"max_bytes": link.ampdu_bytes, "amsdu": link.amsdu_bytes}
        aggregation = ", ".join(f'{key} = "{size} B"' for key, size in limits.items() if size)
        used = {station.category for station in self.stations}
        control = '"minstrel_ht"' if link.minstrel else f'{{ kind = "fixed", mcs = {link.mcs} }}'
        return (
            f'[[bss]]\nname = "b{number}"\nstandard = "{link.standard}"\nchannel_width = "{self.width_mhz(number)} MHz"\n'
            f"spatial_streams = {link.streams}\nguard_interval = {interval}\nrate_control = {control}\nretry_limit = 6\n"
            + (f"aggregation = {{ {aggregation} }}\n" if aggregation else "")
            + "".join(f'edca.{category} = {{ txop_limit = "0 us" }}\n' for category in DSCP if category in used)
            + f'compat = "ns3"\nap.position = {_point(place)}\nap.queue = {{ kind = "fifo", limit = "{QUEUE_PACKETS} packets" }}\n'
        )

    def _station(self, number: int, station: Station) -> str:
        at = f"position = {_point(station.place)}"
        if station.walks_to:
            ends = zip((self.warmup, self.warmup + self.seconds), (station.place, station.walks_to), strict=True)
            points = ", ".join(f'["{at_s} s", "{x} m", "{y} m"]' for at_s, (x, y) in ends)
            at = f"waypoints = [{points}]"
        return (
            f'[[station]]\nname = "s{number}"\nbss = "b{station.bss}"\n{at}\n'
            f'queue = {{ kind = "fifo", limit = "{QUEUE_PACKETS} packets" }}\n[[flow]]\nstation = "s{number}"\ndirection = "up"\n'
            f'transport = "udp"\nrate = "saturated"\npacket_size = "{PACKET_BYTES} B"\ndscp = "{DSCP[station.category][0]}"\n'
        )


def _point(place: Place) -> str:
    return f'["{place[0]:.4f} m", "{place[1]:.4f} m"]'


def _around(count: int, distance: float = 2.0) -> tuple[Station, ...]:
    """Stations on a circle around the first AP."""
    angles = (2 * math.pi * i / count for i in range(count))
    return tuple(Station(0, (distance * math.cos(a), distance * math.sin(a))) for a in angles)


def _in_a_row(apart: float, count: int = 3) -> dict[str, tuple]:
    aps = tuple((apart * i, 0.0) for i in range(count))
    return {
        "aps": aps,
        "stations": tuple(Station(i, (x + side, 0.0)) for i, (x, _) in enumerate(aps) for side in (2.0, -2.0)),
    }


AC80 = Link("802.11ac", 42, 80, 2, 9, 400, 866.7e6)
AX80 = Link("802.11ax", 42, 80, 2, 11, 3200, 1020.8e6)
AC_ANY = Link("802.11ac", 36, 80, 1, 4, 800, 175.5e6)
AX_ANY = Link("802.11ax", 36, 80, 1, 4, 3200, 183.8e6)
N40 = Link("802.11n", 38, 40, 2, 15, 800, 270e6, 65535)
N20 = Link("802.11n", 36, 20, 1, 7, 800, 65e6, 65535)
NETWORKS = [
    Network("802.11ac, 80 MHz, MCS 9, short guard interval, 1 station", AC80, _around(1)),
    Network("802.11ac, 80 MHz, MCS 9, short guard interval, 10 stations", AC80, _around(10)),
    Network("802.11ax, 80 MHz, 1024-QAM, guard interval 3.2 us, 1 station", AX80, _around(1)),
    Network("802.11ax, 80 MHz, 1024-QAM, guard interval 3.2 us, 4 stations", AX80, _around(4)),
    Network("A-MSDUs of 3839 B in A-MPDUs, 270 Mbit/s", N40._replace(amsdu_bytes=3839), _around(1)),
    Network("three BSSs, 20 m apart, 2 uploads each", N20, **_in_a_row(20.0), seconds=6.0),
    Network("three BSSs, 40 m apart, 2 uploads each", N20, **_in_a_row(40.0), seconds=6.0),
    Network(
        "802.11ac at 80 and 20 MHz round channel 36, 10 m apart, 2 uploads each",
        AC_ANY,
        **_in_a_row(10.0, 2),
        widths_mhz=(80, 20),
        seconds=6.0,
    ),
    Network(
        "802.11ax at 40 and 80 MHz round channel 36, 10 m apart, 2 uploads each",
        AX_ANY,
        **_in_a_row(10.0, 2),
        widths_mhz=(40, 80),
        seconds=6.0,
    ),
    Network(
        "802.11ac at 20, 80 and 20 MHz round channel 36, 35 m apart, 2 uploads each",
        AC_ANY,
        **_in_a_row(35.0),
        widths_mhz=(20, 80, 20),
        seconds=6.0,
    ),
    Network(
        "Minstrel-HT from 2 to 52 m in 10 s",
        N20._replace(minstrel=True),
        (Station(0, (2.0, 0.0), walks_to=(52.0, 0.0)),),
        seconds=10.0,
        tolerance=0.06,
        because="ns-3's Minstrel-HT has no retry chain of four rates and samples by a rule that Linux has left",
    ),
    Network(
        "one station of each category, 802.11ax MCS 7, A-MPDUs",
        Link("802.11ax", 36, 20, 1, 7, 800, 86e6),
        tuple(
            Station(0, place, category)
            for category, place in zip(DSCP, ((2, 0), (0, 2), (-2, 0), (0, -2)), strict=True)
        ),
        seconds=6.0,
        total_only=True,
        because="ns-3 keeps background and best effort below their share by §10.23.2.4, as a Monte-Carlo of it has found",
    ),
]
