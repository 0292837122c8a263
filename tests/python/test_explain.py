"""`lasthop explain`: where time went, in shares that add up, and in sentences that answer."""

from __future__ import annotations

import json
from pathlib import Path

import lasthop
import pytest
from lasthop.cli._output import table
from lasthop.data.confidence import estimate
from lasthop.views.explain import (
    CHANNEL_TERMS,
    FLOW_TERMS,
    answers,
    difference_of,
    explanation_of,
    scenario_of,
    with_account,
)
from lasthop.views.explain.account import ChannelTime, Explanation, FlowTime
from lasthop.views.explain.suffering import kinds, suffering
from lasthop.views.explain.text import difference_text

SCENARIOS = sorted((Path(__file__).resolve().parents[2] / "scenarios").glob("*.toml"))


def explained(scenario: lasthop.Scenario, seeds: int = 1) -> lasthop.views.explain.Explanation:
    return lasthop.run(scenario, seeds, interval_s=None, explain=True, progress=False).explain()


def uploads(**settings: object) -> lasthop.Scenario:
    """Ten uploads over 802.11b, for a few seconds."""
    scenario = lasthop.load(next(file for file in SCENARIOS if file.stem == "khademi2011-uplink-11b"))
    for path, value in {"duration": "20 s", "warmup": "4 s", **settings}.items():
        scenario = scenario.set(path, value)
    return scenario


def sums(explanation: lasthop.views.explain.Explanation) -> list[float]:
    """Of every flow and channel, the sum of its terms over the time covered."""
    found = []
    for account in explanation.accounts.values():
        covered = account["covered_s"]
        found += [sum(flow["terms"].values()) / covered for flow in account["flows"]]
        for channel in account["channels"]:
            on_air = sum(
                node[f"{term}_s"] for node in channel["nodes"] for term in CHANNEL_TERMS if f"{term}_s" in node
            )
            silent = sum(channel[f"{term}_s"] for term in ("within_exchanges", "contending", "idle"))
            found.append((on_air + silent) / covered)
    return found


SPECIAL = {
    "two-bss": """
[[bss]]
name = "left"
standard = "802.11a"
[[bss]]
name = "right"
standard = "802.11a"
channel = 40
[[station]]
bss = "left"
name = "a"
[[station]]
bss = "right"
name = "b"
[[flow]]
station = "*"
direction = "both"
""",
    "same-channel": """
[channel]
path_loss = "log_distance"
error_model = "nist"
[[bss]]
name = "left"
standard = "802.11n"
[[bss]]
name = "right"
standard = "802.11n"
[bss.ap]
position = ["60 m", "0 m"]
[[station]]
bss = "left"
name = "a"
count = 3
[[station]]
bss = "right"
name = "b"
count = 3
[[flow]]
station = "*"
direction = "both"
""",
    "back-pressure-and-driver-queue": """
[bss]
standard = "802.11g"
rate_control = "minstrel"
[bss.ap]
queue = "fq_codel"
driver_queue = "20 packets"
[[station]]
count = 4
queue = "backpressure"
[[flow]]
station = "*"
direction = "both"
[[flow]]
station = "sta1"
transport = "udp"
rate = "saturated"
direction = "both"
[tcp]
profile = "linux"
congestion_control = "bbr"
""",
    "hidden-with-rts-and-beacons": """
[channel]
hidden = [["sta1", "sta2"], ["sta2", "sta3"]]
[bss]
standard = "802.11g"
rts_threshold = "500 B"
beacons = "102.4 ms"
[[station]]
count = 3
[[flow]]
station = "*"
[tcp]
profile = "ns2"
""",
    "applications": """
[bss]
standard = "802.11n"
aggregation = { max_mpdus = 32, amsdu = "3839 B" }
[[station]]
count = 5
[[flow]]
station = "sta1"
traffic = "web"
direction = "down"
[[flow]]
station = "sta2"
traffic = "video"
direction = "down"
[[flow]]
station = "sta3"
transport = "udp"
traffic = "voip"
dscp = "EF"
direction = "both"
[[flow]]
station = "sta4"
traffic = "poisson"
rate = "20 Mbit/s"
size = "100 kB"
[[flow]]
station = "sta5"
transport = "udp"
traffic = "ping"
""",
}


@pytest.mark.parametrize("file", SCENARIOS, ids=lambda file: file.stem)
def test_every_scenario_adds_up_and_is_attributed(file: Path) -> None:
    scenario = lasthop.load(file).set("duration", "7 s").set("warmup", "1 s")
    check(explained(scenario))


