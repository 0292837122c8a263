"""netperf, iperf 2, ping and old files of Flent become results: the numbers are those of the texts, by hand."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
from lasthop.foreign.testbed import Unreadable, kind_of, read


def runs_of(tmp_path, text, name="out.txt"):
    file = tmp_path / name
    file.write_text(text)
    return [result.runs[0] for result in read([file]).values()]


def flows_of(tmp_path, text):
    (run,) = runs_of(tmp_path, text)
    return run["flows"]


# netperf

STREAM = """MIGRATED TCP STREAM TEST from 0.0.0.0 (0.0.0.0) port 0 AF_INET to 10.0.0.1 () port 0 AF_INET : demo
Interim result:   20.00 10^6bits/s over 1.000 seconds ending at 1700000001.000
Interim result:   22.00 10^6bits/s over 1.000 seconds ending at 1700000002.000
Recv   Send    Send
Socket Socket  Message  Elapsed
Size   Size    Size     Time     Throughput
bytes  bytes   bytes    secs.    10^6bits/sec

131072  16384  16384    2.01      20.95
"""
RR = """MIGRATED UDP REQUEST/RESPONSE TEST from 0.0.0.0 (0.0.0.0) port 0 AF_INET to 10.0.0.1 () port 0 AF_INET : demo : first burst 0
Local /Remote
Socket Size   Request  Resp.   Elapsed  Trans.
Send   Recv   Size     Size    Time     Rate
bytes  Bytes  bytes    bytes   secs.    per sec

212992 212992 1        1       10.00      50.00
212992 212992
"""
UDP = """MIGRATED UDP STREAM TEST from 0.0.0.0 (0.0.0.0) port 0 AF_INET to 10.0.0.1 () port 0 AF_INET : demo
Socket  Message  Elapsed      Messages
Size    Size     Time         Okay Errors   Throughput
bytes   bytes    secs            #      #   10^6bits/sec

