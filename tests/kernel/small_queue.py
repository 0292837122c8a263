"""What a kernel keeps in the queue of its own host: a sender over a veth pair whose rate a token bucket limits, in real time.

`python tests/kernel/small_queue.py --write` records tests/data/vectors/small_queue.csv, as root: for each rate the samples of `ss`, of
which each has the memory of the waiting packets, the pacing rate and the least RTT. A Rust test of lasthop-tcp holds its limit to them.
"""

from __future__ import annotations

import csv
import platform
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

FILE = Path(__file__).resolve().parents[1] / "data/vectors/small_queue.csv"
RATES_MBPS = (10, 20, 50, 100, 200, 500)
CONTROLS = ("reno", "cubic")
WARMUP_S, SECONDS, STEP_S = 1.5, 3.0, 0.05
FIELDS = {
    "memory_bytes": r"skmem:\(r\d+,rb\d+,t(\d+)",
    "cwnd_segments": r"cwnd:(\d+)",
    "unacked_segments": r"unacked:(\d+)",
    "pacing_rate_bps": r"pacing_rate (\d+)bps",
    "min_rtt_ms": r"minrtt:([\d.]+)",
}
SENDER = """
import socket, sys, time
s = socket.socket()
s.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, sys.argv[1].encode())
s.connect(("10.99.0.2", 5001))
end = time.time() + float(sys.argv[2])
while time.time() < end:
    s.send(bytes(65536))
"""
SINK = """
import socket, threading
s = socket.create_server(("10.99.0.2", 5001))
while True:
    c = s.accept()[0]
    threading.Thread(target=lambda c=c: [None for _ in iter(lambda: c.recv(1 << 20), b"")], daemon=True).start()
"""


def run(*words: str) -> str:
    """The output of a command that must succeed."""
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout


@contextmanager
def path() -> Iterator[tuple[str, str]]:
    """Two namespaces with a veth pair between them."""
    names = ("lasthop-sq-a", "lasthop-sq-b")
    try:
        for name in names:
            run("ip", "netns", "add", name)
        run("ip", "link", "add", "va", "netns", names[0], "type", "veth", "peer", "name", "vb", "netns", names[1])
        for name, device, address in zip(names, ("va", "vb"), ("10.99.0.1/24", "10.99.0.2/24"), strict=True):
            run("ip", "-n", name, "addr", "add", address, "dev", device)
            run("ip", "-n", name, "link", "set", device, "up")
        run(
            "tc",
            "-n",
            names[0],
            "qdisc",
            "add",
            "dev",
            "va",
            "root",
            "tbf",
            "rate",
            "10mbit",
            "burst",
            "8kb",
            "limit",
            "8mb",
        )
        yield names
    finally:
        for name in names:
            subprocess.run(["ip", "netns", "del", name], check=False, capture_output=True)


def samples(sender: str, control: str) -> Iterator[dict[str, str]]:
    """Samples of the only connection while it sends."""
    line = ["ip", "netns", "exec", sender, sys.executable, "-c", SENDER, control, str(WARMUP_S + SECONDS + 1)]
    with subprocess.Popen(line) as process:
        time.sleep(WARMUP_S)
        until = time.monotonic() + SECONDS
        while time.monotonic() < until:
            text = run("ip", "netns", "exec", sender, "ss", "-tinmoH", "dst", "10.99.0.2")
            found = {name: re.search(pattern, text) for name, pattern in FIELDS.items()}
            if all(found.values()):
                yield {name: match[1] for name, match in found.items() if match}
            time.sleep(STEP_S)
        process.wait()


def main() -> None:
    """Records all rates."""
    rows = []
    with ExitStack() as stack:
        sender, receiver = stack.enter_context(path())
        sink = subprocess.Popen(["ip", "netns", "exec", receiver, sys.executable, "-c", SINK])
        stack.callback(sink.kill)
        time.sleep(0.5)
        for rate in RATES_MBPS:
            bucket = ("tbf", "rate", f"{rate}mbit", "burst", "8kb", "limit", "8mb")
            run("tc", "-n", sender, "qdisc", "change", "dev", "va", "root", *bucket)
            for control in CONTROLS:
                rows += [
                    {"kernel": platform.release(), "rate_mbps": rate, "control": control, **row}
                    for row in samples(sender, control)
                ]
    if "--write" in sys.argv:
        with FILE.open("w", newline="") as out:
            writer = csv.DictWriter(out, rows[0], lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)
    for rate in RATES_MBPS:
        most = max(int(row["memory_bytes"]) for row in rows if row["rate_mbps"] == rate)
        print(f"{rate} Mbit/s: {most} B of memory at most")


if __name__ == "__main__":
    main()
