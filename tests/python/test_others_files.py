"""Files of iperf3, Flent and ss become results: what their programs say of a test is what the result says, and nothing more."""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path

import jsonschema
import lasthop
import pytest
from lasthop import _core
from lasthop.foreign.testbed import Unreadable, kind_of, read

DATA = Path(__file__).parents[1] / "data" / "testbed"


def files(*names: str) -> list[str]:
    return [str(DATA / name) for name in names]


def only(*names: str):
    """The result of the one test that these files tell of."""
    (result,) = read(files(*names)).values()
    return result


def run_of(*names: str) -> dict:
    (run,) = only(*names).runs
    return run


def flows_of(*names: str) -> dict[str, dict]:
    return {flow["id"]: flow for flow in run_of(*names)["flows"]}


def ended(name: str) -> dict:
    """What iperf3 says at the end of a file."""
    return json.loads((DATA / name).read_text())["end"]


def series_of(result, metric: str, entity: str):
    table = result.timeseries
    return table[(table["metric"] == metric) & (table["entity"] == entity)].sort_values("time_s")


# iperf3


@pytest.mark.parametrize(
    "names",
    [
        ["up.client.json"],
        ["up.server.json"],
        ["up.client.json", "up.server.json"],
        ["up.server.json", "up.client.json"],
    ],
)
def test_goodput_of_tcp_is_the_receivers_in_files_of_either_end(names):
    said = ended("up.server.json")["sum_received"]
    (flow,) = run_of(*names)["flows"]
    assert (flow["id"], flow["direction"], flow["transport"]) == ("10.1.0.2.up", "up", "tcp")
    assert flow["bytes_delivered"] == said["bytes"]
    assert flow["goodput_bps"] == pytest.approx(said["bits_per_second"])


def test_the_senders_window_and_rtt_are_those_of_its_kernel():
    flow = flows_of("up.client.json")["10.1.0.2.up"]
    end = ended("up.client.json")["streams"][0]["sender"]
    # iperf3 counts the window in bytes; the segment was 1448.
    assert flow["cwnd_max_segments"] == end["max_snd_cwnd"] / 1448
    # iperf3 divides by whole intervals and cuts off below a microsecond.
    assert flow["rtt_mean_s"] == pytest.approx(end["mean_rtt"] * 1e-6, rel=1e-3)
    assert flow["segments_retransmitted"] == end["retransmits"]
    assert flow["congestion_control"] == "bbr"
    # The smallest of a few smoothed RTTs is not the smallest RTT, and timeouts were not counted.
    assert [flow[key] for key in ("rtt_min_s", "rtt_p95_s", "timeouts", "starved_s", "segments_sent")] == [None] * 5


def test_the_file_of_a_receiver_has_no_window_and_that_of_both_ends_has():
    assert flows_of("down.client.json")["10.1.0.2.down"]["cwnd_mean_segments"] is None
    # The server's file does not say its segment: 1448 is what divides every window that it has, with a path of 1500 bytes.
    for names in (["down.server.json"], ["down.client.json", "down.server.json"]):
        flow = flows_of(*names)["10.1.0.2.down"]
        assert flow["cwnd_max_segments"] == 165072 / 1448
        assert flow["segments_retransmitted"] == 59


def test_goodput_of_a_sender_alone_is_unknown_where_the_ends_did_not_exchange():
    result = only("down.server.json")
    assert result.runs[0]["totals"]["goodput_bps"] is None
    assert any("goodput is unknown" in warning and "client" in warning for warning in result.warnings)


def test_omitted_seconds_are_the_warm_up():
    result = only("down.client.json")
    capture = result.runs[0]["capture"]
    assert (capture["from_s"], result.scenario["warmup"]) == (1.0, "1.0 s")
    goodput = series_of(result, "goodput_bps", "10.1.0.2.down")
    assert len(goodput) == 5 and goodput["time_s"].iloc[0] == pytest.approx(1.0, abs=0.01)
    assert goodput["time_s"].iloc[-1] == pytest.approx(5.0, abs=0.01)
    assert goodput["value"].iloc[1:].mean() == pytest.approx(result.runs[0]["totals"]["goodput_bps"], rel=0.01)


