"""Flows of a capture and of a simulation are paired where that is certain, and listed where it is not."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace

import lasthop
import pytest
from lasthop.foreign.analysis import analyze
from lasthop.study.pairing import paired, pairing_of

TWO_CELLS = """\
duration = "300 ms"
warmup = "0 s"
[[bss]]
name = "x"
standard = "802.11n"
[[bss]]
name = "y"
standard = "802.11n"
channel = 40
[[station]]
name = "first"
bss = "y"
[[station]]
name = "second"
bss = "x"
[[flow]]
station = "first"
[[flow]]
station = "second"
direction = "up"
[[flow]]
station = "second"
direction = "up"
transport = "udp"
rate = "1 Mbit/s"
"""


def without_names(source: Path, target: Path) -> Path:
    """The packets of a pcapng in a pcap, which has no names."""
    blocks, at, packets = source.read_bytes(), 0, []
    while at < len(blocks):
        kind, length = (int.from_bytes(blocks[at + k : at + k + 4], "little") for k in (0, 4))
        body = blocks[at + 8 : at + length - 4]
        if kind == 1:
            link = int.from_bytes(body[:2], "little")
        if kind == 6:
            captured = int.from_bytes(body[12:16], "little")
            packets.append((body[4:12], body[12:20], body[20 : 20 + captured]))
        at += length
    pcap = [bytes.fromhex("4d3cb2a1 0200 0400 00000000 00000000 00000400".replace(" ", "")), link.to_bytes(4, "little")]
    for stamp, lengths, data in packets:
        high, low = (int.from_bytes(stamp[k : k + 4], "little") for k in (0, 4))
        seconds, rest = divmod(high << 32 | low, 10**9)
        pcap += [seconds.to_bytes(4, "little"), rest.to_bytes(4, "little"), lengths, data]
    target.write_bytes(b"".join(pcap))
    return target


@pytest.fixture
def captured(tmp_path, monkeypatch, command):
    """A run of two cells in `run`, and its capture without names, `air.pcap`."""
    monkeypatch.chdir(tmp_path)
    Path("cells.toml").write_text(TWO_CELLS)
    command("run", "cells.toml", "--seed", "1", "--pcap", "captures", "--out", "run")
    return without_names(Path("captures/air.pcapng"), Path("air.pcap"))


def test_a_run_and_its_capture_without_names_pair_by_the_addresses_of_nodes(captured, command):
    named = {flow["id"]: flow for flow in lasthop.read("run").runs[0]["flows"]}
    done = command("compare", "run", captured, "--json", "rows.json")
    document = json.loads(Path("rows.json").read_text())
    pairs = {pair["a"]: pair for pair in document["flows"]["paired"]}
    assert pairs.keys() == named.keys() and {pair["by"] for pair in pairs.values()} == {"node"}
    assert document["flows"]["only_a"] == document["flows"]["only_b"] == []
    # The judge: analysis of the pcapng, whose own records have the names. Both are the same packets.
    by_name = {flow["id"]: flow for flow in analyze(["captures/air.pcapng"]).runs[0]["flows"]}
    for row in document["rows"]:
        prefix, _, key = row["metric"].rpartition(".")
        if prefix.startswith("flows.") and key == "goodput_bps":
            # Rows of flows show Mbit/s.
            assert row["b"]["mean"] == pytest.approx(by_name[prefix.removeprefix("flows.")]["goodput_bps"], rel=1e-9)
    assert "Flows paired by the addresses that nodes have in captures of `run --pcap`: " in done.stdout
    assert "without a certain partner" not in done.stdout


def test_a_twin_pairs_with_its_capture_by_the_addresses_that_are_its_names(captured, command):
    command("twin", captured, "--out", "twin.toml")
    twin = lasthop.run(lasthop.load("twin.toml"), seeds=1)
    capture = analyze([captured])
    for one, other in ((capture, twin), (twin, capture)):
        rows = lasthop.compare(one, other, ["flows.*.goodput_bps"])
        assert rows.pairing.pairs and {pair.by for pair in rows.pairing.pairs} == {"address"}
        assert all(row.difference for row in rows if "-00-00-00-" in row.label and row.label.endswith("goodput_bps"))


def result(*flows, nodes=(), captured=False):
    """A result as far as pairs need it: flows as `STATION DIRECTION TRANSPORT`, ids by number."""
    split = [flow.split() for flow in flows]
    columns = {
        "id": [f"{'c' if captured else 's'}{number}" for number, _ in enumerate(split)],
        **{key: [flow[at] for flow in split] for at, key in enumerate(("station", "direction", "transport"))},
        "name": list(nodes),
    }
    parts = {"capture"} if captured else set()
    run = type(
        "Run",
        (),
        {"__contains__": lambda _, part: part in parts, "columns": lambda *given: [columns[key] for key in given[2]]},
    )
    return SimpleNamespace(told_runs=[run()])


def pairs(a, b):
    found = pairing_of(a, b)
    return [(pair.a, pair.b, pair.by) for pair in found.pairs], list(found.only_a), list(found.only_b)


def test_two_flows_of_one_station_direction_and_transport_are_not_told_apart():
    run = result("sta up tcp", "sta up tcp", "sta down tcp", nodes=["ap", "sta"])
    capture = result(
        "02:00:00:00:00:02 up tcp", "02:00:00:00:00:02 up tcp", "02:00:00:00:00:02 down tcp", captured=True
    )
    assert pairs(run, capture) == ([("s2", "c2", "node")], ["s0", "s1"], ["c0", "c1"])


def test_an_address_in_a_name_comes_before_the_place_of_its_node():
    twin = result("02-00-00-00-00-03 up tcp", nodes=["ap", "02-00-00-00-00-03"])
    # The station of the twin is node 2; the capture's station of that address is another one.
    capture = result("02:00:00:00:00:02 up tcp", "aa:00:00:00:00:01 down tcp", captured=True)
    assert pairs(twin, capture) == ([], ["s0"], ["c0", "c1"])
    twin = result("AA-00-00-00-00-01 down tcp", nodes=["ap", "AA-00-00-00-00-01"])
    assert pairs(twin, capture) == ([("s0", "c1", "address")], [], ["c0"])


def test_the_only_flow_of_its_kind_pairs_where_each_side_has_one_station():
    run = result("laptop down tcp", "laptop up udp", nodes=["ap", "laptop"])
    capture = result("aa:00:00:00:00:01 down tcp", "aa:00:00:00:00:01 up tcp", captured=True)
    assert pairs(run, capture) == ([("s0", "c0", "only")], ["s1"], ["c1"])
    run = result("laptop down tcp", "phone up udp", nodes=["ap", "laptop", "phone"])
    assert pairs(run, capture) == ([], ["s0", "s1"], ["c0", "c1"])


def test_two_simulations_are_compared_by_name_alone(small):
    one = lasthop.run(lasthop.load(small), seeds=1)
    assert paired(one, one) == (one, one, None)
    assert lasthop.compare(one, one).pairing is None
