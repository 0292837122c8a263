"""What is timed: scenarios, and how long each simulator runs them.

Start-up is kept apart: a cost is what the long run takes beyond the short one, over the simulated time between them.
The lengths make that difference about half a second of CPU time or more; ns-3's are what patience allows.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = (ROOT / "scenarios", ROOT / "benches" / "scenarios")


@dataclass(frozen=True)
class Lengths:
    """Simulated seconds of the short and of the long run, and how many of them precede the counting."""

    short_s: float
    long_s: float
    warmup_s: float


@dataclass(frozen=True)
class Case:
    """One scenario, with a number of stations in its first group; `peers` holds the lengths for the other simulators."""

    name: str
    title: str
    scenario: str
    stations: int
    lengths: Lengths
    payload_bytes: int
    peers: dict[str, Lengths] = field(default_factory=dict)
    settings: tuple[str, ...] = ()

    @property
    def file(self) -> Path:
        """The scenario: one of the ready ones, or of those beside this."""
        return next(file for folder in FOLDERS if (file := folder / f"{self.scenario}.toml").is_file())

    @property
    def script(self) -> str:
        """The name of the peers' scripts, without its ending."""
        return "uplink_11b" if self.scenario == UPLINK else self.scenario.replace("-", "_")


FIXED_11B = 'bss.rate_control={ kind = "fixed", rate = "11 Mbit/s" }'
OFFICE = "office-11ax"
UPLINK = "khademi2011-uplink-11b"
SATURATION = "saturation-11a"


def _several(name: str, title: str, lengths: Lengths) -> Case:
    return Case(name, f"{title}, 802.11a, six nodes each", name, 5, lengths, 1472)


def _saturation(stations: int, long_s: float, peers: dict[str, Lengths] | None = None) -> Case:
    title = f"saturated UDP uplink, 802.11a, {stations} stations"
    return Case(f"saturation-{stations}", title, SATURATION, stations, Lengths(50, long_s, 5), 1472, peers or {})


CASES = (
    Case(
        name="uplink-11b",
        title="ten NewReno uploads, 802.11b at 11 Mbit/s",
        scenario=UPLINK,
        stations=10,
        lengths=Lengths(200, 2200, 40),
        payload_bytes=1460,
        peers={
            "ns2": Lengths(40, 240, 20),
            "ns2-splay": Lengths(40, 240, 20),
            "ns3": Lengths(5, 27, 5),
        },
        settings=(FIXED_11B,),
    ),
    Case(
        name="uplink-11g",
        title="ten NewReno uploads, 802.11g at 54 Mbit/s",
        scenario="uplink-11g",
        stations=10,
        lengths=Lengths(40, 440, 10),
        payload_bytes=1460,
        peers={"ns2": Lengths(10, 50, 5), "ns2-splay": Lengths(10, 50, 5)},
    ),
    _saturation(10, 650),
    _saturation(20, 650, {"ns2": Lengths(2, 12, 1), "ns3": Lengths(1, 5, 1)}),
    _saturation(100, 550, {"ns2": Lengths(1, 4, 1), "ns3": Lengths(0.5, 2, 0.5)}),
    _saturation(200, 450),
    _saturation(1000, 200),
    Case(
        name="saturation-11n",
        title="saturated UDP uplink, 802.11n with A-MPDUs, 10 stations",
        scenario="saturation-11n",
        stations=10,
        lengths=Lengths(20, 140, 2),
        payload_bytes=1472,
        peers={"ns3": Lengths(1, 3, 1)},
    ),
    Case(
        name="download-11n",
        title="CUBIC downloads, 802.11n at 300 Mbit/s, two stations",
        scenario="download-11n",
        stations=2,
        lengths=Lengths(10, 50, 5),
        payload_bytes=1448,
        peers={"ns3": Lengths(4, 6, 4)},
    ),
    Case(
        name=OFFICE,
        title="office-11ax: thirty stations, mixed traffic",
        scenario="office-11ax",
        stations=4,
        lengths=Lengths(12, 42, 10),
        payload_bytes=1448,
    ),
    _several("bss-1", "one BSS", Lengths(20, 420, 5)),
    _several("bss-20-near", "20 BSSs 1 m apart", Lengths(1, 7, 0.5)),
    _several("bss-20-apart", "20 BSSs 30 m apart", Lengths(1, 4, 0.5)),
)
