"""What 802.11n, ac and ax, walls, access categories and queues lack: one sentence with its place, or a warning."""

from __future__ import annotations

import lasthop
import pytest

TODAY = """\
duration = "1 s"
warmup = "200 ms"

[bss]
standard = "802.11n"
rate_control = "minstrel_ht"

[[station]]
count = 2
distance = "10 m"

[[flow]]
station = "*"
direction = "up"
"""
WALL = '[[wall]]\nfrom = ["5 m", "0 m"]\nto = ["{to}", "0 m"]\nloss = "{loss}"\n'


def scenario(*settings, more=""):
    described = lasthop.Scenario(TODAY + more, "today.toml")
    for path, value in settings:
        described = described.set(path, value)
    return described


def complaint(*settings, more=""):
    """The one sentence that refuses it."""
    with pytest.raises(lasthop.ScenarioError) as caught:
        scenario(*settings, more=more).resolve()
    assert "\n" not in str(caught.value)
    return str(caught.value)


def warnings(*settings, more=""):
    return lasthop.run(scenario(*settings, more=more), seeds=1, interval_s=None).warnings


def fixed(mcs):
    return ("bss.rate_control", {"kind": "fixed", "mcs": mcs})


def limits(**keys):
    return ("bss.aggregation", keys)


LACKING = [
    # widths
    ("802.11a", ("bss.channel_width", "40 MHz"), "20 MHz only"),
    ("802.11n", ("bss.channel_width", "80 MHz"), "it has 20 MHz, 40 MHz"),
    ("802.11ax", ("bss.channel_width", "320 MHz"), "one of: 20 MHz, 40 MHz, 80 MHz, 160 MHz"),
    # streams
    ("802.11n", ("bss.spatial_streams", 5), "802.11n has 1 to 4 streams, not 5"),
    ("802.11ac", ("bss.spatial_streams", 9), "1 to 8 streams, not 9"),
    ("802.11ax", ("bss.spatial_streams", 0), "1 to 8 streams, not 0"),
    # MCS: beyond the streams, beyond the table, and the one that VHT lacks at this width
    ("802.11n", fixed(8), "no MCS 8 at 20 MHz"),
    ("802.11ac", fixed(9), "no MCS 9 at 20 MHz"),
    ("802.11ax", fixed(12), "no MCS 12"),
    # guard intervals
    ("802.11n", ("bss.guard_interval", "1.6 us"), 'it has "long", "short"'),
    ("802.11ax", ("bss.guard_interval", "short"), 'it has "0.8 us", "1.6 us", "3.2 us"'),
    # channels
    ("802.11ac", ("bss.channel", 1), "no channel 1"),
    # aggregates
    ("802.11a", limits(max_mpdus=64), "no aggregation"),
    ("802.11n", limits(max_mpdus=65), "from 1 to 64"),
    ("802.11ax", limits(max_mpdus=257), "from 1 to 256"),
    ("802.11n", limits(max_mpdus=0), "from 1 to 64"),
    ("802.11n", limits(max_bytes="65536 B"), "from 1 to 65535 B"),
    ("802.11ac", limits(max_bytes="1048576 B"), "from 1 to 1048575 B"),
    ("802.11n", limits(max_duration="6 ms"), "5484 us"),
    ("802.11n", limits(amsdu="7935 B"), "bss.aggregation.amsdu"),
    ("802.11n", limits(colour=1), "one of: max_mpdus"),
]


@pytest.mark.parametrize(("standard", "setting", "words"), LACKING)
def test_a_value_that_a_standard_lacks_is_refused_with_its_own_values(standard, setting, words):
    error = complaint(("bss.standard", standard), setting)
    assert error.startswith(f"--set {setting[0]}") and words in error, error


@pytest.mark.parametrize(
    ("standard", "setting"),
    [
        ("802.11n", ("bss.channel_width", "40 MHz")),
        ("802.11n", ("bss.spatial_streams", 4)),
        ("802.11n", fixed(7)),
        ("802.11ac", fixed(8)),
        ("802.11ax", fixed(11)),
        ("802.11n", limits(max_mpdus=64, max_bytes="65535 B", max_duration="5.484 ms")),
        ("802.11ax", limits(max_mpdus=256, max_duration="5.484 ms")),
    ],
)
def test_the_largest_that_a_standard_has_is_taken(standard, setting):
    scenario(("bss.standard", standard), setting).resolve()


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"aifsn": 1}, "at least 2 slots"),
        ({"aifsn": 16}, "from 2 to 15"),
        ({"cw_min": 14}, "power of two less one"),
        ({"cw_min": 31, "cw_max": 15}, "cw_min"),
        ({"txop_limit": "100 us"}, "multiple of 32 us"),
        ({"colour": 1}, "one of: aifsn"),
    ],
)
def test_impossible_access_parameters_are_refused(parameters, words):
    error = complaint(("bss.edca.be", parameters))
    assert "bss.edca.be" in error and words in error, error


def test_parameters_of_a_category_without_traffic_are_a_warning():
    def told(*settings):
        return [warning for warning in warnings(*settings) if "edca" in warning]

    (warning,) = told(("bss.edca.vo", {"aifsn": 7}))
    assert warning.startswith("bss.edca.vo: no flow is of this access category") and "dscp" in warning
    assert told(("bss.edca.vo", {"aifsn": 7}), ("flow.0.dscp", "EF")) == []
    assert told(("bss.edca.be", {"aifsn": 7})) == []


@pytest.mark.parametrize(
    ("wall", "words"),
    [({"to": "5 m", "loss": "7 dB"}, "zero length"), ({"to": "9 m", "loss": "-7 dB"}, "no wall amplifies")],
)
def test_an_impossible_wall_is_refused(wall, words):
    error = complaint(("channel.path_loss", "multi_wall"), more=WALL.format(**wall))
    assert error.startswith("today.toml:") and "wall[0]" in error and words in error, error


