"""The twin: the content of a scenario file, each line with its origin."""

from __future__ import annotations

import textwrap
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path as FilePath

from ...data.origin import Origin, Source
from ...data.terminal import printable
from ...study.scenario import Scenario
from . import losses
from .loads import Load, load_of, warmup_of
from .losses import Split
from .observation import Link, Seen, safe_name
from .path import Path, default_queue, least_turnaround, path_of
from .provenance import Line, Section, Told, percent, rate_text, time_text
from .radio import HOLDS, bss_lines, prepared, rate_control_lines, standard_of, station_lines
from .signal import Signals, is_fixed, signals_by_strength, signals_of
from .strength import snrs_db
from .verdict import Verdict

FOREIGN = "others"
FOREIGN_SHARE = 0.01
"""airtime of unknown senders that is worth a station"""
FOREIGN_PAYLOAD = 0.7
"""of the airtime of frames of 1500 bytes at a low rate; preambles and answers take the rest"""
ANSWERS_LOST = 0.01
LOSSY = 0.05
"""share of a host's frames that noise destroys, from which on their rate control chooses among modes"""
FEW_ROUND_TRIPS = 20
"""so many are too few to know queues and losses by"""
HIDDEN_SAID = 4
"""directions of hidden pairs whose counts are given"""

Ends = tuple[str, str]


@dataclass(frozen=True)
class Assumed:
    """Facts that no capture shows but the user may know."""

    congestion_control: Told[str] = Told("cubic", "assumed: --congestion-control says otherwise")


