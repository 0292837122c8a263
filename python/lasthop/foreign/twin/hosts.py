"""An observation from what hosts print.

It is less information than a capture. There is a mode for each direction, the latest, or with Minstrel's tables all of them; retries
without their link; round trips of TCP from the host on which `ss` ran, so that a queue shows only by its latest delay. Missing values
are assumed, and marked so.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from . import iw, survey
from .common_modes import in_common
from .live import Live
from .minstrel import Rates
from .nic import Nic
from .observation import Flow, Link, Mode, Seen, Strength, safe_name
from .provenance import Told, percent
from .queues import key_of, queue_of
from .radio import channel_of, standard_of
from .strength import ENOUGH
from .survey import Survey

PACKET_BYTES = 1500
AP = "ap"
FREQUENCY = re.compile(r"\d{1,6}(?:\.\d{1,6})?", re.ASCII)
LOWEST_OF_5_GHZ = 5000
"""in MHz"""
SIGNAL = re.compile(r"\s*(-\d{1,3})\b(?:.*dBm)?", re.ASCII)
IN_ONE_BAND = {"802.11b": True, "802.11ac": False}
"""standards of one band, and whether it is 2.4 GHz"""
MODES_SAID = 4
LEAST_BUSY_S = 1.0
"""the time for which a sender had data, from which on its mean rate is taken"""
LONGEST_S = 20.0
"""of the twin; hosts count from the beginning of an association on"""
NOTES = (
    "`iw` and `ss` have the latest mode of each link, packets as counts, and no station of a connection: several",
    "take turns.",
)


def seen_live(live: Live) -> Seen:
    """The observation, as far as the output has it."""
    tables, unused = _tables(live)
    stations, links, notes = _links(live, tables)
    if not links:
        raise ValueError(
            f'{", ".join(live.sources)}: no "tx bitrate" and no "rx bitrate" of any station: its modes are unknown'
        )
    links, replaced = in_common(links, _older(live, links))
    lengths = [float(iw.number(one, "connected time")) for one in live.associations]
    length_s = min(max([1.0, *lengths]), LONGEST_S)
    flows = tuple(
        flow
        for number, one in enumerate(live.connections)
        for flow in _flows(one, number, stations, live.is_of_station, length_s)
    )
    channel = survey.in_use([*live.surveys, *(one.survey for one in live.nics if one.survey)], live.devices)
    standard = standard_of(mode for link in links.values() for mode in link.modes)
    mhz, unknown = _channel(live, channel, standard)
    seen = Seen(
        ", ".join(live.sources),
        length_s,
        mhz,
        (AP,),
        stations,
        _in_band(links, mhz),
        flows,
        None,
        {},
        length_s * ((channel.of_others if channel else None) or 0.0),
        notes=(*NOTES, *live.notes, *notes, *replaced, *unknown),
        unused=(*unused, *(survey.notes_of(channel) if channel else ())),
        is_of_hosts=True,
    )
    return with_queue(seen, live)


def with_queue(seen: Seen, live: Live) -> Seen:
    """The same with the queue that `tc` has, which is of the AP unless a station printed it."""
    queue, notes = queue_of(live.queues, live.devices)
    node = next(iter(seen.stations), AP) if live.is_of_station else seen.aps[0]
    queues = {} if queue is None else {node: Told(*key_of(queue))}
    return replace(seen, queues=queues, unused=(*seen.unused, *notes))


def beside_captures(seen: Seen, live: Live) -> Seen:
    """The observation of captures, with the queue of a host; the rest of its output is not used."""
    counts = {"iw": live.associations, "iw survey dump": live.surveys, "rc_stats": live.rates, "ethtool": live.nics}
    others = tuple(
        f"{name} is not used beside a capture, which has it for each frame" for name, of in counts.items() if of
    )
    return with_queue(replace(seen, unused=others), live)


def _links(live: Live, tables: Mapping[str, Rates]) -> tuple[dict[str, str], dict[tuple[str, str], Link], list[str]]:
    """The stations with their AP, the links, and notes. Raises the `ValueError` of a station without modes, if no other has any."""
    of_station = live.is_of_station
    stations: dict[str, str] = {}
    links: dict[tuple[str, str], Link] = {}
    notes: list[str] = []
    refused: ValueError | None = None
    for one in live.associations:
        if one.get("TDLS peer") == "yes":
            notes.append(f"{one['address']}: a peer of TDLS, which is not modelled, is left out")
            continue
        station = "sta" if of_station else safe_name(one["address"].replace(":", "-"))
        own, other = ((station, AP), (AP, station)) if of_station else ((AP, station), (station, AP))
        try:
            found, said = _modes(one)
        except (iw.NoMode, iw.NotModelled) as error:
            refused = error
            notes.append(f"{error}; this station is left out")
            continue
        stations[station] = AP
        notes += said
        if "mesh plink" in one:
            notes.append(f"{one['address']}: a peer in a mesh, modelled as a station of an AP")
        for ends, key in ((own, "tx bitrate"), (other, "rx bitrate")):
            if (mode := found.get(key)) is not None:
                # A receiver does not count frames that did not arrive.
                tells_losses = key == "tx bitrate" and iw.counts_of(one).retries is not None
                links[ends] = _link(ends, (mode,), tells_losses, "the latest bitrate of iw")
        if rates := tables.get(one["address"]):
            links[own] = _link(own, rates.modes, True, "Minstrel's attempts")
            notes.append(_of_rates(own, rates))
        if (dbm := _signal_dbm(one)) is not None:
            known = {
                ends: replace(links[ends], signal=Strength(ENOUGH, dbm, 0.0, ()))
                for ends in (own, other)
                if ends in links
            }
            links |= known
    if refused is not None and not links:
        raise refused
    return stations, links, notes


def _signal_dbm(one: Mapping[str, str]) -> float | None:
    """The signal of an association; the mean of a host over time, if it prints that."""
    found = SIGNAL.match(one.get("signal avg", "")) or SIGNAL.match(one.get("signal", ""))
    return float(found[1]) if found is not None else None


def _older(live: Live, links: Mapping[tuple[str, str], Link]) -> set[str]:
    """The stations without QoS, which 802.11n requires, and without MCSs: they are of an older standard."""
    without_qos = {
        safe_name(one["address"].replace(":", "-")) for one in live.associations if one.get("WMM/WME") == "no"
    }
    with_mcs = {end for ends, link in links.items() if any(mode.mcs is not None for mode in link.modes) for end in ends}
    return without_qos - with_mcs


def _tables(live: Live) -> tuple[dict[str, Rates], list[str]]:
    """Minstrel's tables by station, and notes on tables and counters that are not used."""
    found: dict[str, Rates] = {}
    has_each = any("tx retries" in one for one in live.associations)
    why = "iw has those of each station" if has_each else "they are of all stations together"
    notes = [f"ethtool: {nic.retries} retries are not used: {why}" for nic in _unused(live)]
    addresses = [one["address"] for one in live.associations]
    for rates in live.rates:
        address = rates.address or (addresses[0] if len(addresses) == 1 else None)
        if not rates.modes:
            notes.append(f"rc_stats of {address or 'a station'}: no attempts, not used")
        elif address not in addresses:
            whose = address or "an unknown station; keep the line with its path, as `head` and `tail` print it"
            notes.append(f"rc_stats are not used: they are of {whose}")
        else:
            found[address] = rates
    return found, notes