@pytest.mark.parametrize("names", [["bidir.client.json"], ["bidir.client.json", "bidir.server.json"]])
def test_both_ways_and_parallel_streams_are_flows_of_their_own(names):
    run = run_of(*names)
    assert [flow["id"] for flow in run["flows"]] == ["10.1.0.2.up", "10.1.0.2.up.2", "10.1.0.2.down", "10.1.0.2.down.2"]
    end = ended("bidir.client.json")
    assert run["totals"]["goodput_up_bps"] == pytest.approx(end["sum_received"]["bits_per_second"], rel=1e-6)
    assert run["totals"]["goodput_down_bps"] == pytest.approx(
        end["sum_received_bidir_reverse"]["bits_per_second"], rel=1e-6
    )
    a, b, c, d = (flow["goodput_bps"] for flow in run["flows"])
    assert run["totals"]["jain_index"] == pytest.approx((a + b + c + d) ** 2 / (4 * (a * a + b * b + c * c + d * d)))


@pytest.mark.parametrize("name", ["udp.client.json", "udp.server.json"])
def test_udp_has_loss_jitter_and_received_bytes(name):
    (flow,) = run_of(name)["flows"]
    said = ended("udp.server.json")["sum_received"]
    assert flow["goodput_bps"] == pytest.approx(said["bits_per_second"], rel=1e-5)
    assert (flow["transport"], flow["segments_sent"], flow["loss_fraction"]) == ("udp", said["packets"], 0.0)
    assert flow["jitter_s"] == said["jitter_ms"] / 1e3
    assert flow["congestion_control"] is None


def test_datagrams_that_are_lost_are_no_goodput(tmp_path):
    document = json.loads((DATA / "udp.client.json").read_text())
    row = document["end"]["streams"][0]["udp"]
    row["lost_packets"] = 1000
    (tmp_path / "lossy.json").write_text(json.dumps(document))
    (flow,) = next(iter(read([tmp_path / "lossy.json"]).values())).runs[0]["flows"]
    assert flow["loss_fraction"] == 1000 / row["packets"]
    assert flow["bytes_delivered"] == (row["packets"] - 1000) * 1448


def test_a_download_of_udp_counts_at_the_client():
    (flow,) = run_of("udpdown.client.json")["flows"]
    said = ended("udpdown.client.json")["sum_received"]
    assert (flow["direction"], flow["segments_sent"], flow["bytes_delivered"]) == (
        "down",
        said["packets"],
        said["bytes"],
    )


@pytest.mark.parametrize("names", [["old.client.json"], ["old.server.json"]])
def test_versions_without_the_sender_are_read(names):
    run = run_of(*names)
    assert run["capture"]["version"] == "iperf 3.1.3"
    assert [flow["direction"] for flow in run["flows"]] == ["up", "up"]
    said = [each["receiver"] for each in ended(names[0])["streams"]]
    assert [flow["goodput_bps"] for flow in run["flows"]] == pytest.approx([row["bits_per_second"] for row in said])


def test_a_stream_of_events_equals_the_document(tmp_path):
    events = [json.loads(line) for line in (DATA / "stream.client.json").read_text().splitlines()]
    document = {
        "start": events[0]["data"],
        "intervals": [event["data"] for event in events[1:-1]],
        "end": events[-1]["data"],
    }
    (tmp_path / "stream.client.json").write_text(json.dumps(document, indent=1))
    (whole,) = read([tmp_path / "stream.client.json"]).values()
    of_events = run_of("stream.client.json")
    assert of_events["flows"] == whole.runs[0]["flows"]
    assert of_events["flows"][0]["goodput_bps"] == pytest.approx(18869392.77)


