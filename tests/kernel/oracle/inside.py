"""What a guest's programs have in common: its file systems, namespaces, links between them, taps, and its end.

For programs that are PID 1 of a guest in virtual time. Nothing here is for the host.
"""

from __future__ import annotations

import ctypes
import os
import select
import socket
import struct
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

from records import ADDRESSES, Segment

CLONE_NEWNET = 0x40000000
# Of x86-64.
FINIT_MODULE = 313
PR_SET_TIMERSLACK = 29
POWER_OFF = 0x4321FEDC
SOL_SOCKET, SO_RCVBUFFORCE, SO_TIMESTAMPNS = 1, 33, 35
ETH_P_ALL = 3
PACKET_OUTGOING = 4
SIOCETHTOOL = 0x8946
HEADERS = 128

libc = ctypes.CDLL(None, use_errno=True)


def checked(result: int, what: str) -> None:
    """Raises what the C library says went wrong."""
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")


def begin() -> None:
    """Mounts what programs expect, and takes away the slack of timers."""
    for kind, place in (("proc", "/proc"), ("sysfs", "/sys")):
        checked(libc.mount(kind.encode(), place.encode(), kind.encode(), 0, None), f"mount {place}")
    os.environ["PATH"] = "/usr/sbin:/usr/bin:/sbin:/bin"
    checked(libc.prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0), "timer slack")


def load(modules: list[str]) -> None:
    """Loads modules of the kernel."""
    for module in modules:
        with Path(module).open("rb") as file:
            checked(libc.syscall(FINIT_MODULE, file.fileno(), b"", 0), f"load {module}")


def end() -> None:
    """Switches the guest off."""
    os.sync()
    libc.reboot(POWER_OFF)


def call(command: str) -> str:
    """Runs a program; what it prints."""
    return subprocess.run(command.split(), check=True, stdout=subprocess.PIPE, text=True).stdout


def sysctl(name: str, value: object) -> None:
    """Sets a value for the namespace of this process."""
    Path("/proc/sys", name.replace(".", "/")).write_text(str(value))


class Host:
    """A process with a network namespace of its own, which waits for the word to begin."""

    def __init__(self, interface: str, peer: str, work: Callable[[], None], *, settings: dict[str, object]) -> None:
        ready, self._go = os.pipe(), os.pipe()
        address, gateway = ADDRESSES[peer]
        self.pid = os.fork()
        if self.pid == 0:
            checked(libc.unshare(CLONE_NEWNET), "a network namespace")
            os.write(ready[1], b"r")
            os.read(self._go[0], 1)
            set_up(peer, address, gateway, hardware(interface))
            call(f"ip route add default via {gateway}")
            for name, value in settings.items():
                sysctl(name, value)
            os.write(ready[1], b"r")
            os.read(self._go[0], 1)
            work()
            os._exit(0)
        os.read(ready[0], 1)
        own, other = hardware(interface), hardware(peer)
        call(f"ip link add {interface} address {own} type veth peer name {peer} address {other}")
        call(f"ip link set {peer} netns {self.pid}")
        set_up(interface, gateway, address, other)
        self.begin()
        os.read(ready[0], 1)

    def begin(self) -> None:
        """Has it go on."""
        os.write(self._go[1], b"g")


def hardware(interface: str) -> str:
    """The hardware address of an interface, which its name says."""
    return "02:" + ":".join(f"{byte:02x}" for byte in interface.encode()[:5].ljust(5, b"."))


def set_up(interface: str, address: str, neighbour: str, its_hardware: str) -> None:
    """An address, a neighbour that is known, and a device that is handed single segments of the MTU."""
    call(f"ip addr add {address}/24 dev {interface}")
    call(f"ip link set {interface} gso_max_segs 1 txqueuelen 10000 up")
    call(f"ip neigh add {neighbour} lladdr {its_hardware} dev {interface} nud permanent")
    call("ip link set lo up")


class Tap:
    """Sees all IP packets of a device, with the times at which the kernel handled them."""

    def __init__(self, interface: str, file: Path) -> None:
        self.socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_ALL))
        self.socket.setsockopt(SOL_SOCKET, SO_RCVBUFFORCE, 64 << 20)
        self.socket.setsockopt(SOL_SOCKET, SO_TIMESTAMPNS, 1)
        self.socket.bind((interface, ETH_P_ALL))
        self.file = file.open("wb")

    def read(self) -> None:
        """Keeps one packet."""
        frame, told, _, source = self.socket.recvmsg(HEADERS, 64)
        seconds, nanoseconds = struct.unpack("qq", told[0][2])
        segment = Segment.of(seconds * 1_000_000_000 + nanoseconds, source[2] == PACKET_OUTGOING, frame[14:])
        if segment is not None:
            self.file.write(segment.packed())


def watch(taps: list[Tap], seconds: float) -> None:
    """Keeps what passes for so long."""
    until = time.monotonic() + seconds
    poll = select.epoll()
    for tap in taps:
        poll.register(tap.socket, select.EPOLLIN)
    by_descriptor = {tap.socket.fileno(): tap for tap in taps}
    while (left := until - time.monotonic()) > 0:
        for descriptor, _ in poll.poll(left):
            by_descriptor[descriptor].read()
    for tap in taps:
        tap.file.close()