def _unused(live: Live) -> list[Nic]:
    """Counters of devices whose retries no association has."""
    used = any("retries of" in one for one in live.associations)
    return [nic for nic in live.nics if nic.retries is not None and not used]


def _of_rates(ends: tuple[str, str], rates: Rates) -> str:
    """The loss of each mode in words, of those with most attempts."""
    most = sorted(rates.modes, key=lambda mode: -mode.attempts)[:MODES_SAID]
    each = [f"{percent(mode.unanswered / mode.attempts)} of {mode.attempts} at {mode.name}" for mode in most]
    return f"rc_stats, {' → '.join(ends)}: lost {', '.join(each)}"


def _channel(live: Live, used: Survey | None, standard: str) -> tuple[tuple[int, ...], list[str]]:
    """The channel's centre in MHz, and a note if it is not modelled."""
    texts = (one.get("freq", "") for one in live.associations)
    of_links = [int(float(found[0])) for text in texts if (found := FREQUENCY.match(text))]
    mhz = [one for one in ([used.mhz] if used else []) + of_links if one][:1]
    if not mhz:
        return (), []
    if channel_of(mhz[0]) is None:
        return (), [f"a channel at {mhz[0]} MHz is not modelled: the default is"]
    if IN_ONE_BAND.get(standard, mhz[0] < LOWEST_OF_5_GHZ) != (mhz[0] < LOWEST_OF_5_GHZ):
        return (), [f"a channel at {mhz[0]} MHz has none of the modes, which are of {standard}: its default is used"]
    return tuple(mhz), []


