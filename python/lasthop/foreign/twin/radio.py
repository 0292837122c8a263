"""The BSS of an observation: standard, channel, width, streams, rates, aggregation, TXOPs."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from math import ceil
from typing import Any

from .observation import Link, Mode, Seen
from .provenance import Line, Told, percent, phy_rate_text, time_text

LEGACY = ("dsss", "ofdm")
STANDARDS = {"ht": "802.11n", "vht": "802.11ac", "he": "802.11ax"}
MPDUS_MOST = {"802.11n": 64, "802.11ac": 64, "802.11ax": 256}
"""the window of a BlockAck agreement"""
BYTES_MOST_HT = 65_535
LONGEST_S = 5.484e-3
"""aPPDUMaxTime [802.11-2020 Table 19-25]"""
ENOUGH_ATTEMPTS = 200
AT_THE_LIMIT = 0.05
"""share of A-MPDUs that are as large as the largest, from which on that is a limit and no chance"""
BEACONS = 1e-4
"""share of the time that management frames of an AP take, from which on it sends beacons"""
RTS_SHARE = 0.1
"""share of data PPDUs behind RTS from which on it is a threshold, and not the rate control"""
RARE = 0.02
"""share of the attempts of a host below which a mode is left out, as a probe"""
OF_EITHER = "assumed: rates of OFDM without an MCS, which 802.11a has at 5 GHz; there is no channel"
TURNS = 20
ENOUGH_REPEATS = 30
MISSED = 0.02
"""share of frames that a sniffer missed, up to which the order of PPDUs is known"""
BEHIND = 0.5
"""PPDUs between a lost A-MPDU and its repetition, from which on some were ready"""
HOLDS = 0.95
"""share of MPDUs in one mode from which on the rate is fixed"""


def standard_of(modes: Iterable[Mode]) -> str:
    """The oldest standard that has all of the modes."""
    modes = list(modes)
    formats = {mode.format for mode in modes}
    for newest in ("he", "vht", "ht"):
        if newest in formats:
            return STANDARDS[newest]
    if formats == {"dsss"}:
        return "802.11b"
    return "802.11g" if any(mode.is_2_4_ghz for mode in modes) else "802.11a"


def channel_of(mhz: int) -> int | None:
    """The number of a channel of 20 MHz, by its centre. [802.11-2020 Annex E]"""
    if mhz == 2484:
        return 14
    if 2412 <= mhz <= 2472 and (mhz - 2407) % 5 == 0:
        return (mhz - 2407) // 5
    return (mhz - 5000) // 5 if 5170 <= mhz <= 5885 and (mhz - 5000) % 5 == 0 else None


def bss_lines(seen: Seen, ap: str, adapts: bool = False) -> list[Line]:
    """Returns the keys of an AP's BSS; `adapts`: rate controls of its links adapt, and may protect retries by RTS."""
    links = [link for ends, link in seen.links.items() if ap in ends]
    modes = [mode for link in links for mode in link.modes]
    standard = standard_of(modes)
    if seen.is_of_hosts:
        return _lines_of_hosts(standard, modes, seen.channels_mhz)
    attempts = sum(mode.attempts for mode in modes)
    of_it = sum(mode.attempts for mode in modes if STANDARDS.get(mode.format, standard) == standard)
    lines = [Line("standard", standard, f"seen: {of_it} of {attempts} data PPDUs are of its formats")]
    channel = channel_of(seen.channels_mhz[0]) if seen.channels_mhz else None
    if channel is not None:
        lines.append(Line("channel", channel, f"seen: {seen.channels_mhz[0]} MHz"))
    if standard in ("802.11b", "802.11g") and any(mode.has_short_preamble for mode in modes):
        lines.append(Line("preamble", "short", "seen: in radiotap"))
    lines += _rts(links, adapts)
    if seen.management_s.get(ap, 0.0) > BEACONS * seen.length_s:
        lines.append(
            Line(
                "beacons",
                "102.4 ms",
                f"assumed: management frames of {ap} take {percent(seen.management_s[ap] / seen.length_s)} of the time",
            )
        )
    if standard not in MPDUS_MOST:
        return lines
    modes = [mode for mode in modes if mode.format not in LEGACY]
    width = max(mode.width_mhz for mode in modes)
    streams = max(mode.streams for mode in modes)
    lines.append(Line("channel_width", f"{width} MHz", "seen: the widest data PPDU"))
    lines.append(Line("spatial_streams", streams, "seen: the most of a data PPDU"))
    lines.append(Line("guard_interval", *_guard_interval(standard, modes)))
    lines += _aggregation(standard, links)
    lines += _txop([link for link in links if not is_older(link)])
    return lines


