"""The tables of a store, format 1, made to be asked: docs/campaigns.md describes them.

A part of a run's document (totals, medium, flows, nodes, links) is a table of its own, a column for each of its keys;
a key that is met for the first time becomes a column.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from ..quantities import TOTALS

if TYPE_CHECKING:
    import duckdb
    import pyarrow

FORMAT = 1
PARTS = ("totals", "medium", "flows", "nodes", "links")
TABLES = r"""
CREATE TABLE store (format INTEGER, lasthop VARCHAR, made TIMESTAMP);
CREATE TABLE scenarios (scenario UUID PRIMARY KEY, document JSON);
CREATE TABLE run (
    run UUID PRIMARY KEY, scenario UUID, seed BIGINT, name VARCHAR, file VARCHAR, settings MAP(VARCHAR, VARCHAR),
    engine VARCHAR, finished TIMESTAMP, wall_s DOUBLE, document JSON
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
CREATE MACRO setting_json(scenario, path) AS json_extract(scenario, '$.' || regexp_replace(
    regexp_replace(path, '^bss\.(\D)', 'bss.0.\1'), '\.(\d+)', '[\1]', 'g'));
CREATE MACRO setting(scenario, path) AS coalesce(
    json_extract_string(setting_json(scenario, path), '$.kind'),
    json_extract_string(setting_json(scenario, path), '$'));
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
    connection.execute("INSERT INTO store VALUES (?, ?, ?)", [FORMAT, version, utc_now()])
    connection.execute(RUNS_VIEW)
    connection.execute("COMMIT")


def utc_now() -> datetime:
    """The time as the tables have it: UTC, without a zone."""
    return datetime.now(UTC).replace(tzinfo=None)


def table_names(connection: duckdb.DuckDBPyConnection) -> set[str]:
    """What tables there are."""
    return {
        name for (name,) in connection.execute("SELECT table_name FROM duckdb_tables() WHERE NOT internal").fetchall()
    }


def add_rows(connection: duckdb.DuckDBPyConnection, name: str, rows: Sequence[Mapping[str, Any]]) -> None:
    """Adds `rows` to a table that has all of their columns, but for those whose key is there already."""
    if rows:
        columns = {column: [row[column] for row in rows] for column in rows[0]}
        _insert(connection, name, columns, "OR IGNORE")


def add_parts(connection: duckdb.DuckDBPyConnection, documents: Iterable[tuple[str, Mapping[str, Any]]]) -> None:
    """Adds the parts of runs' documents, with new columns where there are new keys."""
    documents = list(documents)
    widened = False
    for part in PARTS:
        rows = [{"run": run, **row} for run, document in documents for row in _rows(document.get(part))]
        if not rows:
            continue
        names = list(dict.fromkeys(name for row in rows for name in row))
        columns = {name: _column([row.get(name) for row in rows]) for name in names}
        widened |= _widen(connection, part, columns) and part in ("totals", "medium")
        _insert(connection, part, columns)
    if widened:
        connection.execute(RUNS_VIEW)


def add_series(connection: duckdb.DuckDBPyConnection, run: str, kept: Iterable[str], series: pyarrow.Table) -> None:
    """Adds the time series of one run; `kept` are the metrics asked for, of which it may have none."""
    metrics = [metric for metric in dict.fromkeys(kept) if not _is_kept(connection, run, metric)]
    rows = series  # noqa: F841  DuckDB reads it by its name
    select = "SELECT ?::UUID, time_s, entity::VARCHAR, metric::VARCHAR, value FROM rows"
    connection.execute(f"INSERT INTO series {select} WHERE list_contains(?, metric::VARCHAR)", [run, metrics])
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
    return statements[0]


def answer(connection: duckdb.DuckDBPyConnection, statement: duckdb.Statement) -> pyarrow.Table:
    """What a statement gives, decimals as doubles; nothing is changed by it."""
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


def _insert(
    connection: duckdb.DuckDBPyConnection, name: str, columns: Mapping[str, list[Any]], conflict: str = ""
) -> None:
    import pyarrow

    rows = pyarrow.table({column: _array(values) for column, values in columns.items()})  # noqa: F841  read by its name
    keys = ", ".join(f"{key}::UUID AS {key}" for key in ("run", "scenario") if key in columns)
    connection.execute(f"INSERT {conflict} INTO {name} BY NAME SELECT * REPLACE ({keys}) FROM rows")


def _array(values: list[Any]) -> pyarrow.Array:
    import pyarrow

    if isinstance(values[0], dict):
        return pyarrow.array(
            [list(value.items()) for value in values], pyarrow.map_(pyarrow.string(), pyarrow.string())
        )
    array = pyarrow.array(values)
    return array.cast(pyarrow.float64()) if pyarrow.types.is_null(array.type) else array


def _rows(part: Any) -> list[Mapping[str, Any]]:
    return [part] if isinstance(part, Mapping) else list(part or ())


def _column(values: list[Any]) -> list[Any]:
    """Values of one type: truth values, numbers, lists of numbers, or text, which all else becomes."""
    known = [value for value in values if value is not None]
    if known and all(_is_numbers(value) for value in known):
        return [None if value is None else [_float(item) for item in value] for value in values]
    if all(isinstance(value, bool) for value in known):
        return values
    if all(isinstance(value, int | float) for value in known):
        return [_float(value) for value in values]
    return [value if value is None or isinstance(value, str) else json.dumps(value) for value in values]


def _float(value: float | None) -> float | None:
    return None if value is None else float(value)


def _is_numbers(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, int | float | None) for item in value)


def _widen(connection: duckdb.DuckDBPyConnection, table: str, columns: Mapping[str, list[Any]]) -> bool:
    """Makes room for `columns` in `table`; whether it had to."""
    described = connection.execute(f"SELECT column_name, column_type FROM (DESCRIBE {table})").fetchall()
    there, changed = dict(described), False
    for name, values in columns.items():
        kind = _type(values)
        if name not in there:
            connection.execute(f"ALTER TABLE {table} ADD COLUMN {_quoted(name)} {kind or 'DOUBLE'}")
            changed = True
        elif name != "run" and kind is not None and there[name] != kind and there[name] != "VARCHAR":
            # What had only been absent, or a number, is text now.
            connection.execute(f"ALTER TABLE {table} ALTER COLUMN {_quoted(name)} TYPE VARCHAR")
            changed = True
    return changed


def _type(values: list[Any]) -> str | None:
    first = next((value for value in values if value is not None), None)
    return {bool: "BOOLEAN", float: "DOUBLE", list: "DOUBLE[]", str: "VARCHAR", type(None): None}[type(first)]


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
