"""The strength of a link's signal, by the loss of each of its modes.

Noise destroys dense modes first. A link whose modes of low rates arrive and whose modes of high rates do not therefore has a
signal-to-noise ratio (SNR) between their thresholds. A twin with that SNR loses as the original does, in every mode that its own rate
control tries; an equal share of MPDUs in all modes does not.

The SNR of a link, the collisions of its sender and the fading of all are those of the greatest likelihood (`outcomes`). Collisions
are the same for all links of a sender that all nodes hear. Left out: movement.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from .fading import Fading, fading_of
from .mode_errors import FADINGS, has_losses, mpdu_losses
from .observation import Link, Mode, Seen
from .outcomes import HIGHEST_DB, LOWEST_DB, SNRS, STEP_DB, Outcomes
from .provenance import Line
from .strength import NOISE_DBM, OFF_DB, snrs_db

Ends = tuple[str, str]

COLLISIONS = tuple(0.02 * step for step in range(26))
AROUND = ((0.7, -0.01), (0.8, -0.01), (0.9, 0.0), (1.0, 0.0), (1.1, 0.0), (1.2, 0.01), (1.3, 0.02))
"""factors and offsets by which the collisions of a link may differ from the mean of its sender"""
INTERVAL = 1.92
"""drop of the logarithm of a likelihood at the bounds of a 95 % interval"""
DECIDES = 10.0
"""logarithm of the likelihood ratio from which on losses depend on the mode"""
ASYMMETRY_DB = 1.5
"""by how much both directions of a link differ at least, so that the station's power differs"""
LEAST_OF_OTHER_MODES = 0.002
"""share of MPDUs in other modes from which on a rate is not fixed"""

STRONG_DB = 45.0
"""SNR of a link that loses nothing in its fastest mode: of a station a few metres away"""
FULL_BYTES, NO_LOSS = 1538, 1e-3
"""an MPDU with a full packet, and a loss of it that counts as none"""
COARSE = 3
"""steps of the SNR at once, while collisions are estimated"""
POWER_DBM = 16.0
LOSS_AT_1_M_DB, EXPONENT = 46.6777, 3
SENSED_DBM = -82.0
"""default of channel.cca_preamble"""
ENOUGH = 50
"""attempts of a link from which its signal is estimated"""
PATH_LOSS = {
    "kind": "log_distance",
    "exponent": EXPONENT,
    "reference_distance": "1 m",
    "reference_loss": f"{LOSS_AT_1_M_DB} dB",
}


@dataclass(frozen=True)
class Signal:
    """The SNR of a station's link, on 20 MHz."""

    snr_db: float
    low_db: float
    high_db: float | None
    """None if the fastest mode loses nothing: a stronger signal would do the same"""
    up_db: float
    """by how much the station's own frames are stronger than those of its AP"""
    attempts: int
    modes: int
    seen_db: float
    """the estimate from the captures, which a fit keeps"""
    by_strength_db: float | None = None
    """the SNR by the strength of its signal, which the estimate is near"""

    @property
    def distance_m(self) -> float:
        """The distance with this SNR under the twin's path loss."""
        return max(1.0, 10 ** ((POWER_DBM - LOSS_AT_1_M_DB - NOISE_DBM - self.snr_db) / (10 * EXPONENT)))

    def lines(self) -> list[Line]:
        """The station's keys."""
        if not self.attempts:
            origin = f"estimated: an SNR of {self.snr_db:.1f} dB on 20 MHz, by its signal; {OFF_DB:g} dB more or less are possible"
            return [Line("position", [f"{self.distance_m:.2f} m", "0 m"], origin)]
        bounds = (
            f"{self.low_db:.1f} dB or more" if self.high_db is None else f"{self.low_db:.1f} to {self.high_db:.1f} dB"
        )
        near = "" if self.by_strength_db is None else f"; its signal says {self.by_strength_db:.1f} dB"
        origin = f"estimated: an SNR of {self.snr_db:.1f} dB on 20 MHz ({bounds}), by the losses of {self.attempts} attempts in {self.modes} modes{near}"
        lines = [Line("position", [f"{self.distance_m:.2f} m", "0 m"], origin)]
        if self.up_db:
            lines.append(
                Line(
                    "tx_power",
                    f"{POWER_DBM + self.up_db:.1f} dBm",
                    "estimated: its frames lose as with so much more or less power",
                )
            )
        return lines


