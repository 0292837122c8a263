"""The queueing discipline under `split_queue`: HTB with a class for data and one for pure ACKs.

HTB because every distribution's kernel has it, because its classes take turns by deficit round robin with a quantum each, and
because it has a rate: above a Wi-Fi device with its own queue no packet waits unless this discipline is slower.
A quantum of one full packet for data and one of a bare ACK gives each queue a packet a turn, as `queue = "split_ack"` does; 50
packets fit into each. [hashimoto2008 §III-B]
"""

from __future__ import annotations

import json
import subprocess

from .requirements import HostError, run

HANDLE = 0x1AC0
DATA_CLASS = HANDLE << 16 | 2
ACK_CLASS = HANDLE << 16 | 3
# With the Ethernet header: a full packet, and an ACK with timestamps over IPv4.
DATA_QUANTUM = 1514
ACK_QUANTUM = 66
LIMIT_PACKETS = 50
# No device is faster.
UNLIMITED = "100gbit"


def set_up(device: str, rate: str | None) -> None:
    """Replaces the kernel's own choice of a discipline."""
    if (kind := _own_discipline(device)) is not None:
        raise HostError(
            f"{device}: has a queueing discipline that somebody chose, {kind}; `tc qdisc del dev {device} root` first"
        )
    rate = rate or UNLIMITED
    run(*_tc("qdisc", "add", device), "root", "handle", f"{HANDLE:x}:", "htb", "default", "2")
    try:
        run(*_class(device, f"{HANDLE:x}:", 1), "rate", rate, "ceil", rate, "quantum", str(DATA_QUANTUM))
        for number, quantum in ((2, DATA_QUANTUM), (3, ACK_QUANTUM)):
            run(*_class(device, f"{HANDLE:x}:1", number), "rate", "8kbit", "ceil", rate, "quantum", str(quantum))
            limit = ("pfifo", "limit", str(LIMIT_PACKETS))
            run(*_tc("qdisc", "add", device), "parent", f"{HANDLE:x}:{number}", *limit)
    except HostError:
        take_down(device)
        raise


def take_down(device: str) -> None:
    """Takes it away; the kernel puts its own in its place."""
    run(*_tc("qdisc", "del", device), "root", "handle", f"{HANDLE:x}:")


def _tc(thing: str, action: str, device: str) -> tuple[str, ...]:
    return ("tc", thing, action, "dev", device)


def _class(device: str, parent: str, number: int) -> tuple[str, ...]:
    return (*_tc("class", "add", device), "parent", parent, "classid", f"{HANDLE:x}:{number}", "htb")


def _own_discipline(device: str) -> str | None:
    """The kind of the root discipline, if it has a handle: the kernel's own choices have none."""
    done = subprocess.run(("tc", "-json", "qdisc", "show", "dev", device), capture_output=True, text=True, check=False)
    for discipline in json.loads(done.stdout or "[]"):
        if discipline.get("root") and discipline.get("handle") != "0:":
            return str(discipline["kind"])
    return None
