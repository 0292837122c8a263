"""`lasthop cc replay` on the traces of the repository, on traces that were tampered with, and on other files."""

from __future__ import annotations

import gzip
import signal
from pathlib import Path

import pytest
from lasthop import _core

TRACES = Path(__file__).parents[1] / "data" / "vectors" / "cc"
FOLLOWED = [
    "linux612/reno.s1_const40",
    "linux612/bbr.s3_loss",
    "linux612/cdg.s3_queue20",
    "linux612/cubic_hystart.s2_sin60",
    "linux2622/cubic.s3_queue20",
    "ns2fast/fast.s2_queue80_k2_loss",
]


def lines_of(name: str) -> list[str]:
    return gzip.decompress((TRACES / f"{name}.csv.gz").read_bytes()).decode().splitlines()


def changed(lines: list[str], row: int, column: str, by: float) -> str:
    """The trace with one number changed."""
    fields = lines[row].split(",")
    at = lines[1].split(",").index(column)
    fields[at] = str(type(by)(fields[at]) + by)
    return "\n".join([*lines[:row], ",".join(fields), *lines[row + 1 :]]) + "\n"


def test_the_traces_of_the_repository_are_followed(command):
    files = [TRACES / f"{name}.csv.gz" for name in FOLLOWED]
    done = command("cc", "replay", *files)
    assert done.returncode == 0, done.stdout + done.stderr
    assert len(done.stdout.splitlines()) == len(files)
    assert all(str(file) in line for file, line in zip(files, done.stdout.splitlines(), strict=True))


@pytest.mark.parametrize("name", FOLLOWED)
def test_one_changed_number_is_found(command, tmp_path, name):
    lines = lines_of(name)
    # CUBIC has a tolerance of one segment.
    by = 40.0 if "fast" in name else 3 if "cubic" in name else 1
    if "fast" not in name:
        for column in ["ssthresh", *([] if "bbr" in name else ["una", "nxt"])]:
            (tmp_path / "other.csv").write_text(changed(lines, 300, column, 3))
            assert command("cc", "replay", tmp_path / "other.csv").returncode == 1, column
    (tmp_path / "window.csv").write_text(changed(lines, 300, "cwnd", by))
    done = command("cc", "replay", tmp_path / "window.csv")
    assert done.returncode == 1
    assert "OUT OF TOLERANCE" in done.stdout


def test_a_trace_of_an_unknown_controller_is_skipped(command, tmp_path):
    lines = lines_of("linux612/reno.s1_const40")
    lines[0] = lines[0].replace("cc=reno", "cc=lp")
    (tmp_path / "lp.csv").write_text("\n".join(lines))
    done = command("cc", "replay", tmp_path / "lp.csv")
    assert (done.returncode, "skipped" in done.stdout) == (77, True)
    # A failure takes precedence over a skipped one.
    (tmp_path / "off.csv").write_text(changed(lines_of("linux612/reno.s1_const40"), 300, "cwnd", 1))
    assert command("cc", "replay", tmp_path / "lp.csv", tmp_path / "off.csv").returncode == 1


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "empty"),
        ("name = 'scenario'\n", "line 1"),
        ("# cc=reno scenario: rtt=const\na,b\n1,2\n", "line 2"),
        ("# cc=reno scenario: rtt=const\n", "line 2"),
    ],
)
def test_a_file_that_is_no_trace_is_refused_with_one_line(command, tmp_path, text, why):
    (tmp_path / "other.csv").write_text(text)
    done = command("cc", "replay", tmp_path / "other.csv")
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert why in done.stderr


def test_a_number_that_is_none_names_its_line(command, tmp_path):
    lines = lines_of("linux612/reno.s1_const40")
    lines[10] = lines[10].replace(",ack,", ",ack,x")
    (tmp_path / "broken.csv").write_text("\n".join(lines))
    done = command("cc", "replay", tmp_path / "broken.csv")
    assert done.returncode == 2
    assert "line 11" in done.stderr


def with_field(lines: list[str], row: int, column: str, value: str) -> str:
    fields = lines[row].split(",")
    fields[lines[1].split(",").index(column)] = value
    return "\n".join([*lines[:row], ",".join(fields), *lines[row + 1 :]]) + "\n"


@pytest.mark.parametrize(
    ("column", "value"), [("n", "2147483647"), ("t_us", "9223372036854775807"), ("dt_us", "1" * 30), ("cwnd", "nan")]
)
def test_a_number_that_tcp_cannot_carry_is_refused_in_its_line(command, tmp_path, column, value):
    (tmp_path / "huge.csv").write_text(with_field(lines_of("linux612/reno.s1_const40"), 10, column, value))
    done = command("cc", "replay", tmp_path / "huge.csv")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert f"huge.csv: line 11: {column} = " in done.stderr


def bomb(folder: Path, size: int) -> Path:
    """Numbers, packed a thousand times smaller."""
    packed = gzip.compress(b"0," * 2**19)
    (folder / "bomb.gz").write_bytes(packed * (size >> 20))
    return folder / "bomb.gz"


@pytest.mark.parametrize("name", ["replay", "recovery", "packetdrill"])
def test_a_file_that_unpacks_to_more_than_is_read_is_refused(command, tmp_path, name):
    done = command("cc", name, bomb(tmp_path, 3 << 30))
    assert done.returncode == 2
    assert done.stderr == f"lasthop: {tmp_path}/bomb.gz: has more than 16 MiB of text, the limit; give a part of it\n"


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="needs /dev/zero")
def test_a_file_without_end_is_refused(command):
    assert "is not text" in command("cc", "replay", "/dev/zero").stderr


def test_lists_without_end_are_no_trace(command, tmp_path):
    (tmp_path / "deep.csv").write_text("x = " + "[" * 100_000)
    done = command("cc", "replay", tmp_path / "deep.csv")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "line 1" in done.stderr


def test_signals_are_heard_while_a_replay_runs():
    """A replay that was deaf would hear one of them, at its end."""
    lines = lines_of("linux612/reno.s1_const40")
    most = with_field(with_field(lines, 3, "n", "741534").splitlines(), 3, "dt_us", "0").splitlines()[3]
    heard = []
    before = signal.signal(signal.SIGALRM, lambda *_: heard.append(1))
    signal.setitimer(signal.ITIMER_REAL, 0.02, 0.02)
    try:
        _core.replay_cc("\n".join([*lines[:3], *[most.replace(",ack,", ",sack,")] * 26]))
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert len(heard) >= 3
