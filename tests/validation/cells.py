"""Cells of hidden nodes, capture, EDCA categories and PIFS, described once for both simulators.

`ns3/contention.py` builds them for ns-3.44 and writes `tests/data/ns3.csv`; `Cell.text` is the scenario file for
lasthop. Nothing here imports either of them.
"""

from __future__ import annotations

from dataclasses import dataclass, field

CATEGORIES = ("bk", "be", "vi", "vo")
# Code points that ns-3 (by the precedence bits) and RFC 8325 put into the same category: CS1, DF, CS4, and for voice
# CS6 in ns-3's precedence and VA in RFC 8325.
DSCP = {"bk": ("CS1", 0x20), "be": ("DF", 0x00), "vi": ("CS4", 0x80), "vo": ("VA", 0xC0)}
# ns-3 without an access point sends responses at the greatest mandatory rate: to 54 Mbit/s at 24, to 11 Mbit/s at 11.
MODES = {
    "a54": ("80211a", "OfdmRate54Mbps", 'standard = "802.11a"\nrate_control = { kind = "fixed", rate = "54 Mbit/s" }'),
    "a6": ("80211a", "OfdmRate6Mbps", 'standard = "802.11a"\nrate_control = { kind = "fixed", rate = "6 Mbit/s" }'),
    "b11": ("80211b", "DsssRate11Mbps", 'standard = "802.11b"'),
    # 65 Mbit/s, an Ack for each MPDU.
    "n65": (
        "80211n",
        "HtMcs7",
        'standard = "802.11n"\naggregation = "off"\nrate_control = { kind = "fixed", mcs = 7 }',
    ),
}
UDP_HEADERS = 28


@dataclass(frozen=True)
class Edca:
    """What a category has; the TXOP limit in microseconds, whole multiples of 32."""

    aifsn: int
    cw_min: int
    cw_max: int
    txop_us: int = 0


# [802.11-2020 Table 9-155], with TXOP limits of zero: one exchange.
STANDARD = {"bk": Edca(7, 15, 1023), "be": Edca(3, 15, 1023), "vi": Edca(2, 7, 15), "vo": Edca(2, 3, 7)}


@dataclass(frozen=True)
class Group:
    """Stations alike: each sends to the access point, or it to each."""

    name: str
    count: int = 1
    direction: str = "up"
    category: str = "be"
    # Offered rate of each flow; 0: always backlogged.
    offered_mbps: float = 0.0
    packet_bytes: int = 1500
    # Power below the others, in dB.
    weaker_db: float = 0.0


@dataclass(frozen=True)
class Cell:
    """Groups of stations round one access point."""

    name: str
    mode: str
    groups: tuple[Group, ...]
    # Stations do not hear one another.
    hidden: bool = False
    rts: bool = False
    # None: equal powers. "off": ns-3 without a frame capture model. "preamble": with SimpleFrameCaptureModel.
    capture: str | None = None
    edca: dict[str, Edca] = field(default_factory=lambda: dict(STANDARD))
    # AIFSN of the access point, if it has its own.
    ap_aifsn: int | None = None
    # Reserves whole TXOPs and gives the rest back by a CF-End, as ns-3 does.
    reserves_txops: bool = False
    # Maximum number of a frame's attempts; 0: unlimited.
    attempts: int = 7
    seconds: float = 4.0
    # The reason why it is shown but not asserted.
    note: str = ""

    @property
    def has_edca(self) -> bool:
        return self.mode.startswith("n")

    def text(self, seconds: float = 32.0, warmup: float = 2.0, compat: str = "ns3") -> str:
        """The scenario file."""
        channel = ""
        if self.capture:
            # A preamble is detected 4 dB above all else; a frame 5 dB stronger than the one that is received takes over.
            threshold = {"off": 4, "preamble": 5}[self.capture]
            channel = f'error_model = "nist"\ncapture = {{ threshold = "{threshold} dB", late = "{self.capture}" }}\n'
        names = [f"{group.name}{i + 1}" for group in self.groups for i in range(group.count)]
        if self.hidden:
            pairs = ", ".join(f'["{a}", "{b}"]' for i, a in enumerate(names) for b in names[i + 1 :])
            channel += f"hidden = [{pairs}]\n"
        retries = self.attempts - 1 if self.attempts else '"unlimited"'
        bss = f'{MODES[self.mode][2]}\nretry_limit = {retries}\ncompat = "{compat}"\n'
        if self.rts:
            bss += 'rts_threshold = "0 B"\n'
        if self.reserves_txops:
            bss += 'txop_protection = "multiple"\n'
        if self.has_edca:
            bss += "".join(f"edca.{category} = {_table(edca)}\n" for category, edca in self.edca.items())
        if not self.has_edca:
            bss += 'ap.access = "pifs"\n' if self.ap_aifsn == 1 else ""
        elif self.ap_aifsn is not None:
            own = ", ".join(
                f"{c} = {_table(Edca(self.ap_aifsn, e.cw_min, e.cw_max, e.txop_us))}" for c, e in self.edca.items()
            )
            bss += f'ap.access = {{ kind = "edca", {own} }}\n'
        return (
            f'duration = "{seconds} s"\nwarmup = "{warmup} s"\n[channel]\n{channel}[bss]\n{bss}'
            '[wired]\nrate = "1 Gbit/s"\ndelay = "1 ms"\n' + "".join(map(_station, self.groups))
        )


