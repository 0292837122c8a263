"""Shards: short runs by the thousand, as Parquet in a folder next to the store, where DuckDB reads them in place.

A shard is a folder with a file for each part of its runs, for the runs themselves, and for their scenarios. It has its name once it is whole.
The store then lists it, with the keys of its runs; a shard that a killed process left unlisted is listed by the next process that opens the
store.
"""

from __future__ import annotations

import errno
import json
import os
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ... import _core
from ...data.files import sync
from ...data.runs import Run
from ...data.temporary import TemporaryFolder, remove_leftovers, temporary_name
from . import tables
from .database import StoreError, cannot_write, shards_of
from .journal import Waiting

if TYPE_CHECKING:
    import duckdb

# Runs of a shard; as rows and text, some 12 kB each, they are in memory until it is written.
MOST = 1024
# The runs, and the types of all columns with the scenarios.
RUNS, HEAD = "run.parquet", "head.json"
# What a writer knows of a run: the texts of each in a shard.
TEXTS = ("run", "scenario", "name", "file", "settings", "engine", "finished")
LISTS = """
CREATE TABLE IF NOT EXISTS shards (shard VARCHAR PRIMARY KEY);
CREATE TABLE IF NOT EXISTS sharded (run UUID PRIMARY KEY, shard VARCHAR);
CREATE TABLE IF NOT EXISTS sharded_columns (part VARCHAR, name VARCHAR, PRIMARY KEY (part, name));
"""


class NewShard:
    """A shard that is being filled."""

    def __init__(self) -> None:
        self._runs = _core.Shard(TEXTS, tables.PARTS)
        self._scenarios: dict[str, str] = {}

    def __len__(self) -> int:
        return len(self._runs)

    def add(self, run: Run, row: Mapping[str, Any], scenario: Callable[[], str]) -> None:
        """Adds a run with its row; `scenario` returns its resolved scenario as JSON."""
        self._runs.add(run, [row[name] for name in TEXTS])
        if row["scenario"] not in self._scenarios:
            self._scenarios[row["scenario"]] = scenario()

    def write(self, folder: Path) -> None:
        """Writes its files, and empties it."""
        columns = {part: dict(types) for part, types in self._runs.write(folder).items()}
        with (folder / HEAD).open("w", encoding="utf-8") as file:
            json.dump({"columns": columns, "scenarios": self._scenarios}, file)
        self._scenarios.clear()

    def files(self) -> dict[str, bytes]:
        """Its files by name, for another machine; empties it."""
        with TemporaryFolder("lasthop-shard") as folder:
            self.write(folder.path)
            return {file.name: file.read_bytes() for file in folder.path.iterdir()}


def keep(store: Path, shard: NewShard | Mapping[str, bytes]) -> str:
    """Puts a whole shard next to a store, safe on the disk; returns its name. Raises `OSError`."""
    folder = shards_of(store)
    # Names sort by time, as far as clocks agree.
    name = f"{tables.utc_now():%Y%m%dT%H%M%S%f}-{os.urandom(4).hex()}"
    try:
        folder.mkdir(exist_ok=True)
        with TemporaryFolder("shard", folder) as temporary:
            if isinstance(shard, NewShard):
                shard.write(temporary.path)
            else:
                for file, content in shard.items():
                    (temporary.path / file).write_bytes(content)
            sync([*temporary.path.iterdir(), temporary.path])
            os.rename(temporary.path, folder / name)
        sync([folder])
    except OSError as error:
        raise cannot_write(store, error.errno or errno.EIO) from None
    return name


def beside(store: Path | None) -> list[str]:
    """The names of the shards in a store's folder."""
    folder = store and shards_of(store)
    if folder is None or not folder.is_dir():
        return []
    return sorted(each.name for each in folder.iterdir() if not each.name.startswith(".") and (each / RUNS).is_file())


def listed(connection: duckdb.DuckDBPyConnection) -> list[str]:
    """The names of the shards that a store lists."""
    if "shards" not in tables.table_names(connection):
        return []
    base = tables.stored(connection, "shards")
    return [name for (name,) in connection.execute(f"SELECT shard FROM {base} ORDER BY shard").fetchall()]


def unlisted(connection: duckdb.DuckDBPyConnection, there: list[str]) -> list[str]:
    """Those of the shards that a store does not list."""
    return sorted({*there} - {*listed(connection)})


def add(connection: duckdb.DuckDBPyConnection, folder: Path, names: Sequence[str]) -> bool:
    """Lists shards within a transaction; false if a run of them is in the store already, or in two of them."""
    connection.execute(LISTS)
    files = [os.fspath(folder / name / RUNS) for name in names]
    keys = "SELECT run::UUID AS run, parse_path(filename)[-2] AS shard FROM read_parquet(?, filename = true)"
    known = " UNION ALL ".join(f"SELECT run FROM {table}" for table in ("run", "sharded", "failures"))
    once = f"SELECT count(*) = count(DISTINCT run) AND count(*) FILTER (run IN ({known})) = 0 FROM ({keys})"
    if connection.execute(once, [files]).fetchone() != (True,):
        return False
    connection.execute(f"INSERT INTO sharded {keys}", [files])
    connection.execute("INSERT INTO shards SELECT unnest(?::VARCHAR[])", [names])
    connection.execute("UPDATE store SET format = ?", [tables.FORMAT])
    seen = None
    for name in names:
        head = _head(folder / name)
        tables.add_scenarios(connection, head["scenarios"])
        if head["columns"] != seen:
            seen = head["columns"]
            _add_columns(connection, seen)
    return True