@pytest.mark.parametrize("name", SPECIAL)
def test_special_cases_add_up_and_are_attributed(name: str) -> None:
    check(explained(lasthop.Scenario(f'duration = "4 s"\nwarmup = "1 s"\n{SPECIAL[name]}', f"{name}.toml")))


def check(explanation: lasthop.views.explain.Explanation) -> None:
    assert sums(explanation) == pytest.approx([1.0] * len(sums(explanation)), abs=1e-9)
    for flow in explanation.flows:
        assert flow.share("unattributed") < 0.01, flow.id
        assert sum(flow.waiting.values()) == pytest.approx(flow.share("waiting_for_others"), abs=1e-9)
        assert sum(map(flow.queue_share, flow.queues)) == pytest.approx(flow.share("queues"), abs=1e-9)
    assert answers(explanation)


def test_aarf_is_slow_because_it_lowers_the_rate_after_collisions() -> None:
    fixed = uploads(**{"bss.rate_control": {"kind": "fixed", "rate": "11 Mbit/s"}})
    aarf = explained(uploads(), 2)
    lines = difference_of(explained(fixed, 5), explained(uploads(), 5)).answers()
    assert lines[0].startswith("B delivers ") and lines[0].endswith(" % less.")
    assert any("rate below the best 0.0 % →" in line for line in lines)
    assert any("of them after a collision" in line for line in lines)
    first = answers(aarf)[0]
    assert first.startswith("The rate is below the best possible: that costs ")
    assert "rates were lowered" in first and "100 % of them after a collision" in first


def test_an_upload_starves_since_its_acks_are_dropped_at_the_ap() -> None:
    file = next(file for file in SCENARIOS if file.stem == "hashimoto2008-updown-11a")
    explanation = explained(lasthop.load(file).set("duration", "20 s").set("warmup", "5 s"), 3)
    starving = [line for line in answers(explanation)[:2] if " starves" in line]
    line = next(line for line in starving if line.startswith("up"))
    assert "of its time is RTO silence" in line
    assert "the queue of ap dropped " in line and " of its TCP ACKs" in line


def test_the_near_station_is_slow_since_it_waits_for_the_far_one() -> None:
    scenario = lasthop.Scenario(
        'duration = "5 s"\nwarmup = "1 s"\n[bss]\nstandard = "802.11b"\n'
        'rate_control = { kind = "fixed", rate = "11 Mbit/s" }\n'
        '[[station]]\nname = "near"\n[[station]]\nname = "far"\n'
        'rate_control = { kind = "fixed", rate = "1 Mbit/s" }\n'
        '[[flow]]\nstation = "*"\ndirection = "down"\n[tcp]\nprofile = "ns2"\n'
    )
    found = answers(explained(scenario))
    line = next(line for line in found[:2] if line.startswith("near.down waits"))
    assert "for ap to far, which is sent at 1 Mbit/s, its own data at 11 Mbit/s" in line


def test_the_cost_of_missed_preambles_is_part_of_collisions() -> None:
    nodes = {name: dict.fromkeys(CHANNEL_TERMS, 0.0) for name in ("ap", "sta")}
    nodes["ap"] |= {"missed_preamble": 0.08, "collided": 0.02}
    nodes["sta"] |= {"missed_preamble": 0.01, "collided": 0.01}
    shares = {term: estimate([nodes["ap"][term] + nodes["sta"][term]] * 2) for term in CHANNEL_TERMS}

    def said(share: float) -> list[str]:
        channel = ChannelTime(0, shares | {"missed_preamble": estimate([share] * 2)}, nodes, 57.2)
        return answers(lasthop.views.explain.Explanation("", [1, 2], 10.0, None, [], [channel], {}, {}))

    collisions, missed = said(0.09)
    assert collisions == "Collisions take 12.0 % of the channel's time, ap 10.0 %."
    assert missed.startswith(
        "PPDUs that began during another cost 9.0 % of the channel's time, most of it in PPDUs of ap: 57 times a second"
    )
    # An office without such detection has 1.0 %, one with that of the standard 0.5 %.
    assert any("during another cost 1.0 %" in line for line in said(0.01))
    assert not any("PPDUs that began during another" in line for line in said(0.005))


