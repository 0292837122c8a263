"""Why attempts were not answered: noise, less the collisions that contention explains.

An A-MPDU whose BlockAck lacks some of its MPDUs did not collide: noise alone destroyed those. So links with
A-MPDUs separate noise from collisions. A frame that is sent alone does not, and the split is only as good as the model of
contention: the closed form of saturated stations [Bianchi 2000] at first, a simulation of the twin if it is fitted.
Whom a frame is for does not change how often it collides: one probability holds for all links of a sender, unless a node that
its receiver hears does not hear it, or its receiver does not hear all.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from ... import _core
from .observation import Link, Seen
from .provenance import percent

K = TypeVar("K")
Z = 1.959963984540054
"""97.5 % quantile of the normal distribution"""
ENOUGH = 100
"""MPDUs of A-MPDUs from which their losses are taken"""
LEAST_ERROR = 0.0005
"""a smaller loss counts as zero"""
BY_CHANCE = 2.5
"""standard errors by which links may differ from their common value"""
LEAST_VARIANCE = 1e-12
"""below it, a share of a float is 0 or 1"""
SELDOM = 0.1
"""share of A-MPDUs that noise destroys as a whole, up to which those without an answer show collisions"""
CW_MAX = 1023
ATTEMPTS = 8
"""of a frame, as 802.11 has by default"""


@dataclass(frozen=True)
class Split:
    """The shares of a link's attempts that were lost to noise and to collisions."""

    noise: float
    noise_low: float
    noise_high: float
    """with the uncertainty of collisions, and the 95 % interval of the count"""
    collided: float
    unanswered: float
    attempts: int
    how: str
    """in words, for the file"""
    is_unheard: bool = False
    """not all nodes hear the sender: only a simulation shows the frames that they destroy"""
    is_of_aggregates: bool = False
    """the shares are of the MPDUs of A-MPDUs that were answered, and `attempts` are these"""
    shared: float | None = None
    """the noise of all links together, if they do not differ by more than chance"""

    @property
    def told(self) -> float:
        """Returns the loss for the twin: zero if it is within chance."""
        if self.noise_low <= 0.0 and self.shared is None:
            return 0.0
        value = self.noise if self.shared is None else self.shared
        return 0.0 if value < LEAST_ERROR else round(value, 4)


def wilson(part: int, whole: int) -> tuple[float, float]:
    """The 95 % interval of a share [Wilson 1927]."""
    if whole == 0:
        return 0.0, 1.0
    p, n = part / whole, whole
    centre = (p + Z * Z / (2 * n)) / (1 + Z * Z / n)
    half = Z * math.sqrt(p * (1 - p) / n + Z * Z / (4 * n * n)) / (1 + Z * Z / n)
    return max(0.0, centre - half), min(1.0, centre + half)


def splits_of(seen: Seen, collided: Mapping[str, float]) -> dict[tuple[str, str], Split]:
    """The splits of all links; `collided` has senders whose collisions the losses of their modes show."""
    links = {ends: link for ends, link in seen.links.items() if link.tells_losses}
    groups: dict[tuple[str, ...], list[Link]] = {}
    for ends, link in links.items():
        groups.setdefault(seen.alike(*ends), []).append(link)
    believed = contention(seen)
    of = {key: _collided(own, believed, collided.get(own[0].sender)) for key, own in groups.items()}
    return {ends: split(link, of[seen.alike(*ends)], seen.may_be_unheard(*ends)) for ends, link in links.items()}


def _collided(links: Sequence[Link], believed: float, shown: float | None) -> float:
    """How often frames of a sender collide: as its A-MPDUs show, or its modes, else as believed, but no more than the
    link with the fewest losses has."""
    counted = of_aggregates(links)
    if counted is not None:
        return counted
    if shown is not None:
        return shown
    often = [link for link in links if link.attempts >= ENOUGH]
    return min([believed, *(link.unanswered / link.attempts for link in often)])