def test_a_wall_that_no_path_loss_looks_at_is_refused():
    assert "multi_wall" in complaint(more=WALL.format(to="9 m", loss="7 dB"))


@pytest.mark.parametrize("rate_control", ["minstrel_ht", "ideal", "aarf", {"kind": "fixed", "mcs": 7}])
@pytest.mark.parametrize("flow", [{}, {"direction": "down"}, {"transport": "udp", "rate": "saturated"}])
def test_a_station_that_no_rate_reaches_has_a_warning_and_no_goodput(rate_control, flow):
    far = scenario(("channel.path_loss", "friis"), ("station.0.distance", "100 km"), ("bss.rate_control", rate_control))
    for key, value in flow.items():
        far = far.set(f"flow.0.{key}", value)
    result = lasthop.run(far, seeds=1, interval_s=None)
    (told,) = [warning for warning in result.warnings if "nothing passes between them" in warning]
    assert told.startswith("all 2 stations and their access point hear each other at ")
    assert result.runs[0]["totals"]["goodput_bps"] == 0


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        (("bss.ap.queue", {"kind": "red", "min": "20 packets", "max": "10 packets"}), "above min"),
        (("bss.ap.queue", {"kind": "codel", "target": "0 s"}), "above 0"),
        (("bss.ap.queue", {"kind": "codel", "target": "100 ms", "interval": "5 ms"}), "above the target"),
        (("bss.ap.queue", {"kind": "fq_codel", "flows": 0}), "from 1 to 65536"),
        (("bss.ap.driver_queue", "-1 packets"), "negative"),
        (("station.0.driver_queue", "3 packets"), "unknown key"),
        (("flow.0.dscp", "XX"), "unknown code point"),
        (("flow.0.dscp", 64), "from 0 to 63"),
        (("flow.0.traffic", {"kind": "voip", "codec": "mp3"}), "one of: g711"),
    ],
)
def test_impossible_queues_and_flows_are_refused(setting, words):
    error = complaint(setting)
    assert error.startswith("--set ") and words in error, error


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        (("bss.ap.driver", "ath10k"), "did you mean"),
        (("station.0.driver", {"aggregates": 0}), "from 1 to 64"),
        (("station.0.driver", {"completion": "2 s"}), "at most 1 s"),
        (("station.0.driver", {"aggregate": 2}), "unknown key"),
        (("station.0.driver", {"packets": "0 packets"}), "from 1 to 65536"),
        (("station.0.driver", {"packets_each": "70000 packets"}), "from 1 to 65536"),
        (("bss.ap.driver", {"packets": "3 packets", "aggregates": 2}), "keep one of them"),
        (("bss.ap.driver", {"packets": "3 packets", "packets_each": "3 packets"}), "keep one of them"),
        (("bss.ap.driver", {"in_turn": True}), "the hardware holds A-MPDUs"),
        (("bss.ap.airtime", "guess"), "estimate"),
        (("station.0.airtime", "estimate"), "unknown key"),
    ],
)
def test_impossible_drivers_are_refused(setting, words):
    error = complaint(setting)
    assert error.startswith("--set ") and words in error, error


@pytest.mark.parametrize("place", ["bss.ap.driver", "station.0.driver"])
def test_a_driver_that_prepares_a_mpdus_needs_them(place):
    off = ("bss.aggregation", "off")
    assert "set packets instead of aggregates" in complaint(off, (place, {"aggregates": 2}))
    for driver in ("ideal", "ath9k", "mt76", "iwlwifi", {"packets": "8 packets"}):
        assert lasthop.run(scenario(off, (place, driver)), seeds=1, interval_s=None).runs


def test_a_driver_and_an_older_drivers_fifo_are_refused():
    fifo = ("bss.ap.queue", "fq_codel"), ("bss.ap.driver_queue", "100 packets")
    for driver in ("ath9k", {"packets": "3 packets"}):
        assert "remove one of the two keys" in complaint(*fifo, ("bss.ap.driver", driver))


@pytest.mark.parametrize("place", ["bss.ap.driver", "station.0.driver"])
def test_ns3_has_no_driver(place):
    ns3 = ("bss.compat", "ns3")
    assert 'sets driver = "ideal"' in complaint(ns3, (place, "mt76"))
    assert scenario(ns3, (place, "ideal")).resolve()


def test_airtime_needs_a_queue_that_schedules_by_it():
    assert "does not schedule by airtime" in complaint(("bss.ap.queue", "fq_codel"), ("bss.ap.airtime", "estimate"))


def test_an_ideal_driver_is_the_default_and_ath9k_holds_packets_longer():
    flow = ("flow.0.direction", "up"), ("station.0.queue", "fq_codel")
    plain, ideal, ath9k = (
        lasthop.run(scenario(*flow, *driver), seeds=1, interval_s=None).runs[0]
        for driver in ((), (("station.0.driver", "ideal"),), (("station.0.driver", "ath9k"),))
    )
    assert plain["flows"] == ideal["flows"]
    assert ath9k["flows"] != ideal["flows"]


def test_the_command_refuses_with_status_2_and_warns_on_a_run(command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "today.toml").write_text(TODAY)
    refused = command("run", "today.toml", "--set", "bss.spatial_streams=5")
    assert refused.returncode == 2 and refused.stdout == ""
    assert refused.stderr.startswith("lasthop: ") and refused.stderr.count("\n") == 1
    far = command(
        "run", "today.toml", "--seed", 1, "--set", "channel.path_loss=friis", "--set", "station.0.distance=100 km"
    )
    assert far.returncode == 0 and "nothing passes between them" in far.stderr + far.stdout
