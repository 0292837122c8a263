"""`lasthop emulate` in virtual time: the same seed is the same run, and a result is one like any other."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import lasthop
import pytest
from emulator import UPLOADS, busy_loops, emulate, is_from, runs_of, some_kernel_or_skip
from page_bench import Page
from test_mistakes import refused

ROOT = Path(__file__).resolve().parents[2]
SHOWN_BY_THE_PAGE = (
    "",
    "/explained",
    "/explained/0",
    "/air/0/32/0",
    "/ppdus/10",
    "/curves/window/0/30/0",
    "/curves/rtt/0/30/0",
)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with the scenario, on a machine that has virtual time."""
    some_kernel_or_skip()
    directory = tmp_path_factory.mktemp("virtual")
    (directory / "cell.toml").write_text(UPLOADS)
    return directory


@pytest.fixture(scope="module")
def kept(place: Path) -> Path:
    """The directory of a result with all that can be kept; captures are in `captures` beside it."""
    line = ("--out", "kept", "--interval", "100ms", "--record", "air,tcp", "--pcap", "captures", "--explain")
    done = emulate("cell.toml", *line, cwd=place)
    assert done.returncode == 0, done.stderr
    assert "seed 1 is valid: p99 lateness" in done.stderr
    return place / "kept"


@pytest.fixture(scope="module")
def simulated(place: Path) -> Path:
    """The directory of a simulation of the same, with the same kept."""
    scenario = lasthop.load(place / "cell.toml")
    result = lasthop.run(scenario, seeds=[1], interval_s=0.1, record=("air", "tcp"), explain=True)
    result.save(place / "simulated")
    return place / "simulated"


class TestSeed:
    def test_is_the_same_run_on_a_busy_machine(self, place):
        assert emulate("cell.toml", "--seeds", 2, "--json", "two.json", cwd=place).returncode == 0
        (elsewhere := place / "a directory with another name").mkdir()
        with busy_loops(2):
            done = emulate(
                "../cell.toml",
                "--seed",
                1,
                "--json",
                "one.json",
                cwd=elsewhere,
                TZ="Asia/Tokyo",
                LANG="C",
                NEW="x" * 5000,
            )
        assert done.returncode == 0, done.stderr
        first, second = runs_of(place / "two.json")
        (loaded,) = runs_of(elsewhere / "one.json")
        assert loaded == first
        assert second["simulator"]["digest"] != first["simulator"]["digest"]
        for run in (first, second, loaded):
            assert run["simulator"]["certificate"]["lateness_p99_s"] < 2e-6

    def test_of_a_simulation_is_never_taken_for_that_of_an_emulation(self, kept, simulated):
        # One from TCP alone, the other from a kernel: near each other, but not equal.
        (real,), (model,) = runs_of(kept / "result.json"), runs_of(simulated / "result.json")
        goodput = real["totals"]["goodput_bps"], model["totals"]["goodput_bps"]
        assert goodput[0] != goodput[1]
        assert goodput[0] == pytest.approx(goodput[1], rel=0.1)


class TestResult:
    def test_agrees_with_a_simulation_of_the_same_scenario(self, kept, simulated):
        emulated, model = (
            json.loads((kept / "result.json").read_text()),
            json.loads((simulated / "result.json").read_text()),
        )
        assert list(emulated) == list(model)
        assert emulated["scenario"] == model["scenario"]
        for of_one, of_other in zip(emulated["runs"], model["runs"], strict=True):
            assert list(of_one) == list(of_other)
            for part in ("flows", "nodes", "links", "queues", "wires"):
                assert [list(row) for row in of_one[part]] == [list(row) for row in of_other[part]], part

    def test_fits_its_schema(self, kept, command):
        jsonschema = pytest.importorskip("jsonschema")
        schema = json.loads(command("self", "schema", "--result").stdout)
        jsonschema.validate(json.loads((kept / "result.json").read_text()), schema)

    def test_has_the_kernel_and_a_certificate(self, kept):
        (run,) = runs_of(kept / "result.json")
        simulator = run["simulator"]
        assert (simulator["kind"], simulator["time"]) == ("emulation", "virtual")
        assert simulator["kernel"].startswith(some_kernel_or_skip().version)
        certificate = simulator["certificate"]
        assert certificate["valid"] and certificate["faults"] == []
        assert certificate["strays"] == {} and certificate["tun_drops"] == certificate["refused"] == 0
        assert certificate["lateness_p50_s"] <= certificate["lateness_p99_s"] <= certificate["lateness_max_s"]
        # All of it, including ACKs, and no packet twice: a packet that was not lost is delivered once.
        sent = sum(flow["segments_sent"] for flow in run["flows"])
        assert sent < certificate["deliveries"] <= certificate["packets_sent"]

    def test_leaves_out_quantities_that_no_kernel_has(self, kept):
        (run,) = runs_of(kept / "result.json")
        for flow in run["flows"]:
            assert flow["ack_losses_detected"] is None
            # Linux counts its timeouts from 6.7 on.
            assert (flow["timeouts"] is not None) == is_from(run["simulator"]["kernel"], 6, 7)
            assert flow["segments_retransmitted"] is not None
            assert flow["bytes_delivered"] > 500_000

    def test_has_windows_and_round_trips_of_real_flows_over_time(self, kept):
        series = lasthop.read(kept).timeseries
        for flow in ("sta1.up", "sta2.up"):
            of_flow = series[series["entity"] == flow].pivot(index="time_s", columns="metric", values="value")
            assert len(of_flow) == 15
            # A window of ten segments at first, and 20 ms of wire to which the queue of the station adds.
            assert (of_flow["cwnd_segments"].iloc[1:] >= 2).all() and of_flow["cwnd_segments"].max() > 10
            assert (of_flow["rtt_s"].iloc[1:] > 0.02).all()

    def test_has_recordings(self, kept):
        result = lasthop.read(kept)
        ppdus = result.recording("ppdu").to_pandas()
        segments = result.recording("segment").to_pandas()
        assert len(ppdus) > 1000
        assert set(segments["flow"]) == {"sta1.up", "sta2.up"}
        assert len(result.recording("window")) > 0 and len(result.recording("rtt")) > 0


