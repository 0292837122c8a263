"""Texts of other people's tools, in forms that the tools have had over the years and in other languages: the right number, or a sentence."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest
from lasthop.foreign.analysis import analyze
from lasthop.foreign.testbed import read
from lasthop.foreign.twin import reports, twin
from lasthop.foreign.twin.minstrel import rates_of

DATA = Path(__file__).parents[1] / "data"

# ping


def ping_of(tmp_path, text: str | bytes):
    """The flow, the host and the warnings of a ping."""
    file = tmp_path / "ping.txt"
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    (result,) = read([file]).values()
    (run,) = result.runs
    return run["flows"][0], run["capture"]["flows"][0]["server"], result.warnings


def echoes(*ms: str | None, line: str = "64 bytes from 10.0.0.1: icmp_seq={number} ttl=64 time={ms} ms") -> str:
    return "".join(line.format(number=number, ms=each) + "\n" for number, each in enumerate(ms, 1) if each)


WINDOWS_DE = """
Ping wird ausgeführt für 8.8.8.8 mit 32 Bytes Daten:
Antwort von 8.8.8.8: Bytes=32 Zeit=1ms TTL=118
Zeitüberschreitung der Anforderung.
Antwort von 8.8.8.8: Bytes=32 Zeit=3ms TTL=118
Antwort von 8.8.8.8: Bytes=32 Zeit=2ms TTL=118

Ping-Statistik für 8.8.8.8:
    Pakete: Gesendet = 4, Empfangen = 3, Verloren = 1
    (25% Verlust),
"""
WINDOWS_FR = """
Envoi d’une requête 'Ping'  8.8.8.8 avec 32 octets de données :
Réponse de 8.8.8.8 : octets=32 temps=1 ms TTL=118
Délai d’attente de la demande dépassé.
Réponse de 8.8.8.8 : octets=32 temps=3 ms TTL=118
Réponse de 8.8.8.8 : octets=32 temps=2 ms TTL=118
"""
WINDOWS_ROUTER = """
Pinging 8.8.8.8 with 32 bytes of data:
Reply from 10.0.0.2: Destination host unreachable.
Reply from 8.8.8.8: bytes=32 time=1ms TTL=118
Reply from 8.8.8.8: bytes=32 time=3ms TTL=118
Reply from 8.8.8.8: bytes=32 time=2ms TTL=118

Ping statistics for 8.8.8.8:
    Packets: Sent = 4, Received = 4, Lost = 0 (0% loss),
