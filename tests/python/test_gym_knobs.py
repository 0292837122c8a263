"""Each knob on each kind of target: turned by an agent and by `[[change]]` it gives the same bytes, and other ones than without it."""

from __future__ import annotations

import json

import lasthop
import pytest

pytest.importorskip("gymnasium")
pytest.importorskip("pettingzoo")

from lasthop import _core, gym

BASE = """
duration = "600 ms"
warmup = "200 ms"
[channel]
path_loss = "log_distance"
error_model = "nist"
[[bss]]
name = "x"
standard = "802.11ax"
channel = 36
rate_control = { kind = "fixed", mcs = 5 }
[bss.ap]
multi_user = { kind = "airtime" }
queue = "airtime_fq_codel"
[[bss]]
name = "y"
standard = "802.11ax"
channel = 36
[bss.ap]
queue = "pie"
[[station]]
name = "s"
bss = "x"
count = 4
distance = "4 m"
[[station]]
name = "other"
bss = "y"
distance = "4 m"
[tcp]
pacing = "on"
[[flow]]
station = ["s1", "s2", "s3"]
direction = "both"
[[flow]]
station = "other"
direction = "down"
[[flow]]
station = "other"
direction = "down"
transport = "udp"
rate = "30 Mbit/s"
[[flow]]
station = "s4"
direction = "down"
transport = "quic"
[[flow]]
station = ["s1", "s2"]
direction = "both"
transport = "udp"
rate = "500 kbit/s"
packet_size = "500 B"
dscp = "AF41"
[[flow]]
station = ["s1", "s2"]
direction = "both"
transport = "udp"
rate = "200 kbit/s"
packet_size = "200 B"
dscp = "EF"
[[flow]]
station = ["s1", "s2"]
direction = "both"
transport = "udp"
rate = "1 Mbit/s"
dscp = "CS1"
"""
#: 802.11ax, 20 MHz, one stream, guard interval of 0.8 us: MCS 0, 1, 2 and 4 [802.11ax-2021 Table 27-79]
RATES = ("8.6 Mbit/s", "17.2 Mbit/s", "25.8 Mbit/s", "51.6 Mbit/s")
CHAIN = {
    f"rate{entry}:{{}}": rate
    for entry, rate in zip(("", ".fallback", ".third", ".fourth"), reversed(RATES), strict=True)
}
CHAIN |= {f"rate{entry}.tries:{{}}": 1 for entry in ("", ".fallback", ".third", ".fourth")}


def chain(link: str) -> dict[str, object]:
    return {name.format(link): value for name, value in CHAIN.items()}


CASES: list[dict[str, object]] = [
    *(
        {f"edca.{category}.cw_min:{node}": 255}
        for category in ("bk", "be", "vi", "vo")
        for node in ("x.ap", "s1", "s*")
    ),
    *({f"edca.{category}.cw_max:*": 5} for category in ("bk", "be", "vi", "vo")),
    *({f"edca.{category}.aifsn:s*": 12} for category in ("bk", "be", "vi", "vo")),
    *({f"edca.{category}.txop_limit:*": "320 us"} for category in ("bk", "be")),
    {"edca.cw_min:x.ap": 63},
    {"window:s1.up": 3},
    {"window:s4.down": 3},
    {"window:other.down": 5},
    {"pacing:s1.down": "200 kbit/s"},
    {"rate:s1->x.ap": RATES[0]},
    chain("x.ap->s1"),
    {"tx_power:s1": "-5 dBm"},
    {"tx_power:*": "5 dBm"},
    {"channel:y.ap": 44},
    {"channel:*": 149},
    {"multi_user.max_users:x.ap": 2},
    {"multi_user.least_bytes:x.ap": "50 kB"},
    {"multi_user.rank:s1": 3},
    {"queue.target:y.ap": "1 ms"},
    {"aggregation.max_mpdus:x.ap": 2},
    {"aggregation.max_mpdus:s1": 2},
    {"aggregation.max_duration:*": "500 us"},
    {"rts_threshold:x.ap": "100 B"},
    {"airtime_weight:s1": 4000},
]
FACTORS = {"kbit/s": 1e3, "Mbit/s": 1e6, "us": 1e-6, "ms": 1e-3, "dBm": 1.0, "B": 1.0, "kB": 1e3}


def number(value: object) -> float:
    if not isinstance(value, str):
        return float(value)
    amount, unit = value.split(" ")
    return float(amount) * FACTORS[unit]


def runs(result: lasthop.Result) -> list[dict]:
    found = json.loads(result.to_json())["runs"]
    for run in found:
        del run["simulator"]
    return found


@pytest.fixture(scope="module")
def without() -> list[dict]:
    return runs(lasthop.run(lasthop.Scenario(BASE, "base.toml"), seeds=[2], interval_s=None))


@pytest.mark.parametrize("sets", CASES, ids=lambda sets: "+".join(sets) if len(sets) < 3 else "chain")
def test_an_agent_and_a_change_turn_a_knob_alike(sets, without):
    scenario = lasthop.Scenario(BASE, "base.toml")
    # The highest rate that is not above the number counts for an agent, and the exact one in a file.
    env = gym.make(scenario, list(sets), ["totals.goodput_bps"], every="100 ms")
    env.reset(seed=2)
    env.step(None)
    env.step([number(value) for value in sets.values()])
    by_agent = runs(env.finish())
    changed = scenario.set("change", [{"at": "300 ms", "set": sets}])
    assert runs(lasthop.run(changed, seeds=[2], interval_s=None)) == by_agent
    assert by_agent != without


def test_every_knob_has_a_case():
    known = {row["name"] for row in json.loads(_core.list_json("knob"))}
    turned = {name.split(":")[0] for sets in CASES for name in sets}
    turned = {f"edca.{name.split('.')[-1]}" if name.startswith("edca.") else name for name in turned}
    assert turned == known