212992    1470   10.00        1000      0       1.18
212992           10.00         900              1.06
"""
OMNI = """OMNI Send TEST from 0.0.0.0 (0.0.0.0) port 0 AF_INET to 10.0.0.1 () port 0 AF_INET : demo
Local       Remote      Local  Elapsed Throughput Throughput
Send Socket Recv Socket Send   Time               Units
Size        Size        Size   (sec)
Final       Final
16384       131072      16384  10.00   94.12      10^6bits/s
"""
KEYVALS = "THROUGHPUT=94.12\nTHROUGHPUT_UNITS=10^6bits/s\nELAPSED_TIME=10.00\nPROTOCOL=TCP\nDIRECTION=Send\nREMOTE_BYTES_RECVD=117650000\nLOCAL_TRANSPORT_RETRANS=7\nLOCAL_CONG_CONTROL=bbr\nREMOTE_TRANSPORT_RETRANS=-1\n"
COMMAS = "OMNI Send TEST from 0.0.0.0 (0.0.0.0) port 0 AF_INET to 10.0.0.1 () port 0 AF_INET\nThroughput,Throughput Units,Elapsed Time (sec),Direction,Remote Bytes Received,Local Transport Retransmissions\n94.12,10^6bits/s,10.00,Send,117650000,7\n"


def test_a_stream_of_netperf_has_its_throughput_and_interim_results(tmp_path):
    (run,) = runs_of(tmp_path, STREAM)
    (flow,) = run["flows"]
    assert (flow["id"], flow["transport"], flow["goodput_bps"]) == ("station.up", "tcp", pytest.approx(20.95e6))
    assert (run["capture"]["began_s"], run["capture"]["to_s"]) == (1_700_000_000.0, 2.01)
    (result,) = read([tmp_path / "out.txt"]).values()
    table = result.timeseries
    assert table[["time_s", "value"]].values.tolist() == [[1, 20e6], [2, 22e6]]


def test_maerts_goes_down(tmp_path):
    assert flows_of(tmp_path, STREAM.replace("TCP STREAM", "TCP MAERTS"))[0]["direction"] == "down"


def test_units_of_netperf_are_those_of_its_heading(tmp_path):
    # 2557.37 KBytes of 1024 bytes a second.
    text = STREAM.replace("10^6bits/sec", "KBytes/sec").replace("20.95", "2557.37")
    assert flows_of(tmp_path, text)[0]["goodput_bps"] == pytest.approx(2557.37 * 1024 * 8)


def test_a_transaction_of_netperf_is_a_ping(tmp_path):
    (run,) = runs_of(tmp_path, RR)
    (flow,) = run["flows"]
    # 50 transactions a second, one after another: 20 ms each.
    assert (flow["traffic"], flow["transport"], flow["rtt_mean_s"]) == ("ping", "udp", pytest.approx(0.02))
    assert (flow["goodput_bps"], run["totals"]["goodput_bps"]) == (None, None)


def test_goodput_of_udp_is_what_the_receiver_counted(tmp_path):
    (flow,) = flows_of(tmp_path, UDP)
    assert (flow["goodput_bps"], flow["segments_sent"]) == (pytest.approx(1.06e6), 1000)
    assert flow["loss_fraction"] == pytest.approx(0.1) and flow["bytes_delivered"] == 900 * 1470


@pytest.mark.parametrize("text", [OMNI, KEYVALS, COMMAS])
def test_omni_tests_have_the_same_number_in_each_form(tmp_path, text):
    (run,) = runs_of(tmp_path, text)
    assert run["totals"]["goodput_bps"] == pytest.approx(94.12e6)
    assert run["capture"]["to_s"] == 10.0


def test_keyvals_have_retransmissions_and_the_controller(tmp_path):
    (flow,) = flows_of(tmp_path, KEYVALS)
    assert (flow["segments_retransmitted"], flow["congestion_control"], flow["bytes_delivered"]) == (
        7,
        "bbr",
        117_650_000,
    )


def test_keyvals_of_interim_results_are_a_series(tmp_path):
    interim = "".join(
        f"NETPERF_INTERIM_RESULT[{n}]={10 + n}.00\nNETPERF_UNITS[{n}]=10^6bits/s\nNETPERF_INTERVAL[{n}]=0.50\nNETPERF_ENDING[{n}]=170000000{n}.500\n"
        for n in range(3)
    )
    (tmp_path / "k.txt").write_text(interim + KEYVALS)
    (result,) = read([tmp_path / "k.txt"]).values()
    assert result.timeseries["value"].tolist() == [10e6, 11e6, 12e6]
    assert result.timeseries["time_s"].tolist() == [0.5, 1.5, 2.5]


def test_udp_of_the_sender_alone_is_no_goodput(tmp_path):
    (tmp_path / "k.txt").write_text(KEYVALS.replace("PROTOCOL=TCP", "PROTOCOL=UDP"))
    (result,) = read([tmp_path / "k.txt"]).values()
    assert result.runs[0]["totals"]["goodput_bps"] is None
    assert any("REMOTE_RECV_THROUGHPUT" in warning for warning in result.warnings)


def test_several_runs_of_netperf_are_several_tests(tmp_path):
    assert [run["flows"][0]["traffic"] for run in runs_of(tmp_path, STREAM + RR)] == ["bulk", "ping"]


# iperf 2

CSV = """20240115120001,10.0.0.2,54321,10.0.0.1,5001,3,0.0-1.0,1250000,10000000
20240115120002,10.0.0.2,54321,10.0.0.1,5001,3,1.0-2.0,2500000,20000000
20240115120002,10.0.0.2,54321,10.0.0.1,5001,3,0.0-2.0,3750000,15000000
"""
SERVER = "20240115120002,10.0.0.1,5001,10.0.0.2,54321,4,0.0-2.0,3675000,14700000,0.125,50,2550,1.961,0\n"
TEXT = """------------------------------------------------------------
Client connecting to 10.0.0.1, TCP port 5001
TCP window size: 85.0 KByte (default)
------------------------------------------------------------
[  3] local 10.0.0.2 port 54321 connected with 10.0.0.1 port 5001
[ ID] Interval       Transfer     Bandwidth
[  3]  0.0- 1.0 sec  1.19 MBytes  10.0 Mbits/sec
[  3]  1.0- 2.0 sec  2.38 MBytes  20.0 Mbits/sec
[  3]  0.0- 2.0 sec  3.58 MBytes  15.0 Mbits/sec
"""
ENHANCED = """Client connecting to 10.0.0.1, TCP port 5001 with pid 77 (1 flows)
[  1] local 10.0.0.2 port 54321 connected with 10.0.0.1 port 5001 (sock=3) (icwnd/mss/irtt=14/1448/20000) (ct=20.10 ms)
[ ID] Interval            Transfer    Bandwidth       Write/Err  Rtry     Cwnd/RTT(var)        NetPwr
[  1] 0.0000-1.0000 sec  1.19 MBytes  10.0 Mbits/sec  10/0         2       50K/20000(500) us  62.5
[  1] 1.0000-2.0000 sec  2.38 MBytes  20.0 Mbits/sec  20/0         3      100K/40000(500) us  62.5
[  1] 0.0000-2.0000 sec  3.58 MBytes  15.0 Mbits/sec  30/0         5      100K/40000(500) us  46.9
"""
UDP_TEXT = """------------------------------------------------------------
Server listening on UDP port 5001
------------------------------------------------------------
[  3] local 10.0.0.1 port 5001 connected with 10.0.0.2 port 54321
[ ID] Interval       Transfer     Bandwidth        Jitter   Lost/Total Datagrams
[  3]  0.0-10.0 sec  1.25 MBytes  1.05 Mbits/sec   0.080 ms   89/  893 (10%)
"""


def test_a_client_of_iperf2_counts_what_it_wrote(tmp_path):
    (tmp_path / "i.csv").write_text(CSV)
    (result,) = read([tmp_path / "i.csv"]).values()
    (flow,) = result.runs[0]["flows"]
    assert (flow["id"], flow["goodput_bps"], flow["bytes_delivered"]) == ("10.0.0.2.up", 15e6, None)
    assert result.timeseries["value"].tolist() == [10e6, 20e6]
    # Nothing went down, of which there is no sum.
    assert result.runs[0]["totals"]["goodput_down_bps"] is None
    assert any("goodput is the sender's writes" in warning for warning in result.warnings)


def test_the_report_of_a_server_has_what_arrived(tmp_path):
    # 3,675,000 bytes in 2 s; 50 of 2,550 datagrams lost.
    (flow,) = flows_of(tmp_path, SERVER)
    assert (flow["id"], flow["transport"], flow["goodput_bps"]) == ("10.0.0.2.up", "udp", 14.7e6)
    assert (flow["loss_fraction"], flow["jitter_s"]) == (pytest.approx(50 / 2550), pytest.approx(125e-6))
    # The same behind the rows of its client.
    (both,) = flows_of(tmp_path, CSV + SERVER)
    assert (both["goodput_bps"], both["bytes_delivered"]) == (14.7e6, 3_675_000)


def test_sums_of_parallel_connections_are_no_flow(tmp_path):
    rows = (
        CSV
        + CSV.replace("54321", "54322").replace(",3,", ",4,")
        + "20240115120002,10.0.0.2,0,10.0.0.1,5001,-1,0.0-2.0,7500000,30000000\n"
    )
    (run,) = runs_of(tmp_path, rows)
    assert len(run["flows"]) == 2 and run["totals"]["goodput_bps"] == 30e6


def test_a_test_in_both_directions_has_a_flow_for_each(tmp_path):
    back = CSV.replace("10.0.0.2,54321,10.0.0.1,5001,3", "10.0.0.2,5001,10.0.0.1,40000,4")
    assert [flow["direction"] for flow in flows_of(tmp_path, CSV + back)] == ["up", "down"]


@pytest.mark.parametrize("text", [TEXT, ENHANCED])
def test_text_of_iperf2_has_its_bandwidth(tmp_path, text):
    (tmp_path / "i.txt").write_text(text)
    (result,) = read([tmp_path / "i.txt"]).values()
    assert result.runs[0]["totals"]["goodput_bps"] == pytest.approx(15e6)
    series = result.timeseries
    assert series[series["metric"] == "goodput_bps"]["value"].tolist() == [10e6, 20e6]


def test_an_id_that_is_used_again_is_of_another_test(tmp_path):
    """A server gives the id of a connection that ended to the next one."""
    (tmp_path / "i.txt").write_text(
        UDP_TEXT + "".join(UDP_TEXT.splitlines(keepends=True)[3:]).replace("1.05 M", "2.10 M")
    )
    runs = [result.runs[0] for result in read([tmp_path / "i.txt"]).values()]
    assert [run["totals"]["goodput_bps"] for run in runs] == [pytest.approx(1.05e6), pytest.approx(2.1e6)]
    assert [[flow["id"] for flow in run["flows"]] for run in runs] == [["10.0.0.2.up"], ["10.0.0.2.up"]]


def test_enhanced_reports_have_the_kernels_window_and_rtt(tmp_path):
    (flow,) = flows_of(tmp_path, ENHANCED)
    # 20 and 40 ms for a second each; 2 and 3 segments were sent again.
    assert (flow["rtt_mean_s"], flow["segments_retransmitted"]) == (pytest.approx(0.03), 5)


def test_datagrams_lost_are_in_the_text_of_a_server(tmp_path):
    (flow,) = flows_of(tmp_path, UDP_TEXT)
    assert (flow["goodput_bps"], flow["loss_fraction"]) == (pytest.approx(1.05e6), pytest.approx(89 / 893))


# ping

IPUTILS = """PING example.com (192.0.2.1) 56(84) bytes of data.
64 bytes from 192.0.2.1: icmp_seq=1 ttl=56 time=10.0 ms
64 bytes from 192.0.2.1: icmp_seq=2 ttl=56 time=20.0 ms
64 bytes from 192.0.2.1: icmp_seq=2 ttl=56 time=25.0 ms (DUP!)
From 10.0.0.1 icmp_seq=3 Destination Host Unreachable
64 bytes from 192.0.2.1: icmp_seq=4 ttl=56 time=30.0 ms