@dataclass(frozen=True)
class Signals:
    """Those of all stations, and the collisions of each sender."""

    of: Mapping[str, Signal]
    collided: Mapping[str, float]
    fading: int | None = None
    """the shape of Nakagami fading; None without"""
    law: Fading | None = None
    """how the signals of frames fade; None if frames have none, and losses show the shape alone"""
    is_by_strength: bool = False
    """whether SNRs are those of the signals, and losses unknown or those of all modes"""
    adapting: frozenset[str] | None = None
    """the stations whose rates adapt, if their links do not show that"""

    def channel_lines(self) -> list[Line]:
        """The keys of `[channel]`."""
        lines = [
            Line("path_loss", PATH_LOSS, "assumed: distances stand for SNRs; all stations are on one side of their AP"),
            Line(
                "error_model",
                "nist",
                "assumed: losses follow from the SNR"
                if self.is_by_strength
                else "estimated: losses depend on the mode, as a signal that is too weak has them",
            ),
        ]
        if self.law is not None and self.law.kind != "none":
            lines.append(Line("fading", self.law.key, self.law.origin))
        elif self.fading is not None:
            fading = {"kind": "nakagami", "m": self.fading}
            lines.append(
                Line(
                    "fading",
                    fading,
                    "estimated: losses are spread over more modes than by a constant signal; frames have no signal to show its memory",
                )
            )
        weakest = min(signal.snr_db + min(0.0, signal.up_db) for signal in self.of.values()) + NOISE_DBM
        if weakest < SENSED_DBM + 1:
            lines.append(Line("cca_preamble", f"{weakest - 3:.0f} dBm", "estimated: the weakest link works"))
        return lines

    def with_gain(self, db: float) -> Signals:
        """The same with other SNRs of all stations."""
        return replace(self, of={name: replace(one, snr_db=one.snr_db + db) for name, one in self.of.items()})

    def corrected(self, like: Sequence[Signals]) -> Signals:
        """The same, less the difference of those that simulations of it show."""
        return replace(self, of={name: _corrected(name, signal, like) for name, signal in self.of.items()})


def _corrected(name: str, signal: Signal, like: Sequence[Signals]) -> Signal:
    there = [one.of[name] for one in like if name in one.of]
    if signal.high_db is None or not there or any(one.high_db is None for one in there):
        return signal
    mean = sum(one.snr_db for one in there) / len(there)
    return replace(
        signal, snr_db=_near(signal.snr_db + max(-1.0, min(1.0, signal.seen_db - mean)), signal.by_strength_db)
    )


def _near(snr_db: float, by_strength_db: float | None) -> float:
    """An SNR that the strength of the signal allows."""
    if by_strength_db is None:
        return snr_db
    return max(by_strength_db - OFF_DB, min(by_strength_db + OFF_DB, snr_db))


def signals_of(seen: Seen, shape: Sequence[int | None] | None = None) -> Signals | None:
    """The signals of all stations, under the fading that the signals of frames show, or else the likeliest; `shape` has the only shape if
    it is known. None if losses do not depend on the mode, or no station has adaptive rates."""
    if all(is_fixed(link) for link in seen.links.values()):
        return None
    law = fading_of(seen.links.values()) if shape is None else None
    fadings = shape or (FADINGS if law is None else [law.shape])
    tried = [_Fitted.of(seen, fading) for fading in fadings]
    # The plainest that is nearly as likely as the best.
    enough = max(one.likelihood for one in tried) - DECIDES
    best = next(one for one in tried if one.likelihood >= enough)
    return replace(best.signals(seen), law=law) if best.likelihood - best.equal_in_all > DECIDES else None


def signals_by_strength(seen: Seen, lossy: Collection[str] | None = None) -> Signals | None:
    """The signals of all stations by their strength alone, `lossy` the stations whose rates adapt if links do not show it; None without
    strengths, or if no station's rates adapt."""
    strengths = snrs_db(seen)
    adapting = None if lossy is None else frozenset(lossy) & strengths.keys()
    if not strengths or adapting == frozenset():
        return None
    found = {}
    for station, ap in seen.stations.items():
        snr = strengths.get(station, STRONG_DB)
        if adapting is not None and station not in adapting:
            # It loses nothing in its mode, so that its signal is strong enough.
            links = [link for ends in ((station, ap), (ap, station)) if (link := seen.links.get(ends)) is not None]
            snr = max([snr, *(_enough_db(link.main) for link in links)])
        found[station] = Signal(snr, snr - OFF_DB, snr + OFF_DB, 0.0, 0, 0, snr, snr)
    law = None if seen.is_of_hosts else fading_of(seen.links.values())
    return Signals(found, {}, law.shape if law else None, law, is_by_strength=True, adapting=adapting)


def _enough_db(mode: Mode) -> float:
    """An SNR at which noise destroys no packet of a mode, with the uncertainty to spare."""
    if not has_losses(mode):
        return STRONG_DB
    losses = mpdu_losses(mode, FULL_BYTES, SNRS, mode.streams)
    return next((snr for snr, loss in zip(SNRS, losses, strict=True) if loss < NO_LOSS), STRONG_DB) + OFF_DB


