"""`python watched_command.py FOLDER LOG COMMAND…`: a command under an audit hook.

LOG gets a JSON list of the events that a command may not cause with somebody else's files: writes outside FOLDER and the folder of
temporary files, reads of files outside FOLDER and the places that Python and its packages read from, processes, and sockets.
"""

from __future__ import annotations

import json
import os
import sys
import sysconfig
import tempfile
from pathlib import Path

FOLDER, LOG, *COMMAND = sys.argv[1:]
PACKAGE = Path(__file__).resolve().parents[2] / "python"
WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
SYSTEM = ("/dev", "/proc", "/sys", "/usr", "/lib", "/lib64", "/etc", sys.prefix, sys.base_prefix, str(PACKAGE.parent))
PROGRAMS = (
    "subprocess.Popen",
    "os.system",
    "os.exec",
    "os.posix_spawn",
    "os.fork",
    "os.forkpty",
    "os.spawn",
    "pty.spawn",
)
NEVER = ("/etc/passwd", "/etc/shadow")
events: list[list[str]] = []
own = [os.path.realpath(folder) for folder in (FOLDER, tempfile.gettempdir())]
readable = [*own, *map(os.path.realpath, (*SYSTEM, *sysconfig.get_paths().values())), os.path.expanduser("~/.cache")]


def _is_in(path: str, folders: list[str]) -> bool:
    return any(path == folder or path.startswith(folder.rstrip("/") + "/") for folder in folders)


def watch(event: str, arguments: tuple[object, ...]) -> None:
    """Notes what must not happen."""
    if event in PROGRAMS or event.startswith(("socket.connect", "socket.bind")):
        events.append([event, repr(arguments)[:200]])
    if event == "ctypes.dlopen" and arguments[0] is not None:  # NumPy opens the process itself
        events.append([event, repr(arguments)[:200]])
    if event == "open" and isinstance(arguments[0], str | bytes | os.PathLike):
        name = os.path.realpath(os.fsdecode(arguments[0]))
        flags = arguments[2] if isinstance(arguments[2], int) else 0
        if flags & WRITES and not _is_in(name, [*own, "/dev"]) and not name.endswith(".pyc"):
            events.append(["write", name])
        if name in NEVER or not _is_in(name, readable):
            events.append(["read", name])
    if event in (
        "os.remove",
        "os.rename",
        "os.rmdir",
        "os.mkdir",
        "os.symlink",
        "os.link",
        "os.truncate",
        "shutil.rmtree",
    ):
        paths = [os.path.realpath(os.fsdecode(one)) for one in arguments if isinstance(one, str | bytes | os.PathLike)]
        events.extend([event, path] for path in paths if not _is_in(path, own) and "__pycache__" not in path)


if __name__ == "__main__":
    sys.path.insert(0, str(PACKAGE))
    sys.argv = ["lasthop", *COMMAND]
    from lasthop import cli

    sys.addaudithook(watch)
    status = cli.main(COMMAND)
    found = json.dumps(events)
    sys.stdout.flush()
    Path(LOG).write_text(found)
    sys.exit(status)