--- example.com ping statistics ---
4 packets transmitted, 3 received, +1 duplicates, 25% packet loss, time 600ms
rtt min/avg/max/mdev = 10.000/20.000/30.000/8.165 ms
"""
STAMPED = "".join(
    f"[170000000{n}.500000] 64 bytes from 192.0.2.1: icmp_seq={n + 1} ttl=56 time={10 * (n + 1)}.0 ms\n"
    for n in range(3)
)
BUSYBOX = """PING 192.0.2.1 (192.0.2.1): 56 data bytes
64 bytes from 192.0.2.1: seq=0 ttl=56 time=10.000 ms
64 bytes from 192.0.2.1: seq=1 ttl=56 time=20.000 ms
64 bytes from 192.0.2.1: seq=3 ttl=56 time=30.000 ms

--- 192.0.2.1 ping statistics ---
4 packets transmitted, 3 packets received, 25% packet loss
round-trip min/avg/max = 10.000/20.000/30.000 ms
"""
MACOS = (
    BUSYBOX.replace("seq=", "icmp_seq=")
    .replace("seq=3", "seq=2")
    .replace(
        "64 bytes from 192.0.2.1: icmp_seq=2", "Request timeout for icmp_seq 2\n64 bytes from 192.0.2.1: icmp_seq=3", 1
    )
)
WINDOWS = """
Pinging example.com [192.0.2.1] with 32 bytes of data:
Reply from 192.0.2.1: bytes=32 time=10ms TTL=56
Request timed out.
Reply from 192.0.2.1: bytes=32 time=20ms TTL=56
Reply from 192.0.2.1: bytes=32 time=30ms TTL=56

