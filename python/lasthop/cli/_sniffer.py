"""Sentences about the sniffer of a capture: unknown quantities, its clock, its FCS, addresses that were left out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..data.plain_number import plain

#: The least share of PPDUs whose durations give the airtime of all.
SHARE = 0.99
#: Why the mode of a PPDU is unknown.
CAUSES = {
    "no_header": "no radiotap header (link type 105)",
    "no_rate": "radiotap without a rate",
    "he_of_several_users": "HE PPDUs for several users, triggered, or of extended range",
    "he_on_an_ru": "HE PPDUs on a resource unit",
    "eht": "802.11be",
    "s1g": "802.11ah",
    "other": "modes that are not modelled or not complete",
}


def sniffer_text(capture: Mapping[str, Any]) -> str:
    """A line for each fact that limits what the capture gives, and one for its time stamps."""
    air = capture["air"]
    lines = (
        []
        if air is None
        else [*_unknown(air), *_encrypted(capture), _stamps(air["stamps"]), *_fcs(air), *_losses(capture)]
    )
    if capture["addresses_left_out"]:
        count, once = capture["addresses_left_out"], capture["addresses_left_out_seen_once"]
        lines.append(
            f"{count} addresses are left out of the tables, as they sent no data, or too little of it was answered: {once} were seen once only"
        )
    if capture["flows_left_out"]:
        lines.append(f"{capture['flows_left_out']} flows with the fewest bytes are left out of the tables")
    return "".join(f"{line}\n" for line in lines)


def _unknown(air: Mapping[str, Any]) -> list[str]:
    """The line about airtime and rates, if most of the PPDUs do not give them."""
    lasting, rated = air["ppdus_of_known_duration_fraction"], air["attempts_of_known_rate_fraction"]
    names = [
        name
        for name, share in (("airtime, busy and idle time", lasting), ("rates", rated))
        if share is not None and share < SHARE
    ]
    if not names:
        return []
    causes = sorted(air["ppdus_of_unknown_mode"].items(), key=lambda cause: -cause[1])
    why = ", ".join(f"{CAUSES[name]}: {count} PPDUs" for name, count in causes)
    known = " and ".join(
        f"{100 * share:.1f} % of {of}" for share, of in ((lasting, "durations"), (rated, "rates")) if share is not None
    )
    return [f"{' and '.join(names)} are unknown ({why}); known are {known}"]


def _encrypted(capture: Mapping[str, Any]) -> list[str]:
    """The line about frames whose packets are unknown."""
    encrypted, whole = (sum(link[key] for link in capture["links"]) for key in ("mpdus_protected", "mpdus"))
    if not encrypted:
        return []
    return [
        f"{encrypted} of {whole} MPDUs are encrypted: their flows and goodput are unknown, unless a wire was captured too"
    ]


def _stamps(stamps: Mapping[str, Any]) -> str:
    """The line about the time stamps."""
    marks = {"begin": "the beginning of frames", "end": "the end of frames", None: "an unknown moment of frames"}
    words = [f"time stamps: {marks[stamps['mark']]}"]
    if stamps["step_s"] is not None:
        words.append(f"steps of {_time(stamps['step_s'])}")
    if stamps["jitter_s"] is not None:
        words.append(f"jitter {_time(stamps['jitter_s'])} in {stamps['exchanges']} exchanges")
    lost = []
    if stamps["is_coarse"]:
        lost.append("busy and idle time and hidden nodes are unknown")
    if stamps["is_disordered"]:
        lost.append("answers come before their frames: losses are unknown")
    return "; ".join([", ".join(words), *lost])


def _losses(capture: Mapping[str, Any]) -> list[str]:
    """The line about losses that Retry bits show."""
    count = sum(link["mpdu_loss_from"] == "retry_bits" for link in capture["links"])
    if not count:
        return []
    return [
        f"no damaged frame was captured: on {count} links the lost MPDUs are estimated from the Retry bits of those that arrived"
    ]


def _fcs(air: Mapping[str, Any]) -> list[str]:
    """Lines about a wrong flag of radiotap."""
    lines = []
    if air["fcs_flag_without_fcs"]:
        lines.append("frames have no FCS, though radiotap's flag is set: lengths of Acks and CTS show it")
    if air["fcs_without_flag"]:
        lines.append("frames end with their FCS, though no flag says so")
    return lines


def _time(seconds: float) -> str:
    """A time in a unit that fits."""
    for unit, scale in (("ns", 1e9), ("us", 1e6), ("ms", 1e3)):
        if seconds * scale < 999.5:
            return f"{plain(seconds * scale, 3)} {unit}"
    return f"{plain(seconds, 3)} s"