"""
OF_THREE = ("1.00", None, "3.00", "2.00")
HEAD = "PING 10.0.0.1 (10.0.0.1) 56(84) bytes of data.\n"


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(HEAD + echoes(*OF_THREE, line="64 bytes from 10.0.0.1: icmp_req={number} ttl=64 time={ms} ms"), id="iputils of 2010, interrupted"),
        pytest.param(HEAD + echoes(*OF_THREE, line="64 Bytes von 10.0.0.1: icmp_seq={number} ttl=64 Zeit={ms} ms") + "\n4 Pakete übertragen, 3 empfangen, 25% Paketverlust, Zeit 3005 ms\n", id="iputils in German"),
        pytest.param(HEAD + echoes(*OF_THREE, line="64 octets de 10.0.0.1 : icmp_seq={number} ttl=64 temps={ms} ms") + "\n4 paquets transmis, 3 reçus, 25% packet loss, time 3005ms\n", id="iputils in French"),
        pytest.param(HEAD + echoes("1,00", None, "3,00", "2,00"), id="a decimal comma"),
        pytest.param(WINDOWS_DE.encode("cp850"), id="Windows in German, code page 850"),
        pytest.param(WINDOWS_DE.partition("Ping-Statistik")[0], id="the same, interrupted"),
        pytest.param(WINDOWS_FR, id="Windows in French, interrupted"),
        pytest.param(WINDOWS_ROUTER, id="a router's answer, which Windows counts as received"),
    ],
)  # fmt: skip
def test_pings_of_every_age_and_language_have_round_trips_and_losses(tmp_path, text):
    flow, _, _ = ping_of(tmp_path, text)
    assert (flow["segments_sent"], flow["loss_fraction"]) == (4, 0.25)
    assert (flow["rtt_mean_s"], flow["rtt_min_s"]) == pytest.approx((0.002, 0.001))


@pytest.mark.parametrize(
    ("head", "host"),
    [
        ("PING 2001:db8::1(2001:db8::1) 56 data bytes", "2001:db8::1"),
        ("PING ::1(::1) 56 data bytes", "::1"),
        ("PING fe80::1%wlan0(fe80::1%wlan0) 56 data bytes", "fe80::1%wlan0"),
        ("PING a.example(b.example (2001:db8::2)) 56 data bytes", "2001:db8::2"),
        ("PING6(56=40+8+8 bytes) 2001:db8::9 --> 2001:db8::3", "2001:db8::3"),
        ("PING 10.0.0.1 (10.0.0.1) from 10.0.0.2 wlan0: 56(84) bytes of data.", "10.0.0.1"),
        ("PING 10.0.0.1: 56 data bytes", "10.0.0.1"),
        ("Pinging a.example [2001:db8::4] with 32 bytes of data:", "2001:db8::4"),
    ],
)
def test_the_host_of_a_ping_is_its_whole_address(tmp_path, head, host):
    assert ping_of(tmp_path, f"{head}\n{echoes('1.0', '3.0')}")[1] == host


def test_a_flood_has_the_levels_of_its_summary_and_no_quantiles(tmp_path):
    text = f"{HEAD}...\n\n1000 packets transmitted, 995 received, 0.5% packet loss, time 1234ms\nrtt min/avg/max/mdev = 0.500/0.700/9.000/0.200 ms, pipe 2, ipg/ewma 1.235/0.702 ms\n"
    flow, _, warnings = ping_of(tmp_path, text)
    assert (flow["rtt_min_s"], flow["rtt_mean_s"]) == pytest.approx((0.0005, 0.0007))
    assert flow["segments_sent"] == 1000 and flow["loss_fraction"] == pytest.approx(0.005)
    assert flow["rtt_p95_s"] is None and any("no single round trips of 995 answers" in each for each in warnings)


def test_the_end_of_a_log_of_ping_has_the_losses_of_its_summary(tmp_path):
    flow, _, warnings = ping_of(
        tmp_path, f"{echoes('1.0', '3.0')}100 packets transmitted, 99 received, 1% packet loss, time 99000ms\n"
    )
    assert flow["loss_fraction"] == pytest.approx(0.01)
    assert any("round trips of 2 of 99 answers" in each for each in warnings)


# iperf and netperf

ENHANCED = """time,srcaddress,srcport,dstaddr,dstport,transferid,istart,iend,bytes,speed,writecnt,writeerr,tcpretry,tcpcwnd,tcppcwnd,tcprtt,tcprttvar
+0100:20231114231320.955,10.0.0.2,40000,10.0.0.1,5001,1,0.0,1.0,2500000,20000000,20,0,4,141,100,2500,9
+0100:20231114231321.955,10.0.0.2,40000,10.0.0.1,5001,1,1.0,2.0,2500000,20000000,20,0,6,141,100,3500,9
+0100:20231114231321.955,10.0.0.2,40000,10.0.0.1,5001,1,0.0,2.0,5000000,20000000,40,0,10,141,100,2500,9
"""
ENHANCED_UDP = """time,srcaddress,srcport,dstaddr,dstport,transferid,istart,iend,bytes,speed,jitter,errors,datagrams,errpercent,outoforder,writecnt,writeerr,pps
+0000:20231114221320.655,10.0.0.1,5001,10.0.0.2,40000,1,0.0,10.0,12500000,10000000,0.210,893,8930,10.0,0,8930,0,893.0
"""


def flow_of(tmp_path, text: str):
    """The one flow of a text, and the run."""
    file = tmp_path / "x.txt"
    file.write_text(text)
    (result,) = read([file]).values()
    (run,) = result.runs
    (flow,) = run["flows"]
    return flow, run


def test_enhanced_csv_of_iperf_2_has_its_interval_in_two_columns(tmp_path):
    flow, run = flow_of(tmp_path, ENHANCED)
    assert (flow["goodput_bps"], flow["segments_retransmitted"]) == (20e6, 10)
    assert flow["rtt_mean_s"] == pytest.approx(0.003)
    # 23:13:20.955 in the zone of +1 h is 22:13:20 of UTC, at the end of the first second.
    assert run["capture"]["began_s"] == pytest.approx(1_700_000_000 - 1, abs=1)


def test_enhanced_csv_of_a_server_of_udp_has_losses(tmp_path):
    flow, _ = flow_of(tmp_path, ENHANCED_UDP)
    assert (flow["transport"], flow["goodput_bps"], flow["loss_fraction"]) == ("udp", 10e6, 0.1)
    assert flow["jitter_s"] == pytest.approx(0.00021)


def test_csv_with_the_zone_first_and_one_column_for_the_interval(tmp_path):
    flow, _ = flow_of(
        tmp_path, "+0000:20231114221321.955,10.0.0.2,40000,10.0.0.1,5001,1,0.0-2.0,5000000,20000000,-1,-1,-1,-1,0,0\n"
    )
    assert (flow["transport"], flow["goodput_bps"]) == ("tcp", 20e6)


ROWS = ((0, 1, 20), (1, 2, 40), (2, 3, 30))
BANNER = (
    "Client connecting to 10.0.0.1, TCP port 5001\n[  3] local 10.0.0.2 port 40000 connected with 10.0.0.1 port 5001\n"
)


@pytest.mark.parametrize(
    "text",
    [
        BANNER + "".join(f"[  3]  {begin}.0- {end}.0 sec  2.38 MBytes  {mbps}.0 Mbits/sec\n" for begin, end, mbps in ROWS),
        "".join(f"20231114221320,10.0.0.2,40000,10.0.0.1,5001,3,{begin}.0-{end}.0,{mbps * 125000},{mbps * 1000000}\n" for begin, end, mbps in ROWS),
    ],
    ids=["text", "CSV"],
)  # fmt: skip
def test_iperf_2_that_was_ended_early_has_the_mean_of_its_intervals(tmp_path, text):
    assert flow_of(tmp_path, text)[0]["goodput_bps"] == pytest.approx(30e6)


def test_sums_of_iperf_2_alone_are_refused_as_such(tmp_path):
    with pytest.raises(ValueError, match="has only sums of parallel connections; repeat the test without --sum-only"):
        flow_of(tmp_path, f"{BANNER}[SUM]  0.0- 2.0 sec  4.75 MBytes  20.0 Mbits/sec\n")


def test_json_of_iperf3_is_read_in_any_order_and_between_lines_of_a_shell(tmp_path):
    document = json.loads((DATA / "testbed" / "up.client.json").read_text())
    expected, _ = flow_of(tmp_path, json.dumps(document))
    ordered = json.dumps(document, indent=1, sort_keys=True)
    titled = json.dumps({"title": "a title of more than forty characters, as people give", **document})
    for text in (
        ordered,
        titled,
        f"[me@host ~]$ iperf3 -J -c h\n{ordered}\niperf3: interrupt - the client has terminated\n",
    ):
        assert flow_of(tmp_path, text)[0] == expected


def test_a_burst_of_netperf_has_several_transactions_at_a_time(tmp_path):
    # 10 outstanding at 5,000 a second: 2 ms each.
    text = "MIGRATED TCP REQUEST/RESPONSE TEST from 0.0.0.0 () port 0 AF_INET to 10.0.0.1 () port 0 AF_INET : first burst 9\n16384  87380  1        1       10.00    5000.00\n"
    assert flow_of(tmp_path, text)[0]["rtt_mean_s"] == pytest.approx(0.002)


# ss


@pytest.mark.parametrize(
    ("stamp", "began_s"),
    [
        ("Tue Nov 14 23:13:{:02} CET 2023", 1_700_000_000 - 20),
        ("Tue Nov 14 10:13:{:02} PM UTC 2023", 1_700_000_000 - 20),
        ("=== 17000000{:02}.0 ===", 1_700_000_000),
        ("23:59:{:02}.50", None),
        ("mar. 14 nov. 2023 23:13:{:02} CET", None),
        ("Di 14. Nov 23:13:{:02} CET 2023", None),
    ],
)
def test_times_before_samples_are_read_as_date_writes_them_anywhere(tmp_path, stamp, began_s):
    lines = "ESTAB 0 0 10.0.0.2:40000 10.0.0.1:5201\n\t cubic rto:204 rtt:20/1 mss:1000 cwnd:10 bytes_acked:{}\n"
    flow, run = flow_of(
        tmp_path, "".join(f"{stamp.format(second)}\n{lines.format(1_000_000 * second)}" for second in range(3))
    )
    assert flow["goodput_bps"] == 8e6
    assert run["capture"]["began_s"] == began_s


def test_a_log_of_times_of_day_goes_over_midnight(tmp_path):
    lines = "ESTAB 0 0 10.0.0.2:40000 10.0.0.1:5201\n\t cubic rto:204 rtt:20/1 mss:1000 cwnd:10 bytes_acked:{}\n"
    times = ("23:59:59", "00:00:00", "00:00:01")
    flow, _ = flow_of(
        tmp_path, "".join(f"{time}\n{lines.format(1_000_000 * number)}" for number, time in enumerate(times))
    )
    assert flow["goodput_bps"] == 8e6


# iw

FIELDS = {"rx packets": "12427", "tx packets": "13502", "tx retries": "298", "tx failed": "4"}
VHT = {
    "tx bitrate": "866.7 MBit/s VHT-MCS 9 80MHz short GI VHT-NSS 2",
    "rx bitrate": "780.0 MBit/s VHT-MCS 8 80MHz short GI VHT-NSS 2",
}


def station(last: int = 0x11, device: str = "wlan0", **fields: str) -> str:
    """A dump of an AP; names of fields with _ for spaces."""
    told = FIELDS | VHT | {name.replace("_", " "): value for name, value in fields.items()}
    return f"Station 02:00:00:00:00:{last:02x} (on {device})\n" + "".join(
        f"\t{name}:\t{value}\n" for name, value in told.items()
    )


def twin_text(tmp_path, *texts: str | bytes) -> str:
    files = []
    for number, text in enumerate(texts):
        files.append(tmp_path / f"{number}.txt")
        files[-1].write_bytes(text if isinstance(text, bytes) else text.encode())
    return twin(files, "home").text()


def bss_of(text: str) -> tuple[str, int]:
    """Its width, and how many stations it has."""
    scenario = tomllib.loads(text)
    return scenario["bss"]["channel_width"], len(scenario["station"])


@pytest.mark.parametrize(
    "dump",
    [
        pytest.param("".join(f"2026-11-27T09:00:{n:02}+0100 {line}\n" for n, line in enumerate(station().splitlines())), id="time stamps"),
        pytest.param("".join(f"Nov 27 09:00:01 ap log[12]: {line}\n" for line in station().splitlines()), id="a system log"),
        pytest.param("".join(f"> {line}\n" for line in station().splitlines()), id="a quotation"),
        pytest.param("".join(f"    {line}\n" for line in station().splitlines()), id="a block of Markdown"),
        pytest.param("\n".join(line.strip().replace("\t", " ") for line in station().splitlines()), id="without indentation"),
        pytest.param(f"\x1b[32m$\x1b[0m iw dev\n\x1b[1m{station()}", id="colours"),
        pytest.param(b"Connected to 02:00:00:00:00:01 (on wlan0)\n\tSSID: Caf\xe9\n\ttx bitrate: 866.7 MBit/s VHT-MCS 9 80MHz short GI VHT-NSS 2\n", id="a name that is no UTF-8"),
        pytest.param(station(tx_retries="1", beacon_loss="0") + station(beacon_loss="0"), id="two dumps of one station"),
        pytest.param(station() + station(0x12, "wlan1", tx_packets="5", rx_packets="5", tx_bitrate="144.4 MBit/s MCS 15 short GI"), id="another radio"),
        pytest.param(station() + station(0x12, tx_bitrate="1441.1 MBit/s 80MHz EHT-MCS 13 EHT-NSS 2 EHT-GI 0"), id="802.11be beside it"),
        pytest.param(station(beacon_loss="0") + station(0x12, TDLS_peer="yes"), id="TDLS"),
    ],
)  # fmt: skip
def test_dumps_are_read_as_people_paste_them(tmp_path, dump):
    assert bss_of(twin_text(tmp_path, dump)) == ("80 MHz", 1)


@pytest.mark.parametrize(
    ("dump", "said"),
    [
        (station() + station(0x12, "wlan1"), "wlan1: another radio or AP than wlan0, so 1 associations are left out"),
        (station() + station(0x12, tx_bitrate="1 MBit/s 80MHz EHT-MCS 13 EHT-NSS 2"), "802.11be is not modelled; this station is left out"),
        (station(tx_bitrate="6.7 MBit/s MCS 32 40MHz"), "this mode does not exist; the mode of the rx bitrate is assumed"),
        (station(tx_bitrate="1083.3 MBit/s VHT-MCS 11 80MHz short GI VHT-NSS 2"), "assumed: MCS 9, the nearest of 802.11ac to 1083.3"),
        (station(tx_retries="4294967290"), "4294967290 retries of 13502 packets are more than any link has: losses are assumed"),
        (station(tx_retries="0"), "no retry in 13502 packets, so the driver does not count them: losses are assumed"),
        (station(TDLS_peer="yes") + station(0x12, beacon_loss="0"), "a peer of TDLS, which is not modelled, is left out"),
    ],
)  # fmt: skip
def test_a_twin_says_what_it_left_out_or_doubts(tmp_path, dump, said):
    text = twin_text(tmp_path, dump)
    assert said in text and "frame_error_rate = 0.9" not in text


def test_mcs_9_of_20_mhz_becomes_mcs_8(tmp_path):
    # 802.11ac has no MCS 9 of one stream at 20 MHz.
    text = twin_text(
        tmp_path,
        station(
            tx_bitrate="96.3 MBit/s VHT-MCS 9 short GI VHT-NSS 1", rx_bitrate="86.7 MBit/s VHT-MCS 8 short GI VHT-NSS 1"
        ),
    )
    assert "MCS 8, the nearest of 802.11ac to 96.3 MBit/s" in text and bss_of(text) == ("20 MHz", 1)


def test_old_iw_wrote_mhz_in_small_letters(tmp_path):
    rates = {"tx_bitrate": "300.0 MBit/s MCS 15 40Mhz short GI", "rx_bitrate": "270.0 MBit/s MCS 15 40Mhz"}
    assert bss_of(twin_text(tmp_path, station(**rates))) == ("40 MHz", 1)


def test_rates_of_802_11ad_are_no_modes_of_802_11n(tmp_path):
    with pytest.raises(ValueError, match="its MCS is one of 78.0 Mbit/s; other standards are not modelled"):
        twin_text(tmp_path, station(tx_bitrate="4620.0 MBit/s MCS 12", rx_bitrate="2502.5 MBit/s MCS 9"))


def test_a_dump_and_a_link_of_one_station_complete_one_another(tmp_path):
    link = f"Connected to 02:00:00:00:00:11 (on wlan0)\n\tfreq: 5180\n\ttx bitrate: {VHT['tx bitrate']}\n"
    text = twin_text(tmp_path, station(beacon_loss="0", tx_retries="3000") + link)
    assert tomllib.loads(text)["bss"]["channel"] == 36 and "3000 of 16502 attempts were not answered" in text


def test_of_counters_of_ethtool_at_several_times_the_last_count(tmp_path):
    dump = station(beacon_loss="0").replace("\ttx retries:\t298\n", "")
    counters = "".join(f"$ ethtool -S wlan0\nNIC statistics:\n     tx_retries: {count}\n" for count in (1000, 3000))
    assert "3000 of 16502 attempts were not answered" in twin_text(tmp_path, dump, counters)


# tc and Minstrel

FQ_CODEL = '{"kind":"fq_codel","handle":"0:","dev":"wlan0","root":true,"options":{"limit":10240,"flows":1024,"quantum":1514,"target":4999,"interval":99999,"memory_limit":33554432,"ecn":true,"drop_batch":64},"packets":990,"drops":10,"ecn_mark":3}'
LINE = "qdisc {} 1: dev wlan0 root refcnt 2 {}\n Sent 9 bytes 990 pkt (dropped 10, overlimits 0 requeues 0)\n"
FQ_LINE = "limit 10240p flows 1024 quantum 1514 target 5ms interval 100ms memory_limit 32Mb ecn drop_batch 64"


def test_json_of_tc_is_the_queue_of_its_text(tmp_path):
    of_text = tomllib.loads(twin_text(tmp_path, station(), LINE.format("fq_codel", FQ_LINE)))
    told = twin_text(tmp_path, station(), f'[{{"kind":"noqueue","handle":"0:","dev":"lo","options":{{}}}},{FQ_CODEL}]')
    assert tomllib.loads(told)["bss"]["ap"] == of_text["bss"]["ap"]
    assert "dropped 10 of 1000 packets, marked 3" in told


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (LINE.format("tbf", "rate 20Mbit burst 5Kb lat 50ms"), "tbf of wlan0 limits the rate to 20Mbit, which is not modelled"),
        (LINE.format("htb", "r2q 10 default 0x10"), "htb of wlan0 limits the rate, which is not modelled"),
        (LINE.format("fq_codel", FQ_LINE).partition("\n")[0], "its counters are unknown, as `tc` ran without -s"),
    ],
)  # fmt: skip
def test_shapers_and_absent_counters_are_named(tmp_path, text, said):
    found = twin([_written(tmp_path, "iw", station()), _written(tmp_path, "tc", text)], "home")
    assert said in "\n".join([found.text(), *found.seen.unused])


def _written(tmp_path, name: str, text: str):
    (tmp_path / name).write_text(text)
    return tmp_path / name


def test_minstrel_of_old_kernels_has_marks_that_touch_the_rate():
    text = "rate      throughput  ewma prob   this prob  this succ/attempt   success    attempts\n T P54        12.0       95.0      100.0          1(  1)        950        1000\n"
    assert [report.kind for report in reports.reports(text)] == ["rc_stats"]
    (mode,) = rates_of("", text.splitlines()).modes
    assert (mode.rate_bps, mode.attempts, mode.unanswered) == (54_000_000, 1000, 50)


# Other texts


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "is empty"),
        ("\n\n", "is empty"),
        ("Joined IBSS 02:00:00:00:00:01 (on wlan0)\n", "an ad-hoc network, which is not modelled"),
        ("Wiphy phy0\n\twiphy index: 0\n", "output of `iw phy`"),
        ("phy#0\n\tInterface wlan0\n\t\tifindex 3\n", "output of `iw dev`"),
        ("wlan0 (phy #0): auth 02:00:00:00:00:01\n", "output of `iw event`"),
        ("02:00:00:00:00:11  -54 dBm / -95 dBm (SNR 41)  10 ms ago\n", "output of `iwinfo … assoclist`; give `lasthop twin`"),
        ("3: wlan0: <BROADCAST,UP,LOWER_UP> mtu 1500 qdisc noqueue state UP\n", "output of `ip link`"),
        ("wlan0: flags=4163<UP,BROADCAST>  mtu 1500\n", "output of `ifconfig`"),
        ("IN-USE  BSSID              SSID  MODE\n", "output of `nmcli`"),
        ("[    0.000000] Linux version 6.1.0\n", "a log of the kernel"),
        ("Proto Recv-Q Send-Q Local Address  Foreign Address  State\n", "output of `netstat`; log the sockets"),
        ("    1   0.000000     10.0.0.2 → 10.0.0.1     TCP 74 40000 → 5201 [SYN]\n", "text of tshark"),
        ("Fri Nov 27 09:00:00 2026 Connecting to host 10.0.0.1, port 5201\n", "text of iperf3; run it with --json"),
        ("[  5]   0.00-1.00   sec  11.2 MBytes  94.2 Mbits/sec    0    385 KBytes\n", "rows of iperf without their beginning"),
        (f"[{FQ_CODEL}]", "output of `tc -j qdisc`; give it to `lasthop twin`"),
    ],
)  # fmt: skip
def test_texts_that_are_not_read_are_named(tmp_path, text, said):
    (tmp_path / "x.txt").write_text(text)
    with pytest.raises(ValueError, match=r"x\.txt: ") as error:
        analyze([tmp_path / "x.txt"])
    assert said in str(error.value)
