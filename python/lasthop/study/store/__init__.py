"""A store: a DuckDB file with every finished run, so that none is repeated; short runs are in shards next to it."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ... import _core
from ...data import arguments as given
from ...data.extras import pandas_for
from ...data.runs import Run
from . import shards, tables
from .database import PATIENCE_S, Database, StoreError, shards_of
from .finished import Blocks, Finished, Form, Held, whole
from .finished import whole as whole_run
from .identity import Identified, Identity, Job, engine_identity
from .journal import Journal, Waiting, left_beside
from .memory import Memory
from .reading import Reading
from .shards import NewShard

if TYPE_CHECKING:
    from concurrent.futures import Future, ThreadPoolExecutor

    import duckdb
    import numpy
    import pandas
    import pyarrow

# A writer holds the file for a turn, then leaves it to others for a while.
TURN_S = 2.0
INTERRUPT_AGAIN_S = 0.05
PAUSE_S = 0.1
# A transaction costs some 30 ms whatever is in it. Waiting runs are written after a wait of this many times the
# duration of the last one, or of this many seconds.
WRITING_APART = 9
LONGEST_WAIT_S = 1.0
# So many runs that wait are short ones: later runs go into a shard. A kill loses those of the last second.
MANY = 256
# A shard is safe and can be read; seconds until it is listed.
LISTED_APART_S = 5.0
# Numbers of runs looked up together, and of documents, of 10 to 30 KB, in memory at once.
RUNS_AT_A_TIME = 4096
ROWS_AT_A_TIME = 256


def batched(jobs: Iterable[Job], size: int) -> Iterator[list[Job]]:
    """`jobs` in lists of at most `size`."""
    iterator = iter(jobs)
    while some := list(islice(iterator, size)):
        yield some


class Store(Identified):
    """Runs by their inputs: scenario, seed and engine. Open one with `Store.open` or `Store.in_memory`.

    Raises `StoreError` if the file is not a store or stays in use, and `OSError` if it cannot be written.
    """

    def __init__(self, database: Database) -> None:
        super().__init__()
        self._database = database
        self._reading = Reading(database, _store_all, _take_shards)

    @classmethod
    def open(cls, path: str | os.PathLike[str], *, patience_s: float = PATIENCE_S) -> Store:
        """The store in the file `path`, which is created if necessary; others may hold it for `patience_s`."""
        store = cls(Database(given.path("store", path, "the name of its file"), patience_s))
        was_there = Path(path).exists()
        try:
            if not (Path(path).is_file() and store._is_store()):
                store._make()
        except OSError:
            if not was_there:  # an incomplete file would be no store, even with space again
                Path(path).unlink(missing_ok=True)
            raise
        store._take_left()
        return store

    @classmethod
    def existing(cls, path: str | os.PathLike[str], *, patience_s: float = PATIENCE_S) -> Store:
        """The store in the file `path`, which must be there."""
        if not Path(path).exists():
            raise StoreError(f"{path}: there is no such store; `lasthop sweep … --store {path}` makes one")
        store = cls(Database(given.path("store", path, "the name of its file"), patience_s))
        if not store._is_store():
            raise StoreError(f"{path}: is a DuckDB file without tables, and not a store of lasthop")
        return store

    @classmethod
    def in_memory(cls) -> Store:
        """A store that lasts as long as this object."""
        store = cls(Database(None))
        store._make()
        return store

    @property
    def path(self) -> Path | None:
        """The file; None for a store in memory."""
        return self._database.path

    @property
    def takes(self) -> Form:
        """The form in which many short runs may come."""
        return "documents" if self.path is None else "shards"

    def run(self, job: Job) -> dict[str, Any] | None:
        """The document of a run, as in `runs` of a result; None if it is not there."""
        return self.runs([job])[0]

    def runs(self, jobs: Sequence[Job]) -> list[dict[str, Any] | None]:
        """`run` of each, at once."""
        return list(self.each(jobs, Run.document))

    def each(self, jobs: Iterable[Job], take: Callable[[Run], Any] = whole) -> Iterator[Any]:
        """`run` of each, or the part that `take` selects; some at a time, so that a large campaign need not be in memory."""
        for some in batched(jobs, RUNS_AT_A_TIME):
            keys = [self.key(job) for job in some]
            taken = self._taken(keys, take)
            yield from (taken.get(key) for key in keys)

    def _taken(self, keys: Sequence[str], take: Callable[[Run], Any]) -> dict[str, Any]:
        """Returns `take` of the stored runs by key, read in the order of the file, then shard by shard.

        DuckDB unpacks documents by the two thousand; so those before the first and after the last are not read.
        """
        wanted = "run IN (SELECT unnest(?::UUID[]))"
        taken: dict[str, Any] = {}

        def read(rows: duckdb.DuckDBPyConnection) -> None:
            while some := rows.fetchmany(ROWS_AT_A_TIME):
                taken.update((key, take(Run.parse(document))) for key, document in some)

        with self._reading.connection() as connection:
            table = tables.stored(connection, "run")
            ends = f"SELECT min(rowid), max(rowid) FROM {table} WHERE {wanted}"
            first, last = connection.execute(ends, [keys]).fetchone() or (None, None)
            if first is not None:
                select = (
                    f"SELECT run::VARCHAR, document FROM {table} WHERE rowid BETWEEN {first} AND {last} AND {wanted}"
                )
                read(connection.execute(select, [keys]))
            if self._database.shards is not None and (lacking := [key for key in keys if key not in taken]):
                for rows in shards.documents(connection, self._database.shards, lacking):
                    read(rows)
        return taken

    def series(self, job: Job) -> pandas.DataFrame | None:
        """The time series of a run: time_s, entity, metric, value; None unless all series of the job are there."""
        key = self.key(job)
        with self._reading.connection() as connection:
            kept = connection.execute("SELECT metric FROM kept WHERE run = ?", [key]).fetchall()
            if not {metric for (metric,) in kept}.issuperset(job.series):
                return None
            select = "SELECT time_s, entity, metric, value FROM series WHERE run = ? AND list_contains(?, metric)"
            return connection.execute(f"{select} ORDER BY rowid", [key, list(job.series)]).df()

    def arrays(self, job: Job) -> dict[str, dict[str, numpy.ndarray]] | None:
        """The time series of a run by metric and entity; None unless all that the job names are there."""
        key = self.key(job)
        with self._reading.connection() as connection:
            kept = connection.execute("SELECT metric FROM kept WHERE run = ?", [key]).fetchall()
            if not {metric for (metric,) in kept}.issuperset(job.series):
                return None
            rows = (
                "SELECT metric, entity, list(value ORDER BY rowid) AS values, min(rowid) AS first FROM series "
                "WHERE run = ? AND list_contains(?, metric) GROUP BY metric, entity ORDER BY first"
            )
            columns = connection.execute(rows, [key, list(job.series)]).fetchnumpy()
        found: dict[str, dict[str, numpy.ndarray]] = {}
        for metric, entity, values in zip(columns["metric"], columns["entity"], columns["values"], strict=True):
            found.setdefault(metric, {})[entity] = values
        return found

    def failure(self, job: Job) -> str | None:
        """The reason why a run failed; None if it did not fail."""
        with self._reading.connection() as connection:
            select = f"SELECT error FROM {tables.stored(connection, 'failures')} WHERE run = ?"
            row = connection.execute(select, [self.key(job)]).fetchone()
            return None if row is None else str(row[0])

    def query(self, sql: str) -> pandas.DataFrame:
        """Returns the answer to an SQL statement; see `query_arrow`."""
        pandas_for("the answer to a query")
        return self.query_arrow(sql).to_pandas(maps_as_pydicts="strict")

    def query_arrow(self, sql: str) -> pyarrow.Table:
        """Returns the answer to an SQL statement, which may only read; raises `ValueError` with DuckDB's message."""
        import duckdb

        with self._reading.connection() as connection:
            try:
                statement = tables.only_statement(connection, sql)
                return _interruptible(connection, lambda: tables.answer(connection, statement))
            except (duckdb.IOException, duckdb.OutOfMemoryException, duckdb.InterruptException):
                raise
            except duckdb.Error as error:
                # A damaged file has DuckDB's general error; statements have errors of their own.
                if type(error) is duckdb.Error or isinstance(error, duckdb.InternalException | duckdb.FatalException):
                    raise
                said = str(error).partition("\n\nLINE")[0]
                raise ValueError(f"SQL: {' '.join(said.split())}") from None

    def held(self, keys: Sequence[str]) -> Held:
        """Returns the stored parts of these runs."""
        with self._database.connection(read_only=True) as connection:
            return _held(connection, keys)

    @contextmanager
    def writer(self, give_up: Callable[[], bool] = lambda: False) -> Iterator[Writer]:
        """Writes runs as they come in; on leaving, what still waits."""
        writer = Writer(self, give_up)
        try:
            yield writer
        finally:
            # Also after another error: finished runs are kept.
            try:
                writer.write(now=True)
            finally:
                writer.close()

    def _is_store(self) -> bool:
        """Whether the file has the tables of this format; raises `StoreError` if it has other tables."""
        with self._database.connection(read_only=True) as connection:
            there = tables.table_names(connection)
            if there:
                self._check_format(connection, there)
            return bool(there)

    def _make(self) -> None:
        """Makes the tables, unless another process has meanwhile."""
        with self._database.connection() as connection:
            if there := tables.table_names(connection):
                self._check_format(connection, there)
            else:
                tables.create(connection, _core.__version__)

    def _take_left(self) -> None:
        """Writes the runs that a killed process had finished and not written; on a full disk they go on waiting."""
        for left in [] if self.path is None else left_beside(self.path):
            with closing(left), suppress(OSError):
                if runs := left.runs():
                    with self._database.connection() as connection:
                        _store_all(connection, runs)
                left.remove()
        if self.path is not None and shards.beside(self.path):
            shards.clean(self.path)
            with suppress(OSError), self._database.connection() as connection:
                _take_shards(connection, self.path)

    def _check_format(self, connection: duckdb.DuckDBPyConnection, there: set[str]) -> None:
        if not there.issuperset({"store", "run", "scenarios"}):
            raise StoreError(f"{self.path}: is a DuckDB file, but not a store of lasthop; give another name")
        number, version = connection.execute("SELECT format, lasthop FROM store").fetchone() or (
            None,
            "another program",
        )
        if number not in tables.FORMATS:
            raise StoreError(
                f"{self.path}: a store of format {number}, made by lasthop {version}; this version has format "
                f"{tables.FORMAT}: use that version, or give a new file and run again"
            )