@dataclass(frozen=True)
class Twin:
    """A network that behaves like the observed one."""

    name: str
    seen: Seen
    splits: Mapping[Ends, Split]
    path: Path
    loads: tuple[Load, ...]
    foreign_bps: float
    assumed: Assumed
    rounds: int = 0
    """how often it was fitted"""
    signals: Signals | None = None
    """those of its links, if losses depend on the mode; then noise is not a share of each link"""
    verdict: Verdict | None = None

    @property
    def warmup_s(self) -> float:
        return warmup_of(self.seen)

    @property
    def files(self) -> dict[str, str]:
        """Files that the scenario refers to, by name."""
        return dict(load.trace for load in self.loads if load.trace is not None)

    @property
    def cautions(self) -> list[str]:
        """Reasons to doubt the twin as a whole: a capture of few round trips."""
        if self.seen.is_of_hosts or not any(flow.turnarounds for flow in self.seen.flows):
            return []
        round_trip_s = least_turnaround(self.seen)
        if self.seen.length_s >= FEW_ROUND_TRIPS * round_trip_s:
            return []
        length, round_trip = time_text(self.seen.length_s), time_text(round_trip_s)
        short = f"the capture of {length} is shorter than {FEW_ROUND_TRIPS} round trips of {round_trip}"
        return [f"{short}: take a longer one before you believe delays, queues and losses"]

    def text(self) -> str:
        """The scenario file."""
        sections = [self._head(), *self._channel(), *self._bss(), *self._stations(), self.path.section(), self._tcp()]
        sections += [load.section() for load in self.loads]
        if self.foreign_bps:
            sections.append(self._foreign_flow())
        return f"{self._comment()}\n" + "\n\n".join(section.text() for section in sections) + "\n"

    def scenario_in(self, folder: FilePath) -> Scenario:
        """The twin as a scenario, whose files are written into `folder`."""
        for name, text in self.files.items():
            (folder / name).write_text(text, encoding="utf-8")
        return Scenario(self.text(), str(folder / f"{self.name}.toml"), origin=Origin(Source.CAPTURE, (folder,)))

    def _comment(self) -> str:
        how = f", fitted in {self.rounds} rounds" if self.rounds else ""
        length = "" if self.seen.is_of_hosts else f" of {time_text(self.seen.length_s)}"
        words = f"The twin of {self.seen.source}{how}. What was seen{length} is said behind each line."
        lines = textwrap.wrap(words, 120)
        lines += [*self.seen.notes, *self.seen.unused]
        lines += [line for caution in self.cautions for line in textwrap.wrap(f"Warning: {caution}.", 120)]
        if self.seen.missed:
            lines.append(f"The sniffer missed {percent(self.seen.missed)} of frames: counts are so much too small.")
        if self.verdict is not None:
            lines += [line for text in self.verdict.sentences() for line in textwrap.wrap(text, 120)]
        return "".join(f"# {printable(line)}\n" for line in lines)

    def _head(self) -> Section:
        seen = self.seen
        why = "seen" if self.warmup_s == 0 else "assumed: flows were there before the capture"
        return Section(
            "",
            (
                Line("name", self.name, "of the file"),
                Line("duration", time_text(self.warmup_s + seen.length_s), _length_origin(seen)),
                Line("warmup", time_text(self.warmup_s), why),
            ),
        )

    def _channel(self) -> list[Section]:
        if self.signals is not None:
            return [Section("[channel]", (*self.signals.channel_lines(), *self._hidden()))]
        others = (
            "those that are not named as hidden hear one another" if self.seen.hidden else "everybody hears everybody"
        )
        lines = [
            Line("path_loss", "none", f"assumed: one sniffer does not show the places of stations; {others}"),
            *self._hidden(),
        ]
        of_all = {"data": self.common_noise, "ack": self._answers_lost()}
        fixed = {kind: told.value for kind, told in of_all.items() if told.value}
        origin = "; ".join(told.origin for told in of_all.values() if told.value)
        if fixed:
            lines.append(Line("error_model", {"kind": "fixed", **fixed}, origin))
        else:
            lines.append(Line("error_model", "none", self.common_noise.origin))
        return [Section("[channel]", tuple(lines))]

    def _hidden(self) -> list[Line]:
        if not (hidden := self.seen.hidden):
            return []
        pairs = [[_name_in_scenario(node, self.seen.aps) for node in pair] for pair in hidden]
        ways = [one for ways in hidden.values() for one in ways]
        said = [
            f"{one.node} began {one.times} of {one.begun} PPDUs during one of {one.unheard}"
            for one in ways[:HIDDEN_SAID]
        ]
        more = f"; and {len(ways) - HIDDEN_SAID} more" if len(ways) > HIDDEN_SAID else ""
        return [Line("hidden", pairs, f"seen: {'; '.join(said)}{more}")]

    @property
    def common_noise(self) -> Told[float]:
        """The loss of links without a value of their own, bystanders included, as far as known."""
        told = [(split.told, split.attempts) for split in self.splits.values() if split.attempts]
        whole = sum(attempts for _, attempts in told)
        mean = sum(value * attempts for value, attempts in told) / max(1, whole)
        if len({value for value, _ in told}) <= 1:
            return Told(round(mean, 4), "see the estimates of the links")
        return Told(round(mean, 4), "assumed: bystanders lose what receivers do on average")

    def _answers_lost(self) -> Told[float]:
        unheard = sum(link.answers_unheard for link in self.seen.links.values())
        answered = sum(mode.single - mode.single_unanswered for mode in self.seen.modes)
        share = unheard / answered if answered else 0.0
        origin = f"seen: {unheard} of {answered} frames were sent again though they were acknowledged"
        return Told(round(share, 4) if share > ANSWERS_LOST else 0.0, origin)

    def _bss(self) -> list[Section]:
        several = len(self.seen.aps) > 1
        sections = []
        for ap in self.seen.aps:
            lines = bss_lines(self.seen, ap, self.signals is not None)
            if several:
                lines.insert(0, Line("name", bss_name(ap), "seen: its BSSID"))
            sections.append(Section("[[bss]]" if several else "[bss]", tuple(lines)))
            default = self.path.ap_queue.ap_line(self._standard(ap))
            sections.append(Section("[bss.ap]", (self._queue_line(ap, default), *self._driver_lines(ap))))
        return sections

    def _driver_lines(self, node: str) -> list[Line]:
        """The hardware of a node, if the air shows it."""
        below = self.path.ap_driver if node in self.seen.aps else None
        if told := below or prepared(self.seen, node):
            return [Line("driver", told.value, told.origin)]
        return []

    def _queue_line(self, node: str, default: Line) -> Line:
        """The queue that a host printed; without one, or where it is the standard's, `default`."""
        told = self.seen.queues.get(node)
        return (
            default if told is None else Line("queue", default.value if told.value is None else told.value, told.origin)
        )

    def _standard(self, ap: str) -> str:
        """The standard of an AP's BSS."""
        return standard_of(mode for ends, link in self.seen.links.items() if ap in ends for mode in link.modes)

    def _stations(self) -> list[Section]:
        several = len(self.seen.aps) > 1
        sections = []
        for station, ap in self.seen.stations.items():
            lines = [Line("name", station, "seen")]
            if several:
                lines.append(Line("bss", bss_name(ap), "seen"))
            lines += station_lines(self.seen, station, ap)
            default = Line(
                "queue",
                default_queue(self._standard(ap), "backpressure"),
                "assumed: the default; a station's queue passes no sniffer",
            )
            lines += [self._queue_line(station, default), *self._driver_lines(station)]
            lines += rate_control_lines(self.seen, station, ap, self._adapts)
            lines += self.signals.of[station].lines() if self.signals else self._error_lines(station, ap)
            sections.append(Section("[[station]]", tuple(lines)))
        if self.foreign_bps:
            sections.append(
                Section("[[station]]", (Line("name", FOREIGN, "represents senders that were heard and not known"),))
            )
        return sections

    def _adapts(self, link: Link) -> str | None:
        """Why a link needs a rate control that adapts; None if the rates that were seen are enough."""
        if self.signals is not None and self.signals.adapting is not None:
            lossy = self.signals.adapting.intersection((link.sender, link.receiver))
            return "it adapts, as frames were repeated, and the latest mode is one of several" if lossy else None
        if self.signals is not None:
            why = "losses follow from the signal" if self.signals.is_by_strength else "losses depend on the mode"
            return None if is_fixed(link) else f"it adapts, as {why}"
        split = self.splits.get((link.sender, link.receiver))
        is_lossy = split is not None and split.told > 0 and link.share_of_main < HOLDS
        return "it adapts to losses, which come at other times" if is_lossy else None

    def _error_lines(self, station: str, ap: str) -> list[Line]:
        keys = (("frame_error_rate", (station, ap)), ("downlink_frame_error_rate", (ap, station)))
        found = [(key, self.splits[ends]) for key, ends in keys if ends in self.splits and self.splits[ends].attempts]
        if not found:
            return []
        lines = [_error_line(key, split) for key, split in found]
        is_told = any(line.value or split.is_unheard for line, (_, split) in zip(lines, found, strict=True))
        if len(found) == 1:
            # Frames in the other direction alone would have the losses of this one.
            return (
                [Line("frame_error_rate", lines[0].value, f"{lines[0].origin}; assumed the other way")]
                if is_told
                else []
            )
        return lines if is_told else [Line("frame_error_rate", 0.0, lines[0].origin)]

    def _tcp(self) -> Section:
        lines = [
            Line("profile", "linux-6.12", "assumed"),
            Line("congestion_control", self.assumed.congestion_control.value, self.assumed.congestion_control.origin),
        ]
        tcp = [flow for flow in self.seen.flows if flow.transport == "tcp"]
        if tcp and not any(flow.has_timestamps for flow in tcp):
            lines.append(Line("timestamps", False, f"seen: none of {len(tcp)} flows has them"))
        return Section("[tcp]", tuple(lines))

    def _foreign_flow(self) -> Section:
        share = self.seen.foreign_s / self.seen.length_s
        return Section(
            "[[flow]]",
            (
                Line(
                    "station", FOREIGN, f"seen: {percent(share)} of the time is airtime of senders that are not known"
                ),
                Line("direction", "up", "assumed"),
                Line("transport", "udp", "assumed"),
                Line(
                    "rate",
                    rate_text(round(self.foreign_bps)),
                    "estimated: fills that time at the lowest rate of the BSS",
                ),
            ),
        )


