"""Explanations of a flow's throughput from captures, and their limits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ...data.nulls import is_measured
from ...data.quantities import FLOW, MEDIUM, NODE
from ...data.result import Result
from ...data.selection import matching
from .damage import whole

# Reasons of stalls, in words.
STALLS = {
    "zero_window": "the receiver's window was closed",
    "medium_access": "all data was acknowledged, and the next segment failed on the air",
    "sender_idle": "all data was acknowledged, and the sender was idle",
    "receive_window": "the receiver's window was full",
    "timeout": "it waited for its retransmission timer",
    "loss_probe": "it waited for a timer shorter than the retransmission timer",
    "loss_recovery": "it retransmitted lost segments",
    "acks_stopped": "no acknowledgement came",
    "unknown": "for no visible reason",
}
CANNOT = (
    "A capture does not show the congestion window, the queues, or the cause of a PPDU's loss: collision, noise or a "
    "hidden station. An account of all time needs a simulation: `lasthop run FILE --explain`."
)


def is_captured(result: Result) -> bool:
    """Whether the result comes from captures of packets, not from the output of tools."""
    return any(
        is_measured(run) and isinstance(run.get("capture"), dict) and "tool" not in run["capture"]
        for run in result.told_runs
    )


def captured_text(result: Result, patterns: Sequence[str] = ()) -> str:
    """The time of flows and of the medium, as far as captures show it, with the limits.

    For the flows whose ids match one of `patterns`, or for all. Raises `LookupError` for a pattern without a match.
    """
    part, remedy = "part `capture`", "analyze the captures again"
    with whole(result, part, remedy):
        (run,) = result.runs
        captured = {flow["id"]: flow for flow in run["capture"]["flows"]}
        covered_s = run["capture"]["to_s"] - run["capture"]["from_s"]
    ids = matching("flow", patterns, captured) if patterns else list(captured)
    with whole(result, part, remedy):
        parts = [_flow_text(flow, captured[flow["id"]], covered_s) for flow in run["flows"] if flow["id"] in ids]
        return "\n".join([*parts, _medium_text(run), CANNOT]) + "\n"


def _flow_text(flow: Mapping[str, Any], captured: Mapping[str, Any], covered_s: float) -> str:
    goodput = flow[FLOW.goodput_bps]
    lines = [f"{flow['id']}: {'-' if goodput is None else f'{goodput / 1e6:.2f}'} Mbit/s"]
    stalls = sorted(captured.get("stalls", {}).items(), key=lambda stall: -stall[1]["total_s"])
    for reason, stall in stalls:
        if stall["count"]:
            share = 100 * stall["total_s"] / covered_s
            lines.append(f"  {share:5.1f} % of the time nothing was sent: {STALLS[reason]} ({stall['count']} times)")
    if captured and not any(stall["count"] for _, stall in stalls):
        lines.append("  it never paused for longer than two RTTs")
    if captured.get("load_over_mac_rate") is not None:
        lines.append(f"  its load is {captured['load_over_mac_rate']:.2f} of the PHY rate of its link [hashimoto2016]")
    if captured.get("segments_seen"):
        again, segments = captured["retransmissions_seen"], captured["segments_seen"]
        needless = max(captured["segments_spurious"], captured["segments_spurious_by_timestamps"])
        lines.append(f"  {again} of {segments} segments were retransmissions, {needless} of them spurious")
    return "\n".join(lines)


def _medium_text(run: Mapping[str, Any]) -> str:
    busy = run["medium"][MEDIUM.busy_fraction]
    if busy is None and run["capture"]["air"] is not None:
        return "medium: the capture does not give the busy time"
    if busy is None:
        return "medium: no capture of the air"
    shares = sorted(((node[NODE.airtime_fraction] or 0.0, node["name"]) for node in run["nodes"]), reverse=True)
    most = ", ".join(f"{name} {100 * share:.1f} %" for share, name in shares[:5] if share > 0)
    lines = [f"medium: busy {100 * busy:.1f} % of the time; on the air were {most}"]
    for pair in run["capture"]["hidden_pairs"]:
        times, all_ = pair["ppdus_begun_during"], pair["ppdus_begun"]
        lines.append(f"  {pair['node']} began {times} of {all_} PPDUs while {pair['unheard']} was sending")
    return "\n".join(lines)
