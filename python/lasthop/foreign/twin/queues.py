"""Output of `tc -s qdisc` of iproute2, also with -j: the queue of each device, as a key of a scenario.

A container (mq, htb, …) passes packets to its leaves, and the leaf that sent most is the queue. The defaults that `tc` does not print are
those of its manual pages.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .provenance import time_text

HEAD = re.compile(r"qdisc (\S+) [0-9a-fA-F]+:(?: dev (\S+))?(.*)")
SENT = re.compile(r"\s*Sent (\d{1,19}) bytes (\d{1,19}) pkts? \(dropped (\d{1,19}), overlimits")
MARKED = re.compile(r"\becn_mark (\d{1,19})\b", re.ASCII)
CAKE_MARKED = re.compile(r"\s+marks\s+((?:\d{1,19}\s*)+)$", re.ASCII)
SIZE = re.compile(r"(\d{1,12}(?:\.\d{1,6})?)([KMG]?)b?")
TIME = re.compile(r"(\d{1,12}(?:\.\d{1,6})?)(us|ms|s|sec)")
RATE = re.compile(r"(\d{1,12}(?:\.\d{1,6})?)([kKMG]?)bit")
CAKE_TINS = {"besteffort": "besteffort", "diffserv3": "diffserv3", "diffserv4": "diffserv4"}
CAKE_ISOLATION = {
    word.replace("_", "-"): word
    for word in ("flowblind", "srchost", "dsthost", "hosts", "flows", "dual_srchost", "dual_dsthost", "triple_isolate")
}
CAKE_ISOLATION["triple"] = "triple_isolate"
"""older versions of `tc`"""
CAKE_ACKS = {"ack-filter": "on", "ack-filter-aggressive": "aggressive"}
CAKE_FRAMING = {"atm": "atm", "ptm": "ptm"}
BYTES = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}
SECONDS = {"us": 1e-6, "ms": 1e-3, "s": 1.0, "sec": 1.0}
VALUED = {
    *(
        "limit",
        "flows",
        "quantum",
        "target",
        "interval",
        "memory_limit",
        "drop_batch",
        "ce_threshold",
        "tupdate",
        "alpha",
    ),
    *(
        "beta",
        "ecn_prob",
        "step_thresh",
        "coupling_factor",
        "classic_protection",
        "min_qlen_step",
        "depth",
        "divisor",
        "perturb",
        "min",
        "max",
        "probability",
        "bandwidth",
        "rtt",
        "overhead",
        "mpu",
        "parent",
        "refcnt",
        "rate",
    ),
}
CONTAINERS = {"mq", "mqprio", "htb", "hfsc", "prio", "tbf", "drr", "ets", "qfq", "taprio", "ingress", "clsact"}
SHAPERS = ("htb", "hfsc", "tbf")
TIMES_US = ("target", "interval", "ce_threshold", "tupdate", "rtt")
"""numbers of JSON in microseconds, which the kernel cuts off: 4999 are 5 ms"""
DEVICE_PACKETS = 1000
"""txqueuelen of an Ethernet or wireless device, the limit of pfifo_fast"""
PIE_STEPS = 16
"""`tc` prints alpha and beta in sixteenths of a Hz [tc-pie(8)]"""
WIRELESS = re.compile(r"wl|ath\d|ra\d|phy\d|wifi")


@dataclass(frozen=True)
class Qdisc:
    """A queue discipline of a device."""

    kind: str
    device: str
    values: Mapping[str, str]
    flags: frozenset[str]
    packets: int | None = None
    """None without -s"""
    dropped: int = 0
    marked: int = 0

    def counts(self) -> str:
        """Its counters in words, and its rate if it shapes."""
        if self.packets is None:
            return "its counters are unknown, as `tc` ran without -s"
        rate = f"at {self.values['bandwidth']}, " if "bandwidth" in self.values else ""
        return f"{rate}dropped {self.dropped} of {self.packets + self.dropped} packets, marked {self.marked}"


def qdiscs(lines: Iterable[str]) -> list[Qdisc]:
    """The queue disciplines in the output of `tc -s qdisc`, with or without -s."""
    found: list[dict[str, Any]] = []
    for line in lines:
        if head := HEAD.match(line):
            values, flags = _options(head[1], head[3].split())
            found.append({"kind": head[1], "device": head[2] or "", "values": values, "flags": flags})
        elif found:
            found[-1] |= _counters(line)
    return [Qdisc(**one) for one in found]


def _options(kind: str, words: Sequence[str]) -> tuple[dict[str, str], frozenset[str]]:
    # A mode of isolation of CAKE, and the number of queues of others.
    valued = VALUED - {"flows"} if kind.startswith("cake") else VALUED
    values, flags = {}, set()
    rest = iter(words)
    for word in rest:
        if word in valued:
            values[word] = next(rest, "")
        else:
            flags.add(word)
    return values, frozenset(flags)


def _counters(line: str) -> dict[str, int]:
    if sent := SENT.match(line):
        return {"packets": int(sent[2]), "dropped": int(sent[3])}
    if marked := MARKED.search(line):
        return {"marked": int(marked[1])}
    if marked := CAKE_MARKED.match(line):
        return {"marked": sum(map(int, marked[1].split()))}
    return {}


def queue_of(every: Sequence[Qdisc], devices: Iterable[str]) -> tuple[Qdisc | None, list[str]]:
    """The queue of the first device that has one, and what is said of the others."""
    wanted = [device for device in devices if any(one.device == device for one in every)]
    wanted = wanted or [one.device for one in every if WIRELESS.match(one.device)]
    leaves = [one for one in every if one.device in wanted[:1] and one.kind not in CONTAINERS]
    main = max(leaves, key=lambda one: one.packets or 0, default=None)
    others = [
        one for one in every if one.kind not in CONTAINERS and one.kind != "noqueue" and one.device not in wanted[:1]
    ]
    notes = [f"tc: {one.kind} of {one.device or 'a device'} is not used: {one.counts()}" for one in others]
    shapers = [one for one in every if one.kind in SHAPERS and one.device in wanted[:1]]
    return main, notes + [f"tc: {_shaper(one)}, which is not modelled: the twin may be faster" for one in shapers]


def _shaper(one: Qdisc) -> str:
    rate = f" to {one.values['rate']}" if "rate" in one.values else ""
    return f"{one.kind} of {one.device} limits the rate{rate}"


def looks_like_json(text: str) -> bool:
    """Whether a text that begins so is of `tc -j qdisc`."""
    return text.lstrip().startswith("[") and '"kind"' in text and '"handle"' in text


def of_json(every: Any) -> list[Qdisc]:
    """The queue disciplines in the JSON of `tc -s -j qdisc`."""
    rows = [one for one in every if isinstance(one, dict)] if isinstance(every, list) else []
    return [_of_row(one) for one in rows if isinstance(one.get("kind"), str)]


def _of_row(row: Mapping[str, Any]) -> Qdisc:
    told = row["options"] if isinstance(row.get("options"), dict) else {}
    values = {key: _text(key, value) for key, value in told.items() if key in VALUED and not isinstance(value, bool)}
    flags = frozenset(key for key, value in told.items() if value is True)
    packets, dropped, marked = (row.get(key) for key in ("packets", "drops", "ecn_mark"))
    return Qdisc(
        row["kind"],
        str(row.get("dev") or ""),
        values,
        flags,
        packets if isinstance(packets, int) else None,
        dropped if isinstance(dropped, int) else 0,
        marked if isinstance(marked, int) else 0,
    )


def _text(key: str, value: Any) -> str:
    """A number of JSON as `tc` prints it."""
    if key in TIMES_US and isinstance(value, int):
        return f"{value + (value % 1000 == 999)}us"
    if key == "bandwidth" and isinstance(value, int):
        return f"{8e-6 * value:g}Mbit"
    return f"{value}sec" if key == "perturb" else str(value)


def key_of(one: Qdisc) -> tuple[Any, str]:
    """The value of a `queue` key, and its origin; None where the kernel's own queues of Wi-Fi do the work, or it is not modelled."""
    where = f"tc, {one.device}" if one.device else "tc"
    if one.kind == "noqueue":
        return None, f"seen: {where}: noqueue, so the queues of mac80211"
    make = KINDS.get(one.kind)
    if make is None:
        return None, f"assumed: {where}: {one.kind} is not modelled; {one.counts()}"
    try:
        value = make(one)
    except (KeyError, ValueError, OverflowError):
        return None, f"assumed: {where}: {one.kind} without its options; use `tc -s qdisc`"
    limit = ", whose limit is the usual length of a device's queue" if one.kind == "pfifo_fast" else ""
    return value, f"seen: {where}: {one.kind}{limit}; {one.counts()}"