def _held(connection: duckdb.DuckDBPyConnection, keys: Sequence[str]) -> Held:
    """The stored parts of these runs."""
    wanted = "run IN (SELECT unnest(?::UUID[]))"
    runs = connection.execute(f"SELECT run::VARCHAR FROM run WHERE {wanted}", [list(keys)]).fetchall()
    runs += [(key,) for key in shards.held(connection, keys)]
    kept = connection.execute(f"SELECT run::VARCHAR, list(metric) FROM kept WHERE {wanted} GROUP BY run", [list(keys)])
    metrics = {key: frozenset(names) for key, names in kept.fetchall()}
    failures = connection.execute(f"SELECT run::VARCHAR, error FROM failures WHERE {wanted}", [list(keys)])
    return Held({key: metrics.get(key, frozenset()) for (key,) in runs}, dict(failures.fetchall()))


def _interruptible(connection: duckdb.DuckDBPyConnection, ask: Callable[[], pyarrow.Table]) -> pyarrow.Table:
    """Asks in a thread of its own: DuckDB's own answer to Ctrl-C now and then never comes."""
    from concurrent.futures import ThreadPoolExecutor, wait

    with ThreadPoolExecutor(1) as thread:
        answer = thread.submit(ask)
        try:
            return answer.result()
        except KeyboardInterrupt:
            while not answer.done():  # one that comes before the question has begun is not heard
                connection.interrupt()
                wait([answer], timeout=INTERRUPT_AGAIN_S)
            raise