def test_a_stream_that_was_cut_off_is_read_up_to_there(tmp_path):
    text = (DATA / "stream.client.json").read_text()
    lines = text.splitlines()
    (tmp_path / "cut.json").write_text("\n".join(lines[:3]) + "\n" + lines[3][:100])
    (result,) = read([tmp_path / "cut.json"]).values()
    first, second = (json.loads(line)["data"]["sum"] for line in lines[1:3])
    expected = (first["bytes"] + second["bytes"]) * 8 / (first["seconds"] + second["seconds"])
    assert result.runs[0]["totals"]["goodput_bps"] == pytest.approx(expected)
    assert any("ended early" in warning for warning in result.warnings)


def test_a_reverse_test_has_the_server_as_sender():
    fetched, both = run_of("new.client.json"), run_of("new.client.json", "new.server.json")
    assert fetched["flows"] == both["flows"]
    down = fetched["flows"][1]
    assert (down["direction"], down["congestion_control"]) == ("down", "cubic")
    assert down["cwnd_mean_segments"] is not None


def test_an_interrupted_test_counts_its_whole_intervals():
    # The row at the end has the bytes of 1.9 s over the time of one interval, 40.9 Mbit/s over a link of 20.
    assert ended("interrupted.client.json")["streams"][0]["sender"]["bits_per_second"] > 40e6
    assert flows_of("interrupted.client.json")["10.1.0.2.up"]["goodput_bps"] is None
    server = json.loads((DATA / "interrupted.server.json").read_text())
    rows = [interval["sum"] for interval in server["intervals"]]
    expected = sum(row["bytes"] for row in rows) * 8 / sum(row["seconds"] for row in rows)
    for names in (["interrupted.server.json"], ["interrupted.client.json", "interrupted.server.json"]):
        result = only(*names)
        assert result.runs[0]["totals"]["goodput_bps"] == pytest.approx(expected)
        assert any("ended early" in warning for warning in result.warnings)


# ss


def test_a_log_of_ss_alone_agrees_with_iperf3():
    said = run_of("up.client.json", "up.server.json")["flows"][0]
    for names in (["up.client.ss.gz"], ["up.server.ss.gz"], ["up.client.ss.gz", "up.server.ss.gz"]):
        (flow,) = run_of(*names)["flows"]
        assert (flow["id"], flow["direction"]) == ("10.1.0.2.up", "up")
        # Samples are 0.2 s apart, which is the doubt about both ends of 5 s.
        assert flow["goodput_bps"] == pytest.approx(said["goodput_bps"], rel=0.02)
    (flow,) = run_of("up.client.ss.gz")["flows"]
    assert flow["congestion_control"] == "bbr"
    assert flow["rtt_mean_s"] == pytest.approx(said["rtt_mean_s"], rel=0.05)


def test_a_log_of_ss_adds_the_state_of_the_socket_to_iperf3():
    flow = flows_of("up.client.json", "up.client.ss.gz")["10.1.0.2.up"]
    assert flow["goodput_bps"] == flows_of("up.client.json")["10.1.0.2.up"]["goodput_bps"]
    log = gzip.decompress((DATA / "up.client.ss.gz").read_bytes()).decode()
    data = [line for line in log.splitlines() if "data_segs_out" in line]
    assert flow["rtt_min_s"] == pytest.approx(
        min(float(found) for line in data for found in re.findall(r"minrtt:([\d.]+)", line)) / 1e3, rel=0.02
    )
    assert flow["segments_sent"] == max(
        int(found) for line in data for found in re.findall(r"data_segs_out:(\d+)", line)
    )
    result = only("up.client.json", "up.client.ss.gz")
    assert len(series_of(result, "cwnd_segments", flow["id"])) > 20
    assert {"pacing_rate_bps", "delivery_rate_bps", "ssthresh_segments", "flight_size"} <= set(
        result.timeseries["metric"]
    )
    assert not any("the sender's writes" in warning for warning in result.warnings)


