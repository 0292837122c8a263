"""What hosts print becomes a twin: `iw`, `tc`, `ethtool`, Minstrel's tables and `ss`, in one file or several, used or named as not used."""

from __future__ import annotations

import tomllib
from pathlib import Path

import lasthop
import pytest
from lasthop.foreign.twin import queues, reports, twin
from lasthop.foreign.twin.minstrel import rates_of
from lasthop.foreign.twin.nic import nic_of
from lasthop.foreign.twin.survey import surveys

HOSTS = Path(__file__).parents[1] / "data" / "hosts"
STATION = """Station 02:00:00:00:00:04 (on wlan0)
\trx packets:\t12427
\ttx packets:\t9000
\tbeacon loss:\t0
\ttx bitrate:\t866.7 MBit/s VHT-MCS 9 80MHz short GI VHT-NSS 2
\trx bitrate:\t780.0 MBit/s VHT-MCS 8 80MHz short GI VHT-NSS 2
\tconnected time:\t422 seconds
"""
SENT = " Sent 100000 bytes 1000 pkt (dropped 10, overlimits 0 requeues 0)\n backlog 0b 0p requeues 0\n  maxpacket 1514 drop_overlimit 0 new_flow_count 9 ecn_mark 3\n"


def made(tmp_path, *texts):
    """The twin of these texts, as a scenario that loads, and the observation."""
    files = []
    for number, text in enumerate(texts):
        files.append(tmp_path / f"{number}.txt")
        files[-1].write_text(text)
    found = twin(files, "home")
    (tmp_path / "home.toml").write_text(found.text())
    lasthop.load(tmp_path / "home.toml").resolve()
    return tomllib.loads(found.text()), found


def test_a_session_at_an_ap_is_cut_into_the_output_of_its_commands():
    every = reports.reports((HOSTS / "openwrt-session.txt").read_text())
    assert [report.kind for report in every] == ["iw", "tc", "survey", "rc_stats", "ethtool", "ss"]
    assert every[3].context.endswith("stations/02:00:00:00:00:11/rc_stats")


def test_a_session_at_an_ap_makes_a_twin(tmp_path):
    scenario, found = made(tmp_path, (HOSTS / "openwrt-session.txt").read_text())
    assert (scenario["bss"]["standard"], scenario["bss"]["channel"]) == ("802.11ac", 44)
    # The leaf of mq that sent packets; 4 Mb of tc are 4 MiB.
    assert scenario["bss"]["ap"]["queue"] == {
        "kind": "fq_codel",
        "limit": "1001 packets",
        "target": "14 ms",
        "interval": "109 ms",
        "ecn": True,
        "flows": 1024,
        "quantum": "300 B",
        "memory_limit": "4194304 B",
        "drop_batch": 64,
    }
    first, second = scenario["station"]
    # 10,000 attempts at MCS 9 and 5,000 at MCS 8: 13 and 7 of 20 turns; 9 attempts at MCS 0 are probes.
    rates = first["downlink_rate_control"]["rates"]
    assert (rates.count("866.7 Mbit/s"), rates.count("780 Mbit/s"), len(rates)) == (13, 7, 20)
    # A client of 802.11n at 20 MHz in a BSS of 80 MHz: 65 Mbit/s is MCS 1 of one stream.
    assert second["rate_control"] == {"kind": "fixed", "rate": "65 Mbit/s"}
    assert scenario["tcp"]["congestion_control"] == "bbr"
    assert "marked 1" in found.text()


def test_what_is_not_used_is_named(command, tmp_path):
    done = command("twin", HOSTS / "openwrt-session.txt", "--out", tmp_path / "t.toml")
    assert done.returncode == 0, done.stderr
    for words in (
        "cake of eth1 is not used",
        "busy for 50.00 %",
        "noise of -92 dBm is not used",
        "60 retries are not used",
    ):
        assert words in done.stderr and words in (tmp_path / "t.toml").read_text()


