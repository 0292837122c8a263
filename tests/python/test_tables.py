"""The Parquet files of `--out`, held against pyarrow: the same tables, the same types, the same row groups' sizes."""

from __future__ import annotations

import errno
import subprocess
import sys

import lasthop
import pytest
from lasthop import _core
from lasthop.data import tables

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
    _core.write_table(tmp_path / "table", [(name, [row.get(name) for row in rows]) for name in names])
    written = parquet.read_table(tmp_path / "table")
    assert written.to_pylist() == [{name: row.get(name) for name in names} for row in rows]
    assert written.schema.equals(plain_table(rows).schema)


def test_a_table_without_rows_has_no_columns_and_is_a_file(tmp_path):
    tables.write_table(tmp_path / "table", [{"seed": 1}], "flows")
    assert parquet.read_table(tmp_path / "table").shape == (0, 0)


@pytest.mark.parametrize("values", [[1, "a"], [True, 1], [{"a": 1}], [[1.0], 2.0]])
def test_values_of_several_kinds_are_refused_by_the_name_of_their_column(tmp_path, values):
    with pytest.raises(TypeError, match="odd: has values"):
        _core.write_table(tmp_path / "table", [("odd", values)])


def test_time_series_are_those_of_the_result_and_names_are_dictionaries(result, tmp_path):
    result.save(tmp_path)
    written = parquet.read_table(tmp_path / "timeseries.parquet")
    expected = tables.series_table(result._series)
    assert written.schema.equals(expected.schema)
    assert written.to_pandas().equals(expected.to_pandas())
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
        _core.write_table("/dev/full", [("a", [1])])
    assert full.value.errno == errno.ENOSPC


def test_out_needs_neither_pandas_nor_pyarrow(small):
    code = (
        "import sys; from lasthop.cli import main; main(['run', 'small.toml', '--seeds', '2', '--out', 'out']);"
        "print([name for name in ('numpy', 'pandas', 'pyarrow', 'duckdb') if name in sys.modules])"
    )
    output = subprocess.check_output([sys.executable, "-c", code], text=True, stderr=subprocess.DEVNULL)
    assert output.splitlines()[-1] == "[]"