def test_a_log_finds_the_goodput_that_an_interrupted_client_does_not_know():
    flow = flows_of("interrupted.client.json", "interrupted.client.ss.gz")["10.1.0.2.up"]
    server = json.loads((DATA / "interrupted.server.json").read_text())["intervals"][0]["sum"]
    assert flow["goodput_bps"] == pytest.approx(server["bits_per_second"], rel=0.05)


def test_a_log_of_ss_adds_to_the_flows_whose_connections_it_has():
    flows = flows_of("bidir.server.json", "bidir.client.ss.gz")
    said = flows_of("bidir.client.json")
    for name in ("10.1.0.2.down", "10.1.0.2.down.2"):
        assert flows_of("bidir.server.json")[name]["goodput_bps"] is None
        assert flows[name]["goodput_bps"] == pytest.approx(said[name]["goodput_bps"], rel=0.03)


LINE = "ESTAB 0 0 10.0.0.2:40000 10.0.0.1:5201\n\t cubic wscale:7,7 rto:204 rtt:{rtt}/1 mss:1000 cwnd:{cwnd} bytes_acked:{acked}{more}\n"


def log_of(*samples: tuple[str, int, str]) -> str:
    return "".join(
        f"{time}\nState Recv-Q Send-Q Local Address:Port Peer Address:Port\n{LINE.format(rtt=20, cwnd=10 + place, acked=acked, more=more)}"
        for place, (time, acked, more) in enumerate(samples)
    )


def test_numbers_of_ss_are_those_of_its_text(tmp_path):
    # A connection older than the log: earlier traffic does not count. 1 MB in 2 s are 4 Mbit/s.
    text = log_of(
        ("1700000000.0", 5_000_000, " retrans:0/3 pacing_rate 10.5Mbps delivery_rate 9Mbps"),
        ("1700000001.0", 5_400_000, " retrans:1/4"),
        ("1700000002.0", 6_000_000, " retrans:0/9 data_segs_out:77"),
    )
    (tmp_path / "ss.log").write_text(text)
    (result,) = read([tmp_path / "ss.log"]).values()
    (flow,) = result.runs[0]["flows"]
    assert (flow["goodput_bps"], flow["bytes_delivered"]) == (4e6, 1_000_000)
    assert flow["segments_retransmitted"] == 6
    assert flow["congestion_control"] == "cubic"
    # Samples stand for the time before them: 11 and 12 segments for a second each.
    assert (flow["cwnd_mean_segments"], flow["cwnd_max_segments"]) == (11.5, 12)
    assert series_of(result, "goodput_bps", flow["id"])["value"].tolist() == [3.2e6, 4.8e6]
    assert series_of(result, "pacing_rate_bps", flow["id"])["value"].tolist() == [10.5e6]


@pytest.mark.parametrize(
    "times",
    [
        ("1700000000.5", "1700000001.5"),
        ("1700000000500", "1700000001500"),
        ("1700000000500000000", "1700000001500000000"),
        ("2023-11-14T22:13:20+00:00", "2023-11-14T22:13:21+00:00"),
        ("Tue Nov 14 22:13:20 UTC 2023", "Tue Nov 14 22:13:21 UTC 2023"),
        ("# 1700000000.5", "# 1700000001.5"),
    ],
)
def test_times_are_read_as_they_are_commonly_logged(times, tmp_path):
    (tmp_path / "ss.log").write_text(log_of((times[0], 0, ""), (times[1], 1_000_000, "")))
    (result,) = read([tmp_path / "ss.log"]).values()
    assert result.runs[0]["flows"][0]["goodput_bps"] == pytest.approx(8e6)


# Flent


