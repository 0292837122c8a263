"""`lasthop emulate` in real time, and how runs of both kinds end: nothing of them stays behind."""

from __future__ import annotations

import json
import os
import pty
import random
import select
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import lasthop
import pandas
import pytest
from emulator import NOBODY, PYTHON, TUN, UPLOADS, Traces, real_time_or_skip, some_kernel_or_skip
from lasthop.kernel.emulation.campaign import WORKER

KILLS = 5
LASTHOP = (sys.executable, "-m", "lasthop", "emulate")
LONG = ("--set", "duration=1000 s", "--set", "warmup=0 s")
# A run is in progress after this time, wherever it is.
UNDER_WAY_S = 20.0


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory with the scenario, which is the current one and has all that runs leave."""
    (tmp_path / "cell.toml").write_text(UPLOADS)
    (tmp_path / "left").mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TMPDIR", str(tmp_path / "left"))
    return tmp_path


@pytest.fixture
def traces(place: Path) -> Traces:
    """What runs in that directory leave outside of it."""
    return Traces(place)


@pytest.fixture(params=("real", "virtual"))
def clock(request: pytest.FixtureRequest) -> str:
    """Each kind of time that this machine has."""
    if request.param == "real":
        real_time_or_skip()
    else:
        some_kernel_or_skip()
    return request.param


def begun(line: list[str], place: Path, **how: object) -> subprocess.Popen[str]:
    """The command, once its emulator has begun to run."""
    process = subprocess.Popen(
        line, text=True, **{"cwd": place, "stderr": subprocess.PIPE, "stdout": subprocess.DEVNULL, **how}
    )
    until = time.monotonic() + UNDER_WAY_S
    while not any((place / "left").glob(".lasthop-emulate.*/seed-*/virtual-time")):
        assert process.poll() is None, process.communicate()[1]
        assert time.monotonic() < until, "nothing has begun"
        time.sleep(0.02)
    return process


@pytest.mark.alone
def test_a_run_is_valid_and_near_its_simulation(command, place, traces):
    real_time_or_skip()
    done = command(
        "emulate", "cell.toml", "--time", "real", "--set", "emulation.max_lateness=1 s", "--json", "real.json"
    )
    assert done.returncode == 0, done.stderr
    (run,) = json.loads(Path("real.json").read_text())["runs"]
    assert run["simulator"]["time"] == "real" and run["simulator"]["kernel"] == os.uname().release
    assert run["simulator"]["certificate"]["valid"]
    # 23.7 Mbit/s simulated; a machine that is late gives less.
    assert 10e6 < run["totals"]["goodput_bps"] < 26e6
    assert traces.remains() == []


@pytest.mark.alone
def test_a_late_run_is_not_valid_and_is_kept(command, place):
    real_time_or_skip()
    done = command("emulate", "cell.toml", "--time", "real", "--set", "emulation.max_lateness=1 ns", "--out", "out")
    assert done.returncode == 1
    assert "seed 1 is not valid: packets were" in done.stderr and "in virtual time" in done.stderr
    (run,) = json.loads(Path("out/result.json").read_text())["runs"]
    certificate = run["simulator"]["certificate"]
    assert not certificate["valid"] and len(certificate["faults"]) == 1
    assert run["totals"]["goodput_bps"] > 1e6


@pytest.mark.parametrize("number", (signal.SIGINT, signal.SIGTERM), ids=("Ctrl-C", "kill"))
def test_a_signal_ends_it_and_nothing_stays(clock, place, traces, number):
    process = begun([*LASTHOP, "cell.toml", "--time", clock, *LONG], place)
    asked = time.monotonic()
    process.send_signal(number)
    _, told = process.communicate(timeout=20)
    assert process.returncode == 130, told
    assert "Traceback" not in told
    assert time.monotonic() - asked < 6
    assert traces.remains() == []
    assert list((place / "left").iterdir()) == []


def test_a_shell_is_in_its_station(place, traces):
    real_time_or_skip()
    ours, theirs = pty.openpty()
    line = [*LASTHOP, "cell.toml", "--shell", "sta2", "--set", "emulation.max_lateness=1 s"]
    env = {**os.environ, "SHELL": "/bin/sh", "PS1": "here> ", "ENV": ""}
    with subprocess.Popen(line, stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True, env=env) as shell:
        os.close(theirs)
        try:
            typed(ours, "cat /proc/net/fib_trie; echo no''thing more\n")
            seen = read_until(ours, "nothing more")
            assert "10.1.0.3" in seen and "10.1.0.2" not in seen
            typed(ours, "exit\n")
            rest = read_until(ours, None)
            assert shell.wait(timeout=20) == 0, rest
        except BaseException:
            with suppress(ProcessLookupError):
                os.killpg(shell.pid, signal.SIGKILL)
            raise
    os.close(ours)
    assert "seed 1 is valid" in rest
    assert traces.remains() == []


def typed(terminal: int, text: str) -> None:
    """What somebody types."""
    os.write(terminal, text.encode())


def read_until(terminal: int, wanted: str | None, within_s: float = 20.0) -> str:
    """All that a terminal shows until that, or to its end."""
    seen, until = b"", time.monotonic() + within_s
    while time.monotonic() < until:
        if not select.select([terminal], [], [], 0.1)[0]:
            continue
        try:
            more = os.read(terminal, 65536)
        except OSError:
            # The end of a terminal, too, whose other side is closed.
            return seen.decode(errors="replace")
        seen += more
        if wanted is not None and wanted.encode() in seen:
            return seen.decode(errors="replace")
    raise AssertionError(f"{wanted} was not seen in {seen.decode(errors='replace')}")


@pytest.mark.parametrize("user", (None, NOBODY), ids=("this user", "nobody"))
def test_kill_9_at_a_random_moment_leaves_nothing(clock, user):
    if user is not None and os.geteuid() != 0:
        pytest.skip("only root can become nobody")
    moments, had = random.Random(4), []
    kernel = some_kernel_or_skip().path if clock == "virtual" else None
    with place_of(user, kernel) as place, tun_for_all():
        whose = {} if user is None else {"user": user, "group": user, "extra_groups": []}
        how = {
            "cwd": place,
            "env": environment(place),
            "stdout": subprocess.DEVNULL,
            "stderr": subprocess.PIPE,
            **whose,
        }
        line = line_of_all("cell.toml", "--time", clock, *LONG, **how)
        if kernel is not None:
            line += ["--kernel", str(place / "kernel")]
        traces = Traces(place)
        began = time.monotonic()
        process = begun(line, place, **how)
        under_way_s = time.monotonic() - began
        for _ in range(KILLS):
            assert process.poll() is None, process.communicate()[1]
            had.append(len(traces.processes()))
            process.kill()
            process.communicate()
            left = traces.remains()
            assert left == [], f"{left} of {had[-1]} processes"
            process = subprocess.Popen(line, text=True, **how)
            time.sleep(moments.uniform(0.5, 1.2) * under_way_s)
        process.kill()
        process.communicate()
        assert traces.remains() == []
    assert max(had) > 3, f"no emulator ran, so nothing was tested: {had} processes"


def line_of_all(*arguments: str, **how: object) -> list[str]:
    """The command with an interpreter that its user may start; `how` is how it will be started."""
    for python in (sys.executable, PYTHON):
        try:
            subprocess.run((python, "-m", "lasthop", "--version"), check=True, **how)
            return [python, "-m", "lasthop", "emulate", *arguments]
        except (OSError, subprocess.CalledProcessError):
            continue
    pytest.skip("that user can start no interpreter that has what lasthop needs")


def environment(place: Path) -> dict[str, str]:
    """That of a user whose all is in one directory, for any interpreter of this version."""
    packages = [str(Path(module.__file__).parents[1]) for module in (lasthop, pandas)]
    return {**os.environ, "TMPDIR": str(place / "left"), "HOME": str(place), "PYTHONPATH": os.pathsep.join(packages)}


@contextmanager
def place_of(user: int | None, kernel: Path | None) -> Iterator[Path]:
    """A directory of the user's with the scenario and a copy of the kernel, if any, below one that all may read."""
    place = Path(tempfile.mkdtemp(dir="/tmp"))
    try:
        (place / "cell.toml").write_text(UPLOADS)
        (place / "left").mkdir()
        if kernel is not None:
            shutil.copy(kernel, place / "kernel")
        for path in (place, *place.iterdir()):
            os.chown(path, -1 if user is None else user, -1)
        yield place
    finally:
        shutil.rmtree(place)


@contextmanager
def tun_for_all() -> Iterator[None]:
    """As on ordinary machines all users may open the TUN device; afterwards it is as it was."""
    mode = stat.S_IMODE(TUN.stat().st_mode) if TUN.exists() and os.geteuid() == 0 else None
    try:
        if mode is not None:
            TUN.chmod(0o666)
        yield
    finally:
        if mode is not None:
            TUN.chmod(mode)


def test_an_emulator_whose_caller_is_gone_does_not_begin(place):
    real_time_or_skip()
    order = {
        "engine": lasthop._core.__file__,
        "place": "host",
        "parent": 1,
        "directory": str(place),
        "text": UPLOADS,
        "file_name": "cell.toml",
    }
    (place / "job.json").write_text(json.dumps({**order, "seed": 1, "settings": []}))
    done = subprocess.run(
        (sys.executable, "-I", "-S", "-B", WORKER, place / "job.json"), capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert sorted(file.name for file in place.iterdir()) == ["cell.toml", "job.json", "left"]