def _table(edca: Edca) -> str:
    return (
        f'{{ aifsn = {edca.aifsn}, cw_min = {edca.cw_min}, cw_max = {edca.cw_max}, txop_limit = "{edca.txop_us} us" }}'
    )


def _station(group: Group) -> str:
    # The offered rate counts payload, as in ns-3's client; `rate` counts IP packets.
    offered = group.offered_mbps * group.packet_bytes / (group.packet_bytes - UDP_HEADERS)
    rate = f"{offered:.6f} Mbit/s" if offered else "saturated"
    return (
        f'[[station]]\nname = "{group.name}"\ncount = {group.count}\ntx_power = "{16 - group.weaker_db} dBm"\n'
        f'[[flow]]\nstation = "{group.name}*"\ndirection = "{group.direction}"\ntransport = "udp"\nrate = "{rate}"\n'
        f'packet_size = "{group.packet_bytes} B"\ndscp = "{DSCP[group.category][0]}"\nstart_jitter = "10 ms"\n'
    )


# Measured with a station whose frames get no answer: a frame of ns-3.44 has seven attempts, but its contention window
# returns to CWmin after eight failures in a row, of any frames. Where frames are given up often ns-3 thus
# waits longer, 190 slots in the mean instead of 145; with eight attempts in lasthop the pairs agree.
CW_CYCLE = "ns-3's window is not reset when a frame is given up"

# 2.048 ms hold seven exchanges of 228 + 16 + 28 us and a SIFS.
SEVEN_TO_ONE = "equal access and seven exchanges in a TXOP make 7 to 1; ns-3 has 14 to 1, as the 48 us that they leave are too short for its CF-End, so that only the holder counts down"
SHORT_OVERLAPS = "the tables of ns-3, its default error model, let BPSK survive a short overlap; with its NIST model it gives 1.78, 0.72 repeated"


def _pair(**options: object) -> tuple[Group, ...]:
    return (Group("left", **options), Group("right", **options))


def _near_and_far(weaker_db: float, count: int = 1) -> tuple[Group, ...]:
    return (Group("near", count), Group("far", count, weaker_db=weaker_db))


def _one_each(*categories: str, count: int = 1) -> tuple[Group, ...]:
    return tuple(Group(category, count, category=category) for category in categories)


