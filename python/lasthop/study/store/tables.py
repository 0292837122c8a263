"""The tables of a store, made to be asked: docs/campaigns.md describes them. Format 2 has shards, format 1 does not.

A part of a run's document (totals, medium, flows, nodes, links) is a table of its own, a column for each of its keys;
a key that is met for the first time becomes a column.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from ... import _core
from ...data.quantities import SIMULATOR, TOTALS
from ...data.runs import Run
from .finished import Blocks

if TYPE_CHECKING:
    import duckdb
    import pyarrow

FORMAT, FORMATS = 2, (1, 2)
# The name under which the file of a store is attached.
ATTACHED = "file_of_the_store"
PARTS = ("totals", "medium", "flows", "nodes", "links")
# Tables with one row per run.
SINGLE = ("totals", "medium")
# The types of columns, by those of the engine.
KINDS = {
    "nothing": "",
    "truth": "BOOLEAN",
    "whole": "DOUBLE",
    "real": "DOUBLE",
    "list": "DOUBLE[]",
    "text": "VARCHAR",
}
# Rows are passed on as text; that costs a tenth of lists of mixed types.
CASTS = {
    "run": "::UUID",
    "scenario": "::UUID",
    "seed": "::BIGINT",
    "settings": "::JSON::MAP(VARCHAR, VARCHAR)",
    "finished": "::TIMESTAMP",
    "wall_s": "::DOUBLE",
}
TABLES = r"""
CREATE TABLE store (format INTEGER, lasthop VARCHAR, made TIMESTAMP);
CREATE TABLE scenarios (scenario UUID PRIMARY KEY, document JSON);
CREATE TABLE run (
    run UUID PRIMARY KEY, scenario UUID, seed BIGINT, name VARCHAR, file VARCHAR, settings MAP(VARCHAR, VARCHAR),
    engine VARCHAR, finished TIMESTAMP, wall_s DOUBLE,
    document JSON USING COMPRESSION zstd
);
CREATE TABLE failures (
    run UUID PRIMARY KEY, scenario UUID, seed BIGINT, name VARCHAR, file VARCHAR, settings MAP(VARCHAR, VARCHAR),
    engine VARCHAR, finished TIMESTAMP, error VARCHAR
);
CREATE TABLE kept (run UUID, metric VARCHAR, PRIMARY KEY (run, metric));
CREATE TABLE series (run UUID, time_s DOUBLE, entity VARCHAR, metric VARCHAR, value DOUBLE);
CREATE TABLE totals (run UUID);
CREATE TABLE medium (run UUID);
CREATE TABLE flows (run UUID);
CREATE TABLE nodes (run UUID);
CREATE TABLE links (run UUID);
"""
MACROS = r"""
CREATE OR REPLACE MACRO setting_json(scenario, path) AS json_extract(scenario, '$.' || regexp_replace(
    regexp_replace(path, '^bss\.(\D)', 'bss.0.\1'), '\.(\d+)', '[\1]', 'g'));
CREATE OR REPLACE MACRO setting_of_one(scenario, path) AS coalesce(
    json_extract_string(setting_json(scenario, path), '$.kind'),
    json_extract_string(setting_json(scenario, path), '$'));
CREATE OR REPLACE MACRO setting(scenario, path) AS CASE WHEN contains(path, '.*.') THEN (
    SELECT string_agg(DISTINCT value, ', ' ORDER BY value) FROM (
        SELECT setting_of_one(entry, regexp_replace(path, '^.*\.\*\.', '')) AS value FROM (
            SELECT unnest(TRY_CAST(setting_json(scenario, split_part(path, '.*.', 1)) AS JSON[])) AS entry)))
    ELSE setting_of_one(scenario, path) END;
"""
RUNS_VIEW = """
CREATE OR REPLACE VIEW runs AS
SELECT run.run, run.name, run.seed, run.settings, totals.* EXCLUDE (run), medium.* EXCLUDE (run),
    run.engine, run.finished, run.wall_s, run.file, scenarios.document AS scenario
FROM run JOIN scenarios USING (scenario) LEFT JOIN totals ON totals.run = run.run
    LEFT JOIN medium ON medium.run = run.run
