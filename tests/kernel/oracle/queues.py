"""Queue disciplines beside a kernel's: the same arrivals, the same rate, and what each makes of them.

A guest sends TCP and datagrams through a router whose `tbf` has the discipline as its child. What came to the router is
then replayed through ours, which an equal token bucket serves (`crates/link/examples/replay_arrivals.rs`). The replay is
open: arrivals are those that the kernel's drops led to. What both drop and how long the rest waits is kept in
recorded/queues.json.
"""

from __future__ import annotations

import datetime
import json
import os
import subprocess
import sys
from collections import defaultdict, deque
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy
import versions
from guest import carried_out
from lasthop.kernel.emulation import Kernel, find_kernel
from order import Order
from records import segments

HERE = Path(__file__).parent
ROOT = HERE.parents[2]
RATE_BPS = 20_000_000
# The start, when windows open, is left out.
FROM_S = 1.0
# A packet still in the queue when the recording ends is neither sent nor dropped.
LEFT_OUT_S = 1.0
REPLAYS = 10


@dataclass(frozen=True)
class Case:
    """A discipline under both names, with equal parameters."""

    kernel: str
    """as tc(8) has it"""
    ours: tuple[str, ...]
    t_update_ms: int | None = None
    """the time between two updates of a probability, where there are any"""

    def told(self, kernel: Kernel) -> tuple[str, ...]:
        """Ours, with the timer of this kernel."""
        return (
            self.ours
            if self.t_update_ms is None
            else (*self.ours, f"t_update={versions.timer(self.t_update_ms, kernel)}")
        )


# Our queues get the parameters of the set-up. A timer of a kernel is rounded up to ticks and one tick late: at 100 Hz
# PIE set to 20 ms calculates every 30 ms, as `tc -s` shows. The packet for which `tbf` waits
# for tokens counts against the limit of SFQ. RED counts it too, and Ethernet frames, of which the thresholds here are so
# many times 1500/1514, less one; its weight is what tc makes of a burst of 20, 2^-3.
CASES = {
    "fq_codel": Case("fq_codel", ("fq_codel",)),
    "sfq": Case("sfq limit 127", ("sfq", "limit=126 packets")),
    "pie": Case("pie tupdate 20ms", ("pie",), t_update_ms=20),
    "codel": Case("codel", ("codel",)),
    "fq_pie": Case("fq_pie tupdate 20ms", ("fq_pie",), t_update_ms=20),
    "red": Case(
        "red limit 200000 min 15000 max 45000 avpkt 1000 burst 20 bandwidth 20mbit probability 0.1",
        (
            "red",
            "limit=200000 B",
            "min=13361 B",
            "max=43084 B",
            "probability=0.1",
            "weight=0.125",
            "bandwidth=20 Mbit/s",
            "avpkt=1000 B",
            "gentle=false",
        ),
    ),
}


@dataclass(frozen=True)
class Outcome:
    """What a queue made of its arrivals."""

    packets: int
    dropped: int
    delay_mean_s: float
    """from arrival to departure, of what was sent"""
    delay_p95_s: float


def recorded(folder: Path) -> tuple[list[tuple[int, int, int]], list[int | None]]:
    """Arrivals as time in ns, flow and bytes; and when each left, if it did."""
    arrivals: list[tuple[int, int, int]] = []
    waiting: dict[int, deque[tuple[int, int]]] = defaultdict(deque)
    for segment in segments(folder / "in.bin"):
        if not segment.outgoing:
            waiting[segment.server].append((segment.identification, len(arrivals)))
            arrivals.append((segment.at_ns, segment.server, segment.bytes))
    departures: list[int | None] = [None] * len(arrivals)
    # A flow keeps its order, so a missing packet before one that left was dropped.
    for segment in segments(folder / "out.bin"):
        queue = waiting[segment.server]
        while segment.outgoing and queue:
            identification, number = queue.popleft()
            if identification == segment.identification:
                departures[number] = segment.at_ns
                break
    return arrivals, departures


def replayed(
    arrivals: list[tuple[int, int, int]],
    ours: tuple[str, ...],
    order: Order,
    seed: int,
    facts: list[tuple[int, int]] | None = None,
) -> list[int | None]:
    """When each arrival leaves our discipline, if it does. `facts` has the host and the code point of each."""
    began = arrivals[0][0]
    more = ["" if facts is None else f" {facts[number][0]} {facts[number][1]}" for number in range(len(arrivals))]
    text = "".join(f"{at - began} {flow} {size}{end}\n" for (at, flow, size), end in zip(arrivals, more, strict=True))
    command = ("cargo", "run", "-q", "-p", "lasthop-link", "--example", "replay_arrivals", "--")
    rate = "unlimited" if order.own_shaper else f"{order.rate_bps} bit/s"
    told = (rate, f"{order.burst_bytes} B", str(seed), *ours)
    answer = subprocess.run((*command, *told), cwd=ROOT, input=text, check=True, stdout=subprocess.PIPE, text=True)
    departures: list[int | None] = [None] * len(arrivals)
    for line in answer.stdout.splitlines():
        number, at, fate = line.split()
        if fate == "sent":
            departures[int(number)] = began + int(at)
    return departures


def outcome(arrivals: list[tuple[int, int, int]], departures: list[int | None]) -> Outcome:
    """Of what came between the start and the end."""
    first, last = arrivals[0][0] + FROM_S * 1e9, arrivals[-1][0] - LEFT_OUT_S * 1e9
    pairs = [(at, left) for (at, _, _), left in zip(arrivals, departures, strict=True) if first <= at <= last]
    delays = numpy.array([left - at for at, left in pairs if left is not None]) / 1e9
    return Outcome(len(pairs), len(pairs) - len(delays), float(delays.mean()), float(numpy.quantile(delays, 0.95)))


def compare(case: Case, kernel: Kernel, duration_s: float, replays: int = REPLAYS) -> tuple[Outcome, list[Outcome]]:
    """The kernel's discipline, and ours with several seeds."""
    order = Order(case.kernel, RATE_BPS, duration_s=duration_s, datagrams_hz=200)
    with carried_out(order, kernel) as folder:
        arrivals, departures = recorded(folder)
    ours = [outcome(arrivals, replayed(arrivals, case.told(kernel), order, seed)) for seed in range(1, replays + 1)]
    return outcome(arrivals, departures), ours


def main(names: list[str]) -> None:
    """Compares disciplines and keeps what came of it."""
    kernel = find_kernel(os.environ.get("LASTHOP_KERNEL", "own"))
    file = versions.kept_file("queues", kernel.version)
    kept = json.loads(file.read_text()) if file.exists() else {"disciplines": {}}
    kept |= {"kernel": kernel.version, "hz": kernel.hz, "date": str(datetime.date.today())}
    for name in names or CASES:
        theirs, ours = compare(CASES[name], kernel, duration_s=20)
        kept["disciplines"][name] = {"kernel": asdict(theirs), "ours": [asdict(it) for it in ours]}
        file.parent.mkdir(exist_ok=True)
        file.write_text(json.dumps(kept, indent=1) + "\n")
        sys.stdout.write(f"{name}: {theirs}\n{' ' * len(name)}  {ours[0]}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1:])
