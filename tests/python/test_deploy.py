"""`lasthop host deploy`: a scenario's mechanisms as commands, and what no host can do as remarks."""

from __future__ import annotations

from pathlib import Path

import pytest
from lasthop import cli

SCENARIOS = Path(__file__).parents[2] / "scenarios"


def printed(capsys: pytest.CaptureFixture[str], scenario: str, *settings: str) -> list[str]:
    given = [part for setting in settings for part in ("--set", setting)]
    assert cli.main(["host", "deploy", str(SCENARIOS / f"{scenario}.toml"), "--dry-run", *given]) == 0
    return capsys.readouterr().out.splitlines()


def test_without_dry_run_it_is_refused_with_the_remedy(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["host", "deploy", str(SCENARIOS / "download-11n.toml")]) == 2
    told = capsys.readouterr()
    assert told.out == "" and "give --dry-run" in told.err


def test_mechanisms_become_commands(capsys: pytest.CaptureFixture[str]) -> None:
    lines = printed(capsys, "hashimoto2008-updown-11a", "tcp.ack_loss.threshold=2", "bss.ap.queue=split_ack")
    assert "lasthop host load ack_loss --base reno --threshold 2 --default" in lines
    assert "lasthop host load split_queue --device wlan0" in lines
    assert any(line.startswith("# ack_loss in a kernel learns what jump is normal") for line in lines)


def test_both_mechanisms_on_one_path_are_warned_of(capsys: pytest.CaptureFixture[str]) -> None:
    lines = printed(capsys, "gopal2005-ack-skipping", "tcp.ack_loss.threshold=1", "tcp.ack_loss.mode=general")
    assert "lasthop host load ack_skip --device eth0 --skip 1 --start-after 10" in lines
    assert any("leave one of them out" in line for line in lines)


def test_access_parameters_become_lines_of_hostapd(capsys: pytest.CaptureFixture[str]) -> None:
    assert "hostapd.conf: tx_queue_data2_aifs=1" in printed(capsys, "hashimoto2008-updown-11a", "bss.ap.access=pifs")


def test_an_object_of_bpf_is_registered_and_other_code_stays_here(capsys: pytest.CaptureFixture[str]) -> None:
    lines = printed(capsys, "download-11n", 'tcp.congestion_control={ kind = "bpf", object = "mine.bpf.o" }')
    assert "bpftool struct_ops register mine.bpf.o" in lines
    lines = printed(capsys, "download-11n", 'tcp.congestion_control={ kind = "c", library = "./mine.so" }')
    assert any("congestion control in C runs in lasthop alone" in line for line in lines)


def test_settings_that_no_kernel_has_are_reported(capsys: pytest.CaptureFixture[str]) -> None:
    lines = printed(capsys, "hashimoto2008-updown-11a", "tcp.congestion_control=fast")
    assert any('congestion_control = "fast": no kernel has it' in line for line in lines)