def _lines_of_hosts(standard: str, modes: list[Mode], channels_mhz: tuple[int, ...]) -> list[Line]:
    """The keys that follow from the latest modes and the channel alone."""
    origin = "seen: in the latest bitrates of iw"
    formats = {mode.format for mode in modes}
    is_of_either = not channels_mhz and formats == {"ofdm"}
    lines = [Line("standard", standard, OF_EITHER if is_of_either else origin)]
    if channels_mhz and (channel := channel_of(channels_mhz[0])) is not None:
        lines.append(Line("channel", channel, f"seen: {channels_mhz[0]} MHz"))
    elif not channels_mhz and standard in ("802.11n", "802.11ax") and "dsss" in formats:
        lines.append(Line("channel", 6, "assumed: bitrates of DSSS are of the 2.4 GHz band"))
    if standard in MPDUS_MOST:
        lines.append(Line("channel_width", f"{max(mode.width_mhz for mode in modes)} MHz", origin))
        lines.append(Line("spatial_streams", max(mode.streams for mode in modes), origin))
        lines.append(Line("guard_interval", _guard_interval(standard, modes)[0], origin))
    return lines


def _guard_interval(standard: str, modes: list[Mode]) -> tuple[str, str]:
    by_guard: dict[int, int] = {}
    for mode in modes:
        by_guard[mode.guard_ns] = by_guard.get(mode.guard_ns, 0) + mode.attempts
    whole = sum(by_guard.values())
    if standard == "802.11ax":
        most = max(sorted(by_guard), key=lambda ns: by_guard[ns])
        return f"{most / 1000:g} us", f"seen: {percent(by_guard[most] / max(1, whole))} of data PPDUs"
    short = by_guard.get(400, 0)
    return (
        "short" if 400 in by_guard else "long"
    ), f"seen: {percent(short / max(1, whole))} of data PPDUs have the short one"


def _aggregation(standard: str, links: list[Link]) -> list[Line]:
    busiest = max(links, key=lambda link: (link.most_mpdus[0], link.attempts))
    (most, times), attempts = busiest.most_mpdus, busiest.attempts
    if most == 1:
        enough = attempts >= ENOUGH_ATTEMPTS and standard == "802.11n"
        return [Line("aggregation", "off", f"seen: each of {attempts} data PPDUs has one MPDU")] if enough else []
    is_limit = times >= AT_THE_LIMIT * attempts and attempts >= ENOUGH_ATTEMPTS
    by_bytes = standard == "802.11n" and max(link.most_bytes[0] for link in links) > 0.97 * BYTES_MOST_HT
    by_time = busiest.longest_s > 0.95 * LONGEST_S
    if most >= MPDUS_MOST[standard] or by_bytes or by_time or not is_limit:
        return []
    origin = (
        f"seen: {times} of {attempts} A-MPDUs from {busiest.sender} to {busiest.receiver} are as large, none larger"
    )
    return [Line("aggregation", {"max_mpdus": most}, origin)]


def _txop(links: list[Link]) -> list[Line]:
    attempts, in_txop = sum(link.attempts for link in links), sum(link.in_txop for link in links)
    longest = max(link.longest_s for link in links)
    if attempts < ENOUGH_ATTEMPTS:
        return []
    if in_txop == 0:
        origin = f"seen: none of {attempts} exchanges was followed by another of its sender without a backoff"
        return [Line("edca.be", {"txop_limit": "0 s"}, origin)]
    if longest > 2.6e-3:
        return [
            Line(
                "edca.be",
                {"txop_limit": "5.472 ms"},
                f"assumed: exchanges follow without a backoff, PPDUs last up to {time_text(longest)}",
            )
        ]
    return []