def test_losses_of_modes_bound_collisions(tmp_path):
    # 2,000 of 10,000 and 500 of 5,000 lost: collisions are the same in both modes, so at most 10 %.
    _, found = made(tmp_path, (HOSTS / "openwrt-session.txt").read_text())
    split = found.splits["ap", "02-00-00-00-00-11"]
    assert split.unanswered == pytest.approx(2500 / 15009)
    assert split.collided == pytest.approx(0.1)
    assert split.noise == pytest.approx(1 - (1 - 2500 / 15009) / 0.9)


@pytest.mark.parametrize(
    ("options", "value"),
    [
        ("codel 8001: dev wlan0 root refcnt 2 limit 1000p target 5ms interval 100ms", {"kind": "codel", "limit": "1000 packets", "target": "5 ms", "interval": "100 ms", "ecn": False}),
        ("pfifo 8001: dev wlan0 root refcnt 2 limit 100p", {"kind": "fifo", "limit": "100 packets"}),
        ("bfifo 8001: dev wlan0 root refcnt 2 limit 150Kb", {"kind": "fifo", "limit": "153600 B"}),
        ("pfifo_fast 0: dev wlan0 root refcnt 2 bands 3 priomap 1 2 2 2 1 2 0 0 1 1 1 1 1 1 1 1", {"kind": "fifo", "limit": "1000 packets"}),
        ("cake 8001: dev wlan0 root refcnt 2 bandwidth unlimited diffserv3 triple-isolate nonat nowash no-ack-filter split-gso rtt 50ms raw overhead 0", {"kind": "cake", "rtt": "50 ms", "diffserv": "diffserv3", "isolation": "triple_isolate"}),
        ("cake_mq 8001: dev wlan0 root refcnt 2 bandwidth 20Mbit besteffort dual-dsthost ack-filter rtt 100ms atm overhead 40", {"kind": "cake", "bandwidth": "20 Mbit/s", "overhead": "40 B", "framing": "atm", "diffserv": "besteffort", "isolation": "dual_dsthost", "ack_filter": "on"}),
        ("pie 8001: dev wlan0 root refcnt 2 limit 1000p target 15ms tupdate 16ms alpha 2 beta 20 ecn", {"kind": "pie", "limit": "1000 packets", "target": "15 ms", "t_update": "16 ms", "ecn": True, "bytemode": False, "alpha": 0.125, "beta": 1.25}),
        ("fq_pie 8001: dev wlan0 root refcnt 2 limit 10240p flows 1024 target 15ms tupdate 16ms alpha 2 beta 20 quantum 1514b memory_limit 32Mb ecn_prob 10", {"kind": "fq_pie", "flows": 1024, "quantum": "1514 B"}),
        ("dualpi2 8001: dev wlan0 root refcnt 2 limit 10000p target 15ms tupdate 16ms alpha 0.160156 beta 3.195312 l4s_ect step_thresh 2ms coupling_factor 2 drop_on_overload drop_dequeue classic_protection 10% split_gso", {"kind": "dualpi2", "limit": "10000 packets", "target": "15 ms", "t_update": "16 ms", "alpha": 0.160156, "step": "2 ms", "coupling": 2.0}),
        ("sfq 8001: dev wlan0 root refcnt 2 limit 127p quantum 1514b depth 127 divisor 1024 perturb 10sec", {"kind": "sfq", "limit": "127 packets", "perturb": "10 s"}),
        ("red 8001: dev wlan0 root refcnt 2 limit 60000b min 10000b max 30000b ecn", {"kind": "red", "limit": "60000 B", "min": "10000 B", "max": "30000 B", "ecn": True, "harddrop": False}),
    ],
)  # fmt: skip
def test_queues_of_tc_are_keys_of_a_scenario(tmp_path, options, value):
    scenario, found = made(tmp_path, STATION, f"qdisc {options} \n{SENT}")
    # The host is a station, so the queue is the station's.
    (station,) = scenario["station"]
    assert {key: station["queue"][key] for key in value} == value
    assert "dropped 10 of 1010 packets, marked 3" in found.text()
    assert scenario["bss"]["ap"]["queue"] == "airtime_fq_codel"