def _head(shard: Path) -> dict[str, Any]:
    head: dict[str, Any] = json.loads((shard / HEAD).read_text(encoding="utf-8"))
    return head


def _add_columns(connection: duckdb.DuckDBPyConnection, columns: Mapping[str, Mapping[str, str]]) -> None:
    """Gives the file each column with its type, which the views take from there."""
    for part, types in columns.items():
        tables.widen(connection, part, {name: tables.KINDS[type_] for name, type_ in types.items()})
        written = [name for name, type_ in types.items() if type_ != "nothing"]
        connection.execute("INSERT OR IGNORE INTO sharded_columns SELECT ?, unnest(?::VARCHAR[])", [part, written])


def runs_of(connection: duckdb.DuckDBPyConnection, shard: Path) -> list[Waiting]:
    """The runs of a shard one by one."""
    scenarios = _head(shard)["scenarios"]
    select = f"SELECT {', '.join(TEXTS)}, seed, document FROM read_parquet(?)"
    found = []
    for *texts, seed, document in connection.execute(select, [os.fspath(shard / RUNS)]).fetchall():
        row = {**dict(zip(TEXTS, texts, strict=True)), "seed": seed}
        found.append(Waiting(row, scenarios[row["scenario"]], (), Run.parse(document), None, None))
    return found


def remove(shard: Path) -> None:
    """Removes a shard that is not listed, at once as others see it."""
    hidden = shard.with_name(temporary_name(shard.name))
    os.rename(shard, hidden)
    shutil.rmtree(hidden, ignore_errors=True)


def clean(store: Path) -> None:
    """Removes what killed processes left of shards that were not whole."""
    if (folder := shards_of(store)).is_dir():
        remove_leftovers(folder)


def held(connection: duckdb.DuckDBPyConnection, keys: Sequence[str]) -> list[str]:
    """Those of the keys whose runs are in shards."""
    if "sharded" not in tables.table_names(connection):
        return []
    base = tables.stored(connection, "sharded")
    rows = connection.execute(f"SELECT run::VARCHAR FROM {base} WHERE run IN (SELECT unnest(?::UUID[]))", [list(keys)])
    return [key for (key,) in rows.fetchall()]


def documents(
    connection: duckdb.DuckDBPyConnection, folder: Path, keys: Sequence[str]
) -> Iterator[duckdb.DuckDBPyConnection]:
    """Answers with (key, document) of those of the keys that are in shards, one for each shard that has some."""
    if "sharded" not in tables.table_names(connection):
        return
    base, wanted = tables.stored(connection, "sharded"), "run IN (SELECT unnest(?::UUID[]))"
    places = connection.execute(f"SELECT DISTINCT shard FROM {base} WHERE {wanted} ORDER BY shard", [list(keys)])
    names = [name for (name,) in places.fetchall()]
    _check_there(folder, names)
    for name in names:
        select = "SELECT run, document FROM read_parquet(?) WHERE run IN (SELECT unnest(?::VARCHAR[]))"
        yield connection.execute(select, [os.fspath(folder / name / RUNS), list(keys)])


def _check_there(folder: Path, names: Sequence[str]) -> None:
    """Raises `StoreError` where shards that a store lists are missing."""
    missing = [name for name in names if not (folder / name / RUNS).is_file()]
    if missing:
        raise StoreError(
            f"{folder}: {len(missing)} of {len(names)} listed shards are missing; "
            "a store is its file and this folder, so move or copy both"
        )


def show(connection: duckdb.DuckDBPyConnection, folder: Path) -> None:
    """Gives each table that has rows in shards a view over both of the same name, of this connection alone."""
    names = listed(connection)
    if not names:
        return
    _check_there(folder, names)
    connection.execute("USE memory")
    for table in tables.table_names(connection, tables.ATTACHED):
        select = f"SELECT * FROM {tables.ATTACHED}.{table}"
        files = [folder / name / f"{table}.parquet" for name in names] if table in ("run", *tables.PARTS) else []
        if there := [os.fspath(file) for file in files if file.is_file()]:
            casts = ", ".join(f"{column}{cast} AS {column}" for column, cast in _casts(table).items())
            quoted = ", ".join("'" + file.replace("'", "''") + "'" for file in there)
            select += (
                f" UNION ALL BY NAME SELECT * REPLACE ({casts}) FROM read_parquet([{quoted}], union_by_name = true)"
            )
        connection.execute(f"CREATE OR REPLACE VIEW {table} AS {select}")
    connection.execute(tables.MACROS)
    connection.execute(tables.RUNS_VIEW)


def _casts(table: str) -> dict[str, str]:
    """The columns of a part's file that have another type in the store."""
    return (
        {"run": "::UUID"}
        if table != "run"
        else {name: tables.CASTS[name] for name in ("run", "scenario", "settings", "finished")} | {"document": "::JSON"}
    )
