"""`lasthop query`: answers as a table, CSV, JSON and Parquet; questions that cannot be answered in one sentence."""

from __future__ import annotations

import csv
import io
import json
import subprocess
import sys
from pathlib import Path

import lasthop
import pytest
from lasthop import Job, Store, cli, complete

STORE = "runs.duckdb"


@pytest.fixture
def store(small):
    """Two points of two seeds."""
    scenario = lasthop.load(small)
    complete([Job(scenario.set("station.0.count", n), seed) for n in (1, 2) for seed in (1, 2)], Store.open(STORE))
    return STORE


@pytest.fixture
def query(store, capsys):
    """Asks in this process; gives status, standard output and standard error."""

    def ask(*arguments):
        status = cli.main(["query", store, *arguments])
        return status, *capsys.readouterr()

    return ask


def test_without_a_question_the_tables_are_named(query):
    status, out, _ = query()
    assert status == 0
    assert {"runs", "totals", "flows", "nodes", "links", "series", "failures"} <= set(out.split())


def test_a_mean_by_setting_is_one_question(query):
    columns = "setting(scenario, 'station.0.count')::INT AS n, count(*) AS runs, avg(goodput_bps) AS mean"
    sql = f"SELECT {columns} FROM runs GROUP BY n ORDER BY n"
    status, out, _ = query(sql, "--json", "-")
    rows = json.loads(out)
    assert status == 0
    assert [(row["n"], row["runs"]) for row in rows] == [(1, 2), (2, 2)]
    runs = lasthop.run(lasthop.load("small.toml").set("station.0.count", 1), seeds=2).metrics["totals.goodput_bps"]
    assert rows[0]["mean"] == pytest.approx(sum(runs.values()) / 2)


def test_a_table_is_data_and_goes_to_standard_output(query):
    status, out, err = query("SELECT seed, name, goodput_bps FROM runs WHERE seed = 1 ORDER BY goodput_bps LIMIT 1")
    assert (status, err) == (0, "")
    head, _, row = out.splitlines()
    assert head.split() == ["seed", "name", "goodput_bps"]
    assert row.split()[:2] == ["1", "small"]


def test_csv_and_parquet_hold_the_answer(query):
    import pandas

    sql = "SELECT run, seed, settings, [1, 2] AS list, finished, NULL AS none FROM runs ORDER BY run"
    status, out, _ = query(sql, "--csv", "-", "--parquet", "answer.parquet")
    rows = list(csv.DictReader(io.StringIO(out)))
    assert status == 0
    assert json.loads(rows[0]["settings"]).keys() == {"station.0.count"}
    assert (rows[0]["list"], rows[0]["none"]) == ("[1, 2]", "")
    stored = pandas.read_parquet("answer.parquet")
    assert stored["run"].tolist() == [row["run"] for row in rows]
    assert list(stored["list"][0]) == [1, 2]


def test_ctrl_c_ends_a_long_question(store):
    sql = "SELECT sum(a.range * b.range) FROM range(10000000) a, range(10000000) b"
    interrupting = "import os, signal, sys, threading; from lasthop import cli; "
    interrupting += (
        "threading.Timer(3, lambda: os.kill(os.getpid(), signal.SIGINT)).start(); sys.exit(cli.main(sys.argv[1:]))"
    )
    line = [sys.executable, "-c", interrupting, "query", store, sql]
    done = subprocess.run(line, capture_output=True, text=True, check=False, timeout=120)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "lasthop: interrupted\n")


@pytest.mark.parametrize(
    ("sql", "what"),
    [
        ("SELEC 1", "syntax error"),
        ("SELECT * FROM flow", 'Did you mean "flows"'),
        ("DELETE FROM run", "read-only"),
        ("DROP TABLE run", "read-only"),
        ("SELECT 1; DROP VIEW runs", "has 2 statements; one is answered"),
        ("SELECT 1; SELECT 2", "has 2 statements; one is answered"),
        ("", "has no statement in it"),
        (" ; -- nothing", "has no statement in it"),
        ("COMMIT", "begins or ends a transaction"),
        ("BEGIN TRANSACTION", "begins or ends a transaction"),
        ("SELECT * FROM read_text('small.toml')", "disabled by configuration"),
        ("SELECT '\udcff", "unterminated"),
    ],
)
def test_a_question_that_is_none_is_one_sentence(query, store, sql, what):
    status, out, err = query(sql)
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert err.startswith("lasthop: SQL: ") and what in err
    assert len(Store.open(store).query("SELECT * FROM runs")) == 4


@pytest.mark.parametrize(
    ("file", "what"), [("absent.duckdb", "no such store"), ("small.toml", "is not a store"), (".", "directory")]
)
def test_a_file_that_is_no_store_is_one_sentence(store, capsys, file, what):
    assert cli.main(["query", file, "SELECT 1"]) == 2
    said = capsys.readouterr()
    assert (said.out, said.err.count("\n")) == ("", 1)
    assert what in said.err


def test_the_questions_of_the_manual_have_answers(query):
    from pathlib import Path

    text = (Path(__file__).parents[2] / "docs" / "campaigns.md").read_text(encoding="utf-8")
    questions = [block.partition("```")[0] for block in text.split("```sql\n")[1:]]
    assert len(questions) >= 4
    for sql in questions:
        status, out, err = query(sql)
        assert status == 0, (sql, err)
        assert out.strip(), sql


def test_query_writes_no_file(command, store):
    done = command("query", store, "COPY (SELECT 1) TO 'copied.csv'")
    assert done.returncode == 2
    assert "SQL: writes a file; --csv" in done.stderr
    assert not Path("copied.csv").exists()