def test_a_device_without_a_queue_has_those_of_mac80211(tmp_path):
    scenario, found = made(
        tmp_path, STATION.replace("\tbeacon loss:\t0\n", ""), f"qdisc noqueue 0: dev wlan0 root refcnt 2 \n{SENT}"
    )
    assert scenario["bss"]["ap"]["queue"] == "airtime_fq_codel"
    assert "seen: tc, wlan0: noqueue" in found.text()


def test_a_queue_that_is_not_modelled_is_named(tmp_path):
    scenario, found = made(
        tmp_path, STATION, f"qdisc fq 8001: dev wlan0 root refcnt 2 limit 10000p flow_limit 100p buckets 1024 \n{SENT}"
    )
    assert scenario["station"][0]["queue"] == "backpressure"
    assert "fq is not modelled" in found.text()


def test_a_channel_without_the_modes_of_the_link_is_not_used(tmp_path):
    """802.11ac has no channels at 2.4 GHz."""
    scenario, found = made(tmp_path, STATION, SURVEY)
    assert scenario["bss"]["standard"] == "802.11ac" and "channel" not in scenario["bss"]
    assert "a channel at 2437 MHz has none of the modes, which are of 802.11ac" in found.text()


def test_cake_has_the_sizes_that_its_shaper_counts():
    (one,) = queues.qdiscs(
        ["qdisc cake 1: dev eth0 root bandwidth 100Mbit diffserv4 flows rtt 30ms noatm overhead 38 mpu 84"]
    )
    value, _ = queues.key_of(one)
    assert value == {
        "kind": "cake",
        "bandwidth": "100 Mbit/s",
        "overhead": "38 B",
        "mpu": "84 B",
        "rtt": "30 ms",
        "diffserv": "diffserv4",
        "isolation": "flows",
    }


def test_marks_of_cake_are_summed_over_its_tins():
    (one,) = queues.qdiscs(
        [
            "qdisc cake 1: dev eth0 root",
            " Sent 9 bytes 3 pkt (dropped 0, overlimits 0 requeues 0)",
            "  marks            1            3            0",
        ]
    )
    assert one.marked == 4


SURVEY = "Survey data from wlan0\n\tfrequency:\t\t\t2437 MHz [in use]\n\tnoise:\t\t\t\t-95 dBm\n"


def test_a_survey_has_the_channel_and_the_airtime_of_others(tmp_path):
    # Busy for 60 s of 100 s, 20 s sent and 15 s received from the own BSS: others have 25 s.
    times = "".join(
        f"\tchannel {name} time:\t\t{ms} ms\n"
        for name, ms in (
            ("active", 100_000),
            ("busy", 60_000),
            ("receive", 30_000),
            ("BSS receive", 15_000),
            ("transmit", 20_000),
        )
    )
    dump = STATION.replace("866.7 MBit/s VHT-MCS 9 80MHz short GI VHT-NSS 2", "54.0 MBit/s").replace(
        "780.0 MBit/s VHT-MCS 8 80MHz short GI VHT-NSS 2", "48.0 MBit/s"
    )
    scenario, found = made(tmp_path, dump, SURVEY + times)
    assert (scenario["bss"]["standard"], scenario["bss"]["channel"]) == ("802.11g", 6)
    assert found.seen.foreign_s == pytest.approx(0.25 * found.seen.length_s)
    assert scenario["station"][1]["name"] == "others"
    assert not any("busy" in line for line in found.seen.unused)


def test_a_survey_without_times_is_no_share():
    (one,) = surveys(SURVEY.splitlines())
    assert (one.mhz, one.is_in_use, one.noise_dbm, one.of_others) == (2437, True, -95, None)