def test_throughput_of_flent_is_netperfs_and_pings_are_as_measured_under_load():
    document = json.loads(gzip.decompress((DATA / "tcp_upload.flent.gz").read_bytes()))
    result = only("tcp_upload.flent.gz")
    run = result.runs[0]
    flows = {flow["id"]: flow for flow in run["flows"]}
    upload, ping = flows["vm.tcp-upload"], flows["vm.ping-icmp"]
    meta = document["metadata"]["SERIES_META"]["TCP upload"]
    assert upload["goodput_bps"] == run["totals"]["goodput_bps"] == meta["MEAN_VALUE"] * 1e6
    assert (upload["direction"], upload["bytes_delivered"], upload["congestion_control"]) == (
        "up",
        meta["BYTES_RECVD"],
        "bbr",
    )
    assert series_of(result, "goodput_bps", "vm.tcp-upload")["value"].tolist() == pytest.approx(
        [value * 1e6 for value in document["results"]["TCP upload"] if value is not None]
    )
    assert any("the sender's writes" in warning for warning in result.warnings)
    begun = lasthop.foreign.testbed.flent._moment(document["metadata"]["T0"])
    window = run["capture"]["from_s"], run["capture"]["to_s"]
    samples = [
        row["val"] for row in document["raw_values"]["Ping (ms) ICMP"] if window[0] <= row["t"] - begun <= window[1]
    ]
    assert 5 < len(samples) < len(document["raw_values"]["Ping (ms) ICMP"])
    assert ping["rtt_mean_s"] == pytest.approx(sum(samples) / len(samples) / 1e3)
    assert (ping["rtt_min_s"], ping["traffic"], ping["goodput_bps"]) == (min(samples) / 1e3, "ping", None)
    assert ping["rtt_quantiles_s"] == sorted(ping["rtt_quantiles_s"]) and len(ping["rtt_quantiles_s"]) == len(
        run["quantile_probabilities"]
    )


def test_quantiles_of_pings_have_the_keys_of_runs(small):
    run = lasthop.run(lasthop.load(small), seeds=1, interval_s=None).runs[0]
    assert run_of("tcp_upload.flent.gz")["quantile_probabilities"] == pytest.approx(run["quantile_probabilities"])


def test_socket_samples_of_flent_belong_to_their_flow():
    # 20 and 10 Mbit/s; windows of 90 and 40 segments and RTTs of 50 and 60 ms are samples, not flows.
    run = run_of("socket-stats.flent")
    assert run["totals"]["goodput_bps"] == pytest.approx(30e6)
    uploads = {flow["id"]: flow for flow in run["flows"] if flow["traffic"] == "bulk"}
    assert list(uploads) == ["laptop.tcp-upload-1", "laptop.tcp-upload-2"]
    first, second = uploads.values()
    assert (first["cwnd_mean_segments"], first["rtt_mean_s"]) == pytest.approx((90, 0.05))
    assert (second["cwnd_max_segments"], second["rtt_mean_s"]) == pytest.approx((40, 0.06))


def test_units_of_flent_come_from_the_file(tmp_path):
    document = json.loads((DATA / "socket-stats.flent").read_text())
    document["metadata"]["SERIES_META"]["TCP upload::1"] = {"UNITS": "Kbits/s", "MEAN_VALUE": 20_000.0}
    document["metadata"]["SERIES_META"]["TCP upload::2"] = {"UNITS": "packets", "MEAN_VALUE": 10.0}
    file = tmp_path / "units.flent"
    file.write_text(json.dumps(document))
    (result,) = lasthop.foreign.testbed.read([file]).values()
    assert result.runs[0]["totals"]["goodput_bps"] == pytest.approx(20e6)
    assert any("TCP upload::2" in warning and "left out" in warning for warning in result.warnings)


