"""Records what this machine's own TCP sender does under scripted loss, as JSON for `lasthop cc recovery`.

The kernel sends over a TUN device in an empty network namespace; this program is the peer, the receiver and the
path. `recorder.py NAME... --out DIR` records scenarios of scenarios.json, `--scenario FILE` one from a file of the same
form; each is run `--runs` times, to see whether the kernel repeats itself. Needs root and /dev/net/tun.
"""

from __future__ import annotations

import argparse
import ctypes
import fcntl
import heapq
import json
import os
import platform
import select
import socket
import struct
import sys
import time
from collections import Counter
from pathlib import Path as FilePath
from typing import Any

from peer import ACK, CWR, LISTENING_PORT, LOCAL, PORT, REMOTE, SYN, Answer, Packet, Path, Receiver, Wire

DEFAULTS: dict[str, Any] = {
    "rtt_ms": 100,
    "gap_ms": 1.5,
    "mss": 1000,
    "cc": "reno",
    "sack": True,
    "ts": False,
    "delack": 1,
    "window": 1048576,
    "segments": 80,
    "listens": False,
}
SYSCTLS = {
    "tcp_no_metrics_save": 1,
    "tcp_slow_start_after_idle": 0,
    "tcp_recovery": 1,
    "tcp_early_retrans": 3,
    "tcp_frto": 2,
    "tcp_reordering": 3,
    "tcp_wmem": "4096 4194304 4194304",
}
STATES = ("Open", "Disorder", "CWR", "Recovery", "Loss")
CLONE_NEWNET = 0x40000000
TUNSETIFF, IFF_TUN, IFF_NO_PI = 0x400454CA, 1, 0x1000
SIOCSIFADDR, SIOCSIFNETMASK, SIOCGIFFLAGS, SIOCSIFFLAGS = 0x8916, 0x891C, 0x8913, 0x8914
IFF_UP_RUNNING = 0x41
QUIET_MS = 400.0


def why_not() -> str | None:
    """Why nothing can be recorded here; nothing if it can."""
    if sys.platform != "linux":
        return "this is not Linux"
    if os.geteuid() != 0:
        return "needs root"
    if not os.access("/dev/net/tun", os.R_OK | os.W_OK):
        return "needs /dev/net/tun"
    return None


