"""The Parquet files of `--out`, held against pyarrow: the same tables, the same types, the same row groups' sizes."""

from __future__ import annotations

import errno
import gc
import json
import subprocess
import sys

import lasthop
import pytest
from lasthop import _core
from lasthop.data import tables
from lasthop.data.runs import run_of

pyarrow = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")

MIXED = """
[[flow]]
station = "sta1"
direction = "down"
transport = "udp"
rate = "1 Mbit/s"
"""


@pytest.fixture
def result(small):
    small.write_text(small.read_text() + MIXED)
    return lasthop.run(lasthop.load(small), seeds=[1, 2**63 - 1], interval_s=0.1)


def plain_table(rows):
    """What pyarrow makes of rows; a column without a value is of numbers."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    columns = {name: pyarrow.array([row.get(name) for row in rows]) for name in names}
    numbers = {
        name: column.cast(pyarrow.float64()) for name, column in columns.items() if column.type == pyarrow.null()
    }
    return pyarrow.table(columns | numbers)


def table_of(rows):
    """The rows as a table of the engine; each has a seed."""
    runs = [run_of({"seed": row["seed"], "flows": [{k: v for k, v in row.items() if k != "seed"}]}) for row in rows]
    return _core.Table.of_runs(runs, "flows")


@pytest.mark.parametrize("kind", ["flows", "nodes", "links"])
def test_tables_are_those_that_pyarrow_makes(result, tmp_path, kind):
    tables.write_table(tmp_path / "table", result.told_runs, kind)
    rows = [{"seed": run["seed"], **row} for run in result.runs for row in run[kind]]
    written, expected = parquet.read_table(tmp_path / "table"), plain_table(rows)
    assert written.schema.types == expected.schema.types
    assert written.equals(expected)


def test_every_kind_of_value_is_read_back(tmp_path):
    rows = [
        {
            "seed": 1,
            "whole": -(2**63),
            "real": 0.1,
            "both": 1,
            "text": "a",
            "truth": True,
            "list": [0.5, None],
            "none": None,
        },
        {"seed": 2, "whole": None, "real": None, "both": 0.5, "text": None, "truth": None, "list": None, "none": None},
        {"seed": 3, "whole": 2**63 - 1, "real": -0.0, "both": None, "text": "é\0", "truth": False, "list": [1.0, 2.0]},
        {"seed": 4, "text": "", "list": [], "real": 5e-324},
    ]
    names = list(rows[0])
    table_of(rows).write_parquet(tmp_path / "table")
    written = parquet.read_table(tmp_path / "table")
    assert written.to_pylist() == [{name: row.get(name) for name in names} for row in rows]
    assert written.schema.equals(plain_table(rows).schema)


def test_warnings_are_in_the_metadata_of_a_file(result, tmp_path):
    tables.write_table(tmp_path / "table", result.told_runs, "flows", ["the first", "é"])
    tables.write_table(tmp_path / "none", result.told_runs, "flows")
    assert json.loads(parquet.read_schema(tmp_path / "table").metadata[b"warnings"]) == ["the first", "é"]
    assert parquet.read_schema(tmp_path / "none").metadata is None
    assert parquet.read_table(tmp_path / "table").equals(parquet.read_table(tmp_path / "none"))


def test_a_table_without_rows_has_no_columns_and_is_a_file(tmp_path):
    tables.write_table(tmp_path / "table", [run_of({"seed": 1})], "flows")
    assert parquet.read_table(tmp_path / "table").shape == (0, 0)


@pytest.mark.parametrize(
    ("values", "texts"),
    [
        ([1, "a"], ["1", "a"]),
        ([True, 1], ["true", "1"]),
        ([{"a": 1}, None], ['{"a":1}', None]),
        ([[1.0], 2.0], ["[1.0]", "2.0"]),
    ],
)
def test_values_of_several_kinds_are_texts(tmp_path, values, texts):
    table = table_of([{"seed": 1, "odd": value} for value in values])
    table.write_parquet(tmp_path / "table")
    assert parquet.read_table(tmp_path / "table")["odd"].to_pylist() == texts == table.column("odd")
    assert pyarrow.table(table)["odd"].to_pylist() == texts


def test_time_series_are_those_of_the_result_and_names_are_dictionaries(result, tmp_path):
    result.save(tmp_path)
    written = parquet.read_table(tmp_path / "timeseries.parquet")
    expected = pyarrow.table(tables.series_table(result._series))
    assert written.schema.equals(expected.schema)
    assert written.to_pandas().equals(expected.to_pandas())
    assert result.timeseries.equals(expected.to_pandas())
    told = parquet.read_metadata(tmp_path / "timeseries.parquet")
    assert {told.row_group(0).column(number).compression for number in range(5)} == {"ZSTD"}


def test_time_series_are_written_by_groups_of_rows(small, tmp_path):
    # 2 s in steps of 1 ms for 2 flows, 3 nodes and 4 links: more rows than one group has.
    lasthop.run(lasthop.load(small), seeds=1, interval_s=0.001).save(tmp_path)
    told = parquet.read_metadata(tmp_path / "timeseries.parquet")
    sizes = [told.row_group(number).num_rows for number in range(told.num_row_groups)]
    assert len(sizes) > 1 and all(50_000 <= size < 50_010 for size in sizes[:-1])


def test_a_full_disk_is_an_error_of_the_system():
    with pytest.raises(OSError, match="No space left") as full:
        table_of([{"seed": 1}]).write_parquet("/dev/full")
    assert full.value.errno == errno.ENOSPC


def test_arrow_reads_the_columns_of_a_result(result):
    for part in ("flows", "nodes", "links", "queues", "wires", "totals", "medium", "simulator"):
        rows = [
            {"seed": run["seed"], **row}
            for run in result.runs
            for row in (run[part] if isinstance(run[part], list) else [run[part]])
        ]
        table = pyarrow.table(result.table(part))
        table.validate(full=True)
        assert table.equals(plain_table(rows))
        assert pyarrow.schema(result.table(part)).equals(table.schema)


def test_arrays_outlive_the_table_that_they_came_from(result):
    column = pyarrow.table(result.table("flows"))["id"].chunk(0)
    reader = pyarrow.RecordBatchReader.from_stream(result.table("nodes"))
    names = tables.series_table(result._series)
    batch = reader.read_next_batch()
    del reader, result
    gc.collect()
    assert column.to_pylist()[0] and batch.num_rows and pyarrow.table(names)["entity"].combine_chunks().dictionary


def test_a_stream_that_is_not_read_is_released(result):
    table = result.table("flows")
    for _ in range(1000):
        table.__arrow_c_stream__()
        table.__arrow_c_schema__()
    reader = pyarrow.RecordBatchReader.from_stream(table)
    del reader
    assert pyarrow.table(table).num_rows == len(table)


def test_duckdb_reads_the_columns_of_a_result(result):
    duckdb = pytest.importorskip("duckdb")
    flows = pyarrow.table(result.table("flows"))  # noqa: F841  DuckDB reads it by its name
    ((count,),) = duckdb.sql("SELECT count(*) FROM flows WHERE goodput_bps > 0").fetchall()
    assert count == sum(row["goodput_bps"] > 0 for run in result.runs for row in run["flows"])


def test_out_needs_neither_pandas_nor_pyarrow(small):
    code = (
        "import sys; from lasthop.cli import main; main(['run', 'small.toml', '--seeds', '2', '--out', 'out']);"
        "print([name for name in ('numpy', 'pandas', 'pyarrow', 'duckdb') if name in sys.modules])"
    )
    output = subprocess.check_output([sys.executable, "-c", code], text=True, stderr=subprocess.DEVNULL)
    assert output.splitlines()[-1] == "[]"