"""


def create(connection: duckdb.DuckDBPyConnection, version: str) -> None:
    """Makes the tables of a new store."""
    connection.execute("BEGIN")
    connection.execute(TABLES)
    connection.execute(MACROS)
    connection.execute("INSERT INTO store VALUES (?, ?, ?)", [FORMATS[0], version, utc_now()])
    connection.execute(RUNS_VIEW)
    connection.execute("COMMIT")


def utc_now() -> datetime:
    """The time as the tables have it: UTC, without a zone."""
    return datetime.now(UTC).replace(tzinfo=None)


def table_names(connection: duckdb.DuckDBPyConnection, database: str | None = None) -> set[str]:
    """Returns the names of the tables, of one database if its name is given."""
    names = "SELECT table_name FROM duckdb_tables() WHERE NOT internal AND (? IS NULL OR database_name = ?)"
    return {name for (name,) in connection.execute(names, [database, database]).fetchall()}


def stored(connection: duckdb.DuckDBPyConnection, table: str) -> str:
    """The full name of a table of the store; a view may have its name."""
    where = "SELECT database_name FROM duckdb_tables() WHERE NOT internal AND table_name = ?"
    (database,) = connection.execute(where, [table]).fetchone() or ("memory",)
    return f"{_quoted(database)}.main.{table}"


def add_scenarios(connection: duckdb.DuckDBPyConnection, documents: Mapping[str, str]) -> None:
    """Adds resolved scenarios, JSON by key, except those already stored."""
    _insert(connection, "scenarios", {"scenario": list(documents), "document": list(documents.values())})


def add_failures(connection: duckdb.DuckDBPyConnection, rows: Sequence[Mapping[str, Any]]) -> None:
    """Adds failed runs, except those already stored; `settings` as JSON."""
    _insert(connection, "failures", _columns(rows))


def add_runs(connection: duckdb.DuckDBPyConnection, runs: Sequence[tuple[Run, Mapping[str, Any]]]) -> None:
    """Adds runs, each with its row, that are not there, and their parts, with new columns where there are new keys."""
    if not runs:
        return
    columns = _columns([row for _, row in runs])
    columns["document"] = [run.json() for run, _ in runs]
    columns[SIMULATOR.wall_s] = [(run.get("simulator") or {}).get(SIMULATOR.wall_s) for run, _ in runs]
    connection.execute(f"INSERT INTO run BY NAME SELECT {_unnested(columns)}", list(columns.values()))
    for part in PARTS:
        table = _core.Table.of_runs([run for run, _ in runs], part, ("run", columns["run"]))
        if table.names:
            _add_part(connection, part, table)


def _add_part(connection: duckdb.DuckDBPyConnection, part: str, table: _core.Table) -> None:
    """Adds rows of a part."""
    columns = {name: KINDS[type_] for name, type_ in zip(table.names, table.types, strict=True) if name != "run"}
    widen(connection, part, columns)
    values = ", ".join(f"{_quoted(name)}::{kind} AS {_quoted(name)}" for name, kind in columns.items())
    rows = table  # noqa: F841  DuckDB reads it by its name
    connection.execute(f"INSERT INTO {part} BY NAME SELECT run::UUID AS run{', ' if values else ''}{values} FROM rows")


def add_series(connection: duckdb.DuckDBPyConnection, run: str, kept: Iterable[str], series: Blocks) -> None:
    """Adds the time series of one run; `kept` are the metrics asked for, of which it may have none."""
    metrics = [metric for metric in dict.fromkeys(kept) if not _is_kept(connection, run, metric)]
    rows = _core.Table.of_series([(0, block) for block in series if block.metric in metrics])  # noqa: F841
    select = "SELECT ?::UUID, time_s, entity::VARCHAR, metric::VARCHAR, value FROM rows"
    connection.execute(f"INSERT INTO series {select}", [run])
    for metric in metrics:
        connection.execute("INSERT INTO kept VALUES (?, ?)", [run, metric])


def only_statement(connection: duckdb.DuckDBPyConnection, sql: str) -> duckdb.Statement:
    """The statement that a text is; raises `ValueError` where it is none, several, or one of transactions."""
    import duckdb

    statements = connection.extract_statements(sql)
    if not statements:
        raise ValueError(f'SQL: has no statement in it; e.g. "SELECT name, seed, {TOTALS.goodput_bps} FROM runs"')
    if len(statements) > 1:
        raise ValueError(f"SQL: has {len(statements)} statements; one is answered, so ask them one by one")
    if statements[0].type == duckdb.StatementType.TRANSACTION:
        raise ValueError("SQL: begins or ends a transaction; a question has one of its own, which only reads")
    if statements[0].type in (duckdb.StatementType.COPY, duckdb.StatementType.EXPORT):
        raise ValueError("SQL: writes a file; --csv and --parquet write the answer to a question")
    return statements[0]


def answer(connection: duckdb.DuckDBPyConnection, statement: duckdb.Statement) -> pyarrow.Table:
    """Returns the answer to a statement, decimals as doubles; the file does not change."""
    import pyarrow

    connection.execute("BEGIN TRANSACTION READ ONLY")
    try:
        rows = connection.sql(statement)
        table = pyarrow.table({}) if rows is None else rows.to_arrow_table()
    finally:
        connection.execute("ROLLBACK")
    for number, field in enumerate(table.schema):
        if pyarrow.types.is_decimal(field.type):
            table = table.set_column(number, field.name, table.column(number).cast(pyarrow.float64()))
    return table


def _is_kept(connection: duckdb.DuckDBPyConnection, run: str, metric: str) -> bool:
    return bool(connection.execute("SELECT 1 FROM kept WHERE run = ? AND metric = ?", [run, metric]).fetchone())


def _columns(rows: Sequence[Mapping[str, Any]]) -> dict[str, list[Any]]:
    return {name: [row[name] for row in rows] for name in rows[0]} if rows else {}


def _unnested(columns: Iterable[str]) -> str:
    """The columns of rows that are given as lists, one for each column."""
    return ", ".join(f"unnest(?::VARCHAR[]){CASTS.get(name, '')} AS {name}" for name in columns)


def _insert(connection: duckdb.DuckDBPyConnection, table: str, columns: Mapping[str, list[Any]]) -> None:
    if columns and columns[next(iter(columns))]:
        names = f"SELECT {_unnested(columns)}"
        connection.execute(f"INSERT OR IGNORE INTO {table} BY NAME {names}", list(columns.values()))


def widen(connection: duckdb.DuckDBPyConnection, part: str, columns: dict[str, str]) -> None:
    """Adds the missing columns of a part to its table, and sets in `columns` the type that each has there."""
    asked = "SELECT column_name, data_type FROM duckdb_columns() WHERE NOT internal AND table_name = ?"
    there = dict(connection.execute(asked, [part]).fetchall())
    is_changed = False
    for name, kind in columns.items():
        known = there.get(name)
        if known is None:
            columns[name] = kind or "DOUBLE"
            connection.execute(f"ALTER TABLE {part} ADD COLUMN {_quoted(name)} {columns[name]}")
        elif kind in ("", known) or known == "VARCHAR":
            columns[name] = known
            continue
        else:
            # A column that had only been absent takes the type, one of another type becomes text.
            columns[name] = "VARCHAR" if _has_values(connection, part, name) else kind
            change = f"ALTER COLUMN {_quoted(name)} TYPE {columns[name]}"
            # No value of one type is one of the other.
            connection.execute(f"ALTER TABLE {part} {change}{'' if columns[name] == 'VARCHAR' else ' USING NULL'}")
        is_changed = True
    if is_changed and part in SINGLE:
        connection.execute(RUNS_VIEW)


def _has_values(connection: duckdb.DuckDBPyConnection, part: str, name: str) -> bool:
    """Whether a run in the file or in a shard has a value in this column."""
    here = connection.execute(f"SELECT 1 FROM {part} WHERE {_quoted(name)} IS NOT NULL LIMIT 1").fetchone()
    if here is not None or "sharded_columns" not in table_names(connection):
        return here is not None
    there = "SELECT 1 FROM sharded_columns WHERE part = ? AND name = ?"
    return connection.execute(there, [part, name]).fetchone() is not None


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
