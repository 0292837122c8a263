"""Runs that the page begins: how they go, how they end, and what is kept."""

from __future__ import annotations

import json
import time
from pathlib import Path

import lasthop
import pytest
from conftest import SMALL
from page_bench import Page

LONG = SMALL.replace('duration = "2 s"', 'duration = "100000 s"')
# Some seeds end while others have hardly begun: the first minute of each is empty.
FEW_OF_MANY = SMALL.replace('duration = "2 s"', 'duration = "20 s"')


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "small.toml").write_text(SMALL)
    return tmp_path


@pytest.fixture
def page(root: Path):
    made = Page(root)
    yield made
    made.desk.close()


def wait_for(what, within_s: float = 60.0) -> None:
    until = time.monotonic() + within_s
    while not what():
        assert time.monotonic() < until
        time.sleep(0.02)


def test_a_run_equals_the_run_of_the_command(page: Page, root: Path, without_wall_clock) -> None:
    told = page.ended(page.post("/api/runs", {"text": SMALL, "seeds": 2, "name": "a run / with: signs"}))
    assert told["state"] == "done"
    place = root / "runs" / "a-run-with-signs-1"
    ours = lasthop.run(lasthop.load(root / "small.toml"), seeds=2, explain=True)
    assert without_wall_clock((place / "result.json").read_text()) == without_wall_clock(ours.to_json())
    kept = lasthop.read(place)
    assert kept.recordings.seeds == [1, 2]
    assert len(kept.timeseries)
    assert (place / "scenario.toml").read_text() == SMALL
    assert page.get(f"/api/runs/{told['key']}/result")["runs"][0]["seed"] == 1


def test_events_report_progress_until_the_end(page: Page) -> None:
    events = page.events(page.post("/api/runs", {"text": SMALL, "seeds": 3, "record": False}))
    assert events[-1]["state"] == "done"
    assert [event["version"] for event in events] == sorted({event["version"] for event in events})
    fractions = [event["fraction"] for event in events]
    assert fractions == sorted(fractions)
    assert fractions[-1] == 1.0
    assert events[-1]["finished"] == events[-1]["of"] == 3
    goodputs = lasthop.run(lasthop.Scenario(SMALL), seeds=3).summary["totals.goodput_bps"]
    assert events[-1]["headline"]["mean"] == goodputs["mean"]


def test_of_many_seeds_the_first_is_recorded(page: Page, root: Path) -> None:
    told = page.ended(page.post("/api/runs", {"text": SMALL, "seeds": 7}))
    result = lasthop.read(root / "runs" / "small-1")
    assert result.seeds == [1, 2, 3, 4, 5, 6, 7]
    assert result.recordings.seeds == [1]
    assert told["finished"] == 7
    assert lasthop.run(lasthop.Scenario(SMALL), seeds=7).summary == result.summary


def test_names_of_runs_are_unique(page: Page, root: Path) -> None:
    for _ in range(2):
        page.ended(page.post("/api/runs", {"text": SMALL, "record": False}))
    assert sorted(each.name for each in (root / "runs").iterdir()) == ["small-1", "small-2"]


def test_finished_seeds_of_a_stopped_run_are_kept(page: Page, root: Path) -> None:
    job = page.post("/api/runs", {"text": FEW_OF_MANY, "seeds": 1000, "record": False})
    wait_for(lambda: page.get(f"/api/jobs/{job['id']}")["finished"] >= 2)
    page.client.delete(f"/api/jobs/{job['id']}")
    told = page.ended(job)
    assert told["state"] == "stopped"
    kept = lasthop.read(root / "runs" / "small-1")
    assert 2 <= len(kept.seeds) == told["finished"] < 1000
    assert kept.interrupted
    assert page.get(f"/api/entries/{told['key']}")["interrupted"]


def test_a_run_stopped_before_its_first_seed_leaves_no_files(page: Page, root: Path) -> None:
    job = page.post("/api/runs", {"text": LONG})
    wait_for(lambda: page.get(f"/api/jobs/{job['id']}")["state"] == "running")
    page.client.delete(f"/api/jobs/{job['id']}")
    told = page.ended(job)
    assert (told["state"], told["key"]) == ("stopped", None)
    assert list((root / "runs").iterdir()) == []


def test_one_runs_at_a_time_and_the_others_wait(page: Page) -> None:
    first, second = (page.post("/api/runs", {"text": text, "record": False}) for text in (LONG, SMALL))
    wait_for(lambda: page.get(f"/api/jobs/{first['id']}")["state"] == "running")
    assert page.get(f"/api/jobs/{second['id']}")["state"] == "waiting"
    page.client.delete(f"/api/jobs/{first['id']}")
    assert page.ended(second)["state"] == "done"


