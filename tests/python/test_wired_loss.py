"""`wired.loss`: what the wired link loses is chosen, counted apart, and shifts no other draw."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import lasthop
import pytest

SCENARIO = """\
name = "lossy"
duration = "5 s"
warmup = "0 s"

[bss]
standard = "802.11g"

[[station]]
name = "sta1"

[wired]
rate = "100 Mbit/s"
delay = "10 ms"

[[flow]]
station = "sta1"
direction = "up"
"""


@pytest.fixture
def run_of(tmp_path: Path):
    """The run of the scenario with some `wired.loss`."""
    (tmp_path / "lossy.toml").write_text(SCENARIO)

    def run(size: str | None = None, **loss: Any) -> dict[str, Any]:
        scenario = lasthop.load(tmp_path / "lossy.toml")
        if size:
            scenario = scenario.set("flow.0.size", size)
        if loss:
            scenario = scenario.set("wired.loss", {"kind": "random", **loss})
        return lasthop.run(scenario, seeds=[1]).runs[0]

    return run


def test_lost_acks_are_counted_and_cost_no_retransmission(run_of) -> None:
    run = run_of(share=0.02, only="pure_acks")
    (flow,), ap = run["flows"], run["nodes"][0]
    # 4000 ACKs or so for 8000 segments: 80 of them, with a standard deviation of 9.
    assert 40 <= ap["wired_losses"] <= 160
    assert ap["wired_queue_drops"] == 0
    assert flow["segments_retransmitted"] == 0


def test_lost_data_is_sent_again(run_of) -> None:
    # It ends in time, so that every loss is repaired.
    run = run_of(size="5 MB", share=0.005, only="data", direction="up")
    assert run["flows"][0]["completion_time_s"] is not None
    assert run["flows"][0]["segments_retransmitted"] >= run["nodes"][0]["wired_losses"] > 0


def test_a_loss_of_zero_alters_no_result(run_of) -> None:
    plain = run_of()
    assert "wired_losses" not in plain["nodes"][0]
    # All data of an upload goes up, so that no pure ACK does.
    for loss in ({"share": 0.0}, {"share": 0.5, "only": "pure_acks", "direction": "up"}):
        assert run_of(**loss)["flows"] == plain["flows"]
