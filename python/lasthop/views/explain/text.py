"""An explanation and a difference as text and as JSON documents."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ... import _core
from ...data.confidence import Estimate
from ...data.quantities import FLOW, Quantity
from .account import CHANNEL_TERMS, FLOW_TERMS, ChannelTime, Explanation, FlowTime
from .answers import answers
from .difference import Change, Difference
from .suffering import in_words, measure_of, shown, suffering
from .words import percent, points

FLOWS_SHOWN = 6
NAMES_SHOWN = 5
SHOWN = "those that suffer most of each kind of traffic, and the median ones"
# Numbers shown above the terms of time.
GOODPUT, LOSS = FLOW.goodput_bps, FLOW.loss_fraction
NUMBERS = (
    *(GOODPUT, LOSS, FLOW.rtt_p95_s, FLOW.delay_p95_s),
    *(FLOW.mos, FLOW.page_load_time_p95_s, FLOW.stall_time_s),
)
# Terms with smaller shares for all shown flows are left out of the table.
SHOWN_FROM = 0.0005

Table = Callable[..., str]


def explanation_text(explanation: Explanation, table: Table) -> str:
    """The answers, then the time of each flow, then the time of the channels."""
    seeds = len(explanation.seeds)
    of = f"{seeds} {'seed' if seeds == 1 else 'seeds'} of {explanation.covered_s:g} s each"
    lead = "".join(f"- {line}\n" for line in (*answers(explanation), *suffering(explanation)))
    parts = [f"{explanation.name}: {of}\n\n{lead}", _flows_text(explanation, table)]
    parts += [_channel_text(explanation, channel, table) for channel in explanation.channels]
    return "\n".join(part for part in parts if part)


def _flows_text(explanation: Explanation, table: Table) -> str:
    flows = shown(explanation.flows, FLOWS_SHOWN)
    if not flows:
        return ""
    rows = [["traffic", *(flow.traffic for flow in flows)]] if len({flow.traffic for flow in flows}) > 1 else []
    rows += [[label, *cells] for label, cells in _numbers(flows)]
    for term, label in FLOW_TERMS.items():
        if max(abs(flow.share(term)) for flow in flows) >= SHOWN_FROM:
            rows.append([label, *(_share(flow.shares[term]) if term in flow.shares else "" for flow in flows)])
        rows += _details(term, flows)
    rest = len(explanation.flows) - len(flows)
    more = f"of {len(explanation.flows)} flows {SHOWN}; --flow PATTERN chooses others, --json has all\n" if rest else ""
    return table(["of each flow's time", *(flow.id for flow in flows)], rows) + more


def _numbers(flows: Sequence[FlowTime]) -> list[tuple[str, list[str]]]:
    """The numbers of the flows, in rows with at least one value."""
    keys = [key for key in NUMBERS if key != LOSS or any(flow.facts.get(LOSS) for flow in flows)]
    rows = [(key, [in_words(flow.facts, key) for flow in flows]) for key in keys]
    return [(key.label, cells) for key, cells in rows if key == GOODPUT or any(cell != "-" for cell in cells)]


def _details(term: str, flows: Sequence[FlowTime]) -> list[list[str]]:
    """Rows for the other nodes and for the queues."""
    if term == "waiting_for_others":
        return _named("  ", [flow.waiting for flow in flows])
    if term != "queues":
        return []
    rows = []
    for queue in dict.fromkeys(queue for flow in flows for queue in flow.queues):
        shares = [flow.queue_share(queue) if queue in flow.queues else 0.0 for flow in flows]
        if max(shares) >= SHOWN_FROM:
            rows.append([f"  {queue}", *(percent(share) if share else "" for share in shares)])
            if "wired" not in queue:
                rows += _named("    meanwhile ", [flow.queues.get(queue, {}) for flow in flows])
    return rows


def _named(prefix: str, of_flows: Sequence[dict[str, float]]) -> list[list[str]]:
    """A row for each name with a large share of some flow's time, the rest in one."""
    largest: dict[str, float] = {}
    for shares in of_flows:
        for name, share in shares.items():
            largest[name] = max(share, largest.get(name, 0.0))
    ranked = sorted(largest, key=lambda name: -largest[name])
    shown = [name for name in ranked[:NAMES_SHOWN] if largest[name] >= 10 * SHOWN_FROM]
    rows = [[prefix + name, *(percent(of[name]) if name in of else "" for of in of_flows)] for name in shown]
    rest = [sum(share for name, share in of.items() if name not in shown) for of in of_flows]
    if shown and max(rest) >= SHOWN_FROM:
        rows.append([f"{prefix}the rest", *(percent(share) if share else "" for share in rest)])
    return rows


def _share(estimate: Estimate) -> str:
    if not estimate.mean and not estimate.half_width:
        return ""
    half = estimate.half_width
    spread = f" ± {100 * half:.1f}" if half is not None and half >= 5e-4 else ""
    return percent(estimate.mean) if not spread else f"{100 * estimate.mean:.1f}{spread} %"


def _channel_text(explanation: Explanation, channel: ChannelTime, table: Table) -> str:
    nodes = sorted(channel.nodes, key=lambda name: -sum(channel.nodes[name].values()))
    busiest, rest = nodes[:NAMES_SHOWN], nodes[NAMES_SHOWN:]
    rows = []
    for term, label in CHANNEL_TERMS.items():
        estimate = channel.shares.get(term)
        if estimate is None or estimate.mean < SHOWN_FROM:
            continue
        cells = [channel.nodes[name].get(term) for name in busiest]
        others = [sum(channel.nodes[name].get(term, 0.0) for name in rest)] if rest else []
        rows.append([label, _share(estimate), *(percent(share) if share else "" for share in [*cells, *others])])
    name = (
        "of the channel's time"
        if len(explanation.channels) == 1
        else f"of {'' if channel.mhz is None else 'the '}{channel.whose} time"
    )
    heads = [*busiest, *([f"{len(rest)} more"] if rest else [])]
    return table([name, "all", *heads], rows)