def test_one_that_waits_never_begins_once_it_is_stopped(page: Page, root: Path) -> None:
    first, second = (page.post("/api/runs", {"text": LONG}) for _ in range(2))
    page.client.delete(f"/api/jobs/{second['id']}")
    assert page.ended(second)["error"] == "it was stopped before it began"
    page.client.delete(f"/api/jobs/{first['id']}")
    page.ended(first)


def test_only_so_many_wait(page: Page) -> None:
    jobs = [page.post("/api/runs", {"text": LONG}) for _ in range(15)]
    while (answer := page.client.post("/api/runs", json={"text": LONG})).status_code == 201:
        jobs.append(answer.json())
    assert "wait already" in answer.json()["error"]
    assert 20 <= len(jobs) <= 21


def test_the_end_of_the_server_stops_runs_and_keeps_finished_seeds(root: Path) -> None:
    page = Page(root)
    job = page.post("/api/runs", {"text": FEW_OF_MANY, "seeds": 1000, "record": False})
    waits = page.post("/api/runs", {"text": SMALL})
    wait_for(lambda: page.get(f"/api/jobs/{job['id']}")["finished"] >= 1)
    page.desk.close()
    assert len(lasthop.read(root / "runs" / "small-1").seeds) >= 1
    assert page.get(f"/api/jobs/{waits['id']}")["state"] == "stopped"


def test_streams_end_with_the_server(page: Page) -> None:
    job = page.post("/api/runs", {"text": LONG})
    page.desk.is_ending = lambda: True
    assert page.events(job) == []


@pytest.mark.parametrize(
    ("seeds", "said"),
    [
        (0, "from 1"),
        (1001, "from 1"),
        ("5", "whole number"),
        (True, "whole number"),
        ([], "whole"),
        ([1, 1], "once"),
        ([-1], "seed"),
    ],
)
def test_impossible_seeds_are_refused(page: Page, seeds: object, said: str) -> None:
    assert said in page.refused("POST", "/api/runs", 422, json={"text": SMALL, "seeds": seeds})


def test_a_scenario_that_is_wrong_is_not_run(page: Page) -> None:
    assert "unknown standard" in page.refused(
        "POST", "/api/runs", 422, json={"text": SMALL.replace("802.11b", "802.11zz")}
    )