def test_an_office_without_mid_packet_detection_is_advised_to_use_it() -> None:
    office = lasthop.load(next(file for file in SCENARIOS if file.stem == "office-11ax"))
    # In a TXOP of several exchanges the NAV would protect those after the first.
    single = office.set("bss.edca", {"be": {"txop_limit": "0 ms"}})
    short = single.set("duration", "5 s").set("warmup", "2 s")
    missed = explained(short.set("channel.mid_packet_detection", "off"))
    share = missed.channels[0].share("missed_preamble")
    line = next(line for line in answers(missed) if line.startswith("PPDUs that began during another cost "))
    assert f"cost {100 * share:.1f} % of the channel's time" in line and "channel.mid_packet_detection" in line
    assert sum(terms["missed_preamble"] for terms in missed.channels[0].nodes.values()) == pytest.approx(share)
    # All hear one another at -82 dBm: opposite stations at 15 m at 16 - 46.7 - 30 log10(30) = -75.0 dBm.
    noticed = explained(short.set("channel.mid_packet_detection", "-82 dBm"))
    # A PPDU that its receiver had begun to decode and left for a stronger one is not detected later: one in seconds.
    assert noticed.channels[0].share("missed_preamble") < share / 100 < noticed.channels[0].share("collided")
    assert not any("PPDUs that began during another" in line for line in answers(noticed))


def test_a_result_without_an_account_is_run_again_and_gives_the_same(tmp_path: Path) -> None:
    scenario = uploads(**{"station.0.count": 2, "duration": "6 s"})
    plain = lasthop.run(scenario, 2, progress=False)
    plain.save(tmp_path / "out")
    (tmp_path / "alone.json").write_text(plain.to_json())
    kept = lasthop.run(scenario, 2, explain=True, progress=False)
    assert all("account" not in run for run in plain.runs)
    for again in (tmp_path / "out", tmp_path / "alone.json"):
        assert with_account(lasthop.read(again)).runs[1]["account"] == kept.runs[1]["account"]
    assert with_account(kept) is kept


def test_the_scenario_of_a_result_is_found_beside_it_or_in_it(tmp_path: Path) -> None:
    scenario = uploads(**{"station.0.count": 2})
    result = lasthop.run(scenario.set("duration", "5 s"), 1, progress=False)
    result.save(tmp_path)
    assert dict(scenario_of(lasthop.read(tmp_path)).settings)["station.0.count"] == "2"
    (tmp_path / "scenario.toml").unlink()
    assert scenario_of(lasthop.read(tmp_path)).to_dict() == result.scenario


def test_every_scenario_can_be_run_from_its_resolved_form() -> None:
    for file in SCENARIOS:
        resolved = lasthop.load(file)
        result = lasthop.Result(
            {"format": 1, "lasthop": "", "scenario": resolved.to_dict(), "warnings": [], "runs": []}
        )
        assert scenario_of(result).to_dict() == resolved.to_dict(), file.stem


def test_a_result_that_cannot_be_repeated_is_refused_in_one_sentence(tmp_path: Path, command) -> None:
    result = lasthop.run(uploads(**{"station.0.count": 1, "duration": "5 s"}), 1, progress=False)
    document = result.to_dict()
    document["lasthop"] = "0.0.9"
    document["runs"][0]["totals"]["goodput_bps"] += 1
    (tmp_path / "old.json").write_text(json.dumps(document))
    done = command("explain", tmp_path / "old.json")
    assert done.returncode == 2
    assert "made by lasthop 0.0.9" in done.stderr and "--explain" in done.stderr
    assert "Traceback" not in done.stderr


def test_the_account_changes_no_metric_and_is_in_no_summary() -> None:
    scenario = uploads(**{"station.0.count": 2, "duration": "6 s"})
    plain, kept = (lasthop.run(scenario, 2, explain=explain, progress=False) for explain in (False, True))
    strip = [name for name in kept.summary if "account" in name]
    assert not strip
    walls = "simulator.wall_s"
    assert {k: v for k, v in kept.metrics.items() if k != walls} == {
        k: v for k, v in plain.metrics.items() if k != walls
    }


