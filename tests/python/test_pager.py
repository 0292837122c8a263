"""Long tables in a terminal go through a pager; nothing else does."""

from __future__ import annotations

import os
import pty
import select
import subprocess
import sys
import time

import pytest

LIST = ("list", "congestion_control")
# Announces its call, then shows its input.
PAGER = "sed 's/^/paged: /'"


def in_terminal(*arguments, rows=10, columns=80, keys=b"", patience_s=20.0, **environment):
    """What a terminal of this size shows of a command line, and its exit status."""
    import fcntl
    import struct
    import termios

    here, there = pty.openpty()
    fcntl.ioctl(there, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    plain = {name: value for name, value in os.environ.items() if name not in ("PAGER", "LESS", "COLUMNS", "LINES")}
    settings = {**plain, "TERM": "xterm", "PAGER": PAGER, **environment}
    settings = {name: value for name, value in settings.items() if value is not None}
    line = [sys.executable, "-m", "lasthop", *map(str, arguments)]
    process = subprocess.Popen(line, stdin=there, stdout=there, stderr=there, env=settings, start_new_session=True)
    os.close(there)
    seen, until = b"", time.monotonic() + patience_s
    while time.monotonic() < until:
        if select.select([here], [], [], 0.2)[0]:
            try:
                seen += os.read(here, 65536)
            except OSError:  # the other side has gone
                break
            if keys and seen.count(b"\n") >= rows - 1:
                os.write(here, keys)
                keys = b""
    else:
        process.kill()
        pytest.fail(f"still running: {seen[-200:]!r}")
    os.close(here)
    return seen.decode("utf-8", "replace").replace("\r\n", "\n"), process.wait()


def test_a_table_longer_than_the_terminal_goes_through_the_pager():
    seen, status = in_terminal(*LIST)
    assert status == 0
    assert seen.startswith("paged: name") and seen.count("paged: ") == seen.count("\n") > 20


@pytest.mark.parametrize(
    ("arguments", "settings"),
    [
        ((*LIST, "--no-pager"), {}),
        (LIST, {"rows": 500}),
        (LIST, {"PAGER": "cat"}),
        (LIST, {"PAGER": ""}),
        (LIST, {"TERM": "dumb"}),
        (LIST, {"rows": 0, "columns": 0}),
        (LIST, {"rows": 0, "columns": 0, "LINES": "10", "COLUMNS": "80"}),
        (LIST, {"PAGER": "no-such-pager 2>/dev/null"}),
        ((*LIST, "--json"), {}),
    ],
)
def test_otherwise_it_is_printed_at_once_and_whole(arguments, settings):
    seen, status = in_terminal(*arguments, **settings)
    assert status == 0 and "paged: " not in seen
    assert "newreno" in seen and "westwood" in seen and seen.endswith("\n")


def test_a_pipe_gets_the_table_as_it_is(command):
    done = command(*LIST)
    assert done.returncode == 0
    assert max(map(len, done.stdout.splitlines())) > 80 and "westwood" in done.stdout


def test_a_reader_who_has_seen_enough_ends_the_command_well():
    seen, status = in_terminal(*LIST, PAGER="head -n 3")
    assert status == 0 and seen.count("\n") == 3 and "Traceback" not in seen


def test_notes_come_after_what_was_read(small):
    seen, status = in_terminal("run", small, "--seeds", 2, rows=8)
    assert status == 0
    # The progress bar of a terminal is erased, and the note of two seeds ends the visible text.
    assert seen.rindex("paged: ") < seen.rindex("lasthop: with 2 seeds")


def test_less_leaves_when_told_and_shows_the_first_screen():
    import shutil

    if shutil.which("less") is None:
        pytest.skip("less is not installed")
    seen, status = in_terminal(*LIST, PAGER=None, keys=b"q")
    assert status == 0 and "summary" in seen and "westwood" not in seen
