"""CAKE beside a kernel's: the shaper, the tins, the hosts, and COBALT.

As in queues.py, the arrivals at a guest's router are replayed through ours. CAKE shapes by itself, except for `unlimited`, which
has the token bucket of the other disciplines. The distribution's kernel has it as a module: `LASTHOP_KERNEL=stock`. What both make
of the arrivals is kept in recorded/cake.json.
"""

from __future__ import annotations

import datetime
import json
import os
import sys
from dataclasses import asdict, dataclass
from statistics import mean

import versions
from guest import carried_out
from lasthop.kernel.emulation import Kernel, find_kernel
from order import Order
from queues import RATE_BPS, Outcome, outcome, recorded, replayed
from records import DATAGRAMS, PORT

REPLAYS = 5


@dataclass(frozen=True)
class Case:
    """Settings under both names, and what is sent."""

    kernel: str
    """after `cake`, as tc(8) has it"""
    ours: tuple[str, ...]
    flows: int = 4
    dscp: tuple[int, ...] = ()
    hosts: tuple[int, ...] = ()
    shaped: bool = True

    def order(self, duration_s: float) -> Order:
        """The order to the guest."""
        return Order(
            f"cake {self.kernel}",
            RATE_BPS,
            duration_s=duration_s,
            flows=self.flows,
            datagrams_hz=200,
            own_shaper=self.shaped,
            tos=[dscp << 2 for dscp in self.dscp],
            hosts=list(self.hosts),
        )

    def facts(self, port: int) -> tuple[int, int]:
        """The host and the code point of the packets to a port."""
        number = port - PORT
        if port == DATAGRAMS:
            return 0, 0
        return (self.hosts[number] if self.hosts else 0), (self.dscp[number] if self.dscp else 0)


BANDWIDTH = "bandwidth=20 Mbit/s"
CASES = {
    "unlimited": Case("besteffort flows", ("diffserv=besteffort", "isolation=flows"), shaped=False),
    "shaper": Case("bandwidth 20mbit besteffort flows", (BANDWIDTH, "diffserv=besteffort", "isolation=flows")),
    "atm": Case(
        "bandwidth 20mbit besteffort flows overhead 40 atm",
        (BANDWIDTH, "diffserv=besteffort", "isolation=flows", "overhead=40 B", "framing=atm"),
    ),
    "twenty flows": Case(
        "bandwidth 20mbit besteffort flows", (BANDWIDTH, "diffserv=besteffort", "isolation=flows"), flows=20
    ),
    "hosts": Case(
        "bandwidth 20mbit besteffort dual-dsthost",
        (BANDWIDTH, "diffserv=besteffort", "isolation=dual_dsthost"),
        flows=6,
        hosts=(1, 2, 2, 2, 2, 2),
    ),
    "tins": Case(
        "bandwidth 20mbit diffserv4 triple-isolate",
        (BANDWIDTH, "diffserv=diffserv4", "isolation=triple_isolate"),
        dscp=(8, 0, 34, 46),  # CS1, DF, AF41, EF
    ),
    "2 Mbit/s": Case(
        "bandwidth 2mbit besteffort flows", ("bandwidth=2 Mbit/s", "diffserv=besteffort", "isolation=flows")
    ),
    "rtt 30 ms": Case("bandwidth 20mbit rtt 30ms", (BANDWIDTH, "rtt=30 ms")),
}


def compare(
    case: Case, kernel: Kernel, duration_s: float, replays: int = REPLAYS
) -> tuple[Outcome, list[Outcome], dict[str, list[float]]]:
    """The kernel's CAKE, ours with several seeds, and the mean delay of each flow in both, in seconds."""
    order = case.order(duration_s)
    with carried_out(order, kernel) as folder:
        arrivals, departures = recorded(folder)
    facts = [case.facts(port) for _, port, _ in arrivals]
    left = [replayed(arrivals, ("cake", *case.ours), order, seed, facts) for seed in range(1, replays + 1)]
    ours = [outcome(arrivals, one) for one in left]
    return outcome(arrivals, departures), ours, delays_of_flows(arrivals, departures, left[0])


def delays_of_flows(arrivals: list[tuple[int, int, int]], *sides: list[int | None]) -> dict[str, list[float]]:
    """By the number of a flow, -1 for the datagrams: its mean delay on each side, in seconds."""
    delays: dict[int, list[list[int]]] = {}
    for (at, port, _), *left in zip(arrivals, *sides, strict=True):
        of = delays.setdefault(port - PORT, [[] for _ in sides])
        for side, departure in zip(of, left, strict=True):
            side += [] if departure is None else [departure - at]
    return {str(flow): [mean(side) / 1e9 for side in of] for flow, of in sorted(delays.items())}


def main(names: list[str]) -> None:
    """Compares cases and keeps what came of it."""
    kernel = find_kernel(os.environ.get("LASTHOP_KERNEL", "own"))
    file = versions.kept_file("cake", kernel.version)
    kept = json.loads(file.read_text()) if file.exists() else {"cases": {}}
    kept |= {"kernel": kernel.version, "date": str(datetime.date.today())}
    for name in names or CASES:
        theirs, ours, delays = compare(CASES[name], kernel, duration_s=20)
        sides = {"kernel": asdict(theirs), "ours": [asdict(it) for it in ours]}
        kept["cases"][name] = {**sides, "delay_mean_s": delays}
        kept["cases"] = {one: kept["cases"][one] for one in CASES if one in kept["cases"]}
        file.parent.mkdir(exist_ok=True)
        file.write_text(json.dumps(kept, indent=1) + "\n")
        sys.stdout.write(f"{name}: {theirs}\n{' ' * len(name)}  {ours[0]}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1:])