NEW = """
              best   ____________rate__________    ____statistics___    _____last____    ______sum-of________
mode guard #  rate  [name   idx airtime  max_tp]  [avg(tp) avg(prob)]  [retry|suc|att]  [#success | #attempts]
CCK    LP  1          1.0M  120   10548     0.0       0.0       0.0       0     0 0             2   3
OFDM       1         54.0M   11     250    40.1      40.1      90.0       5     0 0             5   5
HT20  LGI  1  ABCDP  MCS7     7     200    46.3      46.3     100.0       5     1 1            90   100
HT40  SGI  2         MCS15   35     100   200.0       0.0       0.0       0     0 0             0   0
VHT80 SGI  2  A      MCS9/2 209      50   400.0     390.0      95.0       5     0 0           800   1000

Total packet count::    ideal 900      lookaround 100
"""
OLD = """
    type      rate     throughput  ewma prob   this prob  this succ/attempt   success    attempts
    HT20/LGI    MCS0        3.6       58.0      100.0          0(  0)        306         384
    HT20/LGI T PMCS4       27.4       97.6      100.0          0(  0)     153050      185927
    HT20/LGI    MCS7        0.0        0.0        0.0          0(  0)          0        1428

    Total packet count::    ideal 217212      lookaround 14954
"""
SPREAD = """              best   ____________rate__________    ________statistics________    _____last____    ______sum-of________
mode guard #  rate  [name   idx airtime  max_tp]  [avg(tp) avg(prob) sd(prob)]  [retry|suc|att]  [#success | #attempts]
HT40  SGI  2  ABCDP  MCS15   35     100   200.0     190.0      95.0      1.2       5     3 4           950   1000
"""
CSV = "HT20,LGI,1,,MCS0,0,1477,5.6,5.2,94.7,3,0,0,12,13,1234,56,12.3\nVHT80,SGI,2,ABCDP,MCS9/2,209,50,400.0,390.0,95.0,5,3,4,800,1000,1234,56,12.3\n"


@pytest.mark.parametrize(
    ("text", "modes"),
    [
        # Rates by the standard: HT20 MCS 7 with 0.8 us 65, VHT80 MCS 9 of two streams with 0.4 us 866.7 Mbit/s.
        (NEW, [("dsss", 1.0, 3, 1), ("ofdm", 54.0, 5, 0), ("ht", 65.0, 100, 10), ("vht", 866.7, 1000, 200)]),
        (OLD, [("ht", 6.5, 384, 78), ("ht", 39.0, 185927, 32877), ("ht", 65.0, 1428, 1428)]),
        (SPREAD, [("ht", 300.0, 1000, 50)]),
        (CSV, [("ht", 6.5, 13, 1), ("vht", 866.7, 1000, 200)]),
    ],
)  # fmt: skip
def test_minstrels_tables_of_all_kernels_have_attempts_and_failures(text, modes):
    assert [report.kind for report in reports.reports(text)] == ["rc_stats"]
    found = rates_of("", text.splitlines()).modes
    assert [(one.format, round(one.rate_bps / 1e6, 1), one.attempts, one.unanswered) for one in found] == modes


def test_minstrels_table_belongs_to_the_only_station(tmp_path):
    _, found = made(tmp_path, STATION, NEW)
    link = found.seen.links["sta", "ap"]
    assert (link.attempts, link.unanswered) == (1108, 211)


def test_retries_of_ethtool_are_those_of_the_only_station(tmp_path):
    text = "$ ethtool -S wlan0\nNIC statistics:\n     tx_packets: 9000\n     tx_retries: 1000\n     channel: 5180\n     ch_time: 1000\n     ch_time_busy: 250\n"
    assert nic_of("$ ethtool -S wlan0", text.splitlines()).device == "wlan0"
    scenario, found = made(tmp_path, STATION, text)
    split = found.splits["sta", "ap"]
    assert (split.attempts, split.unanswered) == (10_000, pytest.approx(0.1))
    assert scenario["bss"]["channel"] == 36
    assert any("busy for 25.00 %" in line for line in found.seen.unused)


def test_the_band_of_iw_link_decides_between_802_11a_and_g(tmp_path):
    text = "Connected to 02:00:00:00:00:04 (on wlan0)\n\tSSID: home\n\tfreq: 2462.0\n\tTX: 7797738 bytes (13502 packets)\n\ttx bitrate: 54.0 MBit/s\n"
    scenario, _ = made(tmp_path, text)
    assert (scenario["bss"]["standard"], scenario["bss"]["channel"]) == ("802.11g", 11)