def test_downloads_parallel_streams_and_classes_of_flent():
    assert [(flow["id"], flow["direction"]) for flow in run_of("tcp_download.flent.gz")["flows"]] == [
        ("vm.ping-icmp", "up"),
        ("vm.tcp-download", "down"),
    ]
    nup = flows_of("tcp_nup.flent.gz")
    assert set(nup) == {"vm.ping-icmp", "vm.tcp-upload-1", "vm.tcp-upload-2"}  # no averages, no sums
    rrul = flows_of("rrul.flent.gz")
    assert rrul["vm.tcp-upload-ef"]["dscp"] == "EF" and rrul["vm.tcp-download-cs5"]["dscp"] == "CS5"
    assert rrul["vm.tcp-upload-be"]["goodput_bps"] is None  # it never began
    assert run_of("rrul.flent.gz")["totals"]["goodput_bps"] is None


# Results


@pytest.mark.parametrize(
    "names", [["up.client.json"], ["udp.server.json"], ["tcp_upload.flent.gz"], ["up.client.ss.gz"]]
)
def test_results_are_valid_and_have_every_quantity(names, small):
    result = only(*names)
    jsonschema.validate(json.loads(result.to_json()), json.loads(_core.result_schema_json()))
    run = lasthop.run(lasthop.load(small), seeds=1, interval_s=None).runs[0]
    assert set(run["flows"][0]) <= set(result.runs[0]["flows"][0])
    assert set(run["totals"]) == set(result.runs[0]["totals"])
    assert result.runs[0]["simulator"]["kind"] == "capture"


def test_a_testbed_is_plotted_next_to_a_simulation(command, small, tmp_path):
    out = tmp_path / "out"
    done = command("analyze", *files("up.client.json", "up.server.json", "up.client.ss.gz"), "--out", out)
    assert done.returncode == 0, done.stderr
    assert command("run", small, "--seeds", "2", "--out", tmp_path / "run").returncode == 0
    for kind in ("goodput", "goodput_over_time", "cwnd", "rtt", "combined", "box"):
        drawn = command("plot", out, tmp_path / "run", "--kind", kind, "--out", tmp_path / f"{kind}.csv")
        assert drawn.returncode == 0, drawn.stderr
        assert "up.client" in (tmp_path / f"{kind}.csv").read_text()
    compared = command("compare", out, tmp_path / "run", "--json", "-")
    (goodput,) = [row for row in json.loads(compared.stdout)["rows"] if row["metric"] == "goodput"]
    assert goodput["a"]["mean"] == pytest.approx(19.273, abs=0.001) and goodput["difference"] is not None
    explained = command("explain", out)
    assert (
        explained.returncode == 2
        and "no scenario to run again" in explained.stderr
        and explained.stderr.count("\n") == 1
    )


def test_latency_under_load_is_drawn_of_pings(command, tmp_path):
    assert command("analyze", *files("tcp_upload.flent.gz"), "--out", tmp_path / "out").returncode == 0
    drawn = command("plot", tmp_path / "out", "--kind", "latency_cdf", "--out", tmp_path / "cdf.csv")
    assert drawn.returncode == 0, drawn.stderr
    assert "vm.ping-icmp" in (tmp_path / "cdf.csv").read_text()


