"""Starts one program such that it ends with the caller and sees no randomness of the host.

Run as a script of its own, `python -I -S sandbox.py CALLER NAME=VALUE… PROGRAM ARGUMENT…`, with the caller's process id and
all of the program's environment, in the program's directory. It imports no module of lasthop. Its steps and their reasons:

- The caller's death kills it, and its own death kills a PID namespace with all its processes (`kill -9` leaves no process).
  Without the privilege for that it makes a user namespace first, in which the user stays who it is.
- Addresses are not randomised: User Mode Linux takes its memory from behind the heap, wherever that begins.
- `getrandom` is refused. The guest's random pool then holds its command line, its version and its clock, all
  of which are given. An address-space layout and a pool that come from the host are the two ways by which chance enters.
- A core dump of a guest would be as large as its memory, so it writes none.

It exits as the program does, with 128 + N after signal N, and with 125 and a sentence if it cannot start it.
"""

from __future__ import annotations

import ctypes
import itertools
import os
import platform
import resource
import signal
import struct
import sys

CANNOT = 125
PR_SET_PDEATHSIG = 1
PR_SET_NO_NEW_PRIVS = 38
ADDR_NO_RANDOMIZE = 0x0040000
CLONE_NEWUSER = 0x10000000
CLONE_NEWPID = 0x20000000
SECCOMP_SET_MODE_FILTER = 1
SECCOMP_FILTER_FLAG_SPEC_ALLOW = 4
SECCOMP_RET_ALLOW = 0x7FFF0000
SECCOMP_RET_ERRNO = 0x00050000
ENOSYS = 38
# Numbers by machine, from `linux/audit.h` and the tables of system calls: architecture, seccomp, getrandom.
NUMBERS = {"x86_64": (0xC000003E, 317, 318)}
# Classic BPF: load a word of the filter's input (the call's number at 0, the architecture at 4), compare, answer.
LOAD, EQUAL, ANSWER = 0x20, 0x15, 0x06

libc = ctypes.CDLL(None, use_errno=True)


class Filter(ctypes.Structure):
    """`struct sock_fprog`."""

    _fields_ = (("length", ctypes.c_ushort), ("instructions", ctypes.c_void_p))


def checked(result: int, what: str) -> None:
    """Raises the error of the C library."""
    if result == -1:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")


def die_with_parent(parent: int) -> None:
    """From now on the parent's death kills this process; it is too late if the parent is another already."""
    checked(libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0), "the parent's death signal")
    if os.getppid() != parent:
        os._exit(CANNOT)


def enter_namespaces() -> None:
    """The next child is PID 1 of a namespace of its own; who may not make one for itself may in a user namespace."""
    if libc.unshare(CLONE_NEWPID) == 0:
        return
    user, group = os.getuid(), os.getgid()
    checked(libc.unshare(CLONE_NEWPID | CLONE_NEWUSER), "a user and PID namespace")
    write("/proc/self/setgroups", "deny")
    write("/proc/self/uid_map", f"{user} {user} 1")
    write("/proc/self/gid_map", f"{group} {group} 1")


def write(path: str, text: str) -> None:
    """Writes to a file of the kernel, in one piece."""
    descriptor = os.open(path, os.O_WRONLY)
    os.write(descriptor, text.encode())
    os.close(descriptor)


def refuse_randomness() -> None:
    """`getrandom` fails with ENOSYS from here on, in this process and all that come of it."""
    architecture, seccomp, getrandom = NUMBERS[platform.machine()]
    filter_ = b"".join(
        struct.pack("HBBI", *instruction)
        for instruction in (
            (LOAD, 0, 0, 4),
            (EQUAL, 0, 3, architecture),
            (LOAD, 0, 0, 0),
            (EQUAL, 0, 1, getrandom),
            (ANSWER, 0, 0, SECCOMP_RET_ERRNO | ENOSYS),
            (ANSWER, 0, 0, SECCOMP_RET_ALLOW),
        )
    )
    text = ctypes.create_string_buffer(filter_, len(filter_))
    program = Filter(len(filter_) // 8, ctypes.addressof(text))
    checked(libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "no new privileges")
    result = libc.syscall(seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_SPEC_ALLOW, ctypes.byref(program))
    checked(result, "a filter of system calls")


def wait_for(child: int) -> int:
    """Reaps whatever ends until `child` does; its exit status."""
    while True:
        ended, status = os.wait()
        if ended == child:
            code = os.waitstatus_to_exitcode(status)
            return code if code >= 0 else 128 - code


def be_first(program: list[str], environment: dict[str, str]) -> int:
    """As PID 1: starts the program and waits. The program is not PID 1, since signals that it sends itself would be lost."""
    child = os.fork()
    if child == 0:
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        checked(libc.personality(ADDR_NO_RANDOMIZE), "addresses that are not randomised")
        refuse_randomness()
        os.execve(program[0], program, environment)
    return wait_for(child)


def main(caller: int, program: list[str], environment: dict[str, str]) -> int:
    """The whole way; see above."""
    enter_namespaces()
    die_with_parent(caller)
    watched, kept = os.pipe()
    child = os.fork()
    if child:
        os.close(watched)
        # On a request to end, it ends the namespace and waits: when the namespace is gone, so are all its processes.
        signal.signal(signal.SIGTERM, lambda *_: os.kill(child, signal.SIGKILL))
        return wait_for(child)
    os.close(kept)
    checked(libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0), "the parent's death signal")
    # The parent has no number in here. Its end of a pipe shows whether it was alive when the death signal was set.
    os.set_blocking(watched, False)
    try:
        os.read(watched, 1)
        return CANNOT
    except BlockingIOError:
        os.close(watched)
    return be_first(program, environment)


if __name__ == "__main__":
    caller, *rest = sys.argv[1:]
    pairs = list(itertools.takewhile(lambda argument: "=" in argument, rest))
    program = rest[len(pairs) :]
    try:
        status = main(int(caller), program, dict(pair.split("=", 1) for pair in pairs))
    except OSError as error:
        sys.stderr.write(f"{program[0]} cannot be started: {error.strerror}\n")
        status = CANNOT
    except KeyError:
        sys.stderr.write(f"{program[0]} cannot be started: it runs on x86_64, and this is {platform.machine()}\n")
        status = CANNOT
    sys.stderr.flush()
    os._exit(status)
