"""The measurements of all cases and simulators, and the numbers drawn from them: medians over the rounds."""

from __future__ import annotations

from statistics import median
from typing import Any, NamedTuple

from cases import CASES, OFFICE, Case
from checks import Check
from child import Failed
from simulators import Sample

# How many times faster than the peer lasthop is meant to be.
TARGETS = {
    ("uplink-11b", "ns2"): 12,
    ("uplink-11b", "ns3"): 300,
    ("saturation-20", "ns3"): 400,
    ("saturation-100", "ns3"): 1500,
    ("saturation-11n", "ns3"): 100,
    ("download-11n", "ns3"): 60,
}
# Simulated seconds of the office for each second of CPU time.
REAL_TIME_BOUND = 20
GROWTH_BOUND = 3


class Row(NamedTuple):
    """One simulator on one case; `ratio` is its cost over lasthop's."""

    case: Case
    simulator: Any
    cost: float
    goodput_bps: float
    ratio: float


class Table:
    """Samples by case and simulator, taken in turns: all simulators of a case, the next case, the next round."""

    def __init__(self, simulators: list[Any]) -> None:
        self.simulators = simulators
        self._samples: dict[tuple[str, str], list[Sample]] = {}

    def measure(self, case: Case, seed: int) -> None:
        """One round of one case. A peer that fails counts as missing from then on."""
        for simulator in self.simulators:
            if simulator.missing is not None or (simulator.key != "lasthop" and simulator.key not in case.peers):
                continue
            try:
                self._samples.setdefault((case.name, simulator.key), []).append(simulator.sample(case, seed))
            except Failed as failure:
                if simulator.key == "lasthop":
                    raise
                last_words = " ".join(str(failure).replace("|", "/").split())[-80:]
                simulator.missing = f"failed: …{last_words}"

    def median(self, case: Case, key: str, number: str) -> float:
        """The median over the rounds of one number of a simulator's samples."""
        return median(getattr(sample, number) for sample in self._samples[case.name, key])

    def samples(self, case: Case, key: str) -> list[Sample]:
        """All of them, in the order of the rounds."""
        return self._samples[case.name, key]

    def rows(self, case: Case) -> list[Row]:
        """lasthop's row, then those of the peers that ran."""
        ours = self.median(case, "lasthop", "cost")
        rows = []
        for simulator in self.simulators:
            if self._samples.get((case.name, simulator.key)):
                cost, goodput = (self.median(case, simulator.key, what) for what in ("cost", "goodput_bps"))
                rows.append(Row(case, simulator, cost, goodput, cost / ours))
        return rows

    def seconds_per_delivery(self, case: Case) -> float:
        """CPU seconds of lasthop for each packet or segment delivered."""
        packets_per_s = self.median(case, "lasthop", "goodput_bps") / (8 * case.payload_bytes)
        return self.median(case, "lasthop", "cost") / packets_per_s

    def seconds_per_attempt(self, case: Case) -> float:
        """CPU seconds of lasthop for each data frame sent, retransmissions counted."""
        return self.median(case, "lasthop", "cost") / self.median(case, "lasthop", "attempts_per_s")

    def targets(self) -> list[Check]:
        """The ratios that are aimed at, as far as the peers are here, and the growth of the cost per frame."""
        words = "{}: {}'s CPU time over lasthop's".format
        found = [
            Check(words(case.title, row.simulator.label), row.ratio, target, "", at_least=True)
            for case in CASES
            for row in self.rows(case)
            if (target := TARGETS.get((case.name, row.simulator.key)))
        ]
        small, large = (next(case for case in CASES if case.name == f"saturation-{n}") for n in (10, 1000))
        growth = self.seconds_per_attempt(large) / self.seconds_per_attempt(small)
        office = next(case for case in CASES if case.name == OFFICE)
        pace = Check(f"{office.title}: times faster than real time", 1 / self.median(office, "lasthop", "cost"), REAL_TIME_BOUND, "", at_least=True)
        return [*found, pace, Check("CPU time per frame at 1000 stations over that at 10", growth, GROWTH_BOUND, "")]