def test_files_of_several_tests_get_a_folder_each(command, tmp_path):
    done = command("analyze", *files("up.client.json", "down.client.json", "up.server.json"), "--out", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["down.client", "up.client"]
    refused = command("analyze", *files("up.client.json", "down.client.json"), "--json", "-")
    assert refused.returncode == 2 and "--out DIR" in refused.stderr


def test_repetitions_become_runs_with_an_interval():
    again = json.loads((DATA / "up.client.json").read_text())
    (result,) = read(files("up.client.json", "interrupted.server.json"), repeats=True).values()
    assert result.seeds == [1, 2]
    first, second = (run["totals"]["goodput_bps"] for run in result.runs)
    assert first == pytest.approx(again["end"]["sum_received"]["bits_per_second"])
    assert result.summary["totals.goodput_bps"]["mean"] == pytest.approx((first + second) / 2)
    with pytest.raises(Unreadable, match=r"old\.client\.json: is not a repetition of the test in .*up\.client\.json"):
        read(files("up.client.json", "old.client.json"), repeats=True)


def test_a_server_of_two_tests_gives_two_results(tmp_path):
    both = (DATA / "up.server.json").read_text() + (DATA / "old.server.json").read_text()
    (tmp_path / "server.json").write_text(both)
    assert list(read([tmp_path / "server.json"])) == ["server", "server-2"]
    with_client = read([str(tmp_path / "server.json"), *files("up.client.json")])
    assert [len(result.runs[0]["capture"]["files"]) for result in with_client.values()] == [2, 1]


# Bad files


def damaged(name: str, content: bytes | str):
    return pytest.param(name, content if isinstance(content, bytes) else content.encode())


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("cut.json", (DATA / "up.client.json").read_bytes()[:3000], "line 138: is not complete JSON"),
        ("empty.json", b'{"start": {"connected": []}, "intervals": [], "end": {}}', "measured nothing"),
        (
            "odd.json",
            b'{"start": {"connected": 3}, "intervals": [{"streams": []}], "end": {}}',
            "start.connected names no connection",
        ),
        ("odd.json", b'{"start": [], "intervals": 4}', "no object with start, intervals and end"),
        (
            "sctp.json",
            b'{"start": {"connected": [{}], "test_start": {"protocol": "SCTP"}}, "intervals": [{}], "end": {}}',
            "a test of SCTP",
        ),
        ("end.json", b'{"event":"end","data":{}}', "its first event is 'end'"),
        ("cut.flent.gz", (DATA / "rrul.flent.gz").read_bytes()[:4000], "its gzip ends early"),
        ("text.flent", b"hello", "line 1: is not complete JSON"),
        ("odd.flent", b'{"metadata": {}, "results": {}}', "has no x_values"),
        (
            "odd.flent",
            b'{"metadata": {}, "results": {"a": [1]}, "x_values": [1, 2]}',
            "results.a has not one value for each of the 2",
        ),
        (
            "odd.flent",
            b'{"metadata": {}, "results": {"TCP upload": [null, null]}, "x_values": [1, 2]}',
            "has no values",
        ),
        ("untimed.log", b"ESTAB 0 0 10.0.0.2:40000 10.0.0.1:5201\n", "line 1: no time before this sample"),
        ("back.log", log_of(("1700000002", 1, ""), ("1700000001", 2, "")).encode(), "line 5: the time goes back"),
        ("bare.log", b"1700000000\nESTAB 0 0 10.0.0.2:40000 10.0.0.1:5201\n", "log `ss -tin`"),
        ("odd.log", b"1700000000\nESTAB 0 0 here\n", "line 2: no two addresses with ports"),
        ("idle.log", log_of(("1700000000", 1, ""), ("1700000001", 1, "")).encode(), "no connection in it carried data"),
    ],
)
def test_a_bad_file_gives_one_sentence_with_its_place(command, name, content, said, tmp_path):
    file = tmp_path / name
    file.write_bytes(content)
    done = command("analyze", file)
    assert done.returncode == 2, done.stderr
    assert done.stderr.startswith(f"lasthop: {file}") and said in done.stderr and done.stderr.count("\n") == 1


def test_a_failed_test_is_refused_with_its_reason(command):
    done = command("analyze", *files("refused.client.json"))
    assert done.returncode == 2
    assert done.stderr.endswith(
        "refused.client.json: iperf3 measured nothing: unable to connect to server: Connection refused; repeat the test\n"
    )


@pytest.mark.parametrize(
    ("options", "said"),
    [(["--from", "1s"], "--from: "), (["--to", "1s"], "--to: "), (["--interval", "1s", "--out", "x"], "--interval: ")],
)
def test_options_of_captures_are_refused(command, options, said, tmp_path):
    done = command("analyze", *files("up.client.json"), *options)
    assert done.returncode == 2 and done.stderr.startswith(f"lasthop: {said}")


