"""The loss of an MPDU in each mode by its signal-to-noise ratio (SNR), as in the error model `nist`, and gains of Nakagami fading.

The union bound of the convolutional code, with hard decisions [Pei, Henderson 2010]. Left out: DSSS.
"""

from __future__ import annotations

from math import erfc, exp, expm1, factorial, log1p, log10, sqrt

from .observation import Mode

# Modulation: the share of bits next to another decision, and the mean energy in units of half the distance, squared.
BPSK, QPSK, QAM16, QAM64, QAM256, QAM1024 = (
    (1.0, 1.0),
    (1.0, 2.0),
    (3 / 4, 10.0),
    (7 / 12, 42.0),
    (15 / 32, 170.0),
    (31 / 80, 682.0),
)
# Code rate: free distance, step, bits of a period, and the weights of the first distances. [Frenger, Orten, Ottosson 1998]
HALF = (10, 2, 1, (36, 211, 1404, 11633, 77433))
TWO_THIRDS = (6, 1, 2, (3, 70, 285, 1276, 6160))
THREE_QUARTERS = (5, 1, 3, (42, 201, 1492, 10469, 62935))
FIVE_SIXTHS = (4, 1, 5, (92, 528, 8694, 79453, 792114))
MCS = (
    (BPSK, HALF),
    (QPSK, HALF),
    (QPSK, THREE_QUARTERS),
    (QAM16, HALF),
    (QAM16, THREE_QUARTERS),
    (QAM64, TWO_THIRDS),
    (QAM64, THREE_QUARTERS),
    (QAM64, FIVE_SIXTHS),
    (QAM256, THREE_QUARTERS),
    (QAM256, FIVE_SIXTHS),
    (QAM1024, THREE_QUARTERS),
    (QAM1024, FIVE_SIXTHS),
)
OFDM = {
    6: (BPSK, HALF),
    9: (BPSK, THREE_QUARTERS),
    12: (QPSK, HALF),
    18: (QPSK, THREE_QUARTERS),
    24: (QAM16, HALF),
    36: (QAM16, THREE_QUARTERS),
    48: (QAM64, TWO_THIRDS),
    54: (QAM64, THREE_QUARTERS),
}
"""[802.11-2020 Table 17-4]"""
FADINGS: tuple[int | None, ...] = (None, 12, 6, 3, 1)
"""shapes of Nakagami fading that are tried; None for a constant signal, 1 for Rayleigh's"""
GAINS = 7
"""quantiles of the gain that stand for its distribution"""


def mpdu_loss(mode: Mode, mpdu_bytes: float, snr_db: float, antennas: int) -> float | None:
    """The probability that noise destroys an MPDU, where `snr_db` is for a noise bandwidth of 20 MHz; None for DSSS."""
    if (code := coded(mode)) is None:
        return None
    (neighbours, energy), (distance, step, bits, weights) = code
    sinr = 10 ** ((snr_db - 10 * log10(mode.width_mhz / 20)) / 10) * antennas / mode.streams
    raw = 0.5 * neighbours * erfc(sqrt(sinr / energy))
    bound = sqrt(4 * raw * (1 - raw))
    error = sum(weight * bound ** (distance + place * step) for place, weight in enumerate(weights)) / (2 * bits)
    return 1.0 if error >= 1 else -expm1(8 * mpdu_bytes * log1p(-error))


def coded(mode: Mode) -> tuple[tuple[float, float], tuple[int, int, int, tuple[int, ...]]] | None:
    """Modulation and code of a mode; None for DSSS."""
    if mode.format == "ofdm":
        return OFDM.get(round(mode.rate_bps / 1e6))
    if mode.mcs is None:
        return None
    index = mode.mcs % 8 if mode.format == "ht" else mode.mcs
    return MCS[index] if index < len(MCS) else None


def gains_db(fading: int | None) -> tuple[float, ...]:
    """Gains of equal probability, of the gamma distribution with mean 1 and this shape."""
    if fading is None:
        return (0.0,)
    return tuple(10 * log10(_gamma_quantile(fading, (place + 0.5) / GAINS) / fading) for place in range(GAINS))


def _gamma_quantile(shape: int, share: float) -> float:
    """By bisection: P(X <= x) = 1 - exp(-x) sum over i < shape of x^i / i!."""
    low, high = 0.0, 20.0 * shape
    for _ in range(60):
        x = (low + high) / 2
        above = exp(-x) * sum(x**i / factorial(i) for i in range(shape))
        low, high = (x, high) if 1 - above < share else (low, x)
    return (low + high) / 2
