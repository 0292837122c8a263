"""Asks a User Mode Linux kernel, over the socket of its management console, which process it runs.

A datagram each way, of fields as `arch/um/drivers/mconsole.h` has them. Requests of this kind are answered in an
interrupt, so an answer comes even if a process spins and virtual time does not move. An answer disturbs the guest: it
is not the same run any more.
"""

from __future__ import annotations

import os
import re
import socket
import struct
from pathlib import Path

MAGIC = 0xCAFEBABE
VERSION = 2
MAX_DATA = 512
REQUEST = struct.Struct(f"=III{MAX_DATA}s")
REPLY = struct.Struct("=III")
TIMEOUT_S = 2.0
RUNNING = re.compile(r"Pid: (\d+), comm: (\S+)")


def running_process(directory: Path) -> tuple[int, str] | None:
    """PID and name of the process that the guest runs now; `directory` has its socket `mconsole`. None without an answer."""
    # Registers are shown with the process that they are of, at a level of messages that is switched on first.
    ask(directory, "sysrq 9")
    found = RUNNING.search(ask(directory, "sysrq p"))
    return (int(found[1]), found[2]) if found else None


def ask(directory: Path, command: str) -> str:
    """The console's answer to `command`, as far as it came in time."""
    answer = b""
    try:
        place = os.open(directory, os.O_PATH | os.O_DIRECTORY)
    except OSError:
        return ""
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as asking:
        try:
            asking.settimeout(TIMEOUT_S)
            # A name in the abstract namespace: the kernel answers to it, and it is gone with the socket.
            asking.bind(b"")
            data = command.encode()
            # By the descriptor, as a path to a socket may have 107 bytes at most.
            asking.sendto(REQUEST.pack(MAGIC, VERSION, len(data), data), f"/proc/self/fd/{place}/mconsole")
            more = True
            while more:
                reply = asking.recv(REPLY.size + MAX_DATA)
                _error, more, length = REPLY.unpack_from(reply)
                answer += reply[REPLY.size : REPLY.size + length]
        except OSError:
            pass
        finally:
            os.close(place)
    return answer.decode(errors="replace")
