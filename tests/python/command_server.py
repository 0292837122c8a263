"""`lasthop` in processes forked from one that has imported it: a command then starts in milliseconds, not in a second.

Each command is a process of its own, with the streams, the directory and the exit status of `python -m lasthop`. Under another
environment than the server's it is started as users do, since packages read some variables when they are imported.

Shells reach it through `command_client.py`, which takes the place of `lasthop` on their path: one process serves each connection.
"""

from __future__ import annotations

import atexit
import gc
import json
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import lasthop.cli

TIMEOUT_S = 300
LONGEST_REQUEST = 1 << 20
# Changed by pytest from test to test.
OF_THE_TEST = ("PYTEST_CURRENT_TEST",)
# After so many commands a server imports every command, and the packages of plots and tables, which take longer than most commands.
PATIENCE = 2
SLOW_IMPORTS = (
    *("pandas", "pyarrow.dataset", "pyarrow.parquet", "matplotlib.pyplot", "matplotlib.backends.backend_agg"),
    *("duckdb", "rich.table", "lasthop.views.plot"),
)


class CommandServer:
    """Starts commands; its own process starts with the first one."""

    def __init__(self) -> None:
        self._environment = _environment()
        self._socket: socket.socket | None = None
        self._process: subprocess.Popen[bytes] | None = None

    def run(self, arguments: list[str]) -> subprocess.CompletedProcess[str]:
        """Runs one command to its end, with its output as text."""
        line = [sys.executable, "-m", "lasthop", *arguments]
        if _environment() != self._environment or any("\0" in argument for argument in arguments):
            return subprocess.run(line, capture_output=True, text=True, timeout=TIMEOUT_S, check=False)
        with tempfile.TemporaryFile("w+b") as out, tempfile.TemporaryFile("w+b") as err:
            status = self._served(arguments, [out.fileno(), err.fileno()])
            return subprocess.CompletedProcess(line, status, *(_text(file) for file in (out, err)))

    def close(self) -> None:
        """Ends the server."""
        if self._socket is not None and self._process is not None:
            self._socket.close()
            self._process.wait()
            self._socket = self._process = None

    def _served(self, arguments: list[str], streams: list[int]) -> int:
        asking = self._socket or self._start()
        request = json.dumps({"arguments": arguments, "directory": os.getcwd()}).encode()
        socket.send_fds(asking, [request], streams)
        try:
            return int(asking.recv(99))
        except (TimeoutError, ValueError) as error:
            assert self._process is not None
            self._process.kill()
            self.close()
            raise AssertionError(f"{arguments}: no answer of the server: {error}") from None

    def _start(self) -> socket.socket:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            line = [sys.executable, __file__, str(theirs.fileno())]
            self._process = subprocess.Popen(line, pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL)
        ours.settimeout(TIMEOUT_S)
        self._socket = ours
        return ours


@contextmanager
def program(place: Path) -> Iterator[str]:
    """The text of a `lasthop` that shells can start until the end of the block; its socket is in `place`, whose path is short."""
    path = place / "lasthop.socket"
    line = [sys.executable, __file__, str(path)]
    listening = subprocess.Popen(line, stdin=subprocess.PIPE, stdout=subprocess.PIPE, process_group=0)
    assert listening.stdin is not None and listening.stdout is not None
    listening.stdout.readline()
    client = Path(__file__).with_name("command_client.py")
    yield f'#!/bin/sh\nexec "{sys.executable}" -I -S "{client}" "{path}" "$@"\n'
    listening.stdin.close()
    listening.stdout.close()
    listening.wait()
    # A command that a shell was to end by a time limit.
    with suppress(ProcessLookupError):
        os.killpg(listening.pid, signal.SIGTERM)


def _environment() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name not in OF_THE_TEST}


def _text(file: Any) -> str:
    file.seek(0)
    return file.read().decode().replace("\r\n", "\n")


def serve(number: int) -> int:
    """Answers requests with exit statuses until the other side closes; returns the status of a command in its own process."""
    with socket.socket(fileno=number) as asked:
        for served in range(sys.maxsize):
            if served == PATIENCE:
                _import_slowly()
            request, streams, _, _ = socket.recv_fds(asked, LONGEST_REQUEST, 3)
            if not request:
                return _end(0)
            if (child := os.fork()) == 0:
                asked.detach()
                os.close(number)
                _become(json.loads(request), streams)
                return _end(_status_of(json.loads(request)["arguments"]))
            for stream in streams:
                os.close(stream)
            _, ended = os.waitpid(child, 0)
            asked.send(str(os.waitstatus_to_exitcode(ended)).encode())
    return 0


def listen(path: str) -> int:
    """Serves each connection to `path` by a process of its own until stdin is closed."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listening:
        listening.bind(path)
        listening.listen()
        _import_slowly()
        print("listens", flush=True)
        while listening in select.select([listening, sys.stdin], [], [])[0]:
            connection, _ = listening.accept()
            if os.fork() == 0:
                listening.detach()
                return serve(connection.detach())
            connection.close()
            _reap()
    return _end(0)


def _status_of(arguments: list[str]) -> int:
    try:
        return lasthop.cli.main(arguments)
    except SystemExit as ended:
        if not isinstance(ended.code, int):
            raise
        return ended.code


def _end(status: int) -> int:
    """Ends a command's process, except for its memory: to free each object of every package would take longer than most commands."""
    threading._shutdown()
    atexit._run_exitfuncs()
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except OSError:
        gc.unfreeze()
        return status
    os._exit(status)


def _reap() -> None:
    with suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def _import_slowly() -> None:
    lasthop.cli.build_parser()
    for name in SLOW_IMPORTS:
        with suppress(ImportError):
            __import__(name)
    gc.freeze()


def _become(request: dict[str, Any], streams: list[int]) -> None:
    """Takes a command's directory, environment and streams, which Python opens as it does at the start of a process."""
    os.chdir(request["directory"])
    if "environment" in request:
        os.environ.clear()
        os.environ.update(request["environment"])
    for stream, number in zip(streams, (1, 2, 0), strict=False):
        os.dup2(stream, number)
        os.close(stream)
    sys.stdout = open(1, "w", encoding=sys.stdout.encoding, closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", encoding=sys.stderr.encoding, errors="backslashreplace", buffering=1, closefd=False)  # noqa: SIM115


if __name__ == "__main__":
    sys.exit(serve(int(sys.argv[1])) if sys.argv[1].isdigit() else listen(sys.argv[1]))