HIDDEN = [
    *(
        Cell(
            f"hidden pair, {mode}, {size} B{', RTS' if rts else ''}",
            mode,
            _pair(packet_bytes=size),
            hidden=True,
            rts=rts,
            note="" if rts else CW_CYCLE,
        )
        for mode, size in (("a54", 1500), ("a54", 300), ("a6", 1500))
        for rts in (False, True)
    ),
    Cell("hidden pair, b11, 1500 B", "b11", _pair(), hidden=True, note=CW_CYCLE),
    *(
        Cell(
            f"hidden pair, {mode}, 1500 B{', RTS' if rts else ''}, never given up",
            mode,
            _pair(),
            hidden=True,
            rts=rts,
            attempts=0,
            note=SHORT_OVERLAPS if (mode, rts) == ("a6", False) else "",
        )
        for mode in ("a54", "a6")
        for rts in (False, True)
    ),
    *(
        Cell(
            f"hidden pair, a54, {one:g} and {other:g} Mbit/s{', RTS' if rts else ''}",
            "a54",
            (Group("left", offered_mbps=one), Group("right", offered_mbps=other)),
            hidden=True,
            rts=rts,
            note=CW_CYCLE if one > 5 and not rts else "",
        )
        for one, other, rts in ((2.0, 1.9, False), (6.0, 5.7, False), (6.0, 5.7, True))
    ),
    Cell("four hidden, a54, 1500 B, RTS", "a54", (Group("station", 4),), hidden=True, rts=True),
]
CAPTURE = [
    Cell("near and far by 15 dB, a6", "a6", _near_and_far(15), capture="off", seconds=10),
    Cell("near and far by 30 dB, a54", "a54", _near_and_far(30), capture="off"),
    Cell(
        "near and far by 12 dB, a54",
        "a54",
        _near_and_far(12),
        capture="off",
        note="ns-3 loses fewer of the near station's frames; why was not found",
    ),
    Cell("5 near and 5 far by 15 dB, a6", "a6", _near_and_far(15, 5), capture="off", seconds=10),
    Cell("5 near and 5 far by 30 dB, a54", "a54", _near_and_far(30, 5), capture="off"),
    Cell("hidden, near and far by 30 dB, a54", "a54", _near_and_far(30), capture="off", hidden=True, note=CW_CYCLE),
    Cell(
        "hidden, near and far by 30 dB, a54, later frame captured",
        "a54",
        _near_and_far(30),
        capture="preamble",
        hidden=True,
        note=CW_CYCLE,
    ),
]
EDCA = [
    Cell("categories be and bk", "n65", _one_each("be", "bk")),
    Cell("categories be and vi", "n65", _one_each("be", "vi")),
    Cell("categories be and vo", "n65", _one_each("be", "vo")),
    Cell("categories vi and vo", "n65", _one_each("vi", "vo")),
    Cell("one station of each category", "n65", _one_each("bk", "be", "vi", "vo")),
    Cell("ten stations of best effort", "n65", _one_each("be", count=10)),
    Cell(
        "AIFSN 2 and 3, 5 stations each",
        "n65",
        _one_each("vi", "be", count=5),
        edca={**STANDARD, "vi": Edca(2, 15, 1023), "be": Edca(3, 15, 1023)},
    ),
    Cell(
        "AIFSN 2 and 7, 5 stations each",
        "n65",
        _one_each("vi", "be", count=5),
        edca={**STANDARD, "vi": Edca(2, 15, 1023), "be": Edca(7, 15, 1023)},
    ),
    Cell(
        "CWmin 15 and 31, 5 stations each",
        "n65",
        _one_each("vi", "be", count=5),
        edca={**STANDARD, "vi": Edca(3, 15, 1023), "be": Edca(3, 31, 1023)},
    ),
    Cell(
        "CWmin 7 and 63, 5 stations each",
        "n65",
        _one_each("vi", "be", count=5),
        edca={**STANDARD, "vi": Edca(3, 7, 1023), "be": Edca(3, 63, 1023)},
    ),
    *(
        Cell(
            f"TXOP limits 0 and {limit_us / 1000} ms",
            "n65",
            _one_each("vi", "be"),
            edca={**STANDARD, "vi": Edca(3, 15, 1023, limit_us), "be": Edca(3, 15, 1023)},
            reserves_txops=not note,
            note=note,
        )
        for limit_us, note in ((2144, ""), (2048, SEVEN_TO_ONE))
    ),
]
PIFS = [
    Cell(
        f"access point by {way}, {mode}, {n} stations",
        mode,
        (Group("up", n), Group("down", direction="down")),
        ap_aifsn=aifsn,
        edca={**STANDARD, "be": Edca(2, 15, 1023)},
    )
    for mode in ("a54", "n65")
    for n in (1, 5)
    for way, aifsn in (("DIFS", 2), ("PIFS", 1))
]
CELLS = [*HIDDEN, *CAPTURE, *EDCA, *PIFS]
