"""The error model `yans` for OFDM, as in crates/wifi/src/phy/error_model/yans.rs. [Lacage, Henderson 2006]

error_model = { kind = "python", file = "yans.py", class = "Yans" }
"""

from math import comb, erfc, exp, log1p, sqrt

import lasthop

BITS = {"bpsk": 1, "qpsk": 2, "qam16": 4, "qam64": 6, "qam256": 8, "qam1024": 10}
# By the code rate in twelfths: the free distance, and the number of error events at that distance and at the next.
EVENTS = {6: (10, (11, 0)), 8: (6, (1, 16)), 9: (5, (8, 31)), 10: (4, (14, 69))}


class Yans(lasthop.ErrorModel):
    """Bit errors over white noise with the first terms of the convolutional code."""

    needs_sinr = True

    def __init__(self, context):
        pass

    def success_probability(self, frame):
        if frame.modulation not in BITS:
            raise ValueError(f"{frame.modulation}: this model is for OFDM; set bss.rates to rates of OFDM")
        raw = raw_bit_error(frame)
        distance, counts = EVENTS[round(frame.code_rate * 12)]
        counts = counts[:1] if frame.modulation == "bpsk" else counts
        error = sum(count * prefers_wrong(raw, distance + i) for i, count in enumerate(counts))
        return exp(frame.bits * log1p(-min(error, 1.0))) if error < 1.0 or not frame.bits else 0.0


def raw_bit_error(frame):
    """Bit error probability of square QAM with Gray mapping. [Proakis 2001 §5.2]"""
    coded_bps = frame.rate_bps / frame.streams / frame.code_rate
    ebn0 = frame.sinr * frame.antennas_per_stream * frame.bandwidth_hz / coded_bps
    bits = BITS[frame.modulation]
    if bits == 1:
        return 0.5 * erfc(sqrt(ebn0))
    one_axis = (1.0 - 2.0 ** (-bits / 2)) * erfc(sqrt(1.5 * bits * ebn0 / (2.0**bits - 1.0)))
    return one_axis * (2.0 - one_axis) / bits


def prefers_wrong(p, d):
    """Probability that hard decisions find a sequence at distance `d` nearer than the sent one. [Proakis 2001 §8.2]"""
    halves = ((d + 1) // 2, d + 1)
    return sum(
        (0.5 if 2 * i == d else 1.0) * comb(d, i) * p**i * (1.0 - p) ** (d - i) for i in reversed(range(*halves))
    )
