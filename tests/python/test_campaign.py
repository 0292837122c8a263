"""Campaigns: what is run, in which company, what becomes of a run that fails, and where values of an axis end."""

from __future__ import annotations

import io

import lasthop
import pytest
from lasthop import Job, Store, cli, complete
from lasthop.study.executor import ExecutorError
from lasthop.study.executor.local import Threads
from lasthop.study.progress import Progress

SENTENCE = "the simulation stopped: time went back"


class Failing(Threads):
    """Threads on which seed 2 panics, as the engine would report it."""

    def _outcome(self, task, run):
        from lasthop.study.executor import Outcome, with_command

        if task.job.seed == 2:
            return Outcome(task.key, error=with_command(SENTENCE, task.job))
        return super()._outcome(task, run)


class Recording(Threads):
    """Threads that remember what was in flight together."""

    def __init__(self, jobs):
        super().__init__(jobs)
        self.given = []
        self.at_first_outcome = None

    def submit(self, task):
        self.given.append(task)
        super().submit(task)

    def finished(self, wait_s):
        outcomes = super().finished(wait_s)
        if outcomes and self.at_first_outcome is None:
            self.at_first_outcome = list(self.given)
        return outcomes


class Told(Progress):
    def __init__(self):
        self.told = []

    def update(self, fraction, finished, runs):
        self.told.append((fraction, finished, runs))


@pytest.fixture
def scenario(small):
    return lasthop.load(small)


def test_points_with_few_seeds_run_side_by_side(scenario):
    jobs = [Job(scenario.set("station.0.count", count), 1) for count in (1, 2, 3, 4)]
    executor = Recording(2)
    complete(jobs, Store.in_memory(), executor=executor)
    assert [task.job for task in executor.at_first_outcome] == jobs


def test_a_job_requested_twice_runs_once(scenario):
    executor = Recording(2)
    jobs = [Job(scenario, 1), Job(scenario, 1, ("rtt_s",)), Job(scenario.set("name", "other"), 1, ("goodput_bps",))]
    assert complete(jobs, Store.in_memory(), executor=executor)[:3] == (1, 0, 0)
    assert [task.job.series for task in executor.given] == [("goodput_bps", "rtt_s")]


def test_a_failed_run_is_kept_with_the_command_that_repeats_it(scenario):
    store, varied = Store.open("runs.duckdb"), scenario.set("station.0.count", 1).set("wired.delay", "5 ms")
    jobs = [Job(varied, seed) for seed in (1, 2, 3)]
    counts = complete(jobs, store, executor=Failing(2))
    assert (counts.run, counts.failed, counts.interrupted) == (2, 1, False)
    repeats = f"`lasthop run {scenario.file_name} --set station.0.count=1 --set 'wired.delay=5 ms' --seed 2` repeats it"
    assert counts.failures == (f"the simulation stopped: time went back; {repeats}",)
    assert store.failure(jobs[1]) == counts.failures[0]
    assert (store.run(jobs[1]), store.failure(jobs[0])) == (None, None)
    # The same engine would fail in the same way: the failure is reported again, not run again.
    assert complete(jobs, store) == (0, 2, 1, False, counts.failures)


def test_a_sweep_with_a_failed_run_ends_with_status_1_and_the_rest_is_there(small, monkeypatch, capsys):
    monkeypatch.setattr("lasthop.cli.sweep.Threads", Failing)
    status = cli.main(["sweep", str(small), "--over", "station.0.count=1,2", "--seeds", "3", "--csv", "-"])
    written = capsys.readouterr()
    assert status == 1
    assert [line.split(",")[:2] for line in written.out.splitlines()[1:]] == [
        ["1", "1"],
        ["1", "3"],
        ["2", "1"],
        ["2", "3"],
    ]
    assert written.err.count("--seed 2` repeats it\n") == 2


def test_a_failed_run_of_a_sweep_in_python_carries_the_table(scenario):
    with pytest.raises(lasthop.RunFailed, match="--seed 2` repeats it") as failed:
        lasthop.sweep(scenario, {"station.0.count": [1]}, seeds=3, executor=Failing(1))
    assert failed.value.result["seed"].tolist() == [1, 3]


def test_a_run_that_a_machine_lost_is_run_again_the_next_time(scenario):
    class Losing(Threads):
        def _outcome(self, task, run):
            raise MemoryError("no memory")

    store = Store.in_memory()
    counts = complete([Job(scenario, 1)], store, executor=Losing(1))
    assert (counts.failed, counts.failures) == (1, ("MemoryError: no memory",))
    assert complete([Job(scenario, 1)], store)[:3] == (1, 0, 0)


def test_the_repeating_command_repeats_the_run(scenario, command):
    import json
    import shlex

    varied = scenario.set("description", "it's $HOME").set("wired.delay", "5 ms")
    program, *arguments = shlex.split(varied.repeating_command(7))
    assert program == "lasthop"
    done = command(*arguments, "--json", "-")
    assert done.returncode == 0, done.stderr
    (run,) = json.loads(done.stdout)["runs"]
    assert run["flows"] == lasthop.run(varied, seeds=[7]).runs[0]["flows"]