def _in_band(links: Mapping[tuple[str, str], Link], mhz: tuple[int, ...]) -> dict[tuple[str, str], Link]:
    """The links, whose modes of OFDM are those of 802.11g at 2.4 GHz."""
    formats = {mode.format for link in links.values() for mode in link.modes}
    # Without a channel: DSSS is at 2.4 GHz, and a network without MCSs hardly at 5 GHz.
    is_2_4_ghz = mhz[0] < LOWEST_OF_5_GHZ if mhz else "dsss" in formats or formats == {"ofdm"}
    if not is_2_4_ghz:
        return dict(links)
    return {
        ends: replace(link, modes=tuple(replace(mode, is_2_4_ghz=True) for mode in link.modes))
        for ends, link in links.items()
    }


def _modes(one: Mapping[str, str]) -> tuple[dict[str, Mode], list[str]]:
    """The mode of each bitrate of an association, and notes.

    The latest rate may belong to a control or null frame, or to a resource unit; then the mode of the other direction is assumed.
    """
    counts, notes = iw.counts_of(one), [note for note in [iw.doubt(one)] if note]
    retries = counts.retries or 0
    outcomes = {"tx bitrate": (counts.sent + retries, retries), "rx bitrate": (counts.received, 0)}
    texts = {key: one[key] for key in outcomes if key in one}
    has_mcs = {key for key, text in texts.items() if iw.MCS.search(text) and not iw.is_resource_unit(text)}
    modes: dict[str, Mode] = {}
    refused: dict[str, iw.NoMode] = {}
    for key, text in texts.items():
        source = text
        if key not in has_mcs and has_mcs and (iw.is_legacy(text) or iw.is_resource_unit(text)):
            (other,) = has_mcs
            source = texts[other]
            frame = "a resource unit" if iw.is_resource_unit(text) else "a control or null frame"
            notes.append(
                f"{one['address']}: its latest {key}, {text}, is of {frame}; the mode of the {other} is assumed"
            )
        try:
            mode = iw.mode_of(source, *outcomes[key], f"{one['source']}: {one['address']}")
        except iw.NoMode as error:
            refused[key] = error
            continue
        if mode is not None:
            modes[key] = mode
            notes += [f"{one['address']}: its {key} is taken as {mode.instead_of}"] if mode.instead_of else []
    for key, why in refused.items():
        if not modes:
            raise why
        ((other, instead),) = modes.items()
        attempts, failed = outcomes[key]
        modes[key] = replace(
            instead, attempts=attempts, unanswered=failed, mpdus=attempts, single=attempts, single_unanswered=failed
        )
        notes.append(f"{why}; the mode of the {other} is assumed")
    return modes, notes


def _link(ends: tuple[str, str], modes: tuple[Mode, ...], tells_losses: bool, counted_by: str) -> Link:
    # A-MPDUs and TXOPs are not reported: these are the defaults of the standard.
    return Link(*ends, modes, (2, 0), (0, 0), 0.0, 1, 0, None, 0, 0, 0, 0.1, (), tells_losses, counted_by)


def _flows(
    one: Mapping[str, Any], number: int, stations: Mapping[str, str], of_station: bool, length_s: float
) -> Iterable[Flow]:
    """The flow of a connection; nothing if it moved little."""
    sent, received = (int(float(one.get(key, 0) or 0)) for key in ("bytes_acked", "bytes_received"))
    if max(sent, received) < 100 * PACKET_BYTES:
        return
    direction = "up" if (sent >= received) == of_station else "down"
    # Only an address of the station itself shows whose connection it is; several take turns.
    station = list(stations)[number % len(stations)]
    mss = int(float(one.get("mss", 1448)))
    least = _seconds(one.get("minrtt"))
    rtt = _seconds(str(one.get("rtt", "")).partition("/")[0])
    turnaround = {0.0: least, 0.5: rtt, 0.95: rtt, 0.99: rtt}
    # The mean over the time with data to send, or the latest.
    busy_s = _seconds(one.get("busy")) or 0.0
    rate = 8 * sent / busy_s if busy_s >= LEAST_BUSY_S else float(one.get("delivery_rate", 0.0))
    rate = rate if sent >= received else 0.0
    size = round(rate * length_s / 8) or max(sent, received)
    packets = max(1, size // mss)
    yield Flow(
        f"{station}.{direction}" + (f".{number + 1}" if number else ""),
        station,
        direction,
        "tcp",
        8 * size / length_s,
        rtt,
        False,
        None,
        0.0,
        length_s,
        packets,
        size,
        mss,
        0.0,
        "ts" in one or mss % 1460 == 1448,
        True,
        0,
        packets // 2,
        packets,
        None,
        1 if least is not None else 0,
        turnaround,
    )


def _seconds(text: Any) -> float | None:
    """Milliseconds, as `ss` has them, in seconds."""
    try:
        return float(text) / 1e3
    except (TypeError, ValueError):
        return None
