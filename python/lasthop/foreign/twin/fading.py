"""How a channel fades in time, by the signals of frames.

For a power `P` the correlation is `mean(P(t) P(t + τ)) / mean(P)²`. With a Doppler frequency `f` the laws of the simulator have

    jakes           1 + J0(2 π f τ)²            [Clarke 1968]
    gauss_markov    1 + exp(-4 π f τ / 3)       [TGn 2004 §4.7.1]
    nakagami        1 + max(0, 1 - τ / T) / m   blocks of a coherence time T

The law is the one of the least squares over all links and lags. A sniffer elsewhere hears other channels, whose fades have the same law.
Left out: networks in which some stations fade and others do not; shadowing, which is a constant of each link between fixed places.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import inf, pi
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .observation import Link
from .provenance import time_text

Floats = NDArray[np.float64]

ENOUGH = 300
"""samples of a link from which on they count"""
COVERED = 0.5
"""share of the samples of a link that have a partner at a lag, from which on that lag counts"""
CONSTANT = 0.03
"""relative variance of a power below which it does not fade: steps of 1 dB have 0.005"""
RAYLEIGH = (0.55, 1.6)
"""relative variances that a power with the variance of Rayleigh's, 1, may have in a short capture"""
BETTER = 0.7
"""sum of squares, of the sum of Jakes's law, below which another law is taken"""
SHAPES = (12, 6, 3, 2, 1)
DOPPLERS_HZ = tuple(0.1 * 1.07**step for step in range(100))
COHERENCE_S = tuple(0.002 * 1.07**step for step in range(100))
WAYS = 64
"""directions over which the Bessel function is a mean: exact up to arguments of about as many"""


@dataclass(frozen=True)
class Fading:
    """A law of fading."""

    kind: str
    """"none", "nakagami", "jakes" or "gauss_markov\""""
    shape: int | None
    """of Nakagami's distribution, 1 for Rayleigh's; None for a constant signal"""
    doppler_hz: float = 0.0
    coherence_s: float = 0.0
    samples: int = 0

    @property
    def key(self) -> dict[str, Any] | str:
        """As a scenario has it."""
        if self.kind == "none":
            return "none"
        if self.kind == "nakagami":
            return {"kind": "nakagami", "m": self.shape, "coherence_time": time_text(self.coherence_s)}
        return {"kind": self.kind, "doppler": f"{self.doppler_hz:.3g} Hz"}

    @property
    def origin(self) -> str:
        """Where it comes from."""
        memory = f"{self.doppler_hz:.2g} Hz" if self.doppler_hz else time_text(self.coherence_s)
        what = "vary no more than steps of 1 dB" if self.kind == "none" else f"fade with a memory of {memory}"
        return f"estimated: the signals of {self.samples} PPDUs {what}"


def fading_of(links: Iterable[Link]) -> Fading | None:
    """The law by which the signals of these links fade; None if too few frames have a signal."""
    told = [link.signal for link in links if link.signal is not None and link.signal.samples >= ENOUGH]
    if not told:
        return None
    samples = sum(signal.samples for signal in told)
    fades = [signal for signal in told if signal.variance >= CONSTANT]
    # Frames that come only while a channel is good, or bad, have pairs at few lags.
    rows = [
        (lag, (value - 1) / signal.variance, pairs / signal.samples)
        for signal in fades
        for lag, pairs, value in signal.correlation
        if pairs >= COVERED * signal.samples
    ]
    if not rows:
        return Fading("none", None, samples=samples)
    lags, left, weights = (np.array(column) for column in zip(*rows, strict=True))
    variance = float(np.mean([signal.variance for signal in fades]))
    laws = {"jakes": _jakes(lags), "gauss_markov": _gauss_markov(lags), "nakagami": _blocks(lags)}
    off = {kind: (weights * np.square(law - left)).sum(axis=1) for kind, law in laws.items()}
    if not RAYLEIGH[0] <= variance <= RAYLEIGH[1]:
        off["jakes"] = off["gauss_markov"] = np.full(1, inf)
    # A short capture decides between laws only where they differ much.
    off["jakes"] = off["jakes"] * BETTER
    kind = min(off, key=lambda name: float(off[name].min()))
    place = int(off[kind].argmin())
    if kind == "nakagami":
        shape = min(SHAPES, key=lambda m: abs(1 / m - variance))
        return Fading(kind, shape, coherence_s=COHERENCE_S[place], samples=samples)
    return Fading(kind, 1, doppler_hz=DOPPLERS_HZ[place], samples=samples)


def _jakes(lags_s: Sequence[float] | Floats) -> Floats:
    """For each Doppler frequency and lag. J0(x) is the mean of cos(x sin θ) over all directions θ."""
    x = 2 * pi * np.outer(DOPPLERS_HZ, lags_s)
    ways = np.sin((np.arange(WAYS) + 0.5) * pi / WAYS)
    return np.asarray(np.square(np.cos(x[:, :, None] * ways).mean(axis=2)))


def _gauss_markov(lags_s: Sequence[float] | Floats) -> Floats:
    return np.asarray(np.exp(-4 * pi / 3 * np.outer(DOPPLERS_HZ, lags_s)))


def _blocks(lags_s: Sequence[float] | Floats) -> Floats:
    return np.asarray(np.maximum(0.0, 1 - np.outer(1 / np.array(COHERENCE_S), lags_s)))
