"""Flows that a plot does not show, in a sentence below it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ...data.quantities import FLOW
from ._results import traffic_of

if TYPE_CHECKING:
    from ...data.result import Result

# Whether a plot shows a flow.
Shows = Callable[[Mapping[str, Any]], bool]


def not_shown(results: Sequence[Result], shows: Shows, reason: str) -> tuple[str, ...]:
    """`Not shown: 4 flows of voip and 1 of ping, which have no RTT.`; empty if every flow is shown in some seed."""
    kinds: dict[str, set[tuple[int, str]]] = {}
    for number, result in enumerate(results):
        flows = {flow["id"]: flow for run in result.runs for flow in run["flows"]}
        shown = {flow["id"] for run in result.runs for flow in run["flows"] if shows(flow)}
        for name, flow in flows.items():
            if name not in shown:
                kinds.setdefault(traffic_of(flow), set()).add((number, name))
    if not kinds:
        return ()
    # Several results mostly have the same flows: the largest count of one of them.
    counts = {kind: max(sum(1 for n, _ in of if n == number) for number, _ in of) for kind, of in kinds.items()}
    (first, count), *others = counts.items()
    parts = [f"{count} flow{'' if count == 1 else 's'} of {first}", *(f"{count} of {kind}" for kind, count in others)]
    listed = parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"
    return (f"Not shown: {listed}: {reason}.",)


def has(key: str) -> Shows:
    """Whether a flow has a number, or quantiles, of this name."""
    return lambda flow: flow.get(key) not in (None, [])


def without_goodput(results: Sequence[Result]) -> tuple[str, ...]:
    """The flows that deliver no data."""
    return not_shown(results, has(FLOW.goodput_bps), "no goodput")
