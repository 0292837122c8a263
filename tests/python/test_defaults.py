"""Defaults that depend on what is simulated: what they are, where they are said, and that distance is felt."""

from __future__ import annotations

import json
import re
from pathlib import Path

import lasthop
import pytest

PAGE = (Path(__file__).parents[2] / "docs" / "start" / "scenario.md").read_text(encoding="utf-8")
CURRENT = '[bss]\nstandard = "802.11ax"\n[[station]]\n[[flow]]\n'


def resolved(text: str) -> dict:
    return json.loads(lasthop.Scenario(text, "f.toml").resolve().to_json())


def test_the_resolved_scenario_has_the_defaults_that_count() -> None:
    found = resolved(CURRENT)
    (bss,), (station,) = found["bss"], found["station"]
    assert bss["ap"]["queue"]["kind"] == "airtime_fq_codel"
    assert bss["rate_control"]["kind"] == "minstrel_ht"
    assert station["queue"] == "backpressure"
    assert found["wired"]["queue"] == {"kind": "fifo", "limit": "1000 packets"}
    assert found["channel"]["path_loss"]["kind"] == "log_distance"
    assert found["channel"]["error_model"]["kind"] == "nist"


def test_a_written_value_overrules_the_default() -> None:
    found = resolved(CURRENT + '[bss.ap]\nqueue = "fifo"\n')
    assert found["bss"][0]["ap"]["queue"] == {"kind": "fifo", "limit": "1000 packets"}


@pytest.mark.parametrize("place", ["bss.ap", "station", "wired", "channel", "bss"])
def test_show_names_the_keys_that_a_default_depends_on(command, place: str) -> None:
    text = command("show", place).stdout
    assert "default with 802.11n and later" in re.sub(r"\s+", " ", text)


def test_the_schema_names_them_too() -> None:
    schema = json.loads(lasthop._core.schema_json())
    (wired,) = [schema["properties"]["wired"]["properties"]["queue"]]
    assert "1000 packets" in wired["description"] and "tcp.profile" in wired["description"]


def test_a_result_lists_the_defaults_that_were_taken() -> None:
    scenario = lasthop.Scenario(CURRENT, "f.toml").set("duration", "50 ms")
    result = lasthop.run(scenario, seeds=1, interval_s=None)
    taken = {entry["key"]: entry["because"] for entry in result.to_dict()["defaults"]}
    assert taken["bss.ap.queue"] == '802.11ax and tcp.profile = "linux"'
    assert taken["channel.path_loss"] == "802.11ax"


def test_distance_in_the_first_scenario_of_the_docs_is_felt_or_warned_about() -> None:
    (block, *_) = re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)
    scenario = lasthop.Scenario(block, "first.toml").set("duration", "2 s").set("warmup", "1 s")
    near, far = (
        lasthop.run(scenario.set("station.0.distance", distance), seeds=1, interval_s=None)
        for distance in ("1 m", "1 km")
    )
    differ = near.summary["totals.goodput_bps"]["mean"] != far.summary["totals.goodput_bps"]["mean"]
    assert differ or any("no effect because" in warning for warning in far.warnings)


def test_a_driver_queue_below_the_default_queue_is_refused_with_a_remedy() -> None:
    with pytest.raises(lasthop.ScenarioError, match="choose another ap.queue"):
        lasthop.Scenario(CURRENT + '[bss.ap]\ndriver_queue = "100 packets"\n', "f.toml").resolve()