class TestTools:
    @pytest.mark.skipif(shutil.which("tshark") is None, reason="tshark is not installed")
    def test_tshark_reads_captures_and_follows_connections(self, kept):
        captures = kept.parent / "captures"
        assert {file.name for file in captures.iterdir()} == {
            "air.pcapng",
            "ap.pcapng",
            "server.pcapng",
            "sta1.pcapng",
            "sta2.pcapng",
        }
        for file in captures.iterdir():
            assert list(frames(file, "_ws.malformed")) == [], file.name
        server = captures / "server.pcapng"
        assert len(set(frames(server, "tcp.len > 0", "tcp.stream"))) == 2
        # Sequence numbers of a whole connection: the handshake is there, and no ACK is for unseen data.
        assert len(list(frames(server, "tcp.flags.syn == 1"))) == 4
        assert list(frames(server, "tcp.analysis.ack_lost_segment")) == []
        again = lasthop.read(kept).recording("segment").to_pandas()["again"].sum()
        out_of_order = len(list(frames(server, "tcp.analysis.out_of_order || tcp.analysis.retransmission")))
        assert 0 < out_of_order <= again

    def test_explain_reads_its_account(self, kept, command):
        done = command("explain", kept)
        assert done.returncode == 0, done.stderr
        assert "of each flow's time" in done.stdout and "own data on air" in done.stdout

    def test_explain_does_not_take_a_simulation_for_it(self, place, command, kept):
        document = json.loads((kept / "result.json").read_text())
        for run in document["runs"]:
            del run["account"]
        (place / "unexplained.json").write_text(json.dumps(document))
        refused(command("explain", place / "unexplained.json"), "a simulation cannot repeat", "`lasthop emulate FILE")

    def test_plot_draws_it(self, kept, command, tmp_path):
        for kind in ("goodput_over_time", "cwnd"):
            done = command("plot", "--kind", kind, "--out", tmp_path / f"{kind}.png", kept)
            assert done.returncode == 0, done.stderr
            assert (tmp_path / f"{kind}.png").stat().st_size > 5000

    def test_compare_lays_it_beside_a_simulation(self, kept, simulated, command):
        done = command("compare", simulated, kept)
        assert done.returncode == 0, done.stderr
        (row,) = [line for line in done.stdout.splitlines() if line.startswith("goodput (Mbit/s)")]
        model, real = (json.loads((folder / "result.json").read_text()) for folder in (simulated, kept))
        for document in (model, real):
            assert f"{document['runs'][0]['totals']['goodput_bps'] / 1e6:.3f}" in row

    def test_the_page_shows_it(self, kept):
        page = Page(kept)
        (entry,) = (entry for entry in page.get("/api/entries")["entries"] if entry["kind"] == "result")
        run = f"/api/runs/{entry['key']}"
        assert page.get(f"{run}/result")["runs"][0]["simulator"]["kind"] == "emulation"
        assert page.get(f"{run}/seeds/1")["recorded"] is True
        for part in SHOWN_BY_THE_PAGE:
            answer = page.client.get(f"{run}/seeds/1{part}")
            assert answer.status_code == 200, f"{part}: {answer.text}"


def frames(file: Path, wanted: str, field: str = "frame.number") -> Iterator[str]:
    """A field of the frames that pass a filter of tshark's."""
    line = ("tshark", "-n", "-r", str(file), "-Y", wanted, "-T", "fields", "-e", field)
    done = subprocess.run(line, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return iter(done.stdout.split())


@pytest.mark.parametrize("name", ("rrul", "hashimoto2016-anomaly-11n"))
def test_a_ready_scenario_is_emulated_as_it_is(place, name):
    file = ROOT / f"scenarios/{name}.toml"
    if not file.exists():
        pytest.skip("not in a source tree")
    settings = ("--set", "duration=1 s", "--set", "warmup=0 s")
    begun = [part for number in range(4) for part in ("--set", f"flow.{number}.start=0 s")] if name == "rrul" else []
    done = emulate(file, *settings, *begun, "--json", f"{name}.json", cwd=place)
    assert done.returncode == 0, done.stderr
    (run,) = runs_of(place / f"{name}.json")
    assert run["simulator"]["certificate"]["valid"]
    assert all(flow["bytes_delivered"] > 0 for flow in run["flows"] if flow["transport"] == "tcp")