@dataclass(frozen=True)
class _Fitted:
    """All links under one fading, with the logarithms of their likelihood."""

    fading: int | None
    links: Mapping[Ends, Outcomes]
    collided: Mapping[Ends, float]
    likelihood: float

    @staticmethod
    def of(seen: Seen, fading: int | None) -> _Fitted:
        known = {ends: link for ends, link in seen.links.items() if link.tells_losses and link.attempts >= ENOUGH}
        links = {ends: Outcomes.of(link, seen, fading) for ends, link in known.items()}
        collided = _collisions(links, seen)
        likelihood = sum(outcomes.best(_around(collided[ends])) for ends, outcomes in links.items())
        return _Fitted(fading, links, collided, likelihood)

    @property
    def equal_in_all(self) -> float:
        """The likelihood if all modes of a link lose alike."""
        return sum(outcomes.equal_in_all(_around(self.collided[ends])) for ends, outcomes in self.links.items())

    def signals(self, seen: Seen) -> Signals:
        strengths = snrs_db(seen)
        found = {
            station: _signal(station, ap, self.links, self.collided, strengths.get(station))
            for station, ap in seen.stations.items()
        }
        senders = {sender: self.collided[sender, receiver] for sender, receiver in self.links}
        return Signals(found, senders, self.fading)


def is_fixed(link: Link) -> bool:
    """Whether a link of a network whose rates adapt has a single mode."""
    return link.share_of_main >= 1 - LEAST_OF_OTHER_MODES


def _collisions(links: Mapping[Ends, Outcomes], seen: Seen) -> dict[Ends, float]:
    """The most likely probability of a collision, the same for all links that collide alike."""
    groups: dict[tuple[str, ...], list[Ends]] = {}
    for ends in links:
        groups.setdefault(seen.alike(*ends), []).append(ends)
    found: dict[Ends, float] = {}
    for members in groups.values():
        score = {c: sum(links[ends].best((c,), COARSE) for ends in members) for c in COLLISIONS}
        found.update(dict.fromkeys(members, max(COLLISIONS, key=score.__getitem__)))
    return found


def _signal(
    station: str, ap: str, links: Mapping[Ends, Outcomes], collided: Mapping[Ends, float], by_strength_db: float | None
) -> Signal:
    both = [(ends, links[ends]) for ends in ((ap, station), (station, ap)) if ends in links]
    attempts = sum(outcomes.attempts for _, outcomes in both)
    modes = max((len(outcomes.counts) for _, outcomes in both), default=0)
    own = [_bounds(partial(_likelihoods, {ends: one}, collided), by_strength_db) for ends, one in both]
    # Where signals are those at both receivers, they would show a difference.
    if by_strength_db is None and len(own) == 2 and own[0][2] is not None and own[1][2] is not None:
        apart = own[1][0] - own[0][0]
        if abs(apart) > ASYMMETRY_DB and (own[1][1] > own[0][2] or own[0][1] > own[1][2]):
            return Signal(*own[0], round(apart, 1), attempts, modes, own[0][0])
    joint = _bounds(partial(_likelihoods, dict(both), collided), by_strength_db)
    return Signal(*joint, 0.0, attempts, modes, joint[0], by_strength_db)


def _likelihoods(
    links: Mapping[Ends, Outcomes], collided: Mapping[Ends, float], snrs_db: Sequence[float]
) -> list[float]:
    """Logarithms of the likelihood by SNR; each link has the collisions near its sender's mean that suit it best."""
    found = np.zeros(len(snrs_db))
    for ends, outcomes in links.items():
        found += outcomes.likelihoods(snrs_db, _around(collided[ends])).max(axis=1)
    return [float(value) for value in found]


def _around(c: float) -> tuple[float, ...]:
    """Probabilities of a collision of single links: retries and the load of others change them a little."""
    return tuple(min(0.9, max(0.0, c * factor + offset)) for factor, offset in AROUND)


def _bounds(
    likelihoods: Callable[[Sequence[float]], list[float]], by_strength_db: float | None
) -> tuple[float, float, float | None]:
    """The SNR of the greatest likelihood that the strength allows, with its interval, whose upper end is None if any greater one does as
    well."""
    low, high = (
        (LOWEST_DB, HIGHEST_DB)
        if by_strength_db is None
        else (min(HIGHEST_DB, by_strength_db - OFF_DB), by_strength_db + OFF_DB)
    )
    allowed = [(snr, value) for snr, value in zip(SNRS, likelihoods(SNRS), strict=True) if low <= snr <= high]
    most = max(value for _, value in allowed)
    within = [snr for snr, value in allowed if value >= most - INTERVAL]
    if within[-1] == allowed[-1][0] and within[-1] + STEP_DB > min(HIGHEST_DB, STRONG_DB):
        strong = STRONG_DB if by_strength_db is None else min(HIGHEST_DB, by_strength_db)
        return max(strong, within[0]), within[0], None
    peak = next(snr for snr, value in allowed if value == most)
    fine = [peak + STEP_DB * (place / 8 - 1) for place in range(17)]
    around = likelihoods(fine)
    return fine[around.index(max(around))], within[0] - STEP_DB / 2, within[-1] + STEP_DB / 2
