"""The findings of an account in sentences: each rule weighs one cause, and the weightiest come first."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from .account import CHANNEL_TERMS, FLOW_TERMS, ChannelTime, Explanation, FlowTime
from .drops import drop_sentences
from .hidden import hidden_sentences
from .marks import mark_sentences
from .words import also, count, listed, percent, rate

MOST = 6
# Below these shares of time a cause is not worth a sentence.
RATE_SHARE, SILENCE_SHARE, BEHIND_SHARE, HELD_SHARE, QUEUE_SHARE, LOST_SHARE = 0.03, 0.1, 0.2, 0.25, 0.3, 0.1
IDLE_SHARE, CONTENDING_SHARE, PADDING_SHARE = 0.5, 0.15, 0.1
# More than with the detection of PPDUs in progress that the standard requires on wide channels: 0.5 % in a full office.
MISSED_SHARE = 0.007
# Every shared channel has other senders and queues: a specific cause weighs more.
COMMON = 0.25
# An event that affects a smaller fraction of a flow's packets does not explain starvation.
DROPS_SHARE = 0.01
# A link is slow for the flows that wait for it if its rate is below this part of theirs.
SLOW = 0.5


class Answer(NamedTuple):
    """A sentence, and the share of time of its cause."""

    weight: float
    text: str


def answers(explanation: Explanation) -> list[str]:
    """The causes that took most time, each in a sentence, at least one; then the queues that dropped or marked packets."""
    by_weight = [answer for rule in RULES for answer in rule(explanation)]
    by_weight.sort(key=lambda answer: -answer.weight)
    causes = [answer.text for answer in by_weight[:MOST]] or [_largest(explanation)]
    # Losses and marks are reported whatever took the time.
    drops = [text for _, text in drop_sentences(explanation.losses)]
    return [*causes, *drops, *mark_sentences(explanation.marks), *hidden_sentences(explanation)]


def _starving(explanation: Explanation) -> Iterator[Answer]:
    """The flow that is silent for longest, for each direction: uploads and downloads have different causes."""
    by_direction: dict[str, list[FlowTime]] = {}
    for flow in explanation.flows:
        if flow.share("rto_silence") >= SILENCE_SHARE:
            by_direction.setdefault(flow.direction, []).append(flow)
    for flows in by_direction.values():
        worst = max(flows, key=lambda flow: flow.share("rto_silence"))
        silent = worst.share("rto_silence")
        timeouts = f" ({count(worst.timeouts, 'timeout')} a run)" if worst.timeouts else ""
        # Its weight is its cost to the worst flow.
        cause = f"{percent(silent)} of its time is RTO silence{timeouts}{dropped(explanation, worst)}"
        yield Answer(silent, f"{worst.id}{also(len(flows))} starves: {cause}.")


def dropped(explanation: Explanation, flow: FlowTime) -> str:
    """Lists the losses of a flow's packets, the worst first; empty if all arrived."""
    losses = []
    for node, packets in flow.packets.items():
        for kind, noun in (("tcp_acks", "TCP ACKs"), ("data", "packets with data")):
            lost, all_of = packets[f"{kind}_dropped"], packets[kind]
            if lost:
                text = f"the queue of {node} dropped {lost} of {all_of} of its {noun} ({percent(lost / all_of)})"
                losses.append((lost / all_of, text))
        if packets["given_up"]:
            whole = packets["data"] + packets["tcp_acks"]
            text = f"the MAC of {node} gave up {packets['given_up']} of {whole} of its packets"
            losses.append((packets["given_up"] / max(whole, 1), text))
    causes = [text for share, text in sorted(losses, reverse=True) if share >= DROPS_SHARE]
    seeds = len(explanation.seeds)
    return f"; {f'in {seeds} seeds ' if seeds > 1 else ''}{listed(causes)}" if causes else ""


def _slow_rates(explanation: Explanation) -> Iterator[Answer]:
    for channel in explanation.channels:
        lost = channel.share("rate_below_best")
        if lost < RATE_SHARE:
            continue
        best = channel.share("data") + channel.share("tcp_acks")
        yield Answer(
            lost,
            f"The rate is below the best possible: that costs {percent(lost)} of the {_channel(explanation, channel)} "
            f"time (the packets that arrived took {percent(best + lost)}, and {percent(best)} would have been enough)"
            f"{_why_slow(explanation, channel)}.",
        )