def open_network() -> int:
    """A network namespace of its own with a TUN device; the device's file descriptor."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(CLONE_NEWNET) != 0:
        raise OSError(ctypes.get_errno(), "unshare")
    tun = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(tun, TUNSETIFF, struct.pack("16sH22x", b"tun0", IFF_TUN | IFF_NO_PI))
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        for name in (b"lo", b"tun0"):
            if name == b"tun0":
                address = struct.pack("16sHH4s8x", name, socket.AF_INET, 0, LOCAL)
                fcntl.ioctl(control, SIOCSIFADDR, address)
                fcntl.ioctl(
                    control, SIOCSIFNETMASK, struct.pack("16sHH4s8x", name, socket.AF_INET, 0, b"\xff\xff\xff\0")
                )
            flags = struct.unpack("16xH22x", fcntl.ioctl(control, SIOCGIFFLAGS, struct.pack("16sH22x", name, 0)))[0]
            fcntl.ioctl(control, SIOCSIFFLAGS, struct.pack("16sH22x", name, flags | IFF_UP_RUNNING))
    return tun


def set_sysctls(scenario: dict[str, Any]) -> None:
    """The settings of the namespace."""
    settings = {
        **SYSCTLS,
        "tcp_sack": int(scenario["sack"]),
        "tcp_timestamps": int(scenario["ts"]),
        "tcp_ecn": int(scenario.get("ecn", False)),
        **scenario.get("sysctl", {}),
    }
    for name, value in settings.items():
        FilePath("/proc/sys/net/ipv4", name).write_text(str(value))


class Recording:
    """One run of one scenario."""

    def __init__(self, tun: int, scenario: dict[str, Any]) -> None:
        self.tun, self.scenario = tun, scenario
        self.events: list[list[Any]] = []
        self.agenda: list[tuple[float, int, str, Any]] = []
        self.order = 0
        self.path, self.receiver = Path(scenario), Receiver(scenario)
        self.sent: Counter[int] = Counter()
        self.begin = 0.0

    def now(self) -> float:
        """In ms since the first data segment."""
        return time.monotonic() * 1e3 - self.begin

    def run(self) -> list[list[Any]]:
        """Opens, writes all, and follows until all is acknowledged or the time is up."""
        with self._accept() if self.scenario["listens"] else self._connect() as sender:
            self.socket = sender
            self.begin = time.monotonic() * 1e3
            for t_ms, window in self.scenario.get("window_script", []):
                self._schedule(t_ms, "window", window)
            data = bytes(self.scenario["segments"] * self.scenario["mss"])
            if sender.send(data) != len(data):
                raise RuntimeError("the socket did not take all data at once")
            self._drain("write")
            self._ask("write")
            self._follow()
            sender.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        while self._read() is not None:
            pass
        return self.events

    def _new_socket(self) -> socket.socket:
        made = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        made.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, self.scenario["cc"].encode())
        made.setblocking(False)
        return made

    def _connect(self) -> socket.socket:
        """The kernel opens: its largest window is then that of the SYN+ACK, which is not scaled."""
        sender = self._new_socket()
        sender.connect_ex((socket.inet_ntoa(REMOTE), PORT))
        syn = self._wait_for(SYN)
        self.wire = Wire(self.scenario, syn.port, syn.seq)
        self._wait_a_round_trip()
        os.write(self.tun, self.wire.syn_ack(syn, 0.0))
        self._wait_for(ACK)
        return sender

    def _accept(self) -> socket.socket:
        """The kernel listens: the last ACK of the handshake has the scaled window."""
        with self._new_socket() as listener:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind((socket.inet_ntoa(LOCAL), LISTENING_PORT))
            listener.listen(1)
            os.write(self.tun, Wire(self.scenario, LISTENING_PORT, 0).syn(0.0))
            syn_ack = self._wait_for(SYN)
            self.wire = Wire(self.scenario, LISTENING_PORT, syn_ack.seq)
            self._wait_a_round_trip()
            os.write(self.tun, self.wire.ack(self.receiver.opening(), syn_ack.timestamp, 0.0))
            sender, _ = listener.accept()
        sender.setblocking(False)
        return sender

    def _wait_a_round_trip(self) -> None:
        until = time.monotonic() + self.scenario["rtt_ms"] / 1e3
        while time.monotonic() < until:
            time.sleep(max(0.0, until - time.monotonic() - 2e-4))

    def _wait_for(self, flag: int) -> Packet:
        for _ in range(100):
            packet = self._read()
            if packet and packet.flags & flag:
                return packet
            select.select([self.tun], [], [], 0.1)
        raise RuntimeError("the kernel did not open the connection")

    def _read(self) -> Packet | None:
        while True:
            try:
                data = os.read(self.tun, 65536)
            except BlockingIOError:
                return None
            packet = Packet.parse(data)
            if packet:
                return packet

    def _follow(self) -> None:
        stop = self.scenario.get("stop_ms", float("inf"))
        last = self.scenario["segments"]
        finished = None
        while self.now() < stop and (finished is None or self.now() < finished + QUIET_MS):
            due = min(self.agenda[0][0] if self.agenda else self.now() + 50.0, self.receiver.deadline)
            if self._wait_until(due):
                self._drain("timer")
                self._ask("timer")
                continue
            if self.receiver.deadline <= self.now():
                self._send_back(self.receiver.deadline, self.receiver.answer([]))
            while self.agenda and self.agenda[0][0] <= self.now():
                due, _, kind, what = heapq.heappop(self.agenda)
                self._take(due, kind, what)
                if kind == "ack" and what.cumulative == last and finished is None:
                    finished = self.now()

    def _wait_until(self, due: float) -> bool:
        """Waits; true if the kernel sends data meanwhile. The last 0.3 ms are spent awake, to be in time."""
        while (left := due - self.now()) > 0:
            ready = select.select([self.tun], [], [], max(0.0, (left - 0.3) / 1e3))[0]
            if ready and self._is_data():
                return True
        return False

    def _is_data(self) -> bool:
        packet = self._read()
        if packet is None or packet.payload == 0:
            return False
        self._out(packet, "timer")
        return True

    def _drain(self, cause: str) -> None:
        while (packet := self._read()) is not None:
            if packet.payload > 0:
                self._out(packet, cause)

    def _take(self, due: float, kind: str, what: Any) -> None:
        """The receiver goes by what is due, so that this program's own lateness shows once only, at the sender."""
        if kind == "arrival":
            segment, timestamp, marked, reduced = what
            answer = self.receiver.receive(due, segment, timestamp, marked=marked, reduced=reduced)
            if answer:
                self._send_back(due, answer)
        elif kind == "window":
            self.receiver.window = what
            self._send_back(due, self.receiver.answer([]))
        else:
            self._deliver(what)

    def _send_back(self, at: float, answer: Answer) -> None:
        if answer.number in self.scenario.get("drop_ack", []):
            self.events.append(["ack_lost", round(self.now(), 2), answer.number, answer.cumulative, answer.blocks])
            return
        self._schedule(at + self.scenario["rtt_ms"] / 2, "ack", answer)

    def _deliver(self, answer: Answer) -> None:
        cause = f"ack{answer.number}"
        row: list[Any] = ["ack", round(self.now(), 2), answer.number, answer.cumulative, answer.blocks]
        row += ["ece"] if answer.ece else []
        row += [f"win{answer.window}"] if answer.window != self.scenario["window"] else []
        self._drain("timer")
        self.events.append(row)
        os.write(self.tun, self.wire.ack(answer, self.receiver.recent, self.now()))
        self._drain(cause)
        self._ask(cause)

    def _out(self, packet: Packet, cause: str) -> None:
        segment = self.wire.segment_of(packet)
        self.sent[segment] += 1
        transmission = self.sent[segment]
        arrives = self.path.carry(self.now(), segment, transmission)
        row: list[Any] = ["out", round(self.now(), 2), segment, transmission, cause]
        row += ["dropped"] if arrives is None else []
        row += ["cwr"] if packet.flags & CWR else []
        row += [f"len{packet.payload}"] if packet.payload != self.scenario["mss"] else []
        self.events.append(row)
        if arrives is not None:
            marked = [segment, transmission] in self.scenario.get("mark", [])
            self._schedule(arrives, "arrival", (segment, packet.timestamp, marked, bool(packet.flags & CWR)))

    def _ask(self, after: str) -> None:
        info = self.socket.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 256)
        word = struct.unpack_from("<24I", info, 8)
        rto, unacked, sacked, lost, retrans = word[0], word[4], word[5], word[6], word[7]
        srtt, ssthresh, cwnd, reordering = word[15], word[17], word[18], word[20]
        row = ["info", round(self.now(), 2), after, STATES[info[1]], cwnd, ssthresh, unacked, sacked, lost, retrans]
        self.events.append([*row, rto / 1e3, round(srtt / 1e3, 1), info[4], reordering])

    def _schedule(self, at: float, kind: str, what: Any) -> None:
        self.order += 1
        heapq.heappush(self.agenda, (at, self.order, kind, what))