def _rts(links: list[Link], adapts: bool) -> list[Line]:
    after, attempts = sum(link.after_rts for link in links), sum(link.attempts for link in links)
    lengths = [link.shortest_after_rts for link in links if link.shortest_after_rts is not None]
    if after < RTS_SHARE * attempts or not lengths:
        return []
    shortest = min(lengths)
    without = max(link.longest_without_rts for link in links)
    if adapts and without >= shortest:
        # Minstrel sends retries behind RTS, whatever their size.
        return []
    origin = f"seen: {after} of {attempts} data PPDUs are behind RTS and CTS, of {shortest} bytes or more"
    return [
        Line("rts_threshold", f"{max(0, min(shortest - 1, without) if without < shortest else shortest - 1)} B", origin)
    ]


def prepared(seen: Seen, node: str) -> Told[dict[str, int]] | None:
    """Hardware that holds prepared A-MPDUs: one that was lost is sent again behind those that were ready. None without such, or if
    too few were lost, or if the sniffer missed what came between."""
    links = [link for (sender, _), link in seen.links.items() if sender == node]
    repeated, between = sum(link.ampdus_repeated for link in links), sum(link.ppdus_before_repeats for link in links)
    if repeated < ENOUGH_REPEATS or (seen.missed or 0.0) > MISSED or between < BEHIND * repeated:
        return None
    # Of those that are ready, some are for other receivers.
    origin = f"seen: {repeated} A-MPDUs that were lost came again, behind {between} others in all"
    return Told({"aggregates": 1 + ceil(between / repeated)}, origin)


def rate_control_lines(seen: Seen, station: str, ap: str, why_adapts: Callable[[Link], str | None]) -> list[Line]:
    """How the rates of both directions of a link are chosen; `why_adapts` has the reason why those of a link must adapt."""
    up, down = seen.links.get((station, ap)), seen.links.get((ap, station))
    if up is None or down is None:
        only = up or down
        return [Line("rate_control", *_rate_control_among(seen, only, why_adapts(only)))] if only else []
    (of_up, why_up), (of_down, why_down) = (_rate_control_among(seen, link, why_adapts(link)) for link in (up, down))
    if is_older(up) != is_older(down):
        # The station has the newer standard; its frames at the older rates are those before its first data.
        few = f"assumed: as the other way; {(up if is_older(up) else down).main.mpdus} MPDUs at older rates"
        (of_up, why_up), (of_down, why_down) = (
            ((of_down, few), (of_down, why_down)) if is_older(up) else ((of_up, why_up), (of_up, few))
        )
    lines = [Line("rate_control", of_up, why_up)]
    if of_down != of_up:
        lines.append(Line("downlink_rate_control", of_down, why_down))
    return lines


def is_older(link: Link) -> bool:
    """Whether all of its modes are of DSSS and OFDM, without MCSs."""
    return all(mode.format in LEGACY for mode in link.modes)


def station_lines(seen: Seen, station: str, ap: str) -> list[Line]:
    """The standard of a station, if all its rates are older than the rates of its BSS."""
    links = [link for ends in ((station, ap), (ap, station)) if (link := seen.links.get(ends)) is not None]
    of_bss = standard_of(mode for ends, link in seen.links.items() if ap in ends for mode in link.modes)
    modes = [mode for link in links for mode in link.modes]
    standard = standard_of(modes)
    if not links or standard == of_bss or not all(map(is_older, links)):
        return []
    if of_bss not in MPDUS_MOST and standard != "802.11b":
        return []
    if seen.is_of_hosts:
        return [Line("standard", standard, "seen: in the latest bitrates of iw, without QoS")]
    mpdus = sum(mode.mpdus for mode in modes)
    kinds = " and ".join(sorted({mode.format.upper() for mode in modes}))
    return [Line("standard", standard, f"seen: all of {mpdus} MPDUs are of {kinds}")]