def test_frames_hold_every_term_and_add_up() -> None:
    explanation = explained(uploads(**{"station.0.count": 2, "duration": "6 s"}), 2)
    frame = explanation.frame()
    assert list(frame.columns) == ["seed", "flow", "term", "time_s", "share"]
    assert set(frame.term) == set(FLOW_TERMS) - {"triggered", "padding", "waits_for_trigger", "interferers"}, (
        "no several users and no interferers here"
    )
    assert frame.groupby(["seed", "flow"]).share.sum().to_list() == pytest.approx([1.0] * 4, abs=1e-9)
    channel = explanation.channel_frame()
    assert channel.groupby("seed").share.sum().to_list() == pytest.approx([1.0] * 2, abs=1e-9)
    waiting = explanation.waiting_frame()
    named = waiting[(waiting.flow == "sta1.up") & (waiting.place == "MAC")].groupby("seed").time_s.sum()
    of_term = frame[(frame.flow == "sta1.up") & (frame.term == "waiting_for_others")].set_index("seed").time_s
    assert named.to_list() == pytest.approx(of_term.to_list())


def test_the_command_prints_answers_first_and_writes_json_and_a_plot(small: Path, command) -> None:
    done = command("explain", small, "--seeds", 2, "--json", "e.json", "--plot", "bars.pdf")
    assert done.returncode == 0, done.stderr
    text = done.stdout[done.stdout.index("small: 2 seeds") :]
    assert text.splitlines()[2].startswith("- ")
    assert "of each flow's time" in text and "of the channel's time" in text
    document = json.loads(Path("e.json").read_text())
    assert document["answers"] and {flow["id"] for flow in document["flows"]} == {"sta1.up", "sta2.up"}
    assert Path("bars.pdf").read_bytes().startswith(b"%PDF")


def test_two_results_are_explained_by_their_difference(small: Path, command) -> None:
    assert command("run", small, "--seeds", 2, "--out", "a").returncode == 0
    assert command("run", small, "--seeds", 2, "--set", "station.0.count=1", "--explain", "--out", "b").returncode == 0
    done = command("explain", "a", "b", "--json", "-", "--plot", "d.svg")
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    collisions = next(change for change in document["channels"] if change["term"] == "collided")
    assert collisions["b"] < collisions["a"] and collisions["difference"]["paired"]
    assert "B - A (points)" in done.stderr
    compared = command("compare", "a", "b", "--explain", "--json", "-")
    assert compared.returncode == 0, compared.stderr
    assert json.loads(compared.stdout)["explanation"]["answers"] == document["answers"]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["missing.json"], "missing.json"),
        (["small.toml", "--plot", "bars.txt"], "--plot bars.txt: a picture ends in one of"),
        (["small.toml", "--set", "station.0.cuont=2"], "cuont"),
        (["a", "--set", "station.0.count=2"], "--set: a is a result"),
        (["broken.json"], "not JSON"),
    ],
)
def test_bad_input_gets_one_sentence(small: Path, command, arguments: list[str], says: str) -> None:
    assert command("run", small, "--seeds", 1, "--out", "a").returncode == 0
    Path("broken.json").write_text("{")
    done = command("explain", *arguments)
    assert done.returncode == 2
    assert says in done.stderr and "Traceback" not in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


def test_runs_without_an_account_are_not_explained_by_guessing() -> None:
    result = lasthop.run(uploads(**{"station.0.count": 1, "duration": "5 s"}), 1, progress=False)
    with pytest.raises(LookupError, match="--explain"):
        explanation_of(result)


# Seven flows of three kinds; the last of each kind has a server 300 ms further away.
FARAWAY = """
duration = "5 s"
warmup = "2 s"
[bss]
standard = "802.11g"
rate_control = { kind = "fixed", rate = "54 Mbit/s" }
[[station]]
name = "a"
[[station]]
name = "b"
[[flow]]
station = "*"
direction = "down"
[[flow]]
name = "distant"
station = "a"
direction = "down"
wired_delay = "300 ms"
[[flow]]
name = "ping"
station = "*"
direction = "down"
traffic = { kind = "ping", interval = "100 ms" }
[[flow]]
name = "distant-ping"
station = "a"
direction = "down"
traffic = { kind = "ping", interval = "100 ms" }
wired_delay = "300 ms"
[[flow]]
name = "call"
station = "b"
direction = "down"
traffic = "voip"
[[flow]]
name = "distant-call"
station = "b"
direction = "down"
traffic = "voip"
wired_delay = "300 ms"
"""


@pytest.fixture(scope="module")
def faraway() -> lasthop.Result:
    scenario = lasthop.Scenario(FARAWAY, "faraway.toml")
    return lasthop.run(scenario, 2, interval_s=None, explain=True, progress=False)


