"""What a guest of the tests runs as its PID 1, without lasthop: a TCP transfer over a TUN that it reflects itself.

`python -I -S guest_probe.py RESULT TIME_FILE MODULE…` loads the modules, sends `BYTES` to itself through the TUN with a
delay, writes what it saw to RESULT as JSON, and switches the guest off. The TUN's packets to `THERE` come back as if from
there: both addresses are exchanged, which leaves the checksums right.
"""

from __future__ import annotations

import ctypes
import fcntl
import hashlib
import heapq
import json
import os
import select
import socket
import struct
import sys
import time
from pathlib import Path

BYTES = 300_000
DELAY_NS = 10_000_000
HERE, THERE = "10.9.0.1", "10.9.0.2"
TUNSETIFF, SIOCSIFADDR, SIOCSIFNETMASK, SIOCGIFFLAGS, SIOCSIFFLAGS = 0x400454CA, 0x8916, 0x891C, 0x8913, 0x8914
IFF_TUN, IFF_NO_PI, IFF_UP, IFF_RUNNING = 0x1, 0x1000, 0x1, 0x40
FINIT_MODULE = 313
POWER_OFF = 0x4321FEDC

libc = ctypes.CDLL(None, use_errno=True)


def checked(result: int) -> None:
    """Raises the error of the call before."""
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


def open_tun(name: bytes) -> int:
    """A TUN that is up and has the address `HERE`."""
    device = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(device, TUNSETIFF, struct.pack("16sH22x", name, IFF_TUN | IFF_NO_PI))
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        for request, address in ((SIOCSIFADDR, HERE), (SIOCSIFNETMASK, "255.255.255.0")):
            fcntl.ioctl(control, request, struct.pack("16sHH4s8x", name, socket.AF_INET, 0, socket.inet_aton(address)))
        fcntl.ioctl(control, SIOCSIFFLAGS, struct.pack("16sH22x", name, IFF_UP | IFF_RUNNING))
    return device


def transfer(device: int, time_file: int) -> dict[str, object]:
    """Sends `BYTES` from a connecting socket to a listening one; a digest of all packets with their times, and some of them."""
    listening = socket.socket()
    listening.bind((HERE, 0))
    listening.listen()
    sending = socket.socket()
    sending.setblocking(False)
    sending.connect_ex((THERE, listening.getsockname()[1]))
    receiving: socket.socket | None = None
    digest, packets, first = hashlib.sha256(), 0, b""
    waiting: list[tuple[int, int, bytes]] = []
    sent = received = 0
    while received < BYTES:
        readers = [device, listening if receiving is None else receiving]
        writers = [sending] if sent < BYTES else []
        timeout = max(0, waiting[0][0] - time.monotonic_ns()) / 1e9 if waiting else None
        readable, writable, _ = select.select(readers, writers, [], timeout)
        now = time.monotonic_ns()
        while waiting and waiting[0][0] <= now:
            _, _, packet = heapq.heappop(waiting)
            os.write(device, packet)
        if device in readable:
            packet = os.read(device, 2048)
            digest.update(struct.pack("<Q", now) + packet)
            first = first or packet
            heapq.heappush(
                waiting, (now + DELAY_NS, packets, packet[:12] + packet[16:20] + packet[12:16] + packet[20:])
            )
            packets += 1
            os.write(time_file, b"%.6f\n" % (now / 1e9))
        if writable:
            sent += sending.send(bytes(min(16_384, BYTES - sent)))
        if receiving in readable:
            received += len(receiving.recv(65_536))
        elif listening in readable:
            receiving, _ = listening.accept()
    return {
        "packets": packets,
        "digest": digest.hexdigest(),
        "source port": int.from_bytes(first[20:22], "big"),
        "initial sequence number": int.from_bytes(first[24:28], "big"),
    }


def main(result: str, time_file: str, modules: list[str]) -> None:
    """All of it."""
    started_ns = time.time_ns()
    checked(libc.mount(b"proc", b"/proc", b"proc", 0, None))
    for module in modules:
        descriptor = os.open(module, os.O_RDONLY)
        checked(libc.syscall(FINIT_MODULE, descriptor, b"", 0))
    before = time.monotonic()
    time.sleep(1000)
    slept = time.monotonic() - before
    times = os.open(time_file, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    seen = {
        "started at, ns": started_ns,
        "slept, s": slept,
        "random": os.urandom(16).hex(),
        "memory, KiB": Path("/proc/meminfo").read_text().split()[1],
        "command line": Path("/proc/cmdline").read_text(),
        **transfer(open_tun(b"tun0"), times),
        "ended at, ns": time.time_ns(),
    }
    Path(result).write_text(json.dumps(seen))


if __name__ == "__main__":
    try:
        main(sys.argv[1], sys.argv[2], sys.argv[3:])
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os.sync()
        libc.reboot(POWER_OFF)
