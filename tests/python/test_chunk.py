"""Chunks of runs: how many go together, and that a chunk gives what its runs give one by one."""

from __future__ import annotations

import pickle
from collections import deque
from pathlib import Path

import lasthop
import pytest
from lasthop import Job, Store
from lasthop.study.executor import Task
from lasthop.study.executor.chunk import Pace, name_of, outcomes_of, pack, run_chunk


@pytest.fixture
def scenario(small):
    return lasthop.load(small)


def tasks_of(*jobs):
    store = Store.in_memory()
    return [Task(store.key(job), job, store.identity(job)) for job in jobs]


def without_clock(run):
    document = run.json()
    return document[: document.index('"wall_s"')]


def test_a_chunk_equals_its_runs_alone(scenario):
    other = scenario.set("station.0.count", 1)
    tasks = tasks_of(Job(scenario, 1), Job(other, 1, ("goodput_bps",)), Job(scenario, 2))
    payload = pack(tasks)
    assert len(payload.scenarios) == 2, "each scenario travels once"
    done = pickle.loads(pickle.dumps(run_chunk(payload, longest_s=60)))
    outcomes = outcomes_of(tasks, done)
    assert [outcome.key for outcome in outcomes] == [task.key for task in tasks]
    for task, outcome in zip(tasks, outcomes, strict=True):
        (alone,) = outcomes_of([task], run_chunk(pack([task])))
        assert without_clock(outcome.run) == without_clock(alone.run)
        assert (outcome.series is None) == (alone.series is None) == (not task.job.series)
    assert {block.metric for block in outcomes[1].series} == {"goodput_bps"}


def test_a_slow_chunk_returns_the_runs_that_were_not_begun(scenario):
    tasks = tasks_of(*(Job(scenario, seed) for seed in range(5)))
    done = run_chunk(pack(tasks), longest_s=0.0)
    assert len(done.seconds) == len(outcomes_of(tasks, done)) == 1


def test_a_failed_run_leaves_the_others_of_its_chunk(scenario, monkeypatch):
    tasks = tasks_of(*(Job(scenario, seed) for seed in (1, 2, 3)))
    done = run_chunk(pack(tasks), longest_s=60)
    first, *_, third = [outcome.run.json() for outcome in outcomes_of(tasks, done)]
    import zlib

    sentence = "the simulation stopped: time went back"
    failed = done._replace(documents=zlib.compress(f"{first}\n{third}".encode()), errors={1: sentence})
    outcomes = outcomes_of(tasks, failed)
    assert [outcome.run and outcome.run.json() for outcome in outcomes] == [first, None, third]
    assert f"`lasthop run {scenario.file_name} --seed 2` repeats it" in outcomes[1].error


def test_files_travel_with_a_chunk(small):
    trace = 'traffic = { kind = "trace", file = "packets.csv" }'
    small.write_text(f'{small.read_text()}[[flow]]\nstation = "sta1"\ntransport = "udp"\n{trace}\n')
    Path("packets.csv").write_text("1.0, 100\n")
    tasks = tasks_of(Job(lasthop.load(small), 1))
    payload = pack(tasks)
    Path("packets.csv").unlink()
    (outcome,) = outcomes_of(tasks, run_chunk(payload))
    assert '"bytes_delivered":100' in outcome.run.json()


def test_chunks_are_as_long_as_runs_have_been_of_late(scenario):
    pace, (known, other) = Pace(), tasks_of(Job(scenario, 1), Job(scenario.set("station.0.count", 1), 1))
    runs = deque([known] * 100)
    assert len(pace.cut(runs, 0.5, whole=True)) == 1, "alone, while nothing is known"
    pace.learn([known], [0.01])
    # 50 runs of 10 ms are half a second.
    assert len(pace.cut(runs, 0.5, whole=True)) == 50
    assert pace.cut(runs, 0.5, whole=True) == [] and len(runs) == 49, "too few for a whole chunk"
    assert len(pace.cut(runs, 0.5, whole=False)) == 49
    # 10 ms, then 110 ms: 10 + 0.3 x 100.
    pace.learn([known], [0.11])
    assert pace.cost_s(known) == pytest.approx(0.04)
    assert pace.cost_s(other) == pace.lately_s == pytest.approx(0.04), "what runs have cost lately, of one not seen yet"
    pace.learn([other], [1.0])
    assert (pace.cost_s(other), pace.cost_s(known)) == (1.0, pytest.approx(0.04))


def test_the_name_of_a_chunk_depends_on_its_runs_and_series(scenario):
    one, two = tasks_of(Job(scenario, 1), Job(scenario, 2))
    (kept,) = tasks_of(Job(scenario, 1, ("rtt_s",)))
    names = {name_of(tasks) for tasks in ([one], [two], [one, two], [two, one], [kept])}
    assert len(names) == 5 and name_of([one]) == name_of(tasks_of(Job(scenario, 1)))


def test_each_seed_of_a_chunk_finds_code_in_python_as_it_was_written(scenario, small):
    # Its module counts what it makes: seven of one run, if no other seed has counted there.
    (small.parent / "mine.py").write_text(
        "import lasthop\nmade = []\n\n\nclass Mine(lasthop.CongestionControl):\n"
        "    def __init__(self, context):\n        made.append(1)\n        if len(made) > 7:\n            raise RuntimeError('shared')\n"
    )
    coded = scenario.set(
        "tcp.congestion_control", {"kind": "python", "file": str(small.parent / "mine.py"), "class": "Mine"}
    )
    tasks = [
        task._replace(identity=first.identity)
        for first, *rest in [tasks_of(Job(coded, 1), Job(coded, 2))]
        for task in (first, *rest)
    ]
    outcomes = outcomes_of(tasks, run_chunk(pack(tasks), longest_s=60))
    assert [outcome.error for outcome in outcomes] == [None, None]
