"""Modes of a BSS in which stations have different standards or widths.

A scenario has one standard and one width for each BSS. A mode of an older standard or a narrower channel is replaced by the one of the BSS
whose rate is the nearest, so that its packets take about as long.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace

from . import iw
from .observation import Link, Mode
from .provenance import phy_rate_text

NEWEST = ("he", "vht", "ht")
SHORT_AND_LONG_NS = (400, 800)


@dataclass(frozen=True)
class Common:
    """The format, width and streams of a BSS, and the guard intervals that its modes may have."""

    format: str
    width_mhz: int
    streams: int
    guards_ns: tuple[int, ...]

    def has(self, mode: Mode) -> bool:
        """Whether the BSS has a mode."""
        return (mode.format, mode.width_mhz) == (self.format, self.width_mhz) and mode.guard_ns in self.guards_ns

    def named_by_mcs(self, mode: Mode) -> Mode:
        """The mode that a scenario names by this mode's MCS: that with the shortest guard interval; later formats are named by rates."""
        shortest = min(self.guards_ns)
        if self.format != "ht" or mode.guard_ns == shortest or mode.mcs is None:
            return mode
        found = self._at(mode.mcs, mode.streams, shortest)
        return mode if found is None else found

    def nearest(self, mode: Mode) -> Mode:
        """The mode of the BSS whose rate is the nearest, with the outcomes of `mode`."""
        indices = range(iw.HIGHEST_MCS[self.format] + 1)
        streams = range(1, self.streams + 1)
        every = (self._at(index, count, guard) for index in indices for count in streams for guard in self.guards_ns)
        best = min((one for one in every if one is not None), key=lambda one: abs(one.rate_bps - mode.rate_bps))
        keys = ("format", "mcs", "streams", "width_mhz", "guard_ns", "rate_bps")
        off = f"{100 * (best.rate_bps / mode.rate_bps - 1):+.0f} %"
        instead_of = f"the mode of this BSS nearest to {phy_rate_text(mode.rate_bps)} ({off}); seen: {mode.name}"
        return replace(mode, instead_of=instead_of, **{key: getattr(best, key) for key in keys})

    def _at(self, index: int, streams: int, guard_ns: int) -> Mode | None:
        if self.format == "ht" and index // 8 + 1 != streams:
            return None
        return iw.mode_by_index("", self.format, index, streams, self.width_mhz, guard_ns, 0, 0)


def common(modes: Iterable[Mode]) -> Common | None:
    """The BSS of these modes; None for one without MCSs, which has all older ones."""
    modes = list(modes)
    newest = next((name for name in NEWEST if any(mode.format == name for mode in modes)), None)
    if newest is None:
        return None
    of_it = [mode for mode in modes if mode.format == newest]
    width, streams = max(mode.width_mhz for mode in of_it), max(mode.streams for mode in of_it)
    return Common(newest, width, streams, _guards(newest, of_it))


def _guards(name: str, modes: list[Mode]) -> tuple[int, ...]:
    if name == "he":
        guards = sorted({mode.guard_ns for mode in modes})
        return (max(guards, key=lambda ns: sum(mode.attempts for mode in modes if mode.guard_ns == ns)),)
    return SHORT_AND_LONG_NS if any(mode.guard_ns == 400 for mode in modes) else (800,)


def in_common(
    links: Mapping[tuple[str, str], Link], older: Collection[str] = ()
) -> tuple[dict[tuple[str, str], Link], list[str]]:
    """The links with modes of their BSS, and notes on those that were replaced; `older` stations keep theirs."""
    older = frozenset(older)
    bss = common(mode for link in links.values() for mode in link.modes)
    found: dict[tuple[str, str], Link] = dict(links)
    notes: list[str] = []
    if bss is None:
        return found, notes
    for ends, link in links.items():
        if not older.isdisjoint(ends):
            continue
        main = link.main
        modes = tuple(mode if bss.has(mode) else bss.nearest(mode) for mode in link.modes)
        found[ends] = replace(link, modes=modes)
        if not bss.has(main):
            near = phy_rate_text(bss.nearest(main).rate_bps)
            what = f"{' → '.join(ends)}: {main.name} is no mode of this BSS of {bss.width_mhz} MHz"
            notes.append(f"{what}; {near} is the nearest of it")
        elif bss.named_by_mcs(main) != main:
            rate = phy_rate_text(bss.named_by_mcs(main).rate_bps)
            notes.append(
                f"{' → '.join(ends)}: {main.name} has the long guard interval; MCS {main.mcs} of this BSS has the short one, {rate}"
            )
    return found, notes