def test_a_failed_run_reports_its_error(page: Page, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (root / "runs").write_text("a file where the directory of runs would be")
    told = page.ended(page.post("/api/runs", {"text": SMALL}))
    assert told["state"] == "failed"
    assert told["error"]
    assert page.ended(page.post("/api/runs", {"text": SMALL}))["state"] == "failed"


def test_a_directory_that_cannot_be_written_gets_a_temporary_one(root: Path) -> None:
    page = Page(root / "small.toml")
    told = page.ended(page.post("/api/runs", {"text": SMALL, "record": False}))
    assert told["key"] in [entry["key"] for entry in page.get("/api/entries")["entries"]]
    assert not (root / "runs").exists()
    page.desk.close()


def test_unknown_jobs_are_not_found(page: Page) -> None:
    for method, address in (("GET", "/api/jobs/x"), ("DELETE", "/api/jobs/x"), ("GET", "/api/jobs/x/events")):
        assert "is not a run of this page" in page.refused(method, address, 404)


# Stores, comparisons, papers ------------------------------------------------------------------------------------------


def test_the_runs_of_a_store_open_as_results(page: Page, root: Path) -> None:
    lasthop.sweep(lasthop.load(root / "small.toml"), over={"station.0.count": [1, 2]}, seeds=2, store=root / "s.duckdb")
    [store] = [entry for entry in page.get("/api/entries")["entries"] if entry["kind"] == "store"]
    told = page.get(f"/api/entries/{store['key']}")
    assert told["count"] == 4
    run = next(run for run in told["runs"] if run["settings"] == {"station.0.count": "1"} and run["seed"] == 2)
    document = page.get(f"/api/runs/{store['key']}.{run['run']}/result")
    alone = lasthop.run(lasthop.load(root / "small.toml").set("station.0.count", 1), seeds=[2])
    assert document["runs"][0]["totals"] == json.loads(alone.to_json())["runs"][0]["totals"]
    assert run["goodput_bps"] == document["runs"][0]["totals"]["goodput_bps"]
    assert page.get(f"/api/entries/{store['key']}?text=count 1")["count"] == 2
    assert page.get(f"/api/entries/{store['key']}?text=';DROP TABLE run;--")["count"] == 0
    assert "choose one of its runs" in page.refused("GET", f"/api/runs/{store['key']}/result", 404)
    assert "not the key of a run" in page.refused("GET", f"/api/runs/{store['key']}.' OR 1=1/result", 404)
    text = page.get(f"/api/scenarios/{store['key']}.{run['run']}")["text"]
    assert page.post("/api/check", {"text": text})["resolved"] == document["scenario"]


def two_runs(page: Page) -> list[str]:
    slow = SMALL.replace('"newreno"', '"cubic"').replace("count = 2", "count = 3").replace("11 Mbit/s", "1 Mbit/s")
    texts = (SMALL, slow)
    return [page.ended(page.post("/api/runs", {"text": text, "seeds": 2, "record": False}))["key"] for text in texts]


def test_a_comparison_has_numbers_differences_and_reasons(page: Page) -> None:
    a, b = two_runs(page)
    found = page.get(f"/api/compare?a={a}&b={b}")
    rows = {row["label"]: row for row in found["rows"]}
    goodput = rows["goodput"]
    assert goodput["unit"] == "Mbit/s"
    assert goodput["difference"]["mean"] == pytest.approx(goodput["b"]["mean"] - goodput["a"]["mean"])
    assert goodput["difference"]["paired"]
    differs = {row["key"]: (row["a"], row["b"]) for row in found["scenarios"]}
    assert differs["station.0.count"] == (2, 3)
    assert differs["tcp.congestion_control.kind"] == ("newreno", "cubic")
    assert found["why"]["answers"][0].startswith("B delivers")
    shares = sum(row["a"] for row in found["why"]["channel"])
    assert shares == pytest.approx(1.0, abs=0.01)  # terms below half a per mille are left out
    assert page.client.get(f"/api/compare/plot?a={a}&b={b}&kind=goodput").text.lstrip().startswith("<?xml")
    assert "unknown plot" in page.refused("GET", f"/api/compare/plot?a={a}&b={b}&kind=x", 422)
    assert "which run?" in page.refused("GET", f"/api/compare?a={a}", 422)


def test_a_result_without_account_names_the_remedy(page: Page, root: Path) -> None:
    lasthop.run(lasthop.load(root / "small.toml"), seeds=1).save(root / "bare")
    [key] = [entry["key"] for entry in page.get("/api/entries")["entries"] if entry["name"] == "bare"]
    assert "has no account" in page.get(f"/api/compare?a={key}&b={key}")["why"]["said"]


def test_papers_have_their_claims_and_the_runs_behind_them(page: Page) -> None:
    keys = [paper["key"] for paper in page.get("/api/papers")["papers"]]
    assert {"heusse2003", "khademi2011"} <= set(keys)
    paper = page.get("/api/papers/heusse2003")
    claims = {claim["id"]: claim for claim in paper["claims"]}
    assert claims["H-1"]["parts"][0]["expected"] == "0.9 to 1.1"
    assert claims["H-1"]["released"]["full"] == "holds"
    behind = page.get("/api/papers/heusse2003/behind/H-1")
    assert behind["points"][0]["labels"] == {"hosts": "2", "slow": "1"}
    text = page.get("/api/papers/heusse2003/runs/H-1/0")["text"]
    assert page.post("/api/check", {"text": text})["problems"] == []
    for address in ("nobody1999", "heusse2003/behind/Z-9", "heusse2003/runs/H-1/999", "heusse2003/figures/99"):
        page.refused("GET", f"/api/papers/{address}", 404)


def test_a_paper_is_reproduced_and_its_runs_open(page: Page) -> None:
    told = page.ended(page.post("/api/papers/heusse2003/reproduce", {}), within_s=300)
    assert told["state"] == "done", told
    paper = page.get("/api/papers/heusse2003")
    assert paper["here"]["quick"]
    assert {claim["id"]: claim["here"]["verdict"] for claim in paper["claims"]}["H-1"] == "holds"
    assert all(figure["drawn"] for figure in paper["figures"])
    assert page.client.get("/api/papers/heusse2003/figures/1").content.startswith(b"\x89PNG")
    run = page.get("/api/papers/heusse2003/behind/H-1")["points"][0]["runs"][0]
    assert page.get(f"/api/runs/{run['key']}/result")["runs"][0]["seed"] == run["seed"]


def test_a_reproduction_that_is_stopped_leaves_no_process(page: Page) -> None:
    job = page.post("/api/papers/khademi2011/reproduce", {})
    wait_for(lambda: page.get(f"/api/jobs/{job['id']}")["state"] == "running")
    page.client.delete(f"/api/jobs/{job['id']}")
    assert page.ended(job)["state"] == "stopped"
