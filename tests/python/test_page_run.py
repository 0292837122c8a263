"""What the page tells of a run: tiles against sums over the recording, clicks against its rows, slices against the account."""

import io
import json
import os
import random
import time
from itertools import pairwise
from pathlib import Path

import lasthop
import numpy as np
import pyarrow
import pytest
from lasthop.page.air import BINS, ROWS
from lasthop.page.curves import CHARTS, curves_of
from lasthop.page.explaining import Slices
from lasthop.page.frames import holders, packet_facts, ppdu_facts
from lasthop.page.recording_view import RecordingView, recording_of_result
from lasthop.page.report import PPDUS, window_of
from page_bench import Page

ROOT = Path(__file__).parents[2]
MOST_BYTES = 64 * 1024


@pytest.fixture(scope="module")
def directory(tmp_path_factory):
    """A short run of a busy network, recorded."""
    scenario = lasthop.load(ROOT / "scenarios/office-11ax.toml").set("duration", "4 s").set("warmup", "1 s")
    result = lasthop.run(scenario, seeds=1, record="air,tcp,queue,backoff,waits,rate", explain=True)
    where = tmp_path_factory.mktemp("page") / "office"
    result.save(where)
    return where


@pytest.fixture(scope="module")
def result(directory):
    return lasthop.read(directory)


@pytest.fixture(scope="module")
def opened(result):
    return RecordingView.of(result, 1, recording_of_result(result, 1))


def read(content):
    """A tile as columns, and whether it is exact."""
    assert len(content) <= MOST_BYTES
    table = pyarrow.ipc.open_stream(io.BytesIO(content)).read_all()
    return {name: table.column(name).to_numpy() for name in table.column_names}, table.schema.metadata[b"exact"] == b"1"


def random_tiles(opened, levels, count):
    chance = random.Random(1)
    for _ in range(count):
        level = chance.choice(levels)
        yield level, chance.randrange(max(1, opened.recorded.duration_ns >> level))


def test_bins_have_the_airtime_of_each_node(opened):
    table = opened.recorded.rows("ppdu", ("start_ns", "duration_ns", "node", "mpdus", "decoded", "lost_to"))
    checked = 0
    for level, index in random_tiles(opened, range(27, 33), 30):
        columns, exact = read(opened.air_tile(0, level, index))
        if exact:
            continue
        checked += 1
        edges = (index << level) + (np.arange(BINS + 1) << (level - 8))
        for node in (0, 5, 20):
            mine = table["node"] == node
            start, end = table["start_ns"][mine], (table["start_ns"] + table["duration_ns"])[mine]
            shares = [
                np.clip(np.minimum(end, b) - np.maximum(start, a), 0, None).sum() / (b - a) for a, b in pairwise(edges)
            ]
            told = np.zeros(BINS)
            told[columns["bin"][columns["node"] == node]] = columns["busy"][columns["node"] == node]
            assert np.all(np.abs(told / 255 - shares) <= 1.01 / 255)
    assert checked > 5