def _length_origin(seen: Seen) -> str:
    if seen.is_of_hosts:
        return "assumed: the warm-up and at most 20 s, as counters of hosts begin with the association"
    return "seen: the length of the capture, behind the warm-up"


def _error_line(key: str, split: Split) -> Line:
    own = f"{split.how}; {percent(split.noise_low)} to {percent(split.noise_high)}"
    shared = "" if split.shared is None else "; all links together, which differ by no more than chance"
    return Line(key, split.told, f"{own}{shared}")


AP = "-ap"
"""the suffix of a BSS in the name of its AP, if there are several"""


def bss_name(ap: str) -> str:
    """The name of a BSS whose AP was seen by this name."""
    return ap.removesuffix(AP) or ap


def _name_in_scenario(node: str, aps: Collection[str]) -> str:
    """Returns the name by which the twin's file calls a node that was seen."""
    if node not in aps:
        return node
    return f"{bss_name(node)}.ap" if len(aps) > 1 else "ap"


def name_in_twin(node: str, aps: Collection[str]) -> str:
    """Returns the name of an observed node in captures of its twin."""
    return safe_name(_name_in_scenario(node, aps))


def _lossy(seen: Seen, splits: Mapping[Ends, Split]) -> set[str]:
    """Stations whose frames a host had to repeat so often that rates adapt, beyond what collisions explain."""
    aps = {*seen.aps}
    return {station for ends, split in splits.items() if split.noise > LOSSY for station in ends if station not in aps}


def twin_of(seen: Seen, name: str, idle_fraction: float | None, assumed: Assumed | None = None) -> Twin:
    """The twin as the captures show it, before any fit."""
    if seen.is_thin and snrs_db(seen):
        seen = seen.without_losses()
    tells_losses = any(link.tells_losses for link in seen.links.values())
    signals = signals_of(seen) if tells_losses and not seen.is_of_hosts else None
    splits = losses.pooled(losses.splits_of(seen, signals.collided if signals else {}))
    if seen.is_of_hosts:
        signals = signals_by_strength(seen, _lossy(seen, splits))
    elif not tells_losses:
        signals = signals_by_strength(seen)
    # Time without frames that were heard is not idle.
    path = path_of(seen, None if seen.is_thin else idle_fraction)
    loads = tuple(load_of(flow, seen, name, path.delay_s.value) for flow in seen.flows)
    share = seen.foreign_s / seen.length_s
    slowest = min((mode.rate_bps for mode in seen.modes), default=0)
    foreign = share * slowest * FOREIGN_PAYLOAD if share > FOREIGN_SHARE else 0.0
    return Twin(name, seen, splits, path, loads, foreign, assumed or Assumed(), signals=signals)
