"""The Dask executor on a real scheduler with real workers, which are processes of this machine."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import lasthop
import pytest
from lasthop import Job, Store, complete
from lasthop.study.executor import ExecutorError
from lasthop.study.executor import dask as executor

distributed = pytest.importorskip("distributed", reason="lasthop[dask] is not installed")

COUNT = "station.0.count"
WITHOUT_LASTHOP = "import sys; sys.modules['lasthop'] = None"
WITH_ANOTHER = "import lasthop.study.store; lasthop.study.store.engine_identity = lambda: '0.0.9+0123456789abcdef'"


class Cluster:
    """A scheduler and its workers, each a process in an empty directory."""

    def __init__(self, folder):
        self._folder = folder
        self._processes = []
        file = folder / "scheduler.json"
        place = ("--host", "127.0.0.1", "--port", "0", "--scheduler-file", str(file))
        self.scheduler = self._start("dask_scheduler", *place)
        self.address = _told(lambda: distributed.utils.json.loads(file.read_text())["address"])
        self.client = distributed.Client(self.address, set_as_default=False, timeout=60)

    def _start(self, program, *arguments, first=""):
        code = f"{first}\nfrom distributed.cli.{program} import main\nmain()"
        line = [sys.executable, "-c", code, *arguments, "--no-dashboard"]
        folder = self._folder / str(len(self._processes))
        folder.mkdir()
        process = subprocess.Popen(line, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self._processes.append(process)
        return process

    def add_worker(self, first=""):
        """Starts one with one thread; `first` is what its Python does before all else."""
        arguments = (self.address, "--nthreads", "1", "--no-nanny", "--host", "127.0.0.1", "--death-timeout", "60")
        process = self._start("dask_worker", *arguments, first=first)
        return process

    def wait_for(self, workers):
        self.client.wait_for_workers(workers, timeout=60)

    def stop(self):
        self.client.close(timeout=2)
        for process in self._processes:
            process.kill()
        for process in self._processes:
            process.wait()


def _told(ask):
    """What `ask` gives once it can."""
    for _ in range(600):
        try:
            return ask()
        except (OSError, ValueError):
            time.sleep(0.1)
    raise TimeoutError


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    """Two workers; a test that takes one away has a cluster of its own."""
    cluster = Cluster(tmp_path_factory.mktemp("cluster"))
    cluster.add_worker()
    cluster.add_worker()
    cluster.wait_for(2)
    yield cluster
    cluster.stop()


@pytest.fixture
def own_cluster(tmp_path_factory):
    cluster = Cluster(tmp_path_factory.mktemp("own"))
    yield cluster
    cluster.stop()


@pytest.fixture
def scenario(small):
    return lasthop.load(small)


def without_clock(document):
    return {name: part for name, part in document.items() if name != "simulator"}


def test_workers_give_the_runs_that_threads_give(cluster, scenario):
    jobs = [Job(scenario.set(COUNT, count), seed, ("goodput_bps",)) for count in (1, 2) for seed in (1, 2, 3)]
    there, here = Store.in_memory(), Store.in_memory()
    assert complete(jobs, there, executor=executor.Dask(cluster.address))[:3] == (6, 0, 0)
    complete(jobs, here)
    assert list(map(without_clock, there.runs(jobs))) == list(map(without_clock, here.runs(jobs)))
    for job in jobs:
        assert there.series(job).equals(here.series(job))


def test_both_workers_have_a_share(cluster, scenario):
    before = cluster.client.run(lambda dask_worker: dask_worker.state.executed_count)
    complete(
        [Job(scenario.set("duration", "60 s"), seed) for seed in range(1, 9)],
        Store.in_memory(),
        executor=executor.Dask(cluster.address),
    )
    after = cluster.client.run(lambda dask_worker: dask_worker.state.executed_count)
    assert all(after[worker] > before[worker] for worker in before) and len(before) == 2


class Watched(executor.Dask):
    """Notes what was sent, when the first chunk was, when the last run came, and how long runs took on the workers."""

    def __init__(self, address):
        super().__init__(address)
        self.sizes, self.spent_s, self.begun, self.ended = [], 0.0, None, None

    def _start(self, tasks):
        self.begun = self.begun or time.monotonic()
        self.sizes.append(len(tasks))
        super()._start(tasks)

    def _taken(self, tasks, done):
        self.spent_s += sum(done.seconds)
        self.ended = time.monotonic()
        return super()._taken(tasks, done)


def test_short_runs_travel_together_and_keep_the_workers_busy(cluster, scenario):
    # About 50 ms each, so that a chunk has ten of them; 200 are 5 s for two workers.
    jobs = [Job(scenario.set("duration", "120 s"), seed) for seed in range(1, 201)]
    watched = Watched(cluster.address)
    assert complete(jobs, Store.in_memory(), executor=watched)[:3] == (200, 0, 0)
    # 64 are sent alone, before anything is known of them. The others form chunks of half a second, or a quarter where
    # runs have become faster meanwhile, and at the end there are some dozen smaller pieces: 64 + 40 + 12 of 10 s.
    assert len(watched.sizes) <= 64 + watched.spent_s / (executor.CHUNK_S / 2) + 12
    # On an idle machine 95 %; if others compute, the client and the scheduler wait too, and the workers for them.
    assert watched.spent_s / (2 * (watched.ended - watched.begun)) > 0.7


def test_a_chunk_that_brings_down_workers_is_taken_apart(cluster, scenario):
    class Struck(executor.Dask):
        """Of whose chunks of several runs no worker survives, as of a chunk in which one run wants too much memory."""

        def _start(self, tasks):
            sizes.append(len(tasks))
            super()._start(tasks)

        def _taken(self, tasks, done):
            if len(tasks) > 1:
                return self._without_result(tasks, Errored, distributed.KilledWorker("chunk", None, 3))
            return super()._taken(tasks, done)

    class Errored:
        status = "error"

    sizes = []
    jobs = [Job(scenario, seed) for seed in range(1, 101)]
    assert complete(jobs, Store.in_memory(), executor=Struck(cluster.address))[:3] == (100, 0, 0)
    assert max(sizes) > 1


def test_a_sweep_of_the_command_line_runs_there(cluster, command, small):
    line = ("sweep", small, "--over", f"{COUNT}=1,2", "--seeds", 2, "--csv", "-")
    there = command(*line, "--executor", "dask", "--address", cluster.address)
    assert there.returncode == 0, there.stderr
    assert there.stdout == command(*line).stdout
    assert "distributed" not in there.stderr, "what the library logs is not for users"


def test_a_trace_travels_with_its_scenario(cluster, small):
    small.write_text(
        small.read_text()
        + '[[flow]]\nstation = "sta1"\ndirection = "up"\ntransport = "udp"\n'
        + 'traffic = { kind = "trace", file = "packets.csv" }\n'
    )
    Path("packets.csv").write_text("1.0, 100\n")
    scenario = lasthop.Scenario(small.read_text(), "small.toml")
    there = Store.in_memory()
    assert complete([Job(scenario, 1)], there, executor=executor.Dask(cluster.address))[:3] == (1, 0, 0)
    assert without_clock(there.run(Job(scenario, 1))) == without_clock(lasthop.run(scenario, seeds=1).runs[0])


def test_runs_of_a_worker_that_dies_are_run_again_elsewhere(own_cluster, scenario):
    victim = own_cluster.add_worker()
    own_cluster.add_worker()
    own_cluster.wait_for(2)
    jobs = [Job(scenario.set("duration", "150 s"), seed) for seed in range(1, 21)]
    at_work = {}

    class Killing(executor.Dask):
        def finished(self, wait_s):
            outcomes = super().finished(wait_s)
            if outcomes and victim.poll() is None:
                at_work.update(own_cluster.client.processing())
                victim.kill()
            return outcomes

    store = Store.in_memory()
    assert complete(jobs, store, executor=Killing(own_cluster.address))[:4] == (20, 0, 0, False)
    assert victim.wait() < 0
    assert len(at_work) == 2 and all(at_work.values()), "both had runs in their hands when one died"
    assert None not in store.runs(jobs)


def test_a_lost_scheduler_is_an_error_and_finished_runs_are_kept(own_cluster, scenario, monkeypatch):
    monkeypatch.setattr(executor, "SILENCE_S", 0.5)
    own_cluster.add_worker()
    own_cluster.wait_for(1)

    class Killing(executor.Dask):
        def finished(self, wait_s):
            outcomes = super().finished(wait_s)
            if outcomes:
                own_cluster.scheduler.kill()
            return outcomes

    store = Store.in_memory()
    jobs = [Job(scenario.set("duration", "200 s"), seed) for seed in range(1, 31)]
    with pytest.raises(OSError, match="the Dask scheduler has gone; finished runs are kept") as gone:
        complete(jobs, store, executor=Killing(own_cluster.address))
    assert gone.value.filename == own_cluster.address
    assert 0 < len(store.query("SELECT * FROM runs")) < 30


@pytest.mark.parametrize(
    ("first", "what"),
    [
        (WITHOUT_LASTHOP, "this worker has no lasthop; install it"),
        (WITH_ANOTHER, r"has lasthop 0.0.9\+0123456789abcdef, and here it is"),
    ],
)
def test_a_worker_that_would_run_another_engine_is_refused(own_cluster, scenario, first, what):
    own_cluster.add_worker(first)
    own_cluster.wait_for(1)
    with pytest.raises(ExecutorError, match=f"tcp://127.0.0.1:[0-9]+: .*{what}"):
        complete([Job(scenario, 1)], Store.in_memory(), executor=executor.Dask(own_cluster.address))


def test_a_worker_that_joins_later_is_held_to_the_same(own_cluster, scenario):
    class Joining(executor.Dask):
        def __enter__(self):
            super().__enter__()
            own_cluster.add_worker(WITH_ANOTHER)
            return self

    with pytest.raises(ExecutorError, match="has lasthop 0.0.9"):
        complete([Job(scenario, 1)], Store.in_memory(), executor=Joining(own_cluster.address))


@pytest.mark.parametrize(
    ("address", "what"), [("tcp://127.0.0.1:9", "no Dask scheduler answers"), ("xyz://here", "is not an address")]
)
def test_an_address_without_a_scheduler_is_one_sentence(scenario, address, what):
    with pytest.raises(ExecutorError, match=what):
        complete([Job(scenario, 1)], Store.in_memory(), executor=executor.Dask(address, connect_s=0.5))
