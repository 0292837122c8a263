"""`python watched_command.py FOLDER LOG COMMAND…`: a command under an audit hook.

LOG gets a JSON list of the events that a command may not cause with somebody else's files: writes outside FOLDER and the folder of
temporary files, reads of files outside FOLDER and the places that Python and its packages read from, processes, and sockets.

`python watched_command.py FOLDER LOGS @LINES` runs each command of the JSON list LINES in a process of its own, which is forked after
the imports; the folder LOGS gets `N.json`, `N.out` and `N.err` for each.
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
        if flags & WRITES and not _is_in(name, [*own, "/dev"]) and "__pycache__" not in name:
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


def watched(command: list[str], log: Path) -> int:
    """The exit status of a command; its events are in `log` then."""
    from lasthop import cli

    sys.argv = ["lasthop", *command]
    sys.addaudithook(watch)
    status = cli.main(command)
    found = json.dumps(events)
    sys.stdout.flush()
    log.write_text(found)
    return status


def in_a_fork(command: list[str], logs: Path, number: int) -> int:
    """The exit status of a command in a child of this process; negative if a signal ended it."""
    child = os.fork()
    if child == 0:
        for stream, name in ((1, "out"), (2, "err")):
            os.dup2(os.open(logs / f"{number}.{name}", os.O_WRONLY | os.O_CREAT, 0o600), stream)
        try:
            status = watched(command, logs / f"{number}.json")
        except SystemExit as end:
            status = end.code if isinstance(end.code, int) else 1
        sys.stderr.flush()
        os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


if __name__ == "__main__":
    sys.path.insert(0, str(PACKAGE))
    if COMMAND[0].startswith("@"):
        from lasthop import cli  # noqa: F401

        lines = json.loads(Path(COMMAND[0].removeprefix("@")).read_text())
        statuses = [in_a_fork(line, Path(LOG), number) for number, line in enumerate(lines)]
        Path(LOG, "statuses.json").write_text(json.dumps(statuses))
    else:
        sys.exit(watched(COMMAND, Path(LOG)))
