"""A store of runs: what makes a run that run, and what no crash, second process or full disk may take from it."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import random
import resource
import signal
import sqlite3
import stat
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path
from uuid import UUID

import duckdb
import lasthop
import pytest
from lasthop import Job, Store, StoreError, _core, complete
from lasthop.data.runs import run_of
from lasthop.study.executor.local import Threads
from lasthop.study.store import Finished, Waiting, _row, identity, tables
from lasthop.study.store.journal import Journal, left_beside

PATH = "runs.duckdb"
TRACE = """\
[[flow]]
station = "sta1"
direction = "up"
transport = "udp"
traffic = { kind = "trace", file = "packets.csv" }
"""


@pytest.fixture
def scenario(small):
    return lasthop.load(small)


def jobs_of(scenario, seeds=2, series=()):
    return [Job(scenario, seed, series) for seed in range(1, seeds + 1)]


def rows(path):
    """Every number of every stored run that does not depend on when it was run."""
    store = Store.open(path)
    tables = ("totals", "medium", "flows", "nodes", "links", "series", "scenarios", "kept")
    kept = {name: sorted(map(repr, store.query_arrow(f"SELECT * FROM {name}").to_pylist())) for name in tables}
    return {
        **kept,
        "run": sorted(map(repr, store.query_arrow("SELECT run, scenario, seed, engine FROM run").to_pylist())),
    }


def test_stored_runs_are_not_run_again(scenario):
    assert complete(jobs_of(scenario), Store.open(PATH))[:3] == (2, 0, 0)
    assert complete(jobs_of(scenario, seeds=3), Store.open(PATH))[:3] == (1, 2, 0)


def test_a_stored_run_is_the_document_that_run_gives(scenario, without_wall_clock):
    store = Store.open(PATH)
    complete(jobs_of(scenario), store)
    result = lasthop.run(scenario, seeds=2)
    for run, stored in zip(result.runs, store.runs(jobs_of(scenario)), strict=True):
        del run["simulator"]["wall_s"], stored["simulator"]["wall_s"]
        assert stored == run


def test_a_store_in_memory_leaves_no_file(scenario):
    store = Store.in_memory()
    complete(jobs_of(scenario), store)
    assert store.run(Job(scenario, 1)) is not None
    assert [path.name for path in Path().iterdir()] == ["small.toml"]


def test_a_missing_run_is_none(scenario):
    store = Store.open(PATH)
    assert store.run(Job(scenario, 1)) is None
    assert store.series(Job(scenario, 1, ("goodput_bps",))) is None
    assert store.failure(Job(scenario, 1)) is None


@pytest.mark.parametrize(
    "same", [{"name": "other"}, {"description": "in other words"}, {"tcp.congestion_control": "newreno"}]
)
def test_names_and_written_defaults_make_no_other_run(scenario, same):
    store, other = Store.in_memory(), scenario
    for path, value in same.items():
        other = other.set(path, value)
    assert store.key(Job(other, 1)) == store.key(Job(scenario, 1))


def test_the_order_of_settings_makes_no_other_run(scenario):
    store = Store.in_memory()
    one = scenario.set("duration", "3 s").set("station.0.count", 1)
    other = scenario.set("station.0.count", 1).set("duration", "3000 ms").set("duration", "3 s")
    assert store.key(Job(one, 1)) == store.key(Job(other, 1))


def test_a_setting_a_seed_and_an_engine_each_make_another_run(scenario, monkeypatch):
    store = Store.in_memory()
    keys = {
        store.key(Job(scenario, 1)),
        store.key(Job(scenario, 2)),
        store.key(Job(scenario.set("station.0.count", 1), 1)),
    }
    monkeypatch.setattr(identity, "engine_identity", lambda: "0.1.0+another")
    assert len(keys | {store.key(Job(scenario, 1))}) == 4


def test_the_content_of_a_trace_makes_the_run_and_not_its_name(small):
    small.write_text(small.read_text() + TRACE)
    Path("packets.csv").write_text("0.1, 100\n")
    Path("copy.csv").write_text("0.1, 100\n")
    store, scenario = Store.open(PATH), lasthop.load(small)
    complete([Job(scenario, 1)], store)
    assert store.run(Job(scenario.set("flow.1.traffic.file", "copy.csv"), 1)) is not None
    Path("packets.csv").write_text("0.1, 200\n")
    assert store.run(Job(scenario, 1)) is None


def test_a_trace_that_changes_while_it_is_run_is_stored_as_it_was(small):
    small.write_text(small.read_text() + TRACE)
    Path("packets.csv").write_text("0.1, 100\n")
    store, scenario = Store.in_memory(), lasthop.load(small)

    class Changing(Threads):
        def submit(self, task):
            Path("packets.csv").write_text("0.1, 200\n")
            super().submit(task)

    complete([Job(scenario, 1)], store, executor=Changing(1))
    assert store.run(Job(scenario, 1)) is None
    Path("packets.csv").write_text("0.1, 100\n")
    assert store.run(Job(scenario, 1)) is not None


def test_lacking_series_are_run_for_and_the_run_stays_one(scenario):
    store = Store.open(PATH)
    complete(jobs_of(scenario), store)
    wanted = jobs_of(scenario, series=("goodput_bps", "cwnd_segments"))
    assert store.series(wanted[0]) is None
    assert complete(wanted, store)[:2] == (2, 0)
    assert complete(jobs_of(scenario, series=("cwnd_segments",)), store)[:2] == (0, 2)
    assert complete(jobs_of(scenario, series=("cwnd_segments", "rtt_s")), store)[:2] == (2, 0)
    assert len(store.query("SELECT * FROM runs")) == 2
    result = lasthop.run(scenario, seeds=2).timeseries
    for metric in ("goodput_bps", "cwnd_segments", "rtt_s"):
        stored = store.series(Job(scenario, 2, (metric,)))
        expected = result[(result.seed == 2) & (result.metric == metric)]
        assert stored.time_s.tolist() == expected.time_s.tolist()
        assert stored.entity.tolist() == expected.entity.astype(str).tolist()
        assert stored.value.equals(expected.value.reset_index(drop=True))


def test_a_metric_without_a_series_is_asked_for_once(scenario):
    job = Job(scenario, 1, ("mpdus_per_ampdu_of_nobody",))
    store = Store.open(PATH)
    assert complete([job], store).run == 1
    assert complete([job], store).found == 1
    assert len(store.series(job)) == 0


def test_text_may_follow_where_no_run_had_a_value(scenario):
    # A controller is text; the first runs had none, so that the column was of numbers.
    udp = scenario.set("flow.0.transport", "udp").set("flow.0.rate", "1 Mbit/s")
    store = Store.open(PATH)
    complete([Job(udp, 1)], store)
    complete([Job(scenario, 1)], store)
    controllers = store.query("SELECT DISTINCT congestion_control FROM flows").congestion_control
    assert "newreno" in controllers.tolist()


def test_lists_of_numbers_are_lists_and_nested_values_are_json(scenario):
    job, store = Job(scenario, 1), Store.in_memory()
    document = lasthop.run(scenario, seeds=1).runs[0]
    document["flows"][0] |= {"quantiles_s": [0.5, None, 2], "parts": {"queue": 1}}
    document["flows"][1] |= {"quantiles_s": None, "parts": None}
    with store.writer() as writer:
        writer.add(Finished(store.key(job), job, store.identity(job), run_of(document)))
    flows = store.query_arrow("SELECT quantiles_s, parts FROM flows ORDER BY id").to_pylist()
    assert flows == [{"quantiles_s": [0.5, None, 2.0], "parts": '{"queue":1}'}, {"quantiles_s": None, "parts": None}]
    assert store.run(job) == document


def plain_rows(document, part):
    """The rows of a part as a store has them: numbers as doubles."""
    rows = [document[part]] if isinstance(document[part], dict) else document[part]

    def plain(value):
        if isinstance(value, list):
            return [plain(item) for item in value]
        return float(value) if isinstance(value, int) else value

    return [{name: plain(value) for name, value in row.items()} for row in rows]


@pytest.mark.parametrize("part", ["totals", "medium", "flows", "nodes", "links"])
def test_the_tables_have_every_number_of_the_documents(scenario, part):
    # Two scenarios with runs of different keys: with UDP, and with A-MPDUs.
    other = (
        scenario.set("bss.standard", "802.11n").set("bss.rate_control", "minstrel_ht").set("flow.0.transport", "udp")
    )
    jobs = [*jobs_of(scenario), *jobs_of(other.set("flow.0.rate", "1 Mbit/s"))]
    store = Store.in_memory()
    complete(jobs, store)
    for job, document in zip(jobs, store.runs(jobs), strict=True):
        found = store.query_arrow(f"SELECT * FROM {part} WHERE run = '{store.key(job)}' ORDER BY rowid").to_pylist()
        expected = plain_rows(document, part)
        assert [{name: row[name] for name in plain} for row, plain in zip(found, expected, strict=True)] == expected
        beyond = [
            row[name] for row, plain in zip(found, expected, strict=True) for name in row.keys() - plain - {"run"}
        ]
        assert set(beyond) <= {None}


def test_the_key_of_a_run_is_the_digest_of_its_inputs(scenario):
    made = {"scenario": "00000000-0000-0000-0000-000000000001", "seed": 7, "engine": identity.engine_identity()}
    canonical = json.dumps(made, sort_keys=True, separators=(",", ":"))
    expected = UUID(bytes=hashlib.sha256(canonical.encode()).digest()[:16])
    assert identity.run_key(made["scenario"], made["seed"]) == str(expected)


def fill(store, scenario, seeds):
    """Stores runs that nobody made, in turns, with a document as small as may be."""
    parts = {"totals": {}, "medium": {}, "flows": [{"id": "x"}], "nodes": [], "links": []}
    for first in range(0, seeds, 700):
        with store.writer() as writer:
            for job in [Job(scenario, seed) for seed in range(first, min(first + 700, seeds))]:
                run = run_of({"seed": job.seed, **parts, "simulator": {"wall_s": 0.0}})
                writer.add(Finished(store.key(job), job, store.identity(job), run))


def test_a_turn_does_not_write_all_that_is_there_anew(scenario, monkeypatch):
    monkeypatch.setattr("lasthop.study.store.MANY", 10_000)
    # With a turn DuckDB writes the last group of rows again, which is therefore kept small.
    store = Store.open(PATH)
    fill(store, scenario, 5000)
    keys = "column_name = 'run' AND segment_type = 'UUID'"
    for table in ("run", "flows"):
        groups = f"FROM pragma_storage_info('{table}') WHERE {keys} GROUP BY row_group_id"
        rows = store.query(f"SELECT sum(count) AS rows {groups}").rows
        assert 0 < rows.max() <= 2048 and rows.sum() == 5000


def test_runs_are_given_in_the_order_asked_for(scenario):
    store = Store.open(PATH)
    fill(store, scenario, 3000)
    seeds = random.Random(1).sample(range(4000), 4000)
    taken = list(store.each((Job(scenario, seed) for seed in seeds), lambda document: document["seed"]))
    assert taken == [seed if seed < 3000 else None for seed in seeds]


def test_waiting_runs_are_written_within_a_second(scenario, monkeypatch):
    now, store, add_runs = [100.0], Store.in_memory(), tables.add_runs

    def slow(connection, rows):
        add_runs(connection, rows)
        now[0] += 60

    monkeypatch.setattr("lasthop.study.store.time.monotonic", lambda: now[0])
    monkeypatch.setattr(tables, "add_runs", slow)
    parts = {"totals": {}, "medium": {}, "flows": [], "nodes": [], "links": []}
    with store.writer() as writer:

        def add(seed):
            job = Job(scenario, seed)
            writer.add(Finished(store.key(job), job, store.identity(job), run_of(parts)))
            writer.write()
            return writer.waiting

        # However long a transaction took, the next one follows a second after it.
        assert add(1) == 0
        now[0] = 160.9
        assert add(2) == 1
        now[0] = 161.1
        assert add(3) == 0


def test_a_setting_is_found_in_the_resolved_scenario(scenario):
    store = Store.in_memory()
    complete([Job(scenario, 1)], store)
    paths = {
        "station.0.count": "2",
        "bss.rate_control": "fixed",
        "bss.rate_control.rate": "11 Mbit/s",
        "bss.0.standard": "802.11b",
    }
    for path, value in paths.items():
        assert store.query(f"SELECT setting(scenario, '{path}') AS it FROM runs").it.tolist() == [value]


@pytest.mark.parametrize("place", ["file", "memory"])
def test_a_query_changes_nothing(scenario, place):
    store = Store.in_memory() if place == "memory" else Store.open(PATH)
    complete([Job(scenario, 1)], store)
    with pytest.raises(ValueError, match="read-only"):
        store.query("DELETE FROM run")
    assert store.run(Job(scenario, 1)) is not None


# Files that are not a store.


def test_a_file_that_is_no_store_is_left_alone(small):
    with pytest.raises(StoreError, match="small.toml: is not a store"):
        Store.open(small)


@pytest.mark.parametrize("kind", ["sqlite", "cut"])
def test_a_foreign_and_a_truncated_database_are_refused_as_no_store(tmp_path: Path, kind: str) -> None:
    path = tmp_path / f"{kind}.duckdb"
    if kind == "sqlite":
        with sqlite3.connect(path) as other:
            other.execute("CREATE TABLE a(b)")
    else:
        Store.open(path)
        path.write_bytes(path.read_bytes()[:8192])
    with pytest.raises(StoreError, match=f"{kind}.duckdb: is not a store"):
        Store.open(path)


def test_a_database_without_tables_becomes_a_store(scenario):
    # The file that a process leaves if it is killed while making the store.
    import duckdb

    duckdb.connect(PATH).close()
    assert complete([Job(scenario, 1)], Store.open(PATH)).run == 1


def test_a_database_of_others_is_left_alone(small):
    import duckdb

    with duckdb.connect(PATH) as connection:
        connection.execute("CREATE TABLE theirs (x INTEGER)")
    with pytest.raises(StoreError, match="not a store of lasthop"):
        Store.open(PATH)


def test_a_store_of_another_format_names_both_and_a_remedy(scenario):
    import duckdb

    complete([Job(scenario, 1)], Store.open(PATH))
    with duckdb.connect(PATH) as connection:
        connection.execute("UPDATE store SET format = 3, lasthop = '9.9.9'")
    with pytest.raises(StoreError, match=r"format 3, made by lasthop 9.9.9.*format 2: use that version"):
        Store.open(PATH)


def test_a_directory_and_a_missing_one_are_no_stores(small):
    with pytest.raises(StoreError, match="is a directory"):
        Store.open(".")
    with pytest.raises(StoreError, match="no directory absent"):
        Store.open("absent/runs.duckdb")
    with pytest.raises(StoreError, match="no such store"):
        Store.existing(PATH)


# Crashes, several processes, full disks: with real ones.

# Each run takes some 30 ms.
LONG = ("--set", "duration=60 s", "--over", "station.0.count=1,2,3", "--jobs", "2")
RUNS = 24


def sweeping(file, store, *arguments, seeds=RUNS // 3, before=None):
    """`lasthop sweep` in a process of its own."""
    line = [sys.executable, "-m", "lasthop", "sweep", file, *LONG, "--seeds", seeds, "--store", store, *arguments]
    return subprocess.Popen(
        list(map(str, line)),
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        preexec_fn=before,  # noqa: PLW1509 - the parent has one thread
    )


def sweep_here(file, store):
    """The same in this process."""
    return lasthop.sweep(
        lasthop.load(file).set("duration", "60 s"), {"station.0.count": [1, 2, 3]}, RUNS // 3, store=store
    )


# `lasthop sweep` that gets a signal once nine runs are stored, or in the midst of the third transaction.
STRUCK = """
import os, signal, sys
from lasthop import cli
from lasthop.study import store
from lasthop.cli import sweep
from lasthop.data.runs import run_of
from lasthop.study.executor.local import Threads
from lasthop.study.progress import Progress
from lasthop.study.store import tables