class Writer:
    """Puts runs into a store, holding its file for a turn at a time so that other processes get theirs."""

    def __init__(self, store: Store, give_up: Callable[[], bool]) -> None:
        self._store = store
        self._give_up = give_up
        self._waiting: list[Waiting] = []
        self._journal = None if store.path is None else Journal(store.path)
        self._unkept = 0
        #: of short runs: the one that is filled, those that a thread writes with their numbers of runs, and whether some are not listed
        self._shard: NewShard | None = None
        self._thread: ThreadPoolExecutor | None = None
        self._written: list[tuple[Future[str], int]] = []
        self._has_unlisted = False
        self._since_cut = 0
        self._cut_from = self._listed_from = time.monotonic()
        self._scenarios: dict[str, str] = {}
        self._rows: dict[int, tuple[Identity, dict[str, str]]] = {}
        self._held = ExitStack()
        self._connection: duckdb.DuckDBPyConnection | None = None
        self._turn_from = -PAUSE_S
        self._rested_from = -PAUSE_S
        self._due_from = -LONGEST_WAIT_S
        #: the duration of the last transaction
        self._written_in_s = 0.0

    @property
    def waiting(self) -> int:
        """How many runs a kill would lose, as they are neither in the store nor next to it."""
        return self._unkept + len(self._shard or ()) + sum(runs for _, runs in self._written)

    def add(self, run: Finished) -> None:
        """Takes a run, which is in the journal from now on, and in the store with a `write`; one of many goes into a shard."""
        if self._shard is None and len(self._waiting) >= MANY and self._store.takes == "shards":
            self._shard, self._cut_from = NewShard(), time.monotonic()
        if self._shard is not None and run.run is not None and not run.job.series:
            self._shard.add(run.run, self._row(run), run.identity.resolved.to_json)
            self._since_cut += 1
            if len(self._shard) >= shards.MOST:
                self._cut(NewShard())
            return
        scenario = self._scenarios.get(run.identity.key)
        if scenario is None:
            scenario = self._scenarios.setdefault(run.identity.key, run.identity.resolved.to_json())
        waiting = Waiting(self._row(run), scenario, tuple(run.job.series), run.run, run.series, run.error)
        self._waiting.append(waiting)
        if self._journal is None or not self._journal.add(waiting):
            self._unkept += 1

    def _row(self, run: Finished) -> dict[str, Any]:
        """The row of a run; its scenario's part of it is made once."""
        known = self._rows.get(id(run.identity))
        if known is None or known[0] is not run.identity:
            known = self._rows[id(run.identity)] = (run.identity, scenario_row(run.job, run.identity))
        return _row(run, known[1])

    def add_shard(self, files: Mapping[str, bytes]) -> None:
        """Takes a shard that a worker has filled."""
        shards.keep(self._path, files)
        self._has_unlisted = True

    def _cut(self, following: NewShard | None) -> None:
        """Has a thread write the shard, while the next one is filled."""
        from concurrent.futures import ThreadPoolExecutor

        shard, self._shard = self._shard, following
        if shard is not None and len(shard):
            self._thread = self._thread or ThreadPoolExecutor(1)
            # One is written while another is filled, and no third is in memory.
            self._take_written(every=True)
            self._written.append((self._thread.submit(shards.keep, self._path, shard), len(shard)))

    def _take_written(self, *, every: bool) -> None:
        """Notes which shards are whole; waits for `every` one of them. Raises the `OSError` of one that is not."""
        written, self._written = self._written, []
        for place, (each, runs) in enumerate(written):
            if every or each.done():
                try:
                    each.result()
                except BaseException:
                    self._written += written[place + 1 :]
                    raise
                self._has_unlisted = True
            else:
                self._written.append((each, runs))

    def write(self, *, now: bool = False) -> None:
        """Writes what waits as one transaction, unless one was just now or it is others' turn, and that can wait."""
        self._sync()
        at = time.monotonic()
        if self._shard is not None and (now or at > self._cut_from + LONGEST_WAIT_S):
            self._cut(NewShard() if self._since_cut > MANY and not now else None)
            self._cut_from, self._since_cut = at, 0
        self._take_written(every=now)
        lists = self._has_unlisted and (now or at > self._listed_from + LISTED_APART_S)
        if (self._waiting or lists) and (now or at > max(self._rested_from + PAUSE_S, self._due_from)):
            self._transact()
        if self._connection is not None and time.monotonic() > self._turn_from + TURN_S:
            self.rest()

    def _transact(self) -> None:
        """Takes the file and writes, and notes how long that took."""
        self._take_turn()
        self._sync(self._written_in_s)
        begun = time.monotonic()
        self._write()
        ended = time.monotonic()
        self._written_in_s = ended - begun
        self._due_from = ended + min(WRITING_APART * self._written_in_s, LONGEST_WAIT_S)

    def rest(self) -> None:
        """Leaves the file to others."""
        if self._connection is not None:
            self._connection = None
            self._rested_from = time.monotonic()
            self._held.close()

    def _take_turn(self) -> None:
        if self._connection is None:
            self._connection = self._held.enter_context(self._store._database.connection(give_up=self._is_given_up))
            self._turn_from = time.monotonic()

    def _is_given_up(self) -> bool:
        """Whether to wait no longer for the file, which others may hold for a minute."""
        self._sync()
        return self._give_up()

    def _sync(self, blocked_s: float = 0.0) -> None:
        if self._journal is not None:
            self._journal.sync(blocked_s)

    def _write(self) -> None:
        # A failure leaves through the connection's own block, which has the message for it.
        with self._held.pop_all() as held:
            # Rows that cannot be written once are not tried again on leaving.
            waiting, self._waiting = self._waiting, []
            connection = self._connection
            assert connection is not None  # `_take_turn` came first
            if waiting:
                _store_all(connection, waiting)
            if self._has_unlisted:
                _take_shards(connection, self._path)
                self._has_unlisted, self._listed_from = False, time.monotonic()
            self._held = held.pop_all()
        self._unkept = 0
        self._scenarios.clear()
        self._rows.clear()
        if self._journal is not None:
            self._journal.clear()

    @property
    def _path(self) -> Path:
        assert self._store.path is not None  # only its runs go into shards
        return self._store.path

    def close(self) -> None:
        """Leaves the file to others, and removes the journal if all is written."""
        self.rest()
        if self._thread is not None:
            self._thread.shutdown()
        if self._journal is not None:
            self._journal.close()


