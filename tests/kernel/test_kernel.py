"""This machine's own TCP sender and the `linux` profile play the same scripts."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from lasthop import _core

sys.path.insert(0, str(Path(__file__).parent))
from recorder import why_not
from report import record

pytestmark = pytest.mark.skipif(why_not() is not None, reason=str(why_not()))

# A stalled machine spoils a recording, so that a scenario has three tries.
TRIES = 3


def differences(folder: Path, name: str) -> list[str]:
    """What each try showed, until one agrees."""
    lines = []
    for _ in range(TRIES):
        record(folder, [name], runs=1)
        _, line, verdict, _ = _core.replay_recovery((folder / f"{name}.json").read_text())
        lines.append(line)
        if verdict == "pass":
            return []
    return lines


@pytest.mark.parametrize(
    "name",
    [
        "cubic_delayed_ack",
        "reno_loss1",
        "cubic_loss1",
        "reno_newreno2",
        "reno_tail2",
    ],
)
def test_the_profile_agrees_with_this_kernel(name: str, tmp_path: Path) -> None:
    assert differences(tmp_path, name) == []


def test_the_recorder_and_the_replay_have_the_same_receiver(tmp_path: Path) -> None:
    """Up to the first difference the ACKs agree, which two programs worked out independently."""
    record(tmp_path, ["reno_zero_window"], runs=1)
    text = (tmp_path / "reno_zero_window.json").read_text()
    assert "win0" in text
    assert "what is acknowledged" not in _core.replay_recovery(text)[1]


def test_another_path_is_noticed(tmp_path: Path) -> None:
    record(tmp_path, ["cubic_delayed_ack"], runs=1)
    document = json.loads((tmp_path / "cubic_delayed_ack.json").read_text())
    document["scenario"]["rtt_ms"] += 20
    assert _core.replay_recovery(json.dumps(document))[2] == "fail"