Ping statistics for 192.0.2.1:
    Packets: Sent = 4, Received = 3, Lost = 1 (25% loss),
Approximate round trip times in milli-seconds:
    Minimum = 10ms, Maximum = 30ms, Average = 20ms
"""


@pytest.mark.parametrize("text", [IPUTILS, BUSYBOX, MACOS, WINDOWS])
def test_ping_of_every_system_has_round_trips_and_losses(tmp_path, text):
    (run,) = runs_of(tmp_path, text)
    (flow,) = run["flows"]
    assert (flow["traffic"], flow["rtt_mean_s"], flow["rtt_min_s"]) == (
        "ping",
        pytest.approx(0.02),
        pytest.approx(0.01),
    )
    assert (flow["segments_sent"], flow["loss_fraction"]) == (4, pytest.approx(0.25))
    assert run["totals"]["goodput_bps"] is None


def test_times_of_echoes_are_their_stamps_or_their_numbers(tmp_path):
    (tmp_path / "p.txt").write_text("PING a (192.0.2.1) 56(84) bytes of data.\n" + STAMPED)
    (result,) = read([tmp_path / "p.txt"]).values()
    assert result.timeseries["time_s"].tolist() == [0, 1, 2]
    assert (result.runs[0]["capture"]["began_s"], result.warnings) == (1_700_000_000.5, [])
    # 600 ms for four echoes are 200 ms between two.
    (tmp_path / "q.txt").write_text(IPUTILS)
    (result,) = read([tmp_path / "q.txt"]).values()
    assert result.timeseries["time_s"].tolist() == pytest.approx([0, 0.2, 0.6])


def test_a_host_that_does_not_answer_is_named(tmp_path):
    with pytest.raises(Unreadable, match="no echo was answered"):
        runs_of(
            tmp_path,
            "PING a (192.0.2.1): 56 data bytes\n\n--- a ping statistics ---\n3 packets transmitted, 0 packets received\n",
        )


# Flent


def flent(tmp_path, series, meta, raw, **metadata):
    document = {
        "metadata": {"NAME": "old", "HOST": "server", "LOCAL_HOST": "laptop", "SERIES_META": meta, **metadata},
        "x_values": [0.0, 1.0, 2.0, 3.0],
        "results": series,
        "raw_values": raw,
    }
    file = tmp_path / "old.flent"
    file.write_text(json.dumps(document))
    (result,) = read([file]).values()
    return result.runs[0]


def test_transactions_of_flents_pings_are_rates_and_not_times(tmp_path):
    # 20 and 10 transactions a second for a second each: 30 in 2 s, 66.7 ms each.
    raw = {"Ping (ms) UDP": [{"t": 1.7e9, "dur": 1.0, "val": 20.0}, {"t": 1.7e9 + 1, "dur": 1.0, "val": 10.0}]}
    series = {"Ping (ms) UDP": [50.0, 100.0, None, None]}
    (flow,) = flent(tmp_path, series, {"Ping (ms) UDP": {"UNITS": "ms"}}, raw, T0="2023-11-14T22:13:20Z")["flows"]
    assert (flow["rtt_mean_s"], flow["rtt_p95_s"]) == (pytest.approx(2 / 30), None)
    run = flent(
        tmp_path, series, {"Ping (ms) UDP": {"UNITS": "ms", "MEAN_VALUE": 70.0}}, raw, T0="2023-11-14T22:13:20Z"
    )
    assert run["flows"][0]["rtt_mean_s"] == pytest.approx(0.07)


def test_local_times_of_old_versions_have_the_zone_of_their_samples(tmp_path):
    # 1.7e9 is 22:13:20 UTC; the host wrote its time, two hours later, without its zone.
    raw = {"Ping (ms) ICMP": [{"t": 1.7e9 + n, "seq": n, "val": 10.0 + n} for n in range(4)]}
    series = {"Ping (ms) ICMP": [10.0, 11.0, 12.0, 13.0]}
    run = flent(
        tmp_path, series, {"Ping (ms) ICMP": {"UNITS": "ms", "MEAN_VALUE": 11.4}}, raw, T0="2023-11-15T00:13:20"
    )
    assert run["capture"]["began_s"] == 1.7e9
    assert run["flows"][0]["rtt_mean_s"] == pytest.approx(0.0115)
    # Flent's own mean is of its tool, over the whole test.
    assert run["capture"]["flows"][0]["reported_mean"] == pytest.approx(0.0114)


def test_latency_of_http_is_the_time_of_a_page(tmp_path):
    run = flent(tmp_path, {"HTTP latency": [1.0, 2.0, 3.0, None]}, {"HTTP latency": {"UNITS": "ms"}}, {})
    (flow,) = run["flows"]
    assert (flow["traffic"], flow["page_load_time_mean_s"]) == ("web", pytest.approx(0.002))
    assert run["totals"]["goodput_bps"] is None


# Bad files


def test_a_bomb_is_refused_before_it_unpacks(tmp_path):
    file = tmp_path / "bomb.flent.gz"
    file.write_bytes(gzip.compress(b'{"x_values": [') + 3000 * gzip.compress(b"0," * (1 << 19)))
    with pytest.raises(Unreadable, match="has more than"):
        read([file])


def test_a_log_of_one_endless_line_is_refused(tmp_path):
    file = tmp_path / "bomb.ss.gz"
    file.write_bytes(gzip.compress(b"1700000000\nESTAB 0 0 10.0.0.2:1 10.0.0.1:2\n\t " + b"a" * (3 << 20)))
    with pytest.raises(Unreadable, match="line 3: is longer than 1 MiB"):
        read([file])


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda document: document["intervals"][0].update(streams=1.0), r"intervals\[0\]\.streams is not a list of objects"),
        (lambda document: document["intervals"][1]["streams"].append(None), r"intervals\[1\]\.streams is not a list of objects"),
        (lambda document: document["end"].update(streams=1), r"end\.streams is not a list of objects"),
    ],
)  # fmt: skip
def test_streams_of_iperf3_that_are_no_rows_are_refused(tmp_path, change, said):
    document = json.loads((Path(__file__).parents[1] / "data" / "testbed" / "up.client.json").read_text())
    change(document)
    with pytest.raises(Unreadable, match=said):
        runs_of(tmp_path, json.dumps(document), "up.json")


def test_text_in_utf_16_is_read_as_windows_writes_it(tmp_path):
    file = tmp_path / "ping.txt"
    file.write_bytes(WINDOWS.encode("utf-16"))
    assert kind_of(str(file)) == "ping"
    (result,) = read([file]).values()
    assert result.runs[0]["flows"][0]["rtt_mean_s"] == pytest.approx(0.02)
