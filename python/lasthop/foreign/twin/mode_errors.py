"""The loss of an MPDU in each mode by its signal-to-noise ratio (SNR), by the engine's error model `nist`, and gains of Nakagami fading."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import exp, factorial, log10

from ... import _core
from .observation import Mode

FADINGS: tuple[int | None, ...] = (None, 12, 6, 3, 1)
"""shapes of Nakagami fading that are tried; None for a constant signal, 1 for Rayleigh's"""
EDGES = (0.0, 0.001, 0.004, 0.012, 0.035, 0.09, 0.2, 0.4, 0.6, 0.8, 1.0)
"""shares of the time between which a gain is that in their middle: deep fades are rare, and all that a strong link loses"""


def has_losses(mode: Mode) -> bool:
    """Whether the engine has this mode."""
    return _core.mpdu_losses(mode, mode.streams, 0.0, ()) is not None


def mpdu_losses(mode: Mode, mpdu_bytes: float, snrs_db: Sequence[float], antennas: int) -> list[float]:
    """The probability that noise destroys an MPDU at each SNR, which is for noise of 20 MHz."""
    losses = _core.mpdu_losses(mode, antennas, mpdu_bytes, snrs_db)
    assert losses is not None, "the engine has the mode"
    return losses


def gains_db(fading: int | None) -> tuple[float, ...]:
    """Gains of the gamma distribution with mean 1 and this shape, from the deepest fade on."""
    if fading is None:
        return (0.0,)
    middles = [(low + high) / 2 for low, high in pairwise(EDGES)]
    return tuple(10 * log10(_gamma_quantile(fading, share) / fading) for share in middles)


def weights(fading: int | None) -> tuple[float, ...]:
    """The share of the time of each gain."""
    return (1.0,) if fading is None else tuple(high - low for low, high in pairwise(EDGES))


def _gamma_quantile(shape: int, share: float) -> float:
    """By bisection: P(X <= x) = 1 - exp(-x) sum over i < shape of x^i / i!."""
    low, high = 0.0, 20.0 * shape
    for _ in range(60):
        x = (low + high) / 2
        above = exp(-x) * sum(x**i / factorial(i) for i in range(shape))
        low, high = (x, high) if 1 - above < share else (low, x)
    return (low + high) / 2
