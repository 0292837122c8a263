"""Built-in algorithms as policies through knobs: what an agent with these knobs can do at least.

`BuiltIn` runs an algorithm of lasthop on what an agent sees: any congestion control without need of marks sets the window of a flow after
each ACK, any rate control without RTS of its own the retry chain of a link after each attempt. In a scenario it is
`policy = { kind = "congestion_control", algorithm = "cubic" }`, or `"rate_control"`.

`NewReno`, `Aarf` and `Minstrel` are written from their sources, to read and to extend. They are policies of `[[agent]]` and of environments alike;
tests hold the goodput of all these to the built-in algorithms' intervals. `Aarf` may see why an attempt was lost, which no radio knows.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from random import Random
from typing import TYPE_CHECKING, Any

from .. import _core
from ..study.code.policy import Policy

if TYPE_CHECKING:
    from .._core import AgentContext, Observation
    from .setup import Setup

#: Of each kind of algorithm the knobs of its flow or link.
KNOBS = {
    "congestion_control": ("window", "pacing"),
    "rate_control": tuple(
        f"rate{entry}{part}" for entry in ("", ".fallback", ".third", ".fourth") for part in ("", ".tries")
    ),
}


class BuiltIn:
    """An algorithm of lasthop as the policy of an environment's agent, in one episode.

    `kind` is "congestion_control" or "rate_control", and `algorithm` one of them; by default the scenario's own. Raises `ScenarioError`
    with the reason for an algorithm that cannot act by these knobs and quantities.

    >>> env = gym.make(scenario, **BuiltIn.arguments("congestion_control", "sta.down"))
    >>> policy = BuiltIn(env.setup, "congestion_control", "cubic", seed=3)
    """

    def __init__(self, setup: Setup, kind: str, algorithm: str | None = None, seed: int = 0) -> None:
        self._core = _core.BuiltIn(setup.core, kind, algorithm, seed)

    @staticmethod
    def arguments(kind: str, target: str, *, paced: bool = False) -> dict[str, Any]:
        """The arguments of `gym.make` for the agent of a flow, or of a link such as "sta->ap": its knobs, its quantities, its decisions.

        `paced`: it sets the pacing of the flow too, as BBR does.
        """
        event, quantities = _core.BuiltIn.needs(kind)
        table = "flows" if kind == "congestion_control" else "links"
        entity = target.replace("->", ".")
        knobs = KNOBS[kind] if paced or kind == "rate_control" else KNOBS[kind][:1]
        return {
            "control": [f"{knob}:{target}" for knob in knobs],
            "observe": [f"{table}.{entity}.{name}" for name in quantities],
            "at": f"{event}:{target}",
        }

    def act(self, observation: Observation) -> list[float] | None:
        """The values of the controls, NaN for one that is not turned; None if none is."""
        values = self._core.act(round(observation.now_s * 1e9), observation.values, observation.absent)
        return None if all(map(math.isnan, values)) else values


class NewReno(Policy):
    """NewReno [RFC 5681, RFC 6582], with one decision for each ACK: `at = "ack:FLOW"`.

    It observes `rtt_mean_s`, `segments_retransmitted`, `timeouts` and `bytes_delivered` of its flow, in this order, and sets `window`.
    A retransmission is the sign of a loss; the window is halved once in a round trip. Segments of `mss_bytes` are counted as
    they are delivered, since not every ACK gives a sample of the RTT [RFC 3465].
    """

    def __init__(self, context: AgentContext, initial_window: float = 10.0, mss_bytes: float = 1448.0) -> None:
        self.window, self.ssthresh = initial_window, float("inf")
        self.mss_bytes = mss_bytes
        self._recovers_until_s = 0.0

    def act(self, observation: Observation) -> float:
        """The window in segments."""
        rtt_s, retransmitted, timeouts, delivered = observation.values
        if timeouts > 0:
            self.ssthresh, self.window = max(self.window / 2, 2.0), 1.0
            self._recovers_until_s = observation.now_s + rtt_s
        elif retransmitted > 0 and observation.now_s >= self._recovers_until_s:
            self.ssthresh = self.window = max(self.window / 2, 2.0)
            self._recovers_until_s = observation.now_s + rtt_s
        elif retransmitted == 0:
            segments = delivered / self.mss_bytes
            self.window += segments if self.window < self.ssthresh else segments / self.window
        return self.window


class Aarf(Policy):
    """Adaptive ARF [Lacage, Manshaei, Turletti 2004], with one decision for each attempt.

    It observes `mpdu_loss_fraction` and `frames_sent` of its link, in this order, and sets `rate` and `rate.tries` to one of `rates_mbps`, in ascending
    order. Ten successes in a row, or 15 attempts and a success, are a step up; two failures in a row a step down. A step up whose
    first attempt fails is taken back, and doubles both numbers, up to 60 successes. An A-MPDU fails if less than half of it arrives.

    With a third observation, the `noise_probability` of the sender, it sees the cause of each loss: a failure for another reason than noise
    counts for nothing, since another rate would not have helped.
    """

    SUCCESSES, MOST_SUCCESSES, ATTEMPTS, FAILURES = 10, 60, 15, 2

    def __init__(self, context: AgentContext, rates_mbps: str = "6 9 12 18 24 36 48 54") -> None:
        self.rates_bps = [1e6 * float(rate) for rate in rates_mbps.split()]
        self.place = self.passed = self.failed = self.waited = 0
        self.threshold, self.timer = self.SUCCESSES, self.ATTEMPTS
        self._probes = False

    def act(self, observation: Observation) -> Sequence[float]:
        """The rate, and one attempt at it before the next decision."""
        lost, sent, *noise = observation.values
        if sent > 0 and lost <= 0.5:
            self._succeed()
        elif sent > 0 and (not noise or noise[0] > 0):
            self._fail()
        return self.rates_bps[self.place], 1.0

    def _succeed(self) -> None:
        self.passed, self.failed, self.waited, self._probes = self.passed + 1, 0, self.waited + 1, False
        if (self.passed >= self.threshold or self.waited >= self.timer) and self.place + 1 < len(self.rates_bps):
            self._step(1)
            self._probes = True

    def _fail(self) -> None:
        self.passed, self.failed, self.waited = 0, self.failed + 1, self.waited + 1
        if self._probes:
            factor = min(2 * self.threshold, self.MOST_SUCCESSES) / self.threshold
            self.threshold, self.timer = round(factor * self.threshold), round(factor * self.timer)
            self._step(-1)
        elif self.failed >= self.FAILURES:
            self.threshold, self.timer = self.SUCCESSES, self.ATTEMPTS
            self._step(-1)

    def _step(self, by: int) -> None:
        self.place = max(0, self.place + by)
        self.passed = self.failed = self.waited = 0
        self._probes = False


class Minstrel(Policy):
    """Minstrel of Linux 3.10 over 802.11a [its documentation on wireless.wiki.kernel.org], with one decision for each attempt.

    It observes `mpdu_loss_fraction`, `frames_sent` and `mean_data_rate_bps` of its link, in this order, and sets `rate`, `rate.tries`,
    `rate.fallback`, `rate.fallback.tries`, `rate.third`, `rate.third.tries` and `rate.fourth` for the next frame:

    as a rule                  best throughput, second best, best probability, lowest rate
    sampling a faster rate     the sampled one, best throughput, best probability, lowest rate
    sampling a slower rate     best throughput, the sampled one, best probability, lowest rate
    """

    RATES = (6e6, 9e6, 12e6, 18e6, 24e6, 36e6, 48e6, 54e6)
    #: time between two updates of the statistics in seconds, and the share of the past in them
    WINDOW_S, EWMA = 0.1, 0.75
    #: share of frames that sample, and samples in a window of a rate that is sure or hopeless
    LOOKAROUND, FEW_SAMPLES = 0.1, 4
    SURE, HOPELESS = 0.95, 0.1
    #: windows without an attempt after which a slower rate is sampled first
    FORGOTTEN = 20
    #: time for the attempts of an entry in seconds, and most of them
    SEGMENT_S, MOST_TRIES = 6e-3, 7

    def __init__(self, context: AgentContext) -> None:
        count = len(self.RATES)
        self.chance, self.unseen = [0.0] * count, [0] * count
        self.tried, self.passed = [0] * count, [0] * count
        self.samples_left: list[float] = [float("inf")] * count
        self.best = self.second = self.likely = 0
        self._random = Random(context.seed)
        self._order: list[int] = []
        self._frames = self._samples = 0
        self._deferred: int | None = None
        self._updated_s = 0.0

    def act(self, observation: Observation) -> Sequence[float] | None:
        """The first three rates, each with its attempts, and the last rate; None while a frame is repeated."""
        lost, sent, rate = observation.values
        if sent > 0:
            at = min(range(len(self.RATES)), key=lambda place: abs(self.RATES[place] - rate))
            self.tried[at] += 1
            self.passed[at] += lost < 0.5
            if at == self._deferred:
                # A deferred sample counts once it is made.
                self._samples, self._deferred = self._samples + 1, None
        if observation.now_s - self._updated_s > self.WINDOW_S:
            self._updated_s = observation.now_s
            self._update()
        return None if sent > 0 and lost >= 0.5 else self._chain()

    def _chain(self) -> Sequence[float]:
        self._deferred = None
        self._frames += 1
        owed = int(self._frames * self.LOOKAROUND) - self._samples
        if owed >= 0:
            self._samples += max(0, owed - 2 * len(self.RATES))
            sample = self._next_sample()
            if sample < self.best and self.unseen[sample] < self.FORGOTTEN:
                self._deferred = sample
                return self._of(self.best, sample)
            if self.samples_left[sample] > 0:
                self.samples_left[sample] -= 1
                self._samples += 1
                return self._of(sample, self.best)
        return self._of(self.best, self.second)

    def _of(self, first: int, then: int) -> Sequence[float]:
        chain = [value for of in (first, then, self.likely) for value in (self.RATES[of], float(self._tries(of)))]
        return [*chain, self.RATES[0]]

    def _next_sample(self) -> int:
        """Each rate comes once, in a random order, before any comes again."""
        if not self._order:
            self._order = self._random.sample(range(len(self.RATES)), len(self.RATES))
        return self._order.pop()

    def _is_clear(self, place: int) -> bool:
        return not self.HOPELESS <= self.chance[place] <= self.SURE

    def _tries(self, place: int) -> int:
        tries, window, spent_s = 1, 15, perfect_s(self.RATES[place], 1204) + perfect_s(self.RATES[0], 14)
        while True:
            spent_s += perfect_s(self.RATES[place], 14) + perfect_s(self.RATES[place], 1204) + 9e-6 * window / 2
            window = min(2 * window + 1, 1023)
            if spent_s >= self.SEGMENT_S or tries >= self.MOST_TRIES:
                return min(tries, 2) if self._is_clear(place) else tries
            tries += 1

    def _throughput(self, place: int) -> float:
        chance = self.chance[place]
        return chance / perfect_s(self.RATES[place], 1204) if chance >= self.HOPELESS else 0.0

    def _update(self) -> None:
        for place, tried in enumerate(self.tried):
            if tried:
                self.chance[place] = self.EWMA * self.chance[place] + (1 - self.EWMA) * self.passed[place] / tried
            self.unseen[place] = 0 if tried else self.unseen[place] + 1
            self.tried[place] = self.passed[place] = 0
            self.samples_left[place] = self.FEW_SAMPLES if self._is_clear(place) else float("inf")
        ranked = sorted(range(len(self.RATES)), key=lambda place: (-self._throughput(place), place))
        self.best, self.second = ranked[:2]
        # Of the sure ones the fastest, else the most probable.
        sure = [place for place in ranked if self.chance[place] >= self.SURE]
        self.likely = sure[0] if sure else max(range(len(self.RATES)), key=lambda place: self.chance[place])


def perfect_s(rate_bps: float, size_bytes: int) -> float:
    """SIFS and a PPDU of 802.11a: 20 us of preamble and SIGNAL, symbols of 4 us [802.11-2020 §17.4.3]."""
    symbols = -(-(16 + 6 + 8 * size_bytes) // int(rate_bps * 4e-6))
    return 16e-6 + 20e-6 + 4e-6 * symbols