def test_udp_that_gets_all_it_asks_for_is_not_held_against_tcp() -> None:
    def flow(name: str, transport: str, mbps: float) -> FlowTime:
        facts = {"goodput_bps": mbps * 1e6}
        return FlowTime(name, "sta", "down", {}, {}, {}, {}, mbps * 1e6, 0.0, transport=transport, facts=facts)

    found = kinds([flow("far", "tcp", 13), flow("call", "udp", 2), flow("near", "tcp", 80)])
    assert {kind: [each.id for each in flows] for kind, flows in found.items()} == {
        "bulk down": ["far", "near"],
        "bulk over UDP down": ["call"],
    }


def test_a_flow_with_98_percent_of_the_median_does_not_suffer() -> None:
    def flow(name: str, mbps: float) -> FlowTime:
        return FlowTime(name, "sta", "down", {}, {}, {}, {}, mbps * 1e6, 0.0, facts={"goodput_bps": mbps * 1e6})

    def lines(least: float) -> list[str]:
        flows = [flow("low", least), flow("median", 22.5), flow("high", 23.0)]
        return suffering(Explanation("toy", [1], 1.0, None, flows, [], {}, {}))

    assert lines(22.1) == []
    (line,) = lines(20.2)
    assert line.startswith("low suffers most of 3 flows of bulk down: goodput 20.2 Mbit/s, the median 22.5 Mbit/s")


HIDDEN = """
duration = "3 s"
warmup = "1 s"
[channel]
hidden = [["a", "b"]]
[bss]
standard = "802.11a"
rate_control = { kind = "fixed", rate = "24 Mbit/s" }
[[station]]
name = "a"
[[station]]
name = "b"
[[flow]]
station = "*"
direction = "up"
transport = "udp"
rate = "4 Mbit/s"
"""


def test_rts_that_protects_a_hidden_pair_is_named_and_only_then() -> None:
    # 1500 B at 24 Mbit/s last some 0.5 ms, an RTS 28 us: without RTS most of what overlaps is lost [802.11-2020 §10.3.2.9].
    scenario = lasthop.Scenario(HIDDEN, "hidden.toml")
    with_rts, without = (
        lasthop.run(scenario.set("bss.rts_threshold", threshold), seeds=2, explain=True).explain()
        for threshold in ("500 B", "off")
    )
    (said,) = [line for line in answers(with_rts) if "hear each other" in line]
    assert said.startswith("a and b do not hear each other, and RTS protects them (bss.rts_threshold): ")
    assert not any("hear each other" in line for line in answers(without))
    lost = [max(flow.share("interference") for flow in each.flows) for each in (with_rts, without)]
    assert lost[0] < 0.05 and lost[1] > 2 * lost[0], lost


def test_of_each_kind_of_traffic_the_flow_that_suffers_most_is_named(faraway: lasthop.Result) -> None:
    # By goodput a call and a ping were the worst of all, in any case. The path to and fro is 600 ms longer for
    # the distant ping; a MOS falls with more than 150 ms one way [G.107]; a stream of 600 ms opens its window slowly.
    lines = suffering(faraway.explain())
    assert [line.split()[0] for line in lines] == ["a.distant", "a.distant-ping", "b.distant-call"]
    assert "of 3 flows of bulk down: goodput" in lines[0]
    assert "of 3 flows of ping: 95th percentile of the RTT" in lines[1]
    assert "of 2 flows of voip: MOS" in lines[2] and ", b.call " in lines[2]
    means = faraway.flows.groupby("id")["rtt_p95_s"].mean()
    assert f"RTT {1e3 * means['a.distant-ping']:.3g} ms" in lines[1]


def test_the_table_shows_the_worst_and_the_median_flow_of_each_kind(faraway: lasthop.Result, tmp_path, command) -> None:
    (tmp_path / "r.json").write_text(faraway.to_json())
    done = command("explain", tmp_path / "r.json")
    text = done.stdout + done.stderr
    head = next(line for line in text.splitlines() if line.startswith("of each flow's time"))
    shown = head.split()[4:]
    assert {"a.distant", "a.distant-ping", "b.distant-call"} < set(shown) and len(shown) == 6
    assert "of 8 flows those that suffer most of each kind of traffic" in text and "RTT, 95th percentile" in text


