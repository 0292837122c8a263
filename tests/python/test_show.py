"""`lasthop show`: sections, keys and quantities by their paths."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from lasthop import _core
from lasthop.cli import main


@pytest.fixture
def shown(capsys: pytest.CaptureFixture[str]) -> Callable[[str], str]:
    """The output of `lasthop show NAME`, run in this process."""

    def run(name: str) -> str:
        assert main(["show", name]) == 0
        return capsys.readouterr().out

    return run


def test_a_key_has_its_meaning_default_and_values(shown):
    text = shown("station.queue")
    assert text.startswith("station.queue (key): Queue of its packets")
    assert '  default "backpressure"\n' in text
    assert "  names: `lasthop list queue_discipline`\n" in text


@pytest.mark.parametrize(
    ("with_index", "without"),
    [("station.0.queue", "station.queue"), ("bss.1.ap.queue", "bss.ap.queue"), ("flow.2", "flow")],
)
def test_an_index_is_no_part_of_a_path(shown, with_index, without):
    assert shown(with_index) == shown(without)


def test_a_key_that_a_flow_inherits_has_the_defaults_of_profiles(shown):
    text = shown("flow.congestion_control")
    assert text.startswith("flow.congestion_control (key): Congestion control of the sender.")
    assert '  default "cubic"\n  with profile ns2: "newreno"\n' in text
    assert "  without it, the flow has the value of tcp.congestion_control\n" in text


def test_flow_refers_to_the_keys_of_its_transport(shown):
    text = shown("flow")
    assert "  direction (" in text and "congestion_control" not in text and "initial_window" not in text
    assert "It may also have the keys of [tcp]: `lasthop show tcp`\n" in text
    assert text.endswith("It may also have the keys of [quic]: `lasthop show quic`\n")


def test_a_metric_path_has_definition_unit_and_scope(shown):
    text = shown("nodes.ap.queue_mean_packets")
    assert text.startswith("nodes.NAME.queue_mean_packets (mean of nodes in packets; result)")
    assert "mean over time" in text


def test_a_value_has_the_keys_that_take_it(shown):
    text = shown("ath9k")
    assert text.startswith("ath9k (value of 2 keys; ")
    assert '  station.driver = "ath9k"\n      Driver and hardware below its queue' in text
    text = shown("ccmp")
    assert text.startswith("ccmp (value of one key; ") and '  bss.security = "ccmp"\n' in text and "WPA2" in text
    assert '  voip.codec = "g711"\n' in shown("g711")


def test_a_flow_has_no_line_of_its_own_for_a_value_of_tcp(shown):
    text = shown("rack")
    assert '  tcp.loss_detection = "rack"\n' in text and "flow." not in text


def test_every_word_of_the_schema_is_shown(shown):
    words = {word for node in nodes(json.loads(_core.schema_json())) for word in node.get("enum", ()) if word}
    assert {"ath9k", "ccmp", "20 MHz", "per_ack"} < words
    assert shown("reno").startswith("newreno (congestion_control)"), "a second name of it"
    for word in sorted(words - {"reno"}):
        assert shown(word).startswith(word)


def nodes(node):
    """All tables of a JSON document."""
    if isinstance(node, dict):
        yield node
    for each in node.values() if isinstance(node, dict) else node if isinstance(node, list) else ():
        yield from nodes(each)


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("station.quue", '"station.queue"'),
        ("station.0.quue", '"station.queue"'),
        ("flow.congestion_contrl", '"flow.congestion_control"'),
        ("queue", '"bss.ap.queue" or "station.queue" or "wired.queue"'),
    ],
)
def test_an_unknown_path_is_one_error_with_near_names(capsys, name, near):
    assert main(["show", name]) == 2
    err = capsys.readouterr().err
    assert err.count("\n") == 1 and f'unknown name "{name}"; did you mean {near}?' in err


def test_a_paper_has_its_claims_and_a_claim_its_sentence(capsys):
    def said(*arguments: str) -> str:
        assert main(["show", *arguments]) == 0
        return capsys.readouterr().out

    paper = said("khademi2011")
    assert paper.startswith(
        "khademi2011 (paper): On the Uplink Performance of TCP in Multi-rate 802.11 WLANs; N. Khademi"
    )
    assert "  K-15 (" in paper and "figures: 1a, 1b" in paper and max(map(len, paper.splitlines()[1:])) <= 120
    claim = said("K-2")
    assert "  K-2 (" in claim and "K-1 (" not in claim and "lasthop reproduce khademi2011 --claim K-2" in claim
    assert json.loads(said("K-2", "--json"))["claim"][0]["id"] == "K-2"