def order_of(events: list[list[Any]]) -> list[tuple[int, int, str]]:
    """What must repeat: every transmission and its cause."""
    return [tuple(event[2:5]) for event in events if event[0] == "out"]


def spread_ms(runs: list[list[list[Any]]]) -> float:
    """The largest difference between times of the same transmission."""
    times = [[event[1] for event in events if event[0] == "out"] for events in runs]
    return round(max((max(t) - min(t) for t in zip(*times, strict=False)), default=0.0), 2)


def tick_rate() -> int:
    """HZ of this kernel, from its configuration; 250, the commonest, where that is not shown."""
    import gzip

    for name in ("/proc/config.gz", f"/boot/config-{platform.release()}"):
        path = FilePath(name)
        if path.is_file():
            text = gzip.decompress(path.read_bytes()) if name.endswith("gz") else path.read_bytes()
            for line in text.decode().splitlines():
                if line.startswith("CONFIG_HZ="):
                    return int(line.partition("=")[2])
    return 250


def record(name: str, scenario: dict[str, Any], runs: int) -> dict[str, Any]:
    """Records a scenario `runs` times; the order seen most often is kept."""
    scenario = {**DEFAULTS, **scenario}
    tun = open_network()
    all_runs = []
    for _ in range(runs):
        set_sysctls(scenario)
        all_runs.append(Recording(tun, scenario).run())
    os.close(tun)
    orders = [order_of(events) for events in all_runs]
    best = max(orders, key=orders.count)
    alike = [events for events, order in zip(all_runs, orders, strict=True) if order == best]
    return {
        "name": name,
        "kernel": platform.release(),
        "HZ": tick_rate(),
        "scenario": scenario,
        "identical_runs": f"{len(alike)}/{runs}",
        "max_time_spread_ms": spread_ms(alike),
        "events": alike[0],
    }


def write(document: dict[str, Any], path: FilePath) -> None:
    """One event a line, so that files can be compared."""
    head = json.dumps({key: value for key, value in document.items() if key != "events"})
    rows = ",\n".join(json.dumps(event, separators=(",", ":")) for event in document["events"])
    path.write_text(f'{head[:-1]}, "events": [\n{rows}\n]}}\n')


def be_prompt() -> None:
    """Wakes up in time, as far as the machine lets it."""
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(10))
    except OSError:
        os.nice(-10)


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="scenarios of scenarios.json; all if none is given")
    parser.add_argument("--scenario", type=FilePath, help="a scenario of its own, from a JSON file")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--out", type=FilePath, default=FilePath("."))
    arguments = parser.parse_args()
    if reason := why_not():
        parser.exit(77, f"recorder: {reason}\n")
    table = json.loads((FilePath(__file__).parent / "scenarios.json").read_text())
    if arguments.scenario:
        table = {arguments.scenario.stem: json.loads(arguments.scenario.read_text())}
    be_prompt()
    for name in arguments.names or table:
        write(record(name, table[name], arguments.runs), arguments.out / f"{name}.json")
        print(name, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