def test_a_channel_of_6_ghz_is_named(tmp_path):
    text = "Connected to 02:00:00:00:00:04 (on wlan0)\n\tfreq: 5975\n\ttx bitrate: 1200.9 MBit/s 80MHz HE-MCS 11 HE-NSS 2 HE-GI 0 HE-DCM 0\n"
    scenario, found = made(tmp_path, text)
    assert "channel" not in scenario["bss"] and any("5975 MHz is not modelled" in note for note in found.seen.notes)


@pytest.mark.parametrize("rate", ["0 MBit/s", "0.0 MBit/s", "0 MBit/s MCS 14"])
def test_a_bitrate_of_zero_is_unknown(tmp_path, rate):
    scenario, _ = made(tmp_path, STATION.replace("780.0 MBit/s VHT-MCS 8 80MHz short GI VHT-NSS 2", rate))
    assert scenario["station"][0]["rate_control"] == {"kind": "fixed", "rate": "866.7 Mbit/s"}


def test_a_rate_without_its_mcs_is_refused_with_the_remedy(tmp_path):
    with pytest.raises(ValueError, match="no MCS, which the rate alone does not give"):
        made(
            tmp_path,
            STATION.replace(" VHT-MCS 9 80MHz short GI VHT-NSS 2", "").replace(
                " VHT-MCS 8 80MHz short GI VHT-NSS 2", ""
            ),
        )


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (SURVEY, "is output of `iw survey dump`; give it to `lasthop twin`"),
        (f"qdisc pfifo 8001: dev wlan0 root \n{SENT}", "is output of `tc -s qdisc`; give it to `lasthop twin`"),
        (NEW, "is Minstrel's rc_stats; give it to `lasthop twin`"),
        ((HOSTS / "openwrt-session.txt").read_text(), "is output of `iw`; use `lasthop twin"),
        ("NIC statistics:\n     tx_retries: 3\n", "is output of `ethtool -S`; give it to `lasthop twin`"),
        ("Not connected.\n", "is output of `iw` without a connection; run it while"),
        ('wlan0     ESSID: "home"\n          Access Point: 02:00:00:00:00:01\n', "is output of `iwconfig` or `iwinfo`"),
        ("12:00:01.123456 IP 10.0.0.1.5000 > 10.0.0.2.443: Flags [S]\n", "is text of tcpdump; write the packets"),
        ("BSS 02:00:00:00:00:01(on wlan0)\n\tTSF: 1 usec\n", "is output of `iw scan`, which is not used"),
        ("Connecting to host 10.0.0.1, port 5201\n", "is text of iperf3; run it with --json"),
    ],
)
def test_output_of_hosts_is_no_capture_and_is_named(command, tmp_path, text, said):
    (tmp_path / "x.txt").write_text(text)
    done = command("analyze", tmp_path / "x.txt")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1) and said in done.stderr


def test_texts_in_utf_16_are_read_as_windows_writes_them(tmp_path):
    file = tmp_path / "iw.txt"
    file.write_bytes(STATION.encode("utf-16"))
    assert twin([file], "home").seen.links["sta", "ap"].main.rate_bps == pytest.approx(866.7e6, rel=1e-4)


def test_a_long_guard_interval_beside_short_ones_is_noted(tmp_path):
    at_ap = STATION.replace("beacon loss:\t0", "DTIM period:\t2").replace(
        "866.7 MBit/s VHT-MCS 9 80MHz short GI VHT-NSS 2", "270.0 MBit/s MCS 15 40MHz"
    )
    scenario, found = made(
        tmp_path, at_ap.replace("780.0 MBit/s VHT-MCS 8 80MHz short GI VHT-NSS 2", "300.0 MBit/s MCS 15 40MHz short GI")
    )
    assert scenario["bss"]["guard_interval"] == "short" and scenario["station"][0]["rate_control"]["mcs"] == 15
    assert "MCS 15 40MHz has the long guard interval; MCS 15 of this BSS has the short one, 300 Mbit/s" in found.text()


def test_a_peer_in_a_mesh_is_noted(tmp_path):
    peer = STATION.replace("beacon loss:\t0", "mesh plink:\tESTAB")
    _, found = made(tmp_path, peer)
    assert "02:00:00:00:00:04: a peer in a mesh, modelled as a station of an AP" in found.text()