def test_lost_shares_of_bins_are_those_of_their_mpdus(opened):
    table = opened.recorded.rows("ppdu", ("start_ns", "duration_ns", "node", "mpdus", "decoded", "lost_to"))
    level = 32
    columns, exact = read(opened.air_tile(0, level, 0))
    assert not exact
    bin_ns = 1 << (level - 8)
    mine = (table["node"] == 0) & (table["start_ns"] + table["duration_ns"] < 1 << level)
    lost = table["duration_ns"] * (1 - table["decoded"] / table["mpdus"]) * (table["lost_to"] < 2)
    whole = (table["start_ns"] // bin_ns == (table["start_ns"] + table["duration_ns"] - 1) // bin_ns) & mine
    sums = np.bincount(table["start_ns"][whole] // bin_ns, lost[whole], BINS) / bin_ns
    at = columns["node"] == 0
    told = np.zeros(BINS)
    told[columns["bin"][at]] = columns["busy"][at] / 255 * columns["collided"][at] / 255
    crossed = np.unique(
        np.concatenate(
            [
                (table["start_ns"][mine & ~whole] // bin_ns),
                ((table["start_ns"] + table["duration_ns"] - 1)[mine & ~whole] // bin_ns),
            ]
        )
    )
    inner = np.setdiff1d(np.arange(BINS), crossed)
    assert len(inner) > 50
    assert np.all(np.abs(told - sums)[inner] <= 2 / 255)
    assert sums.max() > 0.05


def test_exact_tiles_hold_every_ppdu_that_touches_them(opened, result):
    table = result.recording("ppdu")
    start, duration = (table.column(name).to_numpy() for name in ("start_ns", "duration_ns"))
    checked = 0
    for level, index in random_tiles(opened, range(12, 27), 200):
        columns, exact = read(opened.air_tile(0, level, index))
        begin, end = index << level, (index + 1) << level
        expected = np.nonzero((start < end) & (start + duration > begin))[0]
        if exact:
            checked += 1
            assert columns["ppdu"].tolist() == table.column("ppdu").to_numpy()[expected].tolist()
            assert columns["start"].tolist() == start[expected].tolist()
        else:
            assert len(expected) > 1000
    assert checked > 100


def test_nodes_beyond_a_group_are_in_the_next(tmp_path):
    scenario = (
        lasthop.load(ROOT / "scenarios/saturation-11a.toml")
        .set("station.0.count", 40)
        .set("duration", "200 ms")
        .set("warmup", "50 ms")
    )
    run = lasthop.run(scenario, seeds=1, record="air")
    run.save(tmp_path / "wide")
    wide = lasthop.read(tmp_path / "wide")
    opened = RecordingView.of(wide, 1, recording_of_result(wide, 1))
    assert opened.air.groups == 2
    whole = [read(opened.air_tile(group, 28, 0)) for group in (0, 1)]
    for group, (columns, _) in enumerate(whole):
        assert set(columns["node"] // ROWS) == {group}
    with pytest.raises(LookupError):
        opened.air_tile(2, 28, 0)


@pytest.mark.parametrize("chart", CHARTS)
def test_curves_in_bins_keep_least_greatest_and_last(opened, chart):
    curves = curves_of(opened.recorded, chart, 0)
    columns, exact = read(opened.curve_tile(chart, 0, 32, 0))
    assert not exact
    for number, curve in enumerate(curves):
        mine = columns["curve"] == number
        bins = (columns["t"][mine].astype(np.int64)) >> 24
        for low, high, last, at in list(
            zip(columns["low"][mine], columns["high"][mine], columns["last"][mine], bins, strict=True)
        )[::7]:
            inside = (curve.t_ns >> 24) == at
            if not inside.any() or (curve.t_ns < 1 << 32).sum() <= 700:
                continue
            assert (low, high) == (curve.low[inside].min(), curve.high[inside].max())
            assert last == curve.high[inside][-1]


def test_sequence_numbers_ascend_and_acknowledgements_stay_below_them(opened, result):
    for number, flow in enumerate(opened.recorded.flows):
        if flow.traffic != "bulk" or flow.transport != "tcp":
            continue
        sent, again, acknowledged, _ = curves_of(opened.recorded, "sequence", number)
        assert np.all(np.diff(sent.low) > 0)
        assert np.all(np.diff(acknowledged.low) >= 0)
        assert acknowledged.low.max() <= max(sent.high.max(), again.high.max(initial=0))


def test_sequence_numbers_go_on_beyond_their_32_bits():
    from lasthop.page.curves import _unwrapped

    numbers = np.array([2**32 - 3000, 2**32 - 1500, 0, 1500, 2**32 - 1500, 3000], np.uint32)
    base, seen = _unwrapped(numbers)
    assert base == 2**32 - 3000
    assert seen.tolist() == [0, 1500, 3000, 4500, 1500, 6000]
    assert _unwrapped(np.array([1500], np.uint32), base)[1].tolist() == [4500]


def test_a_segment_lists_every_ppdu_that_carried_it(opened, result):
    carries = result.recording("carries").to_pandas()
    segments = result.recording("segment").to_pandas()
    sent = segments[segments.sent].sample(1000, random_state=1)
    by_flow = {name: rows for name, rows in carries.groupby("flow", observed=True)}  # noqa: C416 - `dict` would take its `keys`
    most = 0
    for flow, up, packet in zip(sent.flow, sent.up, sent.packet, strict=True):
        rows = by_flow.get(flow, carries[:0])
        held = rows[(rows.up == up) & (rows.packet <= packet) & (packet < rows.packet.astype("int64") + rows.packets)]
        told = holders(opened.recorded, opened.recorded.flow_of[flow], bool(up), int(packet))
        assert told == sorted(zip(held.ppdu.tolist(), held.decoded.tolist(), strict=True))
        most = max(most, len(told))
    assert most > 1


def test_a_click_on_a_lost_ppdu_lists_overlaps_and_the_next_ppdu(opened):
    columns = opened.air.columns
    lost = np.nonzero((columns["lost_to"] == 0) & (columns["mpdus"] > 1) & (columns["decoded"] == 0))[0][5]
    facts = ppdu_facts(opened.recorded, opened.air, int(columns["ppdu"][lost]))
    begin, end = facts["start_ns"], facts["start_ns"] + facts["duration_ns"]
    assert facts["overlapped"]
    assert all(
        other["start_ns"] < end and other["start_ns"] + other["duration_ns"] > begin for other in facts["overlapped"]
    )
    assert "were lost to a collision; on the air with it: " in facts["why"]
    assert facts["next"]["start_ns"] >= end and facts["next"]["node"] == facts["node"]
    assert sum(run["packets"] for run in facts["contents"]) == facts["mpdus"]
    assert facts["backoff"]["t_ns"] <= begin
    assert facts["rate_after"] is None or facts["rate_after"]["t_ns"] >= end


def test_users_of_one_ppdu_are_not_listed_as_overlaps(tmp_path):
    scenario = lasthop.load("office-11ax-ofdma").set("duration", "700 ms").set("warmup", "500 ms")
    lasthop.run(scenario, seeds=1, record="air", explain=True).save(tmp_path / "a")
    page = Page(tmp_path)
    (key,) = [entry["key"] for entry in page.get("/api/entries")["entries"] if entry["kind"] == "result"]
    rows = lasthop.read(tmp_path / "a").recording("ppdu", 1).to_pandas()
    parts = rows[rows["ru_tones"].notna()]
    # A PPDU of 80 MHz has at most 37 units of 26 tones [802.11ax-2021 Table 27-8].
    first = parts.iloc[0]
    same = parts[(parts["exchange"] == first["exchange"]) & (parts["start_ns"] == first["start_ns"])]
    facts = page.get(f"/api/runs/{key}/seeds/1/ppdus/{int(first['ppdu'])}")
    assert 2 <= len(same) <= 37
    assert [user["ppdu"] for user in facts["users"]] == same["ppdu"].tolist()
    assert [(user["ru_tones"], user["ru_place"]) for user in facts["users"]] == list(
        zip(same["ru_tones"].astype(int), same["ru_place"].astype(int), strict=True)
    )
    assert not {user["ppdu"] for user in facts["users"]} & {other["ppdu"] for other in facts["overlapped"]}
    alone = rows[rows["ru_tones"].isna()].iloc[0]
    assert page.get(f"/api/runs/{key}/seeds/1/ppdus/{int(alone['ppdu'])}")["users"] == []


def test_a_packet_is_followed_from_host_to_host(opened, result):
    segments = result.recording("segment").to_pandas()
    again = segments[segments.sent & segments.again.fillna(False).astype(bool)].iloc[0]
    facts = packet_facts(
        opened.recorded, opened.air, opened.recorded.flow_of[again.flow], bool(again.up), int(again.packet)
    )
    assert facts["segments"][0]["sent"] and facts["segments"][0]["again"]
    assert facts["segments"][0]["t_ns"] == again.t_ns


def test_backoffs_end_at_a_transmission_of_their_node(opened):
    tile, exact = read(opened.backoff_tile(24, (2 * 10**9) >> 24))
    assert exact and len(tile["node"]) > 5
    assert np.all(tile["end"] >= tile["begin"])
    air = opened.air
    own = air.columns["node"] == air.columns["initiator"]
    followed = [
        end in air.start[own & (air.columns["node"] == node)]
        for node, end in zip(tile["node"], tile["end"], strict=True)
    ]
    assert np.mean(followed) > 0.5


def test_slices_of_the_account_add_up_to_it(result):
    slices = Slices(result, 1)
    slices.work()
    told = slices.time
    lengths = np.diff(told["edges_ns"]) / 1e9
    for flow in result.runs[0]["account"]["flows"]:
        shares = told["flows"][flow["id"]]
        for term, spent in flow["terms"].items():
            got = float(np.dot(shares.get(term.removesuffix("_s"), np.zeros(len(lengths))), lengths))
            assert got == pytest.approx(spent, abs=1e-3)
        assert np.all(sum(np.array(share) for share in shares.values()) <= 1 + 1e-3)
    assert slices.explained().runs[0]["account"]["flows"] == result.runs[0]["account"]["flows"]


def test_the_server_sends_the_same_tiles_in_arrow_and_refuses_unknown_ones(directory):
    page = Page(directory)
    key = page.get("/api/entries")["entries"][0]["key"]
    base = f"/api/runs/{key}/seeds/1"
    facts = page.get(base)
    assert facts["recorded"] and facts["ppdus"] > 10_000 and len(facts["nodes"]) == 31
    answer = page.client.get(f"{base}/air/0/32/0")
    assert answer.headers["content-type"] == "application/vnd.apache.arrow.stream"
    assert len(answer.content) <= MOST_BYTES
    for address in (
        "/air/0/3/0",
        "/air/7/30/0",
        "/curves/none/0/30/0",
        "/curves/rtt/99/30/0",
        "/ppdus/99999999",
        "/packets/99/up/1",
    ):
        assert page.refused("GET", base + address, 404)
    assert "was not run" in page.refused("GET", f"/api/runs/{key}/seeds/9", 404)


def test_a_run_without_a_recording_is_recorded_when_it_is_looked_at(tmp_path):
    scenario = (
        lasthop.load(ROOT / "scenarios/khademi2011-uplink-11b.toml").set("duration", "2 s").set("warmup", "500 ms")
    )
    lasthop.run(scenario, seeds=2).save(tmp_path / "bare")
    page = Page(tmp_path)
    key = page.get("/api/entries")["entries"][0]["key"]
    base = f"/api/runs/{key}/seeds/2"
    assert page.get(base)["recorded"] is False
    state = page.post(f"{base}/record", {})
    for _ in range(600):
        if state.get("done") or state.get("error"):
            break
        state = page.post(f"{base}/record", {})
    assert state["error"] is None
    assert page.get(base)["ppdus"] > 100
    page.desk.close()


def test_another_run_in_the_same_directory_is_not_shown_with_the_old_air(tmp_path):
    scenario = lasthop.load(ROOT / "scenarios/saturation-11a.toml").set("duration", "300 ms").set("warmup", "50 ms")
    lasthop.run(scenario, seeds=1).save(tmp_path / "run")
    page = Page(tmp_path)
    key = page.get("/api/entries")["entries"][0]["key"]
    base = f"/api/runs/{key}/seeds/1"
    while not page.post(f"{base}/record", {})["done"]:
        time.sleep(0.02)
    nodes = len(page.get(base)["nodes"])
    lasthop.run(scenario.set("station.0.count", 3), seeds=1).save(tmp_path / "run")
    os.utime(tmp_path / "run/result.json", (1, 1))
    facts = page.get(base)
    assert facts["recorded"] is False
    while not page.post(f"{base}/record", {})["done"]:
        time.sleep(0.02)
    assert len(page.get(base)["nodes"]) == 4 != nodes
    page.desk.close()


def test_a_result_whose_numbers_are_not_of_this_version_is_neither_recorded_nor_explained(tmp_path):
    scenario = lasthop.load(ROOT / "scenarios/saturation-11a.toml").set("duration", "300 ms").set("warmup", "50 ms")
    lasthop.run(scenario, seeds=1).save(tmp_path / "run")
    document = json.loads((tmp_path / "run/result.json").read_text())
    document["runs"][0]["totals"]["goodput_bps"] *= 2
    (tmp_path / "run/result.json").write_text(json.dumps(document))
    page = Page(tmp_path)
    base = f"/api/runs/{page.get('/api/entries')['entries'][0]['key']}/seeds/1"
    page.post(f"{base}/record", {})
    for ask in (lambda: page.get(base), lambda: page.get(f"{base}/explained")):
        told = {}
        until = time.monotonic() + 60
        while not told.get("error") and time.monotonic() < until:
            time.sleep(0.2)
            told = ask()
        assert "gives other numbers" in told["error"]
    page.desk.close()


def test_links_that_lead_out_are_not_listed(directory, tmp_path):
    (tmp_path / "inside").mkdir()
    (tmp_path / "inside/link.json").symlink_to(directory / "result.json")
    entries = Page(tmp_path / "inside").get("/api/entries")["entries"]
    assert [entry for entry in entries if entry["kind"] == "result"] == []


@pytest.mark.parametrize(
    ("host", "names"),
    [("127.0.0.1", {"localhost:8722", "127.0.0.1:8722", "[::1]:8722"}), ("2001:DB8::0:1", {"[2001:db8::1]:8722"})],
)
def test_a_page_knows_its_own_names_as_browsers_write_them(host, names):
    from lasthop.page.guard import own_names

    assert names <= own_names(host, 8722)


def test_at_all_addresses_the_token_decides(tmp_path):
    from lasthop.page.app import Desk, make
    from lasthop.page.guard import own_names
    from lasthop.page.library import Library
    from starlette.testclient import TestClient

    secret = "0123456789abcdef"
    hosts = own_names("0.0.0.0", 8722)
    client = TestClient(make(Desk(Library([tmp_path])), hosts, secret), base_url="http://laptop.lan:8722")
    assert client.get("/api/entries").status_code == 401
    bearer = {"Authorization": f"Bearer {secret}"}
    assert client.get("/api/entries", headers=bearer).status_code == 200
    assert client.get("/api/entries", headers={**bearer, "Origin": "http://evil.example"}).status_code == 403
    assert client.get("/api/entries", headers={**bearer, "Origin": "http://laptop.lan:8722"}).status_code == 200


def test_the_window_of_a_report_holds_some_thousand_frames(opened):
    window = window_of(opened, None, None)
    assert window.begin == opened.recorded.warmup_ns
    assert PPDUS - 50 <= len(opened.air.within(window.begin, window.end)) <= PPDUS + 50
    assert window_of(opened, 2.0, 0.5) == (2_000_000_000, 2_500_000_000)
    with pytest.raises(ValueError, match="the run of 4 s ends before 9 s"):
        window_of(opened, 9.0, None)


def test_a_report_is_self_contained(directory, tmp_path):
    from lasthop.cli import main

    out = tmp_path / "run.html"
    assert main(["report", str(directory), "--out", str(out), "--from", "2s", "--for", "50ms"]) == 0
    text = out.read_text()
    head, _, answers = text.partition('<script type="text/plain" id="answers">')
    assert "http://" not in head.replace("http://www.w3.org/", "").replace("http://www.apache.org/", "")[:2000]
    assert "/static/" not in head.partition('<script type="importmap">')[0]
    import base64
    import gzip

    told = gzip.decompress(base64.b64decode(answers.partition("</script>")[0]))
    directory_of, _, rest = told.partition(b"\n")
    lengths = json.loads(directory_of)
    assert sum(lengths.values()) == len(rest)
    assert {"0/", "0/explained", "0/air/0/32/0"} <= set(lengths)
    assert sum(address.startswith("0/ppdus/") for address in lengths) > 50