def test_jobs_may_follow_from_results(scenario):
    store, asked = Store.in_memory(), []

    def then(job, document):
        asked.append((job.seed, document["seed"]))
        return [Job(scenario, job.seed + 1)] if job.seed < 3 else []

    assert complete([Job(scenario, 1)], store, then=then)[:2] == (3, 0)
    assert complete([Job(scenario, 1)], store, then=then)[:2] == (0, 3)
    assert asked == [(1, 1), (2, 2), (3, 3)] * 2


def test_a_wrong_scenario_is_refused_before_anything_runs(scenario):
    executor = Recording(1)
    with pytest.raises(lasthop.ScenarioError, match="count"):
        complete([Job(scenario, 1), Job(scenario.set("station.0.count", 0), 1)], Store.in_memory(), executor=executor)
    assert executor.given == []


def test_progress_counts_stored_runs(scenario):
    store, progress = Store.in_memory(), Told()
    complete([Job(scenario, 1)], store)
    complete([Job(scenario, seed) for seed in range(1, 5)], store, progress=progress)
    assert progress.told[-1] == (1.0, 4, 4)
    assert all(0 <= fraction <= 1 and finished <= runs == 4 for fraction, finished, runs in progress.told)


def test_lines_of_progress_have_the_remaining_time(monkeypatch):
    now = [0.0]
    monkeypatch.setattr("lasthop.study.progress.time.monotonic", lambda: now[0])
    stream = io.StringIO()
    progress = Progress.in_lines(stream, "sweep", "runs")
    # Two of ten were there at first; the next two took ten seconds, so that six more take thirty.
    for now[0], finished in ((0.0, 2), (10.0, 4), (40.0, 10)):
        progress.update(finished / 10, finished, 10)
    assert stream.getvalue().splitlines() == [
        "sweep: 2 of 10 runs finished",
        "sweep: 4 of 10 runs finished, about 30 s left",
        "sweep: 10 of 10 runs finished",
    ]


def test_the_remaining_time_goes_by_the_last_half_minute(monkeypatch):
    now = [0.0]
    monkeypatch.setattr("lasthop.study.progress.time.monotonic", lambda: now[0])
    stream = io.StringIO()
    progress = Progress.in_lines(stream, "sweep", "runs")
    # Fifty runs at one a second; then the machine has other work, and a run takes five: 35 of the last 50 runs take
    # 175 s, where the mean since the start would say 35 / 65 of 125 s, 67 s.
    for second in range(126):
        now[0], finished = float(second), min(second, 50) + max(0, second - 50) // 5
        progress.update(finished / 100, finished, 100)
    assert stream.getvalue().splitlines()[-1].endswith("of 100 runs finished, about 3 min left")


def test_lines_of_progress_get_rarer(monkeypatch):
    now = [0.0]
    monkeypatch.setattr("lasthop.study.progress.time.monotonic", lambda: now[0])
    stream = io.StringIO()
    progress = Progress.in_lines(stream, "sweep", "runs")
    for run in range(3601):
        now[0] = float(run)
        progress.update(run / 3600, run, 3600)
    # Twenty at once, one in two seconds up to 50 s, then a twenty-fifth of the time apart: 25 ln(3600 / 50) are 107.
    assert 100 < len(stream.getvalue().splitlines()) < 20 + 15 + 107 + 5


def test_one_long_seed_has_lines_of_progress(monkeypatch):
    now = [0.0]
    monkeypatch.setattr("lasthop.study.progress.time.monotonic", lambda: now[0])
    stream = io.StringIO()
    progress = Progress.in_lines(stream, "emulating")
    # A hundred seconds for one seed: each line says how much is done, and how long the rest takes at this speed.
    for second in range(0, 101, 5):
        now[0] = float(second)
        progress.update(second / 100, second // 100, 1)
    lines = stream.getvalue().splitlines()
    assert lines[0] == "emulating: 15 % of 1 seed, about 85 s left"
    assert lines[-1] == "emulating: 1 of 1 seeds finished" and 5 <= len(lines) <= 10


def test_a_step_is_shown_at_once():
    stream = io.StringIO()
    Progress.in_lines(stream, "air", "captures").step("round 1 of 2")
    assert stream.getvalue() == "air: round 1 of 2\n"


def test_finished_runs_are_stored_when_another_part_fails(scenario):
    def then(_job, _document):
        raise ArithmeticError

    store = Store.in_memory()
    with pytest.raises(ArithmeticError):
        complete([Job(scenario, 1)], store, then=then)
    assert store.run(Job(scenario, 1)) is not None


def test_an_executor_that_cannot_start_leaves_the_store_as_it_was(scenario):
    class Absent(Threads):
        def __enter__(self):
            raise ExecutorError("nobody there")

    store = Store.in_memory()
    with pytest.raises(ExecutorError):
        complete([Job(scenario, 1)], store, executor=Absent(1))
    assert complete([Job(scenario, 1)], store).run == 1
