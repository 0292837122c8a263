"""What a process and its children did, by strace: the opens, programs and sockets that an audit hook does not see in the engine."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

CALLS = (
    "open,openat,openat2,creat,truncate,rename,renameat,renameat2,unlink,unlinkat,mkdir,mkdirat,rmdir,link,linkat,symlink,symlinkat,"
    "execve,execveat,socket,connect,bind,memfd_create"
)
# Where Python, its packages and the C library read from.
READABLE = ("/dev", "/proc", "/sys", "/usr", "/lib", "/lib64", "/etc", sys.prefix, sys.base_prefix)
CALL = re.compile(r"^(?:\[pid +)?(\d+)\]? +(?:[\d.]+ )?(\w+)\((.*)\) += (-?\d+)(?:<(.*)>)?(?: ([A-Z]+) .*)?$")


class Call(NamedTuple):
    """A system call that succeeded: its name, its arguments as strace shows them, and the real path of a file that it opened."""

    name: str
    arguments: str
    file: str | None


def why_not() -> str | None:
    """The reason why processes cannot be traced here."""
    if shutil.which("strace") is None:
        return "strace is not installed"
    done = subprocess.run(["strace", "-f", "-o", os.devnull, "true"], capture_output=True, text=True, check=False)
    return None if done.returncode == 0 else f"strace may not trace here ({done.stderr.strip()[:80]})"


def line(log: Path) -> list[str]:
    """The words before a command whose calls are to be written to `log`."""
    return ["strace", "-f", "--seccomp-bpf", "-qq", "-y", "-s", "4096", "-e", f"trace={CALLS}", "-o", str(log)]


def calls(log: Path) -> Iterator[Call]:
    """The successful calls of a log. A call that another thread interrupts in the log is put together again."""
    begun: dict[str, str] = {}
    for text in log.read_text(errors="replace").splitlines():
        process, _, rest = text.partition(" ")
        if rest.endswith("<unfinished ...>"):
            begun[process] = rest.removesuffix("<unfinished ...>")
            continue
        if resumed := re.match(r" *<\.\.\. \w+ resumed>(.*)", rest):
            rest = begun.pop(process, "") + resumed[1]
        found = CALL.match(f"{process} {rest.strip()}")
        if found is not None and int(found[4]) >= 0:
            yield Call(found[2], found[3], found[5])


def outside(log: Path, folders: Sequence[Path], never: Sequence[Path] = (), programs: Sequence[str] = ()) -> list[Call]:
    """The calls that somebody else's files may not cause: writes outside `folders`, reads outside them and the places of Python,
    any open of a file in `never`, programs other than those named, and sockets of a network."""
    own = [os.path.realpath(folder) for folder in folders]
    package = Path(__file__).resolve().parents[2]
    places = (*READABLE, *sysconfig.get_paths().values(), str(package), os.path.expanduser("~/.cache"))
    readable = [*own, *map(os.path.realpath, places)]
    closed = {os.path.realpath(file) for file in never}
    return [call for call in calls(log) if _is_wrong(call, own, readable, closed, programs)]


def _is_wrong(call: Call, own: list[str], readable: list[str], closed: set[str], programs: Sequence[str]) -> bool:
    if call.name in ("execve", "execveat"):
        program = re.search(r'"([^"]*)"', call.arguments)
        return program is None or program[1] not in programs
    if call.name in ("socket", "connect", "bind"):
        return "AF_INET" in call.arguments
    if call.file is not None and call.name != "memfd_create":
        writes = re.search(r"O_(WRONLY|RDWR|CREAT|TRUNC|APPEND)", call.arguments) is not None
        if call.file.startswith(("pipe:", "socket:", "anon_inode:", "/memfd:")):
            return False
        may = [*own, "/dev"] if writes else readable
        return call.file in closed or not (_is_in(call.file, may) or "__pycache__" in call.file)
    if call.name == "memfd_create":
        return True  # code in C, which is loaded from there
    # Names without a file descriptor: all paths that are written out must be below the folders, or relative to the current one.
    named = re.findall(r"<(/[^>]*)>", call.arguments)
    named += [
        name for name in re.findall(r'"((?:[^"\\]|\\.)*)"', call.arguments) if name.startswith("/") or ".." in name
    ]
    return any(not (_is_in(os.path.realpath(name), own) or "__pycache__" in name) for name in named)


def _is_in(path: str, folders: Sequence[str]) -> bool:
    return any(path == folder or path.startswith(folder.rstrip("/") + "/") for folder in folders)