def of_aggregates(links: Iterable[Link]) -> float | None:
    """The share of a sender's attempts that collided: those without an answer, less what noise destroys, in modes whose A-MPDUs
    show their noise and seldom lose all. None if there are too few."""
    tried, lost, gone = 0, 0, 0.0
    for mode in (mode for link in links for mode in link.modes if mode.mpdus_answered >= ENOUGH):
        several = mode.attempts - mode.single
        noise = lost_alone(mode.mpdus_lost_alone / mode.mpdus_answered, mode.mpdus_answered / mode.large_answered)
        all_lost = noise ** ((mode.mpdus - mode.single) / several)
        if all_lost < SELDOM:
            tried += mode.attempts
            lost += mode.unanswered
            gone += several * all_lost + mode.single * noise
    return without(lost / tried, gone / tried) if tried >= ENOUGH else None


def split(link: Link, collided: float, is_unheard: bool = False) -> Split:
    """The split of a link, where `collided` is the probability that an attempt of its sender collides.

    Nodes that do not hear the sender (`is_unheard`) also destroy parts of A-MPDUs.
    """
    share = link.unanswered / max(1, link.attempts)
    lost, sent, size = aggregates((link,))
    if sent >= ENOUGH:
        if is_unheard:
            what = f"{lost} of {sent} MPDUs were lost out of A-MPDUs that were answered"
            return replace(_hidden(lost_alone(lost / sent, size), sent, what), is_of_aggregates=True)
        low, high = (lost_alone(bound, size) for bound in wilson(lost, sent))
        noise = lost_alone(lost / sent, size)
        how = f"seen: {lost} of {sent} MPDUs were lost out of A-MPDUs that were answered"
        return Split(noise, low, high, collided, share, link.attempts, how)
    single, failed = sum(mode.single for mode in link.modes), sum(mode.single_unanswered for mode in link.modes)
    if single == 0:
        single, failed = link.attempts, link.unanswered
    if single == 0:
        return Split(0.0, 0.0, 1.0, 0.0, 0.0, 0, "assumed: no frame was sent over it")
    if is_unheard:
        return _hidden(failed / single, single, f"{failed} of {single} attempts were not answered")
    if link.after_rts > 0.5 * link.attempts:
        # A PPDU that an RTS protects does not collide.
        tried, noise = link.attempts + link.rts_unanswered, failed / single
        how = f"seen: {failed} of {single} attempts behind RTS were not answered"
        return Split(noise, *wilson(failed, single), link.rts_unanswered / tried, noise, single, how)
    share = failed / single
    low, high = wilson(failed, single)
    collided = min(collided, least_lost(link)) if link.counted_by else collided
    noise = without(share, collided)
    how = (
        f"estimated: {failed} of {single} attempts were not answered, less {percent(collided)} that collisions explain"
    )
    return Split(noise, without(low, collided), high, collided, share, single, how)


def least_lost(link: Link) -> float:
    """The least loss of a mode with enough attempts: collisions are no more than that, as they are the same in all modes."""
    often = [mode for mode in link.modes if mode.single >= ENOUGH]
    return min((mode.single_unanswered / mode.single for mode in often), default=1.0)


def aggregates(links: Iterable[Link]) -> tuple[int, int, float]:
    """Returns the MPDUs lost in large A-MPDUs that were answered, all MPDUs of these, and how many one has."""
    modes = [mode for link in links for mode in link.modes]
    lost, sent = sum(mode.mpdus_lost_alone for mode in modes), sum(mode.mpdus_answered for mode in modes)
    return lost, sent, sent / max(1, sum(mode.large_answered for mode in modes))


def _hidden(share: float, attempts: int, what: str) -> Split:
    how = f"assumed: {what}; collisions with nodes that do not hear the sender explain them"
    return Split(0.0, 0.0, wilson(round(share * attempts), attempts)[1], share, share, attempts, how, is_unheard=True)


def without(share: float, collided: float) -> float:
    """Returns the loss by noise alone from the total loss and the collisions, assuming independence."""
    return max(0.0, 1.0 - (1.0 - share) / (1.0 - collided)) if collided < 1 else 0.0


def lost_alone(share: float, size: float) -> float:
    """The probability e that an MPDU is lost, of which `share` are lost in A-MPDUs of `size` that did not lose all:
    share = (e - e^size) / (1 - e^size)."""
    if share == 0:
        return 0.0
    low, high = 0.0, 0.999
    for _ in range(50):
        e = (low + high) / 2
        all_lost = e**size
        low, high = (e, high) if (e - all_lost) / (1 - all_lost) < share else (low, e)
    return (low + high) / 2