moment, number, *arguments = sys.argv[1:]
strike = lambda: os.kill(os.getpid(), int(number))
add_runs, written = tables.add_runs, []

class Few(Threads):
    def room(self):
        return 4 - self._in_flight

class Struck(Progress):
    def update(self, fraction, finished, runs):
        if moment == "between" and finished >= 9:
            strike()

def struck(connection, rows):
    written.append(add_runs(connection, rows))
    if moment == "within" and len(written) == 3:
        strike()

sweep.Threads, tables.add_runs = Few, struck
store.LONGEST_WAIT_S = 0.0  # a transaction whenever a run is finished
Progress.fitting = staticmethod(lambda *_: Struck())
sys.exit(cli.main(arguments))
"""


def struck(moment, number, file):
    """Status and standard error of a sweep that got that signal at that moment."""
    arguments = ("sweep", file, *LONG, "--seeds", RUNS // 3, "--store", PATH)
    line = [sys.executable, "-c", STRUCK, moment, int(number), *arguments]
    done = subprocess.run(list(map(str, line)), capture_output=True, text=True, check=False)
    return done.returncode, done.stderr


@pytest.mark.parametrize("moment", ["between", "within"])
def test_a_killed_campaign_loses_only_runs_in_flight_and_resumes(small, moment):
    assert struck(moment, signal.SIGKILL, small) == (-signal.SIGKILL, "")
    stored = Store.open(PATH).query("SELECT * FROM runs")
    # Two transactions of a run or more are whole, the third, of four runs at most, is not there at all.
    assert (9 if moment == "between" else 2) <= len(stored) < RUNS
    assert stored["goodput_bps"].notna().all()
    process = sweeping(small, PATH)
    _, said = process.communicate()
    assert process.returncode == 0, said
    assert f"{len(stored)} runs found, {RUNS - len(stored)} run" in said
    sweep_here(small, "whole.duckdb")
    assert rows(PATH) == rows("whole.duckdb")


# The same, where DuckDB takes no run after the first transaction: those that are finished wait beside the store.
WAITING = STRUCK.replace("store.LONGEST_WAIT_S = 0.0", "store.LONGEST_WAIT_S, store.WRITING_APART = 1e9, 1e9")


def test_a_kill_loses_no_finished_run_that_duckdb_has_not_taken_yet(small):
    arguments = ("sweep", small, *LONG, "--seeds", RUNS // 3, "--store", PATH)
    line = [sys.executable, "-c", WAITING, "between", int(signal.SIGKILL), *arguments]
    done = subprocess.run(list(map(str, line)), capture_output=True, text=True, check=False)
    assert done.returncode == -signal.SIGKILL, done.stderr
    (waiting,) = Path().glob(f"{PATH}.*.waiting")
    # A run that was being appended when the process ended is no run.
    with waiting.open("ab") as file:
        file.write(b"\x00" * 20)
    assert 9 <= len(Store.open(PATH).query("SELECT * FROM runs")) < RUNS
    assert not waiting.exists()
    sweep_here(small, PATH)
    sweep_here(small, "whole.duckdb")
    assert rows(PATH) == rows("whole.duckdb")
    assert not list(Path().glob("*.waiting"))


def test_a_query_answers_with_runs_that_a_killed_process_left_beside_the_store(small, command):
    arguments = ("sweep", small, *LONG, "--seeds", RUNS // 3, "--store", PATH)
    line = [sys.executable, "-c", WAITING, "between", int(signal.SIGKILL), *arguments]
    subprocess.run(list(map(str, line)), capture_output=True, text=True, check=False)
    with duckdb.connect(PATH, read_only=True) as connection:
        assert connection.execute("SELECT count(*) FROM run").fetchone()[0] < 9
    (row,) = json.loads(command("query", PATH, "SELECT count(*) AS runs FROM runs", "--json", "-").stdout)
    assert 9 <= row["runs"] < RUNS
    assert not list(Path().glob("*.waiting"))


def waiting_run(store, scenario, seed):
    each = finished_run(store, scenario, seed)
    return Waiting(_row(each), each.identity.resolved.to_json(), each.job.series, each.run, each.series, each.error)


SEEDS = "SELECT seed FROM run ORDER BY seed"


def test_a_reader_sees_the_journal_of_a_process_that_lives_and_leaves_it(scenario):
    store = Store.open(PATH)
    with closing(Journal(Path(PATH))) as journal:
        assert journal.add(waiting_run(store, scenario, 1))
        reader = Store.existing(PATH)
        assert reader.query(SEEDS).seed.tolist() == [1]
        assert journal.add(waiting_run(store, scenario, 2))
        assert reader.query(SEEDS).seed.tolist() == [1, 2]
        assert reader.run(Job(scenario, 2, ("goodput_bps",)))["seed"] == 2
        (path,) = Path().glob("*.waiting")
        assert path.stat().st_size > 0
        journal.clear()
    assert not path.exists()
    # The writer stores its runs again, to no effect.
    with store.writer() as writer:
        writer.add(finished_run(store, scenario, 1))
    assert store.query(SEEDS).seed.tolist() == [1, 2]


def test_a_store_that_others_read_is_read_with_its_journal_as_a_copy(scenario, monkeypatch):
    monkeypatch.setattr("lasthop.study.store.reading.TURN_WAITED_FOR_S", 0.1)
    store = Store.open(PATH)
    with store.writer() as writer:
        writer.add(finished_run(store, scenario, 1))
    journal = Journal(Path(PATH))
    assert journal.add(waiting_run(store, scenario, 2))
    journal.close()
    before = Path(PATH).read_bytes()
    reading = HOLDER.replace("sys.argv[1]", "sys.argv[1], read_only=True")
    with subprocess.Popen([sys.executable, "-c", reading, PATH, "60"], stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout.readline() == "held\n"
        reader = Store.existing(PATH)
        assert [reader.query(SEEDS).seed.tolist() for _ in range(2)] == [[1, 2], [1, 2]]
        assert reader.failure(Job(scenario, 2)) is None
        other.kill()
    assert Path(PATH).read_bytes() == before and list(Path().glob("*.waiting"))
    assert Store.open(PATH).query(SEEDS).seed.tolist() == [1, 2]
    assert not list(Path().glob("*.waiting"))


@pytest.fixture
def synced(monkeypatch):
    """A clock in a list, and the moments at which a file (not a folder) was given to the disk."""
    now, moments = [100.0], []

    def fsync(descriptor):
        if stat.S_ISREG(os.fstat(descriptor).st_mode):
            moments.append(now[0])

    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    monkeypatch.setattr(os, "fsync", fsync)
    return now, moments


def test_the_disk_takes_waiting_runs_once_a_second_at_least(scenario, synced):
    now, moments = synced
    store = Store.open(PATH)
    with store.writer() as writer:
        writer._due_from = 1e9  # DuckDB takes no run meanwhile
        for tenth in range(31):
            now[0] = 100.0 + tenth / 10
            if tenth <= 20:
                writer.add(finished_run(store, scenario, tenth))
            writer.write()
        # No run waits for more than half a second, and none costs an fsync when all are on the disk.
        assert moments == pytest.approx([100.5, 101.1, 101.7, 102.3])


def test_the_disk_takes_a_run_before_a_long_transaction_and_while_others_hold_the_store(scenario, synced, monkeypatch):
    now, moments = synced
    store = Store.open(PATH)
    with store.writer() as writer:
        writer._written_in_s = 4.0
        writer.add(finished_run(store, scenario, 1))
        writer.write(now=True)
        assert moments == [100.0]
        writer.add(finished_run(store, scenario, 2))
        now[0] = 100.6
        assert not writer._is_given_up()  # what the wait for the store asks again and again
        assert moments == [100.0, 100.6]


def finished_run(store, scenario, seed, **more):
    job = Job(scenario, seed, ("goodput_bps",))
    parts = {"totals": {}, "medium": {}, "flows": [], "nodes": [], "links": []}
    return Finished(store.key(job), job, store.identity(job), **{"run": run_of({"seed": seed, **parts}), **more})


def test_a_journal_keeps_series_failures_and_each_scenario(scenario):
    store, other = Store.open(PATH), scenario.set("wired.delay", "11 ms")
    outcome = _core.Simulation(scenario.resolve(), 1, 1.0).finish()
    series = [block for block in outcome.take_series() if block.metric == "goodput_bps"]
    came = [
        finished_run(store, scenario, 1, run=outcome.run, series=series),
        finished_run(store, scenario, 2),
        finished_run(store, other, 1),
        finished_run(store, other, 2, run=None, error="it failed"),
    ]
    journal = Journal(Path(PATH))
    for each in came:
        scenario_json = each.identity.resolved.to_json()
        assert journal.add(Waiting(_row(each), scenario_json, each.job.series, each.run, each.series, each.error))
    assert not list(left_beside(Path(PATH))), "it is locked"
    journal.close()
    store = Store.open(PATH)
    assert sorted(store.query("SELECT seed FROM run").seed) == [1, 1, 2]
    assert len(store.query("SELECT * FROM scenarios")) == 2
    expected = lasthop.run(scenario, seeds=1).timeseries
    expected = expected[expected.metric == "goodput_bps"]
    assert store.series(came[0].job).value.tolist() == expected.value.tolist()
    assert store.query("SELECT metric FROM kept").metric.tolist() == ["goodput_bps"]
    assert store.failure(came[3].job) == "it failed"
    assert not list(Path().glob("*.waiting"))


def test_a_journal_without_room_leaves_the_run_to_the_store(scenario, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    store = Store.open(PATH)
    monkeypatch.setattr("lasthop.study.store.journal.os.open", full)
    with store.writer() as writer:
        writer.add(finished_run(store, scenario, 1))
        assert writer.waiting == 1
        writer.write(now=True)
        assert writer.waiting == 0
    assert len(store.query("SELECT * FROM run")) == 1


def test_ctrl_c_keeps_finished_runs(small):
    status, said = struck("between", signal.SIGINT, small)
    assert status == 130
    assert f"{PATH}, and the same command goes on" in said
    assert 9 <= len(Store.open(PATH).query("SELECT * FROM runs")) < RUNS


def test_two_processes_share_a_store(small):
    both = [
        sweeping(small, PATH, seeds=4),
        sweeping(small, PATH, "--over", "tcp.congestion_control=newreno,cubic", seeds=4),
    ]
    for process in both:
        _, said = process.communicate()
        assert process.returncode == 0, said
    # 3 numbers of stations, 4 seeds, 2 controllers; NewReno, which both need, is there once.
    for table in ("run", "totals", "medium", "runs"):
        assert len(Store.open(PATH).query(f"SELECT * FROM {table}")) == 24


HOLDER = """
import duckdb, sys, time
connection = duckdb.connect(sys.argv[1])
print("held", flush=True)
time.sleep(float(sys.argv[2]))
"""


@pytest.fixture
def holder(scenario):
    """Holds the store from another process for so many seconds."""
    complete([Job(scenario, 1)], Store.open(PATH))
    processes = []

    def hold(seconds):
        processes.append(
            subprocess.Popen([sys.executable, "-c", HOLDER, PATH, str(seconds)], stdout=subprocess.PIPE, text=True)
        )
        assert processes[0].stdout.readline() == "held\n"
        return processes[0].pid

    yield hold
    for process in processes:
        process.kill()
        process.communicate()


def test_a_store_in_use_is_waited_for_and_the_holder_named(holder, scenario, capsys, monkeypatch):
    monkeypatch.setattr("lasthop.study.store.database.TOLD_AFTER_S", 0.1)
    process = holder(1)
    assert complete([Job(scenario, 2)], Store.open(PATH)).run == 1
    assert capsys.readouterr().err == f"lasthop: {PATH}: waiting for process {process}\n"


def test_a_store_that_stays_in_use_is_given_up_in_one_sentence(holder):
    process = holder(60)
    with pytest.raises(StoreError, match=rf"{PATH}: process {process} has held it for 0 s; try again"):
        Store.open(PATH, patience_s=0.2)


def no_file_beyond(size):
    return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


def stored_despite_no_room(process, path):
    """Checks how a campaign ended that found no more room, and gives how many runs are there."""
    _, said = process.communicate()
    assert process.returncode == 1, said
    complaint = [line for line in said.splitlines() if not line.startswith("sweep:")]
    assert len(complaint) == 1, said
    assert "runs that were stored before are kept: make room" in complaint[0]
    return len(Store.open(path).query("SELECT * FROM runs"))


def test_a_full_disk_is_one_sentence_and_nothing_stored_is_lost(small):
    store = Store.open(PATH)
    complete(jobs_of(lasthop.load(small), seeds=20), store)
    # Data is first written to a log beside the store, which has room for some 15 runs.
    assert stored_despite_no_room(sweeping(small, PATH, before=no_file_beyond(100_000)), PATH) >= 20
    sweep_here(small, PATH)
    assert len(store.query("SELECT * FROM runs")) == 20 + RUNS


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may mount a small disk")
def test_a_disk_that_is_really_full_is_the_same(small):
    disk = Path("disk")
    disk.mkdir()
    mount = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=8m", "none", disk], capture_output=True, text=True, check=False
    )
    if mount.returncode != 0:
        pytest.skip(f"no disk can be mounted here: {mount.stderr.strip()}")
    try:
        complete(jobs_of(lasthop.load(small)), Store.open(disk / PATH))
        free = os.statvfs(disk).f_bavail * os.statvfs(disk).f_bsize
        (disk / "filler").write_bytes(bytes(free - 100_000))
        assert stored_despite_no_room(sweeping(small, disk / PATH), disk / PATH) >= 2
    finally:
        subprocess.run(["umount", "-l", disk], check=True)