def _packets(one: Qdisc) -> str:
    return f"{int(one.values['limit'].removesuffix('p'))} packets"


def _bytes(one: Qdisc, key: str) -> str:
    found = SIZE.fullmatch(one.values[key])
    if found is None:
        raise ValueError(key)
    return f"{round(float(found[1]) * BYTES[found[2]])} B"


def _time(one: Qdisc, key: str) -> str:
    return time_text(_seconds(one, key))


def _seconds(one: Qdisc, key: str) -> float:
    found = TIME.fullmatch(one.values[key])
    if found is None:
        raise ValueError(key)
    return float(found[1]) * SECONDS[found[2]]


def _codel(one: Qdisc) -> dict[str, Any]:
    found: dict[str, Any] = {"kind": "codel", "limit": _packets(one), "target": _time(one, "target")}
    found |= {"interval": _time(one, "interval"), "ecn": "ecn" in one.flags}
    return found | ({"ce_threshold": _time(one, "ce_threshold")} if "ce_threshold" in one.values else {})


def _fq_codel(one: Qdisc) -> dict[str, Any]:
    found = _codel(one) | {"kind": "fq_codel", "flows": int(one.values["flows"]), "quantum": _bytes(one, "quantum")}
    found |= {"memory_limit": _bytes(one, "memory_limit")} if "memory_limit" in one.values else {}
    return found | ({"drop_batch": int(one.values["drop_batch"])} if "drop_batch" in one.values else {})