def contention(seen: Seen, contenders: float | None = None) -> float:
    """The probability that an attempt collides where all who send do so all the time: the most that contention explains.

    How many they are is the perplexity of who made the attempts: n where n make as many each.
    """
    count = max(1, round(contenders if contenders is not None else contender_count(seen)))
    is_dsss_alone = all(mode.format == "dsss" for mode in seen.modes)
    window = 32 if is_dsss_alone else 16
    doublings = int(math.log2((CW_MAX + 1) / window))
    return _core.collision_probability(count, window, doublings, ATTEMPTS)


def contender_count(seen: Seen) -> float:
    """How many contend, as the perplexity of who made the attempts."""
    by_sender: dict[str, int] = {}
    for link in seen.links.values():
        by_sender[link.sender] = by_sender.get(link.sender, 0) + link.attempts
    whole = sum(by_sender.values())
    shares = [share for count in by_sender.values() if (share := count / max(1, whole)) > 0]
    return math.exp(-sum(share * math.log(share) for share in shares))


def collided_in(simulated: Iterable[Split | None]) -> float | None:
    """How often frames collide in simulations, which have lost `noise` of the attempts of each split to noise; None without
    attempts."""
    told = [split for split in simulated if split is not None]
    attempts = sum(split.attempts for split in told)
    return sum(without(split.unanswered, split.noise) * split.attempts for split in told) / attempts if told else None


def refined(found: Split, collided: float | None) -> Split:
    """The split with contention from simulations; the same split if its sender had no attempts in them."""
    if found.how.startswith("seen") or collided is None:
        return found
    low, high = wilson(round(found.unanswered * found.attempts), found.attempts)
    failed = (
        "MPDUs were lost out of A-MPDUs that were answered" if found.is_of_aggregates else "attempts were not answered"
    )
    how = f"fitted: {percent(found.unanswered)} of {found.attempts} {failed}; a simulation has {percent(collided)} collide"
    return replace(
        found,
        noise=without(found.unanswered, collided),
        noise_low=without(low, collided),
        noise_high=without(high, collided),
        collided=collided,
        how=how,
    )


def pooled(splits: Mapping[K, Split]) -> dict[K, Split]:
    """The splits, in which links whose noise differs by no more than chance share one estimate.

    Links of senders that are not heard by all have the mean noise of the others: how often their frames collide changes too much from
    one run to the next for a simulation to separate them.
    """
    heard = _pooled({ends: split for ends, split in splits.items() if not split.is_unheard})
    known = [split for split in heard.values() if split.attempts >= ENOUGH]
    return {ends: heard.get(ends) or _like(known, split) for ends, split in splits.items()}


def _like(known: Collection[Split], split: Split) -> Split:
    if not known or not split.attempts:
        return split
    attempts = sum(other.attempts for other in known)

    def mean(of: Callable[[Split], float]) -> float:
        return sum(of(other) * other.attempts for other in known) / attempts

    noise = mean(lambda other: other.told)
    how = f"assumed: as for senders that all hear; {split.how.partition(': ')[2]}"
    return replace(
        split,
        noise=noise,
        noise_low=mean(lambda other: other.noise_low) if noise else 0.0,
        noise_high=mean(lambda other: other.noise_high),
        how=how,
    )


def _pooled(splits: Mapping[K, Split]) -> dict[K, Split]:
    weights = {
        ends: _weight(split) for ends, split in splits.items() if split.attempts and not split.how.startswith("seen")
    }
    whole = sum(weights.values())
    if whole == 0:
        return dict(splits)
    mean = sum(weight * splits[ends].noise for ends, weight in weights.items()) / whole
    if any(abs(splits[ends].noise - mean) > BY_CHANCE / math.sqrt(weight) for ends, weight in weights.items()):
        return {ends: replace(split, shared=None) for ends, split in splits.items()}
    common = 0.0 if mean < Z / math.sqrt(whole) else mean
    return {ends: replace(split, shared=common if ends in weights else None) for ends, split in splits.items()}


def _weight(split: Split) -> float:
    """One over the variance of its noise, by the binomial of unanswered attempts."""
    share = min(max(split.unanswered, 1 / (split.attempts + 2)), 1 - 1 / (split.attempts + 2))
    return split.attempts * (1 - split.collided) ** 2 / max(share * (1 - share), LEAST_VARIANCE)