def _store_all(connection: duckdb.DuckDBPyConnection, came: Sequence[Waiting]) -> None:
    """Stores runs that are not there yet, and the time series of all, as one transaction."""
    keyed = {run.row["run"]: run for run in came}
    connection.execute("BEGIN")
    there = _held(connection, list(keyed))
    new = [run for key, run in keyed.items() if key not in there.runs and key not in there.failures]
    tables.add_scenarios(connection, {run.row["scenario"]: run.scenario for run in new})
    tables.add_runs(connection, [(run.run, run.row) for run in new if run.run is not None])
    tables.add_failures(connection, [{**run.row, "error": run.error} for run in new if run.run is None])
    for run in came:
        if run.series is not None:
            tables.add_series(connection, run.row["run"], run.kept, run.series)
    connection.execute("COMMIT")


def _take_shards(connection: duckdb.DuckDBPyConnection, path: Path, *, is_copy: bool = False) -> None:
    """Lists the shards that a store, or a copy of it, does not list. Runs that it has already are not there twice."""
    folder = shards_of(path)
    names = shards.unlisted(connection, shards.beside(path))
    # All at once; one by one if a run is there twice.
    for some in [names, *([name] for name in names)] if names else []:
        connection.execute("BEGIN")
        is_listed = shards.add(connection, folder, some)
        connection.execute("COMMIT")
        if is_listed and some is names:
            return
        if not is_listed and some is not names:
            _store_all(connection, shards.runs_of(connection, folder / some[0]))
            if not is_copy:
                shards.remove(folder / some[0])


def scenario_row(job: Job, identity: Identity) -> dict[str, str]:
    """The part of a row that is the same for all runs of a job's scenario by this engine."""
    return {
        "scenario": identity.key,
        "name": identity.document.get("name") or Path(job.scenario.file_name).stem,
        "file": job.scenario.file_name,
        "settings": json.dumps(dict(job.scenario.settings)),
        "engine": engine_identity(),
    }


def _row(run: Finished, of_scenario: Mapping[str, str] | None = None) -> dict[str, Any]:
    """The row of a run that has come in now."""
    own = {"run": run.key, "seed": run.job.seed, "finished": str(tables.utc_now())}
    return {**(of_scenario or scenario_row(run.job, run.identity)), **own}


__all__ = [
    "MANY",
    "Blocks",
    "Finished",
    "Form",
    "Held",
    "Identity",
    "Job",
    "Memory",
    "Store",
    "StoreError",
    "Writer",
    "engine_identity",
    "scenario_row",
    "whole_run",
]