def difference_text(of: Difference, table: Table) -> str:
    """The answers, then the terms of flows and channels side by side."""
    lead = "".join(f"- {line}\n" for line in of.answers())
    lead += _sides_text(of, table)
    flows = _changes_text("of the flows' time (mean)", FLOW_TERMS, of.flows, table)
    return f"{lead}\n{flows}\n{_changes_text('of the time of the channels', CHANNEL_TERMS, of.channel, table)}"


def _sides_text(of: Difference, table: Table) -> str:
    """The flows that suffer most on either side, with their numbers on both and the term that changes most."""
    both = {flow.id for flow in of.a.flows} & {flow.id for flow in of.b.flows}
    before, after = ({flow.id: flow for flow in side.flows} for side in (of.a, of.b))
    worst = [flow.id for side in (of.a, of.b) for flow in shown(side.flows, FLOWS_SHOWN) if flow.id in both]
    ids = [flow for flow in before if flow in dict.fromkeys(worst)]
    rows = []
    for name in ids:
        a, b = before[name], after[name]
        measures = _measures(a, b)
        for key in measures:
            cells = [in_words(side.facts, key) for side in (a, b)]
            rows.append([f"{name}: {key.label}", *cells, _most_changed(a, b) if key == measures[0] else ""])
    if not rows:
        return ""
    rest = len(both) - len(ids)
    more = f"of {len(both)} flows {SHOWN} of A and of B; --flow PATTERN chooses others\n" if rest else ""
    return "\n" + table(["of each flow", "A", "B", "of its time changes most"], rows) + more


def _measures(a: FlowTime, b: FlowTime) -> list[Quantity]:
    """The numbers shown for a flow on both sides: the one that ranks its kind, its losses, and one more.

    An RTT or a delay covers the packets that arrived, so it needs the share of losses next to it.
    """
    ranked = measure_of([a, b])
    first = [ranked.key] if ranked else []
    lost = [LOSS] if a.facts.get(LOSS) or b.facts.get(LOSS) else []
    numbers = [*(key for key in NUMBERS if key not in (*first, LOSS, GOODPUT)), GOODPUT]
    others = [key for key in numbers if {a.facts.get(key), b.facts.get(key)} != {None}]
    return list(dict.fromkeys([*first, *lost, *others[:1]]))


def _most_changed(a: FlowTime, b: FlowTime) -> str:
    term = max(FLOW_TERMS, key=lambda term: abs(b.share(term) - a.share(term)))
    return f"{FLOW_TERMS[term]} {percent(a.share(term))} → {percent(b.share(term))}"


def _changes_text(head: str, names: dict[str, str], changes: Sequence[Change], table: Table) -> str:
    rows = [
        [names[change.term], percent(change.a), percent(change.b), _points(change)]
        for change in changes
        if max(change.a, change.b) >= SHOWN_FROM
    ]
    return table([head, "A", "B", "B - A (points)"], rows)


def _points(change: Change) -> str:
    half = change.difference.estimate.half_width if change.difference else None
    return points(change.b - change.a) + (f" ± {100 * half:.1f}" if half is not None else "")


def explanation_document(explanation: Explanation) -> dict[str, Any]:
    """The document of `--json`: shares of time between 0 and 1."""
    return {
        "lasthop": _core.__version__,
        "name": explanation.name,
        "seeds": explanation.seeds,
        "covered_s": explanation.covered_s,
        "answers": answers(explanation),
        "suffering": suffering(explanation),
        "flows": [_flow_document(flow) for flow in explanation.flows],
        "channels": [_channel_document(channel) for channel in explanation.channels],
    }


def _flow_document(flow: FlowTime) -> dict[str, Any]:
    return {
        "id": flow.id,
        "station": flow.station,
        "direction": flow.direction,
        "traffic": flow.traffic,
        GOODPUT: flow.goodput_bps,
        "terms": {term: estimate._asdict() for term, estimate in flow.shares.items()},
        "waiting_for": flow.waiting,
        "queues": [
            {"queue": queue, "share": flow.queue_share(queue), "meanwhile": meanwhile}
            for queue, meanwhile in flow.queues.items()
        ],
        "packets": flow.packets,
    }


def _channel_document(channel: ChannelTime) -> dict[str, Any]:
    terms = {term: estimate._asdict() for term, estimate in channel.shares.items()}
    frequency = {} if channel.mhz is None else {"mhz": channel.mhz}
    return {"channel": channel.channel, **frequency, "terms": terms, "nodes": channel.nodes}


def difference_document(of: Difference) -> dict[str, Any]:
    """The document of `--json`."""
    return {
        "lasthop": _core.__version__,
        "answers": of.answers(),
        "flows": [_change_document(change) for change in of.flows],
        "channels": [_change_document(change) for change in of.channel],
        "a": explanation_document(of.a),
        "b": explanation_document(of.b),
    }


def _change_document(change: Change) -> dict[str, Any]:
    interval = change.difference and {**change.difference.estimate._asdict(), "paired": change.difference.paired}
    return {"term": change.term, "a": change.a, "b": change.b, "difference": interval}