def _why_slow(explanation: Explanation, channel: ChannelTime) -> str:
    """The cause of low rates; if no rate control lowered one, the slow link of the most affected node."""
    sender = max(channel.nodes, key=lambda node: channel.nodes[node]["rate_below_best"])
    own = {name: link for name, link in explanation.links.items() if name.split(" to ")[0] == sender}
    rates = {name: link.rate_bps for name, link in own.items() if link.rate_bps}
    name = min(rates, key=rates.__getitem__, default=None)
    if name and not any(own[name].lowered.values()):
        return f"; {name} is sent at {rate(rates[name])}"
    return lowered(explanation)


def lowered(explanation: Explanation) -> str:
    """The causes for which rate controls lowered the rate; empty if none did."""
    causes = {cause: number for cause, number in explanation.lowered().items() if number > 0}
    total = sum(causes.values())
    if not total:
        return ""
    names = {"collision": "a collision", "noise": "a loss to noise", "interference": "a loss to hidden nodes"}
    names["success"] = "a success"
    parts = sorted(((number, names[cause]) for cause, number in causes.items()), reverse=True)
    shares = [f"{percent(number / total)} of them after {name}" for number, name in parts]
    return f"; rates were lowered {count(total, 'time')} a run, {listed(shares)}"


def _anomaly(explanation: Explanation) -> Iterator[Answer]:
    """A fast station waits for a slow one."""
    waiting_for: dict[str, list[tuple[float, FlowTime, float]]] = {}
    for flow in explanation.flows:
        own = _own_rate(explanation, flow)
        for name, share in flow.behind.items():
            link = explanation.links.get(name)
            if link is None or not link.rate_bps or not own or share < BEHIND_SHARE or name in _own_links(flow):
                continue
            if link.rate_bps < SLOW * own:
                waiting_for.setdefault(name, []).append((share, flow, own))
    for name, waiting in waiting_for.items():
        share, flow, own = max(waiting, key=lambda item: item[0])
        slow = explanation.links[name].rate_bps or 0.0
        yield Answer(
            share,
            f"{flow.id}{also(len(waiting))} waits {percent(share)} of its time for {name}, which is sent at {rate(slow)}, "
            f"its own data at {rate(own)}: a slow link holds the medium long for each frame.",
        )


def _own_links(flow: FlowTime) -> tuple[str, ...]:
    """The names under which others wait for the link of a flow, either way."""
    return (flow.station, *(f"{node} to {flow.station}" for node in flow.packets))


def _own_rate(explanation: Explanation, flow: FlowTime) -> float | None:
    """The mean rate of its data."""
    up, *down = _own_links(flow)
    names = [up] if flow.direction == "up" else down
    return next((explanation.links[name].rate_bps for name in names if name in explanation.links), None)


def _shared(explanation: Explanation) -> Iterator[Answer]:
    """Most of the time belongs to other nodes, none of them slow."""
    flows = [flow for flow in explanation.flows if flow.share("waiting_for_others") >= QUEUE_SHARE]
    if not flows:
        return
    worst = max(flows, key=lambda flow: flow.share("waiting_for_others"))
    names = [f"{name} {percent(share)}" for name, share in list(worst.waiting.items())[:3]]
    share = worst.share("waiting_for_others")
    yield Answer(
        COMMON * share,
        f"{worst.id}{also(len(flows))} has a packet ready while others have the medium for {percent(share)} of its "
        f"time ({listed(names)}).",
    )


def _queues(explanation: Explanation) -> Iterator[Answer]:
    """Packets wait in one queue."""
    by_queue: dict[str, list[FlowTime]] = {}
    for flow in explanation.flows:
        for queue in flow.queues:
            if flow.queue_share(queue) >= QUEUE_SHARE:
                by_queue.setdefault(queue, []).append(flow)
    for queue, flows in by_queue.items():
        worst = max(flows, key=lambda flow: flow.queue_share(queue))
        share, meanwhile = worst.queue_share(queue), worst.queues[queue]
        names = [f"{name} {percent(part)}" for name, part in list(meanwhile.items())[:3] if part > 0.01]
        who = f"; meanwhile the medium was used by {listed(names)}" if names and "wired" not in queue else ""
        where = queue if "wired" in queue else f"queue of {queue}"
        yield Answer(
            COMMON * share,
            f"{worst.id}{also(len(flows))} has packets in the {where} for {percent(share)} of its time{who}.",
        )


