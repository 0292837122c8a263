"""In a guest: data from a sender to a receiver over a router, whose way out is the bottleneck.

    sender --- in [router] out --- receiver
                        tbf, and the discipline in it; ACKs come back after a delay

`router.py DIRECTORY` reads DIRECTORY/order.json, an `Order`, and writes in.bin and out.bin, what the router's two
devices took and sent, and queue.txt, what the kernel says of its queues.
"""

from __future__ import annotations

import json
import os
import socket
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from inside import Host, Tap, begin, call, end, hardware, load, sysctl, watch
from order import Order
from records import ADDRESSES, DATAGRAMS, PORT, receiver_address

BLOCK = bytes(128 * 1024)
SOL_SOCKET, SO_MAX_PACING_RATE = 1, 47
# In bytes a second: a limit that no window here reaches, which still requests pacing.
AMPLE_RATE = 1 << 30


def send(order: Order) -> None:
    """What the sender does: a process for each flow."""
    call(f"ip link set sender gso_max_segs {order.segments_at_once}")
    if order.sender_discipline:
        call(f"tc qdisc replace dev sender root {order.sender_discipline}")
    began = time.monotonic()
    for number in range(order.flows):
        if os.fork() == 0:
            time.sleep(number * order.stagger_s)
            stream(order, number)
    if order.datagrams_hz and os.fork() == 0:
        datagrams(order, began)
    time.sleep(order.duration_s + 10)


def stream(order: Order, number: int) -> None:
    """Sends as much as goes."""
    with socket.socket() as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, order.congestion_control.encode())
        if order.paced:
            connection.setsockopt(SOL_SOCKET, SO_MAX_PACING_RATE, AMPLE_RATE)
        if order.tos:
            connection.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, order.tos[number])
        connection.connect((receiver_address(order.hosts[number] if order.hosts else 0), PORT + number))
        while True:
            connection.sendall(BLOCK)


def datagrams(order: Order, began: float) -> None:
    """Sends small datagrams at even spaces."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as connection:
        connection.connect((ADDRESSES["receiver"][0], DATAGRAMS))
        for number in range(int(order.duration_s * order.datagrams_hz)):
            time.sleep(max(0.0, began + number / order.datagrams_hz - time.monotonic()))
            connection.send(bytes(order.datagram_bytes))


def receive(order: Order) -> None:
    """What the receiver does: reads, and discards."""
    call(f"tc qdisc replace dev receiver root netem limit 100000 delay {order.delay_ms}ms")
    for number in sorted(set(order.hosts) - {0}):
        call(f"ip addr add {receiver_address(number)}/24 dev receiver")
    discard = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    discard.bind(("", DATAGRAMS))
    for number in range(order.flows):
        server = socket.create_server(("", PORT + number))
        if os.fork() == 0:
            connection, _ = server.accept()
            while connection.recv(len(BLOCK)):
                pass
            os._exit(0)
    time.sleep(order.duration_s + 10)


def main(directory: Path) -> None:
    """Lays the path, has the hosts begin, and watches."""
    order = Order(**json.loads((directory / "order.json").read_text()))
    own = {"net.ipv4.tcp_no_metrics_save": 1, **order.settings}
    sender = Host("in", "sender", lambda: send(order), settings=own)
    receiver = Host("out", "receiver", lambda: receive(order), settings=own)
    sysctl("net.ipv4.ip_forward", 1)
    for number in sorted(set(order.hosts) - {0}):
        call(f"ip neigh add {receiver_address(number)} lladdr {hardware('receiver')} dev out nud permanent")
    if order.own_shaper:
        call(f"tc qdisc add dev out root handle 10: {order.discipline}")
    else:
        bucket = f"tbf rate {order.rate_bps}bit burst {order.burst_bytes}b limit 1000000000"
        call(f"tc qdisc add dev out root handle 1: {bucket}")
        call(f"tc qdisc add dev out parent 1:1 handle 10: {order.discipline}")
    taps = [Tap(name, directory / f"{name}.bin") for name in ("in", "out")]
    receiver.begin()
    time.sleep(0.1)
    sender.begin()
    watch(taps, order.duration_s)
    (directory / "queue.txt").write_text(call("tc -s qdisc show dev out"))


if __name__ == "__main__":
    begin()
    try:
        load(json.loads(Path(sys.argv[1], "modules.json").read_text()))
        main(Path(sys.argv[1]))
    finally:
        sys.stdout.flush()
        end()
