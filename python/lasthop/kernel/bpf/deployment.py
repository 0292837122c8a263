"""From a scenario's mechanisms to commands for real hosts: what each host would run, and what no host can do."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

# Controllers that the kernel implements by the same law, with its names for them.
KERNEL_NAMES = {
    **{
        name: name
        for name in (
            "cubic",
            "bbr",
            "vegas",
            "veno",
            "westwood",
            "htcp",
            "hybla",
            "illinois",
            "scalable",
            "yeah",
            "bic",
            "dctcp",
            "cdg",
        )
    },
    "newreno": "reno",
    "hstcp": "highspeed",
}
BASES = {"cubic": "cubic", "newreno": "reno"}
# A queue of hostapd for each access category.
TX_QUEUES = {"vo": 0, "vi": 1, "be": 2, "bk": 3}
TOGETHER = (
    "ack_loss at the sender and skipped ACKs at the receiver meet on this path: left-out ACKs look like lost ones to the sender "
    "(measured: a ninth of the goodput); leave one of them out"
)


class Line(NamedTuple):
    """One line: a command, or a remark on what cannot be done or would go wrong."""

    host: str
    text: str
    is_command: bool


def deployment(resolved: dict[str, Any], given: dict[str, Any], device: str) -> list[Line]:
    """The lines for a resolved scenario, each once; `given` has the keys of the file itself."""
    lines = [*_of_flows(resolved["flow"], device), *_of_cells(resolved, given, device), *_left_out(resolved)]
    return list(dict.fromkeys(lines))


def _of_flows(flows: list[dict[str, Any]], device: str) -> Iterator[Line]:
    for flow in flows:
        if flow.get("transport") != "tcp":
            continue
        stations = flow["station"] if isinstance(flow["station"], str) else ", ".join(flow["station"])
        for up in {"up": (True,), "down": (False,)}.get(flow["direction"], (True, False)):
            ends = (f"stations {stations}", "the server")
            sender, receiver = ends if up else ends[::-1]
            yield from _of_sender(flow, sender)
            yield from _of_receiver(flow, receiver, device if up is False else "eth0")


def _of_sender(flow: dict[str, Any], host: str) -> Iterator[Line]:
    control = flow["congestion_control"]["kind"]
    loss = flow["ack_loss"]
    if isinstance(loss, dict):
        if (base := BASES.get(control)) is None:
            yield Line(host, f"ack_loss around {control}: the kernel's program has cubic and reno alone", False)
            return
        yield Line(host, f"lasthop host load ack_loss --base {base} --threshold {loss['threshold']} --default", True)
        if loss.get("mode") != "general":
            yield Line(
                host,
                'ack_loss in a kernel learns what jump is normal: it is mode = "general", and not the paper\'s',
                False,
            )
        if isinstance(flow["ack"], dict):
            yield Line(host, TOGETHER, False)
    elif (name := KERNEL_NAMES.get(control)) is not None:
        yield Line(host, f"sysctl -w net.ipv4.tcp_congestion_control={name}", True)
    elif control == "bpf":
        yield Line(host, f"bpftool struct_ops register {flow['congestion_control']['object']}", True)
        yield Line(
            host,
            "the object's name in `lasthop show` is that for net.ipv4.tcp_congestion_control, or for setsockopt(TCP_CONGESTION)",
            False,
        )
    elif control in ("python", "c"):
        yield Line(
            host,
            f"a congestion control in {'C' if control == 'c' else 'Python'} runs in lasthop alone; a kernel takes it as a BPF object",
            False,
        )
    else:
        yield Line(host, f'congestion_control = "{control}": no kernel has it', False)


def _of_receiver(flow: dict[str, Any], host: str, device: str) -> Iterator[Line]:
    ack = flow["ack"]
    if isinstance(ack, dict) and ack.get("kind") == "skip":
        after = str(ack.get("start_after", "10")).split()[0]
        yield Line(
            host, f"lasthop host load ack_skip --device {device} --skip {ack['skip']} --start-after {after}", True
        )
    elif ack == "every_segment":
        yield Line(host, 'ack = "every_segment": a kernel delays ACKs (a route with `quickack 1` comes near)', False)


def _of_cells(resolved: dict[str, Any], given: dict[str, Any], device: str) -> Iterator[Line]:
    asked = given.get("bss", {})
    asked = asked if isinstance(asked, list) else [asked]
    for cell, own in zip(resolved["bss"], asked * len(resolved["bss"]), strict=False):
        yield from _of_queue(cell["ap"]["queue"], device)
        if "edca" in own:
            for category, values in cell["edca"].items():
                yield from (Line("the AP", line, True) for line in _wmm(category, values))
        yield from _of_access(cell["ap"]["access"])


def _of_queue(queue: Any, device: str) -> Iterator[Line]:
    kind, table = (queue, {}) if isinstance(queue, str) else (queue["kind"], queue)
    limit = str(table.get("limit", "")).partition(" ")
    count = f" limit {limit[0]}" if limit[2] == "packets" else ""
    times = "".join(f" {key} {table[key].replace(' ', '')}" for key in ("target", "interval") if key in table)
    if kind == "split_ack":
        yield Line("the AP", f"lasthop host load split_queue --device {device}", True)
    elif kind == "airtime_fq_codel":
        yield Line("the AP", "airtime_fq_codel: mac80211 has it by itself, and needs no command", False)
    elif kind == "fifo":
        yield Line("the AP", f"tc qdisc replace dev {device} root pfifo{count}", True)
    elif kind in ("codel", "fq_codel"):
        yield Line("the AP", f"tc qdisc replace dev {device} root {kind}{count}{times}", True)
    elif kind in ("pie", "fq_pie"):
        yield Line("the AP", f"tc qdisc replace dev {device} root {kind}{count}", True)
    else:
        yield Line("the AP", f'queue = "{kind}": tc has no plain equivalent', False)


def _of_access(access: Any) -> Iterator[Line]:
    if access == "pifs":
        yield Line("the AP", f"hostapd.conf: tx_queue_data{TX_QUEUES['be']}_aifs=1", True)
    elif isinstance(access, dict):
        for category, values in access.items():
            if category in TX_QUEUES:
                yield from (Line("the AP", line, True) for line in _tx_queue(category, values))


def _wmm(category: str, values: dict[str, Any]) -> Iterator[str]:
    """EDCA parameters that an AP announces to its stations; windows as exponents, TXOPs in 32 us. [802.11-2020
    §9.4.2.28]
    """
    name = f"hostapd.conf: wmm_ac_{category}"
    yield f"{name}_aifs={values['aifsn']}"
    for key in ("cw_min", "cw_max"):
        yield f"{name}_{key.replace('_', '')}={(values[key] + 1).bit_length() - 1}"
    yield f"{name}_txop_limit={round(_microseconds(values['txop_limit']) / 32)}"


def _tx_queue(category: str, values: dict[str, Any]) -> Iterator[str]:
    """EDCA parameters that an AP uses itself; windows in slots, bursts in ms."""
    name = f"hostapd.conf: tx_queue_data{TX_QUEUES[category]}"
    for key, setting in (("aifsn", "aifs"), ("cw_min", "cwmin"), ("cw_max", "cwmax")):
        if values.get(key) is not None:
            yield f"{name}_{setting}={values[key]}"
    if values.get("txop_limit") is not None:
        yield f"{name}_burst={_microseconds(values['txop_limit']) / 1000:.1f}"


def _microseconds(text: str) -> float:
    number, unit = text.split()
    return float(number) * {"s": 1e6, "ms": 1e3, "us": 1.0, "ns": 1e-3}[unit]


def _left_out(resolved: dict[str, Any]) -> Iterator[Line]:
    yield Line(
        "all",
        f"rate control, aggregation and PHY of {resolved['bss'][0]['standard']}: the hardware decides",
        False,
    )
    if isinstance(resolved["wired"].get("loss"), dict):
        yield Line(
            "all", "wired.loss: a property of the path, not something to deploy (`tc netem` can emulate it)", False
        )
