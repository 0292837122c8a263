"""The measurements of all cases and simulators, and the numbers drawn from them: medians over the rounds."""

from __future__ import annotations

from statistics import median
from typing import Any, NamedTuple

from cases import CASES, Case
from checks import Check
from child import Failed
from history import Ratio, ratio_of
from simulators import Lasthop, Sample

# Speed of lasthop relative to the peer in each case, beside the targets.
TARGETS = {
    ("uplink-11b", "ns3"): 300,
    ("saturation-20", "ns3"): 400,
    ("saturation-11n", "ns3"): 100,
}
GROWTH_BOUND = 3


class Row(NamedTuple):
    """One simulator on one case; `ratio` is its cost over lasthop's, `interval` the same round by round with its interval."""

    case: Case
    simulator: Any
    cost: float
    goodput_bps: float
    ratio: float
    interval: Ratio | None


class Table:
    """Samples by case and simulator, taken in turns: all simulators of a case, the next case, the next round."""

    def __init__(self, simulators: list[Any]) -> None:
        self.simulators = simulators
        self._samples: dict[tuple[str, str], list[Sample]] = {}

    def measure(self, case: Case, seed: int) -> None:
        """One round of one case. A peer that fails counts as missing from then on."""
        for simulator in self.simulators:
            if simulator.missing is not None or not (isinstance(simulator, Lasthop) or simulator.key in case.peers):
                continue
            try:
                self._samples.setdefault((case.name, simulator.key), []).append(simulator.sample(case, seed))
            except Failed as failure:
                if isinstance(simulator, Lasthop):
                    raise
                last_words = " ".join(str(failure).replace("|", "/").split())[-80:]
                simulator.missing = f"failed: …{last_words}"

    def median(self, case: Case, key: str, number: str) -> float:
        """The median over the rounds of one number of a simulator's samples."""
        return median(getattr(sample, number) for sample in self._samples[case.name, key])

    def samples(self, case: Case, key: str) -> list[Sample]:
        """All of them, in the order of the rounds."""
        return self._samples[case.name, key]

    def costs(self) -> dict[str, dict[str, list[float]]]:
        """CPU seconds for a simulated second by case and simulator, one a round."""
        found: dict[str, dict[str, list[float]]] = {}
        for (case, key), samples in self._samples.items():
            found.setdefault(case, {})[key] = [sample.cost for sample in samples]
        return found

    def rows(self, case: Case) -> list[Row]:
        """lasthop's row, then those of the peers that ran."""
        ours = self.median(case, "lasthop", "cost")
        rows = []
        for simulator in self.simulators:
            if self._samples.get((case.name, simulator.key)):
                cost, goodput = (self.median(case, simulator.key, what) for what in ("cost", "goodput_bps"))
                rounds = [[one.cost for one in self.samples(case, key)] for key in ("lasthop", simulator.key)]
                rows.append(Row(case, simulator, cost, goodput, cost / ours, ratio_of(*rounds)))
        return rows

    def cost(self, name: str, key: str) -> float:
        """CPU seconds that an engine takes for a simulated second of the case of that name."""
        return self.median(_case(name), key, "cost")

    def ratio(self, name: str, peer: str, key: str) -> float | None:
        """The CPU time of a peer over that of an engine; None where the peer did not run."""
        if not self._samples.get((name, peer)):
            return None
        return self.cost(name, peer) / self.cost(name, key)

    def seconds_per_delivery(self, name: str, key: str = "lasthop") -> float:
        """CPU seconds of an engine for each packet or segment delivered."""
        case = _case(name)
        packets_per_s = self.median(case, key, "goodput_bps") / (8 * case.payload_bytes)
        return self.cost(name, key) / packets_per_s

    def seconds_per_attempt(self, name: str, key: str = "lasthop") -> float:
        """CPU seconds of an engine for each data frame sent, retransmissions counted."""
        return self.cost(name, key) / self.median(_case(name), key, "attempts_per_s")

    def events_per_attempt(self, name: str, key: str = "lasthop") -> float:
        """Events for each data frame sent, retransmissions counted."""
        case = _case(name)
        return self.median(case, key, "events_per_s") / self.median(case, key, "attempts_per_s")

    def targets(self) -> list[Check]:
        """The ratios that hold in any case, as far as the peers are here, and the growth of the cost per frame."""
        words = "{}: {}'s CPU time over lasthop's".format
        found = [
            Check(words(case.title, row.simulator.label), row.ratio, target, "", at_least=True)
            for case in CASES
            for row in self.rows(case)
            if (target := TARGETS.get((case.name, row.simulator.key)))
        ]
        growth = self.seconds_per_attempt("saturation-1000") / self.seconds_per_attempt("saturation-10")
        return [*found, Check("CPU time per frame at 1000 stations over that at 10", growth, GROWTH_BOUND, "")]


def _case(name: str) -> Case:
    return next(case for case in CASES if case.name == name)