@pytest.mark.parametrize(
    ("name", "kind"), [("up.client.json", "iperf3"), ("tcp_nup.flent.gz", "flent"), ("up.client.ss.gz", "ss")]
)
def test_a_plot_of_such_a_file_names_the_command_to_run_first(command, name, kind, tmp_path):
    (file,) = files(name)
    done = command("plot", file, "--out", tmp_path / "x.csv")
    assert done.returncode == 2
    assert (
        done.stderr
        == f"lasthop: {file}: is a file of {kind}; read it first with `lasthop analyze {file} --out DIR` and give DIR\n"
    )


def test_captures_and_other_files_are_not_mixed(command, tmp_path):
    capture = tmp_path / "air.pcap"
    capture.write_bytes(b"\xd4\xc3\xb2\xa1" + bytes(20))
    assert kind_of(str(capture)) is None
    done = command("analyze", capture, *files("up.client.json"))
    assert done.returncode == 2 and done.stderr.startswith(f"lasthop: {capture}: is not a file of iperf3")


def test_flipped_bytes_give_a_sentence_or_a_result(tmp_path):
    import random

    draw = random.Random(3)
    for name in ("bidir.client.json", "stream.server.json", "tcp_nup.flent.gz", "up.client.ss.gz"):
        data = (DATA / name).read_bytes()
        whole = gzip.decompress(data) if name.endswith(".gz") else data
        for number in range(60):
            text = bytearray(whole)
            for _ in range(draw.randrange(1, 30)):
                text[draw.randrange(len(text))] = draw.choice(b'0123456789-.:,{}[]"\n xe')
            file = tmp_path / f"{number}-{name.removesuffix('.gz')}"
            file.write_bytes(text)
            try:
                for result in read([file]).values():
                    result.to_json()
            except Unreadable as error:
                assert str(file) in str(error), f"{name}, number {number}"


@pytest.mark.parametrize(
    ("head", "line"),
    [
        # -tinmo, with its process and a zone, in two lines and in one; old iproute2 without brackets; services by name, with kinds of sockets.
        ("ESTAB 0 0 [fe80::2]%wlan0:40000 [fe80::1]%wlan0:5201 users:((\"iperf3\",pid=9,fd=5)) timer:(on,204ms,0) uid:1000 ino:7 sk:1 <->", "\n\t skmem:(r0,rb131072,t0) ts sack ecn"),
        ("ESTAB 0 0 10.0.0.2:40000 10.0.0.1:5201 timer:(on,204ms,0)", " skmem:(r0,rb131072,t0) ts sack"),
        ("ESTAB      0      0               fe80::2:40000                fe80::1:5201", "\n\t"),
        ("tcp   ESTAB 0 0 10.0.0.2:40000 example.com:https", "\n\t ts"),
    ],
)  # fmt: skip
def test_every_form_of_ss_has_the_same_numbers(tmp_path, head, line):
    others = "u_str ESTAB 0 0 * 21 * 22\nudp ESTAB 0 0 10.0.0.2:50 10.0.0.1:53\nLISTEN 0 128 *:22 *:*\n"
    text = "".join(
        f"170000000{second}\n{others}{head}{line} cubic wscale:7,7 rto:204 rtt:20/1 mss:1000 cwnd:{10 + second} bytes_acked:{1_000_000 * second} minrtt:5\n"
        for second in range(3)
    )
    (tmp_path / "ss.log").write_text(text)
    (result,) = read([tmp_path / "ss.log"]).values()
    (flow,) = result.runs[0]["flows"]
    assert (flow["goodput_bps"], flow["congestion_control"], flow["cwnd_max_segments"]) == (8e6, "cubic", 12)
    assert flow["rtt_min_s"] == pytest.approx(0.005) and "%" not in flow["id"] and "[" not in flow["id"]
