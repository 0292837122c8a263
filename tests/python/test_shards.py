"""Shards of a store: the same runs as without, whole after any kill, and a client that does not grow with them."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import duckdb
import lasthop
import pytest
from lasthop import Job, Store, complete
from lasthop.study import store as stores
from lasthop.study.campaign import Jobs
from lasthop.study.executor import Outcome, Task, chunk
from lasthop.study.store import Finished, shards
from lasthop.study.sweep_rows import Taking
from test_store import LONG, RUNS, STRUCK, sweep_here

PATH = "runs.duckdb"
COUNT = "station.0.count"


@pytest.fixture
def scenario(small):
    return lasthop.load(small).set("duration", "600 ms")


@pytest.fixture
def many(monkeypatch):
    """Shards for the fourth run of a turn and those that follow, five together at most."""
    monkeypatch.setattr(stores, "MANY", 3)
    monkeypatch.setattr(shards, "MOST", 5)


def rows(path):
    """Every number of every stored run that does not depend on when it was run."""
    store, found = Store.open(path), {}
    for table in ("totals", "medium", "flows", "nodes", "links", "series", "scenarios", "kept", "run"):
        each = "run, scenario, seed, name, settings, engine" if table == "run" else "*"
        answer = store.query_arrow(f"SELECT {each} FROM {table}")
        # Columns come in the order in which keys were met.
        found[table] = sorted(repr(sorted(row.items())) for row in answer.to_pylist())
        found[f"types of {table}"] = sorted((field.name, str(field.type)) for field in answer.schema)
    return found


def names(path=PATH):
    return shards.beside(Path(path))


def without_clock(document):
    return {name: part for name, part in document.items() if name != "simulator"}


@pytest.mark.parametrize("seed", [2, 3])
def test_a_store_with_shards_equals_one_without(scenario, monkeypatch, seed):
    # Scenarios with different keys, failures, time series, and an order of any kind.
    draw = random.Random(seed)
    scenarios = [
        scenario,
        scenario.set(COUNT, 1),
        scenario.set("flow.0.transport", "udp").set("flow.0.rate", "1 Mbit/s"),
        scenario.set("bss.standard", "802.11n").set("bss.rate_control", "minstrel_ht"),
    ]
    jobs = [Job(each, number) for each in scenarios for number in range(draw.randrange(3, 9))]
    jobs += [Job(scenario, 100, ("goodput_bps",))]
    draw.shuffle(jobs)
    complete(jobs, Store.open("plain.duckdb"))
    assert not names("plain.duckdb")
    monkeypatch.setattr(stores, "MANY", draw.randrange(4))
    monkeypatch.setattr(shards, "MOST", draw.randrange(1, 9))
    half = draw.randrange(len(jobs))
    assert complete(jobs[:half], Store.open(PATH)).run == half
    assert complete(jobs, Store.open(PATH))[:2] == (len(jobs) - half, half)
    assert names()
    assert rows(PATH) == rows("plain.duckdb")
    here, there = (Store.existing(path).runs(jobs) for path in (PATH, "plain.duckdb"))
    assert list(map(without_clock, here)) == list(map(without_clock, there))


def test_a_sweep_with_shards_gives_the_table_of_one_without(scenario, many):
    over = {COUNT: [1, 2], "wired.delay": ["5 ms", "10 ms"]}
    plain = lasthop.sweep(scenario, over, 6)
    assert lasthop.sweep(scenario, over, 6, store=PATH).equals(plain)
    # And again, from the store.
    assert lasthop.sweep(scenario, over, 6, store=PATH).equals(plain)
    assert names() and len(Store.existing(PATH).query("SELECT * FROM runs")) == 24


def test_a_question_meets_each_table_once_and_no_other_file(scenario, many, command):
    complete([Job(scenario, number) for number in range(8)], Store.open(PATH))
    store = Store.existing(PATH)
    tables = store.query("SHOW TABLES").name.tolist()
    assert len(tables) == len(set(tables)) and {"run", "runs", "flows", "scenarios"} <= set(tables)
    assert store.query(f"SELECT setting(scenario, '{COUNT}') AS it FROM runs").it.tolist() == ["2"] * 8
    assert store.query("SELECT document->>'$.seed' AS it FROM run ORDER BY seed").it.tolist() == list("01234567")
    duckdb.sql("COPY (SELECT 1 AS x) TO 'other.parquet'")
    with pytest.raises(ValueError, match="disabled"):
        store.query("SELECT * FROM read_parquet('other.parquet')")
    with pytest.raises(ValueError, match="writes a file"):
        store.query(f"COPY (SELECT 1) TO '{PATH}.runs/x.parquet'")
    plotted = command("plot", PATH, "--kind", "sweep", "--x", COUNT, "--out", "picture.png")
    assert plotted.returncode == 0, plotted.stderr


def test_a_store_gets_its_format_with_its_first_shard(scenario, monkeypatch):
    def format_of():
        return Store.existing(PATH).query("SELECT format FROM store").format.tolist()

    complete([Job(scenario, 1)], Store.open(PATH))
    assert format_of() == [1]
    monkeypatch.setattr(stores, "MANY", 0)
    complete([Job(scenario, 2)], Store.open(PATH))
    assert format_of() == [2] and len(names()) == 1


def finished(store, scenario, seed):
    job = Job(scenario, seed)
    return Finished(store.key(job), job, store.identity(job), lasthop.run(scenario, seeds=[seed]).told_runs[0])


def left_shard(store, scenario, *seeds):
    """A shard that a killed process left: whole, and not listed."""
    new = shards.NewShard()
    for seed in seeds:
        run = finished(store, scenario, seed)
        new.add(run.run, stores._row(run), run.identity.resolved.to_json)
    return shards.keep(Path(PATH), new)


SEEDS = "SELECT seed FROM runs ORDER BY seed"


def test_a_shard_that_a_killed_process_left_is_read_and_then_listed(scenario):
    store = Store.open(PATH)
    left_shard(store, scenario, 1, 2)
    shutil.copytree(".", "../copy", dirs_exist_ok=True)
    assert Store.existing(PATH).query(SEEDS).seed.tolist() == [1, 2]
    again = Store.open(f"../copy/{PATH}")
    assert complete([Job(scenario, seed) for seed in (1, 2, 3)], again)[:2] == (1, 2)
    assert again.query(SEEDS).seed.tolist() == [1, 2, 3]


def test_a_shard_beside_a_store_that_others_hold_is_read_from_a_copy(scenario, monkeypatch):
    monkeypatch.setattr("lasthop.study.store.reading.TURN_WAITED_FOR_S", 0.1)
    store = Store.open(PATH)
    with store.writer() as writer:
        writer.add(finished(store, scenario, 2))
    left_shard(store, scenario, 1, 2)
    reading = "import duckdb, time; c = duckdb.connect('runs.duckdb', read_only=True); print('held', flush=True); time.sleep(60)"
    with subprocess.Popen([sys.executable, "-c", reading], stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout.readline() == "held\n"
        assert Store.existing(PATH).query(SEEDS).seed.tolist() == [1, 2]
        other.kill()
    assert len(names()) == 1, "the copy took nothing away"
    assert Store.open(PATH).query(SEEDS).seed.tolist() == [1, 2]
    assert not names(), "one of its runs was there, so that both are in the file"


def test_a_run_of_two_shards_is_there_once(scenario):
    store = Store.open(PATH)
    left_shard(store, scenario, 1, 2)
    left_shard(store, scenario, 2, 3)
    for table in ("run", "totals", "runs"):
        assert len(Store.open(PATH).query(f"SELECT * FROM {table}")) == 3
    assert len(names()) == 1


def test_what_is_left_of_a_shard_that_was_not_whole_goes(scenario):
    store = Store.open(PATH)
    name = left_shard(store, scenario, 1)
    half = Path(f"{PATH}.runs/.shard.1.0123456789abcdef.part")
    half.mkdir()
    (half / "run.parquet").write_bytes(b"PAR1")
    assert Store.open(PATH).query(SEEDS).seed.tolist() == [1]
    assert names() == [name] and not half.exists()


# A sweep of which each run after the first goes into a shard, with three of them at most.
SHARDING = STRUCK.replace(
    "store.LONGEST_WAIT_S = 0.0",
    "from lasthop.study.store import shards\nstore.MANY, shards.MOST, store.LONGEST_WAIT_S = 0, 3, 0.0\n"
    "keep, kept = shards.keep, []\n"
    "def keep_and_strike(path, shard):\n    kept.append(keep(path, shard))\n"
    "    if len(kept) == 3:\n        strike()\n    return kept[-1]\n"
    "shards.keep = keep_and_strike",
)


def test_a_killed_sweep_with_shards_goes_on(small):
    arguments = ("sweep", small, *LONG, "--seeds", RUNS // 3, "--store", PATH)
    line = [sys.executable, "-c", SHARDING, "kept", int(signal.SIGKILL), *arguments]
    done = subprocess.run(list(map(str, line)), capture_output=True, text=True, check=False)
    assert done.returncode == -signal.SIGKILL, done.stderr
    assert names()
    stored = Store.open(PATH).query("SELECT * FROM runs")
    assert 3 <= len(stored) < RUNS
    assert stored["goodput_bps"].notna().all()
    sweep_here(small, PATH)
    sweep_here(small, "whole.duckdb")
    assert rows(PATH) == rows("whole.duckdb")


def test_a_worker_returns_a_shard_and_what_is_wanted(scenario, monkeypatch):
    monkeypatch.setattr(chunk, "SHARD_FROM", 2)
    jobs = [Job(each, seed) for each in (scenario, scenario.set(COUNT, 1)) for seed in (1, 2, 3)]
    store, take = Store.open(PATH), Taking(("totals.goodput_bps",))
    tasks = [Task(store.key(job), job, store.identity(job)) for job in jobs]
    outcomes = chunk.outcomes_of(tasks, chunk.run_chunk(chunk.pack(tasks, take, "shards"), longest_s=60))
    assert [outcome.run for outcome in outcomes] == [None] * 6
    with store.writer() as writer:
        (files,) = [outcome.shard for outcome in outcomes if outcome.shard]
        writer.add_shard(files)
    complete(jobs, Store.open("plain.duckdb"))
    assert rows(PATH) == rows("plain.duckdb")
    assert [outcome.taken for outcome in outcomes] == list(Store.open("plain.duckdb").each(jobs, take))
    # A worker that is asked for no document sends none.
    done = chunk.run_chunk(chunk.pack(tasks, take, "nothing"), longest_s=60)
    assert not done.shard and [each.names for each in done.taken] == [("totals.goodput_bps",)] * 6
    assert len(json.dumps(done.taken[0].values)) < 30


class Instant:
    """An executor that has the same run for each task."""

    def __init__(self, run):
        self._run, self._tasks = run, []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def room(self):
        return 64 - len(self._tasks)

    def submit(self, task):
        self._tasks.append(task)

    def finished(self, _wait_s):
        tasks, self._tasks = self._tasks, []
        return [Outcome(task.key, self._run) for task in tasks]

    def fraction(self):
        return 0.0


def resident():
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="the system does not say how much memory is in use")
def test_the_client_does_not_grow_with_the_runs(scenario, monkeypatch):
    monkeypatch.setattr(shards, "MOST", 256)
    run, store = lasthop.run(scenario, seeds=1).told_runs[0], Store.open(PATH)

    def grown(first, last):
        before = resident()
        jobs = Jobs((Job(scenario, seed) for seed in range(first, last)), last - first)
        assert complete(jobs, store, executor=Instant(run))[:2] == (last - first, 0)
        return resident() - before

    grown(0, 2000)
    # As tables, two thousand more would take 100 MB, as documents 15 MB, each time. DuckDB takes its own memory in steps.
    assert min(grown(2000, 4000), grown(4000, 6000)) < 8e6
    assert len(store.query("SELECT run FROM run")) == 6000


def test_a_file_without_its_shards_says_so(scenario, many, tmp_path):
    lasthop.sweep(scenario, over={COUNT: [1]}, seeds=12, store=tmp_path / PATH)
    assert names(tmp_path / PATH)
    (tmp_path / "elsewhere").mkdir()
    moved = (tmp_path / PATH).rename(tmp_path / "elsewhere" / PATH)
    with pytest.raises(ValueError, match=r"elsewhere/runs.duckdb.runs: .* shards are missing; .* move or copy both"):
        Store.open(moved).query("SELECT count(*) FROM runs")