def _cake(one: Qdisc) -> dict[str, Any]:
    found: dict[str, Any] = {"kind": "cake", **_cakes_shaper(one)}
    found |= {"rtt": _time(one, "rtt")} if "rtt" in one.values else {}
    chosen = (
        ("diffserv", CAKE_TINS),
        ("isolation", CAKE_ISOLATION),
        ("ack_filter", CAKE_ACKS),
        ("framing", CAKE_FRAMING),
    )
    words = {key: words[flag] for key, words in chosen for flag in one.flags & words.keys()}
    return found | {key: word for key, word in words.items() if key != "framing" or "bandwidth" in found}


def _cakes_shaper(one: Qdisc) -> dict[str, Any]:
    """Its rate, and the sizes that the shaper counts: of Ethernet frames with `raw`, or of IP packets with an overhead."""
    rate = RATE.fullmatch(one.values.get("bandwidth", ""))
    if rate is None:
        return {}
    found = {"bandwidth": f"{rate[1]} {rate[2]}bit/s"}
    if "raw" not in one.flags and (overhead := int(one.values.get("overhead", "0"))) >= 0:
        found["overhead"] = f"{overhead} B"
    return found | ({"mpu": f"{int(one.values['mpu'])} B"} if one.values.get("mpu", "0") != "0" else {})


def _pie(one: Qdisc) -> dict[str, Any]:
    found: dict[str, Any] = {"kind": one.kind, "limit": _packets(one), "target": _time(one, "target")}
    found |= {"t_update": _time(one, "tupdate"), "ecn": "ecn" in one.flags, "bytemode": "bytemode" in one.flags}
    return found | {key: int(one.values[key]) / PIE_STEPS for key in ("alpha", "beta") if key in one.values}


def _fq_pie(one: Qdisc) -> dict[str, Any]:
    return _pie(one) | {"flows": int(one.values["flows"]), "quantum": _bytes(one, "quantum")}


def _dualpi2(one: Qdisc) -> dict[str, Any]:
    found: dict[str, Any] = {"kind": "dualpi2", "limit": _packets(one)}
    found |= {
        ours: _time(one, its) for its, ours in (("target", "target"), ("tupdate", "t_update")) if its in one.values
    }
    found |= {key: float(one.values[key]) for key in ("alpha", "beta") if key in one.values}
    found |= {"coupling": float(one.values["coupling_factor"])} if "coupling_factor" in one.values else {}
    found |= {"step": _time(one, "step_thresh")} if TIME.fullmatch(one.values.get("step_thresh", "")) else {}
    found |= {"overload": "mark"} if "overflow" in one.flags else {}
    return found | ({"drop": "enqueue"} if "drop_enqueue" in one.flags else {})


def _sfq(one: Qdisc) -> dict[str, Any]:
    found: dict[str, Any] = {"kind": "sfq", "limit": _packets(one), "quantum": _bytes(one, "quantum")}
    found |= {key: int(one.values[key]) for key in ("depth", "divisor") if key in one.values}
    return found | ({"perturb": _time(one, "perturb")} if "perturb" in one.values else {})


def _red(one: Qdisc) -> dict[str, Any]:
    found: dict[str, Any] = {"kind": "red", **{key: _bytes(one, key) for key in ("limit", "min", "max")}}
    found |= {"ecn": "ecn" in one.flags, "adaptive": "adaptive" in one.flags, "harddrop": "harddrop" in one.flags}
    return found | ({"probability": float(one.values["probability"])} if "probability" in one.values else {})


def _fifo(one: Qdisc) -> dict[str, Any]:
    if one.kind == "pfifo_fast":
        return {"kind": "fifo", "limit": f"{DEVICE_PACKETS} packets"}
    return {"kind": "fifo", "limit": _bytes(one, "limit") if one.kind == "bfifo" else _packets(one)}


KINDS: dict[str, Callable[[Qdisc], dict[str, Any]]] = {
    "fq_codel": _fq_codel,
    "codel": _codel,
    "cake": _cake,
    "cake_mq": _cake,
    "pie": _pie,
    "fq_pie": _fq_pie,
    "dualpi2": _dualpi2,
    "sfq": _sfq,
    "red": _red,
    **dict.fromkeys(("pfifo", "bfifo", "pfifo_fast"), _fifo),
}