def test_flows_are_chosen_by_a_pattern_and_a_wrong_one_has_near_names(
    faraway: lasthop.Result, tmp_path, command
) -> None:
    (tmp_path / "r.json").write_text(faraway.to_json())
    done = command("explain", tmp_path / "r.json", "--flow", "b.*call", "--json", tmp_path / "e.json")
    text = done.stdout + done.stderr
    head = next(line for line in text.splitlines() if line.startswith("of each flow's time"))
    assert head.split()[4:] == ["b.call", "b.distant-call"] and "a.distant" not in text
    assert [flow["id"] for flow in json.loads((tmp_path / "e.json").read_text())["flows"]] == [
        "b.call",
        "b.distant-call",
    ]
    chosen = faraway.explain().of_flows(["a.*", "b.call"])
    assert (
        set(chosen.frame().flow)
        == {flow.id for flow in chosen.flows}
        == {
            "a.down",
            "a.distant",
            "a.ping",
            "a.distant-ping",
            "b.call",
        }
    )
    file = tmp_path / "r.json"
    for arguments in (["explain", file], ["compare", file, file, "--explain"]):
        wrong = command(*arguments, "--flow", "b.cal")
        assert wrong.returncode == 2 and wrong.stderr.count("\n") == 1, wrong.stderr
        assert "no flow matches 'b.cal'; did you mean b.call" in wrong.stderr
    alone = command("compare", tmp_path / "r.json", tmp_path / "r.json", "--flow", "b.call")
    assert alone.returncode == 2 and "--explain" in alone.stderr


def test_two_results_show_how_those_that_suffer_fare_on_both_sides(faraway: lasthop.Result, tmp_path, command) -> None:
    near = lasthop.Scenario(FARAWAY.replace('wired_delay = "300 ms"\n', ""), "near.toml")
    other = lasthop.run(near, 2, interval_s=None, explain=True, progress=False)
    for name, result in (("far", faraway), ("near", other)):
        (tmp_path / f"{name}.json").write_text(result.to_json())
    for line in (["explain", "far.json", "near.json"], ["compare", "far.json", "near.json", "--explain"]):
        done = command(*(tmp_path / each if each.endswith("json") else each for each in line))
        text = done.stdout + done.stderr
        (row,) = [row for row in text.splitlines() if row.startswith("a.distant-ping: RTT, 95th percentile")]
        before, after = (
            result.flows.groupby("id")["rtt_p95_s"].mean()["a.distant-ping"] for result in (faraway, other)
        )
        assert f"{1e3 * before:.3g} ms" in row and f"{1e3 * after:.3g} ms" in row
        assert "b.distant-call: delay, 95th percentile" in text
        assert "b.distant-call: MOS" in text


def test_losses_of_a_flow_are_next_to_its_delays(faraway: lasthop.Result) -> None:
    far = explanation_of(faraway)
    lossy = explanation_of(faraway)
    (ping,) = [flow for flow in lossy.flows if flow.id == "a.distant-ping"]
    ping.facts["loss_fraction"] = 0.67
    text = difference_text(difference_of(far, lossy), table)
    (row,) = [row for row in text.splitlines() if row.startswith("a.distant-ping: loss")]
    assert row.split()[4:6] == ["67.0", "%"]


def test_explain_repeats_the_warnings_of_a_run(command, tmp_path):
    file = tmp_path / "far.toml"
    file.write_text('duration = "1 s"\n[bss]\nstandard = "802.11ax"\n[[station]]\ndistance = "2 km"\n[[flow]]\n')
    done = command("explain", file, "--seed", "1")
    assert "nothing passes between them" in done.stderr and "nothing passes" not in done.stdout


MOVES = """
duration = "1 s"
[[bss]]
name = "stays"
standard = "802.11a"
channel = 36
[[bss]]
name = "moves"
standard = "802.11a"
channel = 36
[[station]]
name = "s"
bss = "stays"
[[station]]
name = "t"
bss = "moves"
[[flow]]
station = "*"
[[change]]
at = "500 ms"
set = { "channel:moves.ap" = 44 }
"""


def test_channels_to_which_a_bss_moves_have_their_frequencies_and_its_airtime() -> None:
    explanation = explained(lasthop.Scenario(MOVES, "moves.toml"), 2)
    names = {channel.mhz: channel.nodes for channel in explanation.channels}
    # 5000 MHz + 5 x the number [802.11-2020 §17.3.8.4.2]
    assert list(names) == [5180.0, 5220.0]
    assert {"s", "t"} <= names[5180.0].keys() and "s" not in names[5220.0]
    apart = explanation.channels[1]
    assert apart.share("idle") == pytest.approx(0.5, abs=0.01)
    assert any("5220 MHz channel's time no node has anything to send" in line for line in answers(explanation))
