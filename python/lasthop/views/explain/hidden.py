"""Pairs of nodes that do not hear each other, and what keeps their frames apart: RTS and CTS [802.11-2020 §10.3.2.9].

Only the pairs that a scenario lists in `channel.hidden` are known here; those that are far apart are not.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from .words import percent

if TYPE_CHECKING:
    from .account import Explanation

# RTS protects a pair if losses to hidden nodes take less of each flow's time.
LITTLE = 0.05
OFF = (None, "off", "none", False)


class HiddenPair(NamedTuple):
    """Two nodes that do not hear each other, and the key that puts RTS before the frames of both, if one does."""

    nodes: tuple[str, str]
    rts_by: str | None


def hidden_pairs(scenario: Mapping[str, Any]) -> list[HiddenPair]:
    """The pairs of a resolved scenario, with the setting that protects both."""
    listed = scenario.get("channel", {}).get("hidden") or ()
    return [HiddenPair((first, second), _common(scenario, first, second)) for first, second in listed]


def hidden_sentences(explanation: Explanation) -> Iterator[str]:
    """For each hidden pair whose flows RTS protects, the setting and the time that is lost all the same."""
    for pair in explanation.hidden:
        flows = [flow for flow in explanation.flows if flow.station in pair.nodes]
        if pair.rts_by is None or not flows:
            continue
        worst = max(flows, key=lambda flow: flow.share("interference"))
        if (lost := worst.share("interference")) < LITTLE:
            first, second = pair.nodes
            yield (
                f"{first} and {second} do not hear each other, and RTS protects them ({pair.rts_by}): losses to hidden nodes take "
                f"{percent(lost)} of the time of {worst.id}, no more of any other flow of theirs."
            )


def _common(scenario: Mapping[str, Any], *nodes: str) -> str | None:
    """The key that puts RTS before frames of all these nodes, if there is one."""
    keys = [_rts_by(scenario, node) for node in nodes]
    return keys[0] if all(keys) else None


def _rts_by(scenario: Mapping[str, Any], node: str) -> str | None:
    groups: Sequence[Mapping[str, Any]] = scenario.get("station", ())
    station = next((group for group in groups if _is_of(node, group)), {})
    bss = _bss_of(scenario.get("bss", ()), station)
    rate_control = station.get("rate_control") or bss.get("rate_control") or {}
    if isinstance(rate_control, Mapping) and rate_control.get("fallback_rts"):
        return "rate_control.fallback_rts"
    if bss.get("protection") == "rts_cts":
        return "bss.protection"
    keys = ("rts_threshold", "txop_duration_rts_threshold")
    return next((f"bss.{key}" for key in keys if bss.get(key) not in OFF), None)


def _is_of(node: str, station: Mapping[str, Any]) -> bool:
    """Whether a node is of this group of stations, whose names end in numbers if they are several."""
    name = str(station.get("name", ""))
    return node == name or (node.startswith(name) and node[len(name) :].isdecimal())


def _bss_of(all_bss: Sequence[Mapping[str, Any]] | Mapping[str, Any], station: Mapping[str, Any]) -> Mapping[str, Any]:
    several = [all_bss] if isinstance(all_bss, Mapping) else all_bss
    return next((bss for bss in several if bss.get("name") == station.get("bss")), several[0] if several else {})
