"""The project's packet timelines, and `lasthop cc packetdrill` as a user runs it."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from lasthop.cli.cc.packetdrill import run_script

SCRIPTS = sorted((Path(__file__).resolve().parents[1] / "scripts").glob("*.pkt"))

HANDSHAKE = """\
    0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
   +0 bind(3, ..., ...) = 0
   +0 listen(3, 1) = 0
   +0 < S 0:0(0) win 32792 <mss 1000>
   +0 > S. 0:0(0) ack 1 <...>
  +.1 < . 1:1(0) ack 1 win 32792
   +0 accept(3, ..., ...) = 4
   +0 write(4, ..., 1000) = 1000
"""


@pytest.mark.skipif(not SCRIPTS, reason="not in a source tree")
def test_there_are_at_least_sixty_scripts():
    assert len(SCRIPTS) >= 60


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_script_passes(script):
    verdict = run_script(script.read_text(encoding="utf-8"), [])
    assert verdict.kind == "pass", verdict.as_line(script.name)


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_script_names_its_source(script):
    first = script.read_text(encoding="utf-8").split("\n\n")[0]
    assert first.startswith("// ["), f"{script.name} begins with the clause that it states"


def write(folder: Path, name: str, text: str) -> Path:
    file = folder / name
    file.write_text(text)
    return file


def test_pass_fail_and_skip_have_their_lines_and_a_count(command, tmp_path):
    good = write(tmp_path, "good.pkt", HANDSHAKE + "   +0 > P. 1:1001(1000) ack 1\n")
    bad = write(tmp_path, "bad.pkt", HANDSHAKE + "   +0 > P. 1:901(900) ack 1\n")
    foreign = write(tmp_path, "foreign.pkt", "`modprobe tcp_dream`\n" + HANDSHAKE)
    done = command("cc", "packetdrill", good, bad, foreign)
    lines = done.stdout.splitlines()
    assert done.returncode == 1
    assert lines[0] == f"pass  {good}"
    assert lines[1] == f"fail  {bad}:9: the payload is 1000, not 900"
    assert lines[2].split() == ["expected", "0.100000", "P.", "1:901(900)", "ack", "1"]
    assert lines[3].split()[:4] == ["seen", "0.100000", "P.", "1:1001(1000)"]
    assert lines[4] == f"skip  {foreign}:1: skipped because the command `modprobe tcp_dream` has no counterpart"
    assert lines[-1] == "1 passed, 1 failed, 1 skipped"


def test_status_is_zero_if_all_passed(command, tmp_path):
    good = write(tmp_path, "good.pkt", HANDSHAKE + "   +0 > P. 1:1001(1000) ack 1\n")
    foreign = write(tmp_path, "foreign.pkt", "--ip_version=ipv6\n" + HANDSHAKE)
    assert command("cc", "packetdrill", good).returncode == 0
    assert command("cc", "packetdrill", good, foreign).returncode == 77


def test_the_first_failure_is_reported():
    late_packet = HANDSHAKE + "   +0 %{ assert tcpi_snd_cwnd == 99, tcpi_snd_cwnd }%\n   +0 > P. 1:901(900) ack 1\n"
    verdict = run_script(late_packet, [])
    assert (verdict.kind, verdict.line) == ("fail", 9)
    assert "AssertionError: 10" in verdict.why


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("   +0 > P. 1:1001(1000) ack 2", "ack is 1, not 2"),
        ("   +0 > . 1:1001(1000) ack 1", "the flags are P., not ."),
        ("   +0 > P. 1:1001(1000) ack 1 win 5", "win is"),
        ("   +0 > P. 1:1001(1000) ack 1 <nop,nop,sackOK>", "the options differ"),
        ("   +0 > [ce] P. 1:1001(1000) ack 1", "the ECN field is NotEct"),
        ("  +.1 > P. 1:1001(1000) ack 1", "the time is wrong"),
        ("   +0 > P. 1:1001(1000) ack 1\n   +0 > P. 1001:2001(1000) ack 1", "no packet"),
        ("   +0 write(4, ..., 1000) = 999", "write returns 1000, not 999"),
        ("   +0 read(4, ..., 1000) = 1", "this waits, but was to return at once"),
        ("   +0...0.2 read(4, ..., 1000) = 0", "this was to return at 0.300000, but did not"),
        ("   +0 getsockopt(4, SOL_TCP, TCP_MAXSEG, [999], [4]) = 0", "TCP_MAXSEG gives 1000, not 999"),
        ("   +0 < . 1:1(0) ack 1 win 5 <nop,nop,TS val 1 ecr 77>", "ecr 77 echoes no TSval"),
    ],
)
def test_every_part_of_a_line_counts(line, why):
    verdict = run_script(HANDSHAKE + line + "\n", [])
    assert verdict.kind == "fail"
    assert why in verdict.why


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("   +0 < icmp unreachable frag_needed mtu 500 [1:1001(1000)]", "ICMP"),
        ("   +0 < . 1:1(0) ack 1 win 5 <FO 1234>", "FO"),
        ("   +0 < . 1:1(0) ack 1 win 5 urg 7", "urgent"),
        ("   +0 setsockopt(4, SOL_TCP, TCP_MD5SIG, [1], 4) = 0", "TCP_MD5SIG"),
        ("   +0 splice(4, NULL, 5, NULL, 9, 0) = 9", "the call splice"),
        ("   +0 `sysctl -q net.ipv4.tcp_dream=1`\n   +0 close(4) = 0", "tcp_dream"),
        ("   +0 %{ assert bbr_bw_lo > 0 }%", "bbr_bw_lo"),
        ("   +0 %{ assert tcpi_accecn_opt_seen == 0 }%", "tcpi_accecn_opt_seen"),
    ],
)
def test_lines_without_counterpart_are_skipped_with_the_reason(line, why):
    verdict = run_script(HANDSHAKE + line + "\n", [])
    assert (verdict.kind, verdict.line) == ("skip", 9)
    assert why in verdict.why


@pytest.mark.parametrize(
    ("code", "why"),
    [
        ("import sys; sys.exit(0)", "SystemExit: 0"),
        ("raise SystemExit", "SystemExit"),
        ("raise KeyboardInterrupt", "KeyboardInterrupt"),
        ("raise BaseException('so')", "BaseException: so"),
        ("import os; os._exit(0)", "the code ended its interpreter, with status 0"),
        ("import os; os.kill(os.getpid(), 9)", "the code ended its interpreter, by SIGKILL"),
        ("import os; os.closerange(0, 99); os._exit(0)", "the code ended its interpreter, with status 0"),
        ("assert tcpi_snd_cwndd == 10", "name 'tcpi_snd_cwndd' is not defined; did you mean tcpi_snd_cwnd"),
        ("raise NameError", "NameError"),
        ("x = (", "SyntaxError"),
    ],
)
def test_code_that_ends_itself_or_is_misspelt_fails_in_its_line(command, tmp_path, code, why):
    file = write(tmp_path, "ends.pkt", HANDSHAKE + f"   +0 %{{ assert tcpi_unacked == 1 }}%\n   +0 %{{ {code} }}%\n")
    done = command("cc", "packetdrill", file)
    assert (done.returncode, done.stderr) == (1, "")
    assert done.stdout.startswith(f"fail  {file}:10: ")
    assert why in done.stdout
    assert done.stdout.endswith("0 passed, 1 failed, 0 skipped\n")


def test_a_line_that_fails_before_the_code_ends_itself_is_the_verdict():
    verdict = run_script(HANDSHAKE + "   +0 close(3) = 5\n   +0 %{ import os; os._exit(0) }%\n", [])
    assert (verdict.kind, verdict.line) == ("fail", 9)


def test_code_sees_earlier_definitions_and_prints_nothing(command, tmp_path):
    pieces = '   +0 %{ w = tcpi_snd_cwnd; print(w) }%\n   +0 %{ assert w == 10; import os; os.write(1, b"x") }%\n'
    done = command("cc", "packetdrill", file := write(tmp_path, "two.pkt", HANDSHAKE + pieces))
    assert (done.returncode, done.stdout) == (0, f"pass  {file}\n1 passed, 0 failed, 0 skipped\n")


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
def test_code_that_never_ends_can_be_stopped(tmp_path, name):
    started = tmp_path / "started"
    file = write(tmp_path, "loop.pkt", HANDSHAKE + f"   +0 %{{ open({str(started)!r}, 'w')\nwhile True: pass }}%\n")
    process = subprocess.Popen([sys.executable, "-m", "lasthop", "cc", "packetdrill", file], stderr=subprocess.PIPE)
    while not started.exists():
        assert process.poll() is None
        time.sleep(0.05)
    process.send_signal(getattr(signal, name))
    assert process.communicate(timeout=10) == (None, b"lasthop: interrupted\n")
    assert process.returncode == 130


def test_help_warns_that_scripts_are_programs(command):
    assert "A script is a program" in command("cc", "packetdrill", "--help").stdout


@pytest.mark.parametrize("seconds", ["9223372036854775807", "1e300", "86401", "1" * 400])
def test_a_time_beyond_a_day_fails_in_its_line(command, tmp_path, seconds):
    late = write(tmp_path, "late.pkt", HANDSHAKE.replace("    0 socket", f"    {seconds} socket"))
    done = command("cc", "packetdrill", late)
    assert (done.returncode, done.stderr) == (1, "")
    assert done.stdout.startswith(f"fail  {late}:1: ")


@pytest.mark.parametrize("microseconds", ["0", "-1", "1.5", "\u00b2", "86400000001", "1" * 5000])
def test_a_tolerance_that_is_none_is_refused(command, microseconds):
    done = command("cc", "packetdrill", f"--tolerance_usecs={microseconds}", "any.pkt")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "not a number of microseconds from 1 to 86400000000" in done.stderr


def test_broken_script_names_its_line():
    verdict = run_script(HANDSHAKE + "   +0 > P. 1:1001(999) ack 1\n", [])
    assert (verdict.kind, verdict.line) == ("fail", 9)


def test_tolerance_can_be_given(command, tmp_path):
    early = write(tmp_path, "early.pkt", HANDSHAKE + " +.01 > P. 1:1001(1000) ack 1\n")
    assert command("cc", "packetdrill", early).returncode == 1
    assert command("cc", "packetdrill", "--tolerance_usecs", "20000", early).returncode == 0


def test_missing_file_is_a_mistake(command):
    done = command("cc", "packetdrill", "nowhere.pkt")
    assert (done.returncode, done.stderr) == (2, "lasthop: nowhere.pkt: No such file or directory\n")