def _padding(explanation: Explanation) -> Iterator[Answer]:
    """PPDUs of several users last as long as their longest user needs."""
    for channel in explanation.channels:
        share = channel.share("padding")
        if share >= PADDING_SHARE:
            carried = sum(channel.share(term) for term in ("data", "tcp_acks", "rate_below_best"))
            yield Answer(
                share,
                f"{percent(share)} of the {_channel(explanation, channel)} time is padding in PPDUs of several users, which "
                f"last as long as their longest user needs (packets take {percent(carried)}).",
            )


HELD = {
    "waits_for_trigger": "is held by MU EDCA, with the medium free, until a trigger asks for its packets",
    "congestion_window": "has a full congestion window and waits for ACKs",
    "receive_window": "is held by the receiver's window",
    "pacing": "is held by pacing",
    "device": "waits for its own device",
    "on_the_wire": "has sent all its data and waits for ACKs",
    "application_idle": "has nothing to send",
}


def _held(explanation: Explanation) -> Iterator[Answer]:
    for term, what in HELD.items():
        least, weight = (IDLE_SHARE, COMMON) if term in ("application_idle", "on_the_wire") else (HELD_SHARE, 0.5)
        flows = [flow for flow in explanation.flows if flow.share(term) >= least]
        if flows:
            worst = max(flows, key=lambda flow: flow.share(term))
            share = worst.share(term)
            yield Answer(weight * share, f"{worst.id}{also(len(flows))} {what} for {percent(share)} of its time.")


def _losses(explanation: Explanation) -> Iterator[Answer]:
    what = {"collided": "Collisions take", "lost_to_noise": "Frames lost to noise take"}
    parts = {"collided": ("collided", "missed_preamble"), "lost_to_noise": ("lost_to_noise",)}
    for channel in explanation.channels:
        for term, words in what.items():
            share = sum(channel.share(part) for part in parts[term])
            if share >= LOST_SHARE:
                of = {name: sum(terms.get(part, 0.0) for part in parts[term]) for name, terms in channel.nodes.items()}
                node = max(of, key=of.__getitem__)
                most = f", {node} {percent(of[node])}" if len(of) > 1 else ""
                yield Answer(share, f"{words} {percent(share)} of the {_channel(explanation, channel)} time{most}.")


def _missed_preambles(explanation: Explanation) -> Iterator[Answer]:
    """PPDUs begun during another, by nodes that missed its preamble while sending and sense only its energy."""
    for channel in explanation.channels:
        share = channel.share("missed_preamble")
        if share < MISSED_SHARE:
            continue
        node = max(channel.nodes, key=lambda name: channel.nodes[name].get("missed_preamble", 0.0))
        yield Answer(
            share,
            f"PPDUs that began during another cost {percent(share)} of the {_channel(explanation, channel)} time, most "
            f"of it in PPDUs of {node}: {channel.begun_after_missed_preamble_per_s:.0f} times a second a node that had "
            "missed the preamble, because it was sending or receiving, did not sense the PPDU in progress; "
            "channel.mid_packet_detection makes receivers detect it, bss.txop_duration_rts_threshold announces long PPDUs.",
        )


def _silence(explanation: Explanation) -> Iterator[Answer]:
    for channel in explanation.channels:
        idle, contending = channel.share("idle"), channel.share("contending")
        name = _channel(explanation, channel)
        if idle >= IDLE_SHARE:
            yield Answer(idle / 2, f"For {percent(idle)} of the {name} time no node has anything to send.")
        if contending >= CONTENDING_SHARE:
            words = "backoff and inter-frame spaces, while a node has data to send"
            yield Answer(contending, f"{percent(contending)} of the {name} time is {words}.")


def _channel(explanation: Explanation, channel: ChannelTime) -> str:
    return "channel's" if len(explanation.channels) == 1 else channel.whose


def _largest(explanation: Explanation) -> str:
    if not explanation.flows:
        channel = explanation.channels[0]
        term = max(CHANNEL_TERMS, key=channel.share)
        return f"Most of the channel's time: {CHANNEL_TERMS[term]}, {percent(channel.share(term))}."
    flow = explanation.flows[0]
    terms = sorted(FLOW_TERMS, key=lambda term: -flow.share(term))[:3]
    return f"{flow.id}: {listed([f'{FLOW_TERMS[term]} {percent(flow.share(term))}' for term in terms])}."


RULES: tuple[Callable[[Explanation], Iterator[Answer]], ...] = (
    *(_starving, _slow_rates, _padding, _anomaly, _shared),
    *(_queues, _held, _losses, _missed_preambles, _silence),
)
