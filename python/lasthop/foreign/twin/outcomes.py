"""The likelihood of the outcomes of a link's PPDUs, mode by mode.

For each mode and SNR, noise destroys an MPDU with the probability `p`. With the probability `c` of a collision the likelihood has three
binomials for each mode:

    single frames       1 - (1 - c) (1 - p)         not answered
    A-MPDUs of k        1 - (1 - c) (1 - p^k)       not answered
    MPDUs of those      (p - p^k) / (1 - p^k)       lost alone

A signal that varies loses a little in many modes, and in bursts: then each of these is a mean over the gains of fading, which all MPDUs
of a PPDU share.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from .mode_errors import gains_db, has_losses, mpdu_losses, weights
from .observation import Link, Mode, Seen

MAC_BYTES = 38
"""header with QoS, LLC/SNAP and FCS of an MPDU"""
HIGHEST_DB, LOWEST_DB, STEP_DB = 50.0, 0.0, 0.25
"""SNRs on 20 MHz that are tried; more than the highest loses nothing in any mode"""
SNRS = [LOWEST_DB + STEP_DB * place for place in range(round((HIGHEST_DB - LOWEST_DB) / STEP_DB) + 1)]
Floats = NDArray[np.float64]
RESIDUE = 0.003
"""least and greatest probability of an outcome: what else happens to frames must not decide alone"""
Shares = tuple[float, float, float]
"""of single frames, of A-MPDUs as a whole, and of the MPDUs of those that arrive in part"""


@dataclass(frozen=True)
class Count:
    """The outcomes of the PPDUs of one mode."""

    mode: Mode
    single: int
    single_unanswered: int
    several: int
    several_unanswered: int
    mean_size: float
    large_size: float
    alone: int
    answered: int

    @staticmethod
    def of(mode: Mode) -> Count:
        several = mode.attempts - mode.single
        return Count(
            mode,
            mode.single,
            mode.single_unanswered,
            several,
            max(0, mode.unanswered - mode.single_unanswered),
            (mode.mpdus - mode.single) / several if several else 1.0,
            mode.mpdus_answered / mode.large_answered if mode.large_answered else 1.0,
            mode.mpdus_lost_alone,
            mode.mpdus_answered,
        )

    def shares(self, losses: Sequence[float], weights: Sequence[float] = (1.0,)) -> Shares:
        """The shares that noise destroys, if the loss of an MPDU is one of `losses` for all MPDUs of a PPDU, with these weights."""
        weighted = list(zip(losses, weights, strict=True))
        gone = sum(weight * p**self.large_size for p, weight in weighted)
        single = sum(weight * p for p, weight in weighted)
        alone = (single - gone) / (1 - gone) if gone < 1 else 1.0
        return single, sum(weight * p**self.mean_size for p, weight in weighted), alone

    @property
    def parts(self) -> tuple[int, int, int]:
        """Unanswered PPDUs, single and several, and MPDUs lost alone, of `wholes`."""
        return self.single_unanswered, self.several_unanswered, self.alone

    @property
    def wholes(self) -> tuple[int, int, int]:
        return self.single, self.several, self.answered


@dataclass(frozen=True)
class Outcomes:
    """The counts of a link's modes."""

    counts: tuple[Count, ...]
    mpdu_bytes: float
    antennas: int
    gains_db: tuple[float, ...]
    weights: tuple[float, ...]

    @staticmethod
    def of(link: Link, seen: Seen, fading: int | None) -> Outcomes:
        counts = tuple(Count.of(mode) for mode in link.modes if mode.attempts and has_losses(mode))
        antennas = max((mode.streams for mode in seen.modes), default=1)
        return Outcomes(counts, _mpdu_bytes(link, seen), antennas, gains_db(fading), weights(fading))

    @property
    def attempts(self) -> int:
        return sum(count.mode.attempts for count in self.counts)

    def likelihoods(self, snrs_db: Sequence[float], collided: Sequence[float]) -> Floats:
        """Logarithms of the likelihood, by SNR and by the share of PPDUs that collisions destroy: of shape (SNRs, shares)."""
        return self._likelihoods(self._shares(snrs_db), collided)

    def best(self, collided: Sequence[float], step: int = 1) -> float:
        """The logarithm of the greatest likelihood, of all SNRs and of these probabilities of a collision."""
        return float(self._likelihoods(self._all_shares[::step], collided).max())

    def equal_in_all(self, collided: Sequence[float]) -> float:
        """The same if all modes lose alike."""
        alike = np.array([[count.shares([p / 100]) for count in self.counts] for p in range(100)])
        return float(self._likelihoods(alike, collided).max())

    def _likelihoods(self, shares: Floats, collided: Sequence[float]) -> Floats:
        if not self.counts:
            return np.zeros((len(shares), len(collided)))
        parts = np.array([count.parts for count in self.counts])
        wholes = np.array([count.wholes for count in self.counts])
        passed = 1 - np.asarray(collided)[None, :, None, None]
        unanswered = _binomial(parts[:, :2], wholes[:, :2], 1 - passed * (1 - shares[:, None, :, :2]))
        lost = _binomial(parts[:, 2], wholes[:, 2], shares[:, :, 2])
        return np.asarray(unanswered.sum(axis=(2, 3)) + lost.sum(axis=1)[:, None])

    @cached_property
    def _all_shares(self) -> Floats:
        return self._of(SNRS)

    def _shares(self, snrs_db: Sequence[float]) -> Floats:
        """The shares that noise destroys, of shape (SNRs, modes, 3)."""
        return self._all_shares if snrs_db is SNRS else self._of(snrs_db)

    def _of(self, snrs_db: Sequence[float]) -> Floats:
        if not self.counts:
            return np.empty((len(snrs_db), 0, 3))
        return np.array([self._shares_of(count, snrs_db) for count in self.counts]).swapaxes(0, 1)

    def _shares_of(self, count: Count, snrs_db: Sequence[float]) -> list[Shares]:
        gained = [snr + gain for snr in snrs_db for gain in self.gains_db]
        losses, gains = mpdu_losses(count.mode, self.mpdu_bytes, gained, self.antennas), len(self.gains_db)
        return [count.shares(losses[place : place + gains], self.weights) for place in range(0, len(losses), gains)]


def _binomial(parts: NDArray[np.int64], wholes: NDArray[np.int64], p: Floats) -> Floats:
    """Logarithms of the likelihood of `parts` of `wholes`, each with the probability `p`."""
    p = np.clip(p, RESIDUE, 1 - RESIDUE)
    return np.asarray(parts * np.log(p) + (wholes - parts) * np.log1p(-p))


def _mpdu_bytes(link: Link, seen: Seen) -> float:
    """The mean size of an MPDU: data of the flows in this direction, and ACKs of those in the other."""
    is_down = link.sender in seen.aps
    station = link.receiver if is_down else link.sender
    packets = size = 0.0
    for flow in seen.flows:
        if flow.station != station:
            continue
        if (flow.direction == "down") == is_down:
            packets += flow.packets
            size += flow.bytes + flow.packets * (flow.packet_bytes - flow.payload_bytes)
        else:
            packets += flow.acks
            size += flow.acks * 52
    return MAC_BYTES + (size / packets if packets else 500.0)