def _rate_control_among(seen: Seen, link: Link, why_adapts: str | None) -> tuple[dict[str, Any] | str, str]:
    """As `rate_control`; rates that losses change must adapt in a twin, where losses come at other times."""
    # A table of Minstrel has the share of each mode; the latest mode of `iw` is one of many.
    if link.counted_by and (why_adapts is None or len(link.modes) > 1):
        return _of_host(link)
    if link.counted_by:
        return _minstrel(link), f"assumed: {why_adapts}; {_of_host(link)[1]}"
    link, without = _without_older(link)
    found, origin = rate_control(link)
    origin += without
    if found["kind"] == "trace" and seen.may_be_unheard(link.sender, link.receiver):
        why_adapts = "it adapts, as collisions with hidden nodes do not recur"
    if why_adapts is None:
        return found, origin
    return _minstrel(link), f"assumed: {why_adapts}; {origin}"


def _minstrel(link: Link) -> str:
    return "minstrel" if link.main.format in LEGACY else "minstrel_ht"


def _without_older(link: Link) -> tuple[Link, str]:
    """A link of HT, VHT or HE without its DSSS and OFDM modes, which its standard does not choose; and a note on them.

    Real transmitters send the key exchange of an association in them.
    """
    newer = tuple(mode for mode in link.modes if mode.format not in LEGACY)
    if not newer or len(newer) == len(link.modes):
        return link, ""
    rates = {mode.rate_bps for mode in newer}
    over_time = tuple(rate if rate in rates else None for rate in link.rates_over_time_bps)
    older = sum(mode.mpdus for mode in link.modes if mode.format in LEGACY)
    return replace(
        link, modes=newer, rates_over_time_bps=over_time
    ), f"; {older} MPDUs at rates of older standards left out"


def _of_host(link: Link) -> tuple[dict[str, Any], str]:
    """The mode of a link that a host reports, or its modes in turn, each for as long as its share."""
    main, whole = link.main, sum(mode.attempts for mode in link.modes)
    if len(link.modes) == 1 or link.share_of_main >= HOLDS:
        share = "" if len(link.modes) == 1 else f", {percent(link.share_of_main)} of {whole}"
        if main.instead_of:
            return {"kind": "fixed", **mode_key(main)}, f"assumed: {main.instead_of}, {link.counted_by}{share}"
        return {"kind": "fixed", **mode_key(main)}, f"seen: {link.counted_by}, {main.name}{share}"
    usual = sorted((mode for mode in link.modes if mode.attempts >= RARE * whole), key=lambda mode: -mode.attempts)
    shares = [max(1, round(TURNS * mode.attempts / sum(one.attempts for one in usual))) for mode in usual]
    rates = [phy_rate_text(usual[index].rate_bps) for index in _in_turn(shares)]
    origin = (
        f"estimated: {link.counted_by}, {', '.join(f'{percent(mode.attempts / whole)} {mode.name}' for mode in usual)}"
    )
    return {"kind": "trace", "interval": "100 ms", "rates": rates}, origin


def _in_turn(shares: list[int]) -> list[int]:
    """Indices, each as often as its share, spread evenly."""
    places = [((turn + 0.5) / share, index) for index, share in enumerate(shares) for turn in range(share)]
    return [index for _, index in sorted(places)]


def rate_control(link: Link) -> tuple[dict[str, Any], str]:
    """The rate control that behaves like the observed one, with the reason."""
    whole = sum(mode.mpdus for mode in link.modes)
    if link.share_of_main >= HOLDS or not link.rates_over_time_bps:
        return {"kind": "fixed", **mode_key(link.main)}, f"seen: {link.main.mpdus} of {whole} MPDUs"
    held, rates = link.main.rate_bps, []
    for rate in link.rates_over_time_bps:
        held = held if rate is None else rate
        rates.append(phy_rate_text(held))
    shares = sorted(((mode.mpdus / whole, mode.rate_bps) for mode in link.modes), reverse=True)[:4]
    of = ", ".join(f"{percent(share)} at {phy_rate_text(rate)}" for share, rate in shares)
    origin = f"seen: {of}; the rate of most MPDUs in each interval, single retries and probes are left out"
    return {"kind": "trace", "interval": time_text(link.rate_interval_s), "rates": rates}, origin


def mode_key(mode: Mode) -> dict[str, object]:
    """The key that names a mode."""
    return {"mcs": mode.mcs} if mode.format == "ht" else {"rate": phy_rate_text(mode.rate_bps)}
