"""Every command with arguments that are none: one sentence and a status, never a traceback, whatever it is given.

All in this process, as starting one costs half a second.
"""

from __future__ import annotations

import os
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest
from lasthop import cli

LASTHOP = [sys.executable, "-m", "lasthop"]
LONG = "x" * 5000
# Names of missing or useless files; made by `places`.
FILES = (
    *(
        "",
        " ",
        ".",
        "/",
        "absent",
        "absent/below",
        "/dev/null",
        "/dev/full",
        "/proc/self/mem",
        "empty",
        "binary",
        "binary.json",
    ),
    *(
        "nul.toml",
        "deep.json",
        "deep.toml",
        "loop",
        "dangling.json",
        "x\udcff",
        "x\udcff.json",
        "\0",
        "a\0b.toml",
        LONG,
        "x" * 250,
    ),
    *(
        "-",
        "--",
        "small.toml/below",
        "locked",
        "list.json",
        "short.json",
        "digits.toml",
        "digits.json",
        "\x1b[2J",
        "%s%n",
        "$(true)",
    ),
)
NUMBERS = ("", "-1", "0", "9" * 400, "1e9", "nan", "inf", "0x10", "١", "1_000", " 1 ", "\udcff", "--", "1.5", LONG)
TEXTS = (
    "",
    "=",
    "a=",
    "=b",
    "a=b",
    "x" * 5000,
    "\udcff",
    "a\udcff=1",
    "[",
    "*",
    "..",
    ".0",
    "\x1b[2J",
    "a=[" + "[" * 3000,
    "🙂=1",
    "a.b=1e999",
)
SQL = ("", ";", "SELECT", "SELECT 1; SELECT 2", "COMMIT", "ROLLBACK", "\udcff", "'", "(" * 2000, "SELECT " + "9" * 5000, "SELECT 'x'::INT",
       "SELECT * FROM range(3)", "ATTACH 'x'", "INSTALL x", "SELECT error('a')", "SELECT CAST('2001-01-01' AS DATE)", "SELECT [1, {'a': 2}]",
       "SELECT '\\xff'::BLOB", "SELECT 'infinity'::TIMESTAMP", "SELECT 1e308 * 10", "SELECT NULL", "SELECT 1 AS a, 2 AS a", "SELECT MAP {1: 2}",
       "SELECT INTERVAL 1 DAY", "SELECT '00000000-0000-0000-0000-000000000000'::UUID", "SELECT TIME '01:02:03'", "SELECT 170141183460469231731687303715884105727")  # fmt: skip
# A command line for each place that takes a file, with `?` in its place; none of them has anything to run.
READ = (
    *("run ?", "sweep ?", "theory ?", "explain ?", "compare small.toml ?", "plot ?"),
    *(
        "plot --kind sweep ?",
        "plot --kind heat_map ?",
        "query ?",
        "query ? SHOW",
        "reproduce ?",
        "show ?",
        "list ?",
        "?",
        "help ?",
        "run small.toml ?",
    ),
)
# Commands refused before anything runs: an unknown key makes sure of it.
WRITE = (
    *(
        "run small.toml --set no.key=1 --out ?",
        "run small.toml --set no.key=1 --json ?",
        "sweep small.toml --set no.key=1 --csv ?",
    ),
    *(
        "sweep small.toml --set no.key=1 --parquet ?",
        "sweep small.toml --set no.key=1 --store ?",
        "theory small.toml --set no.key=1 --json ?",
    ),
    *("compare absent absent --json ?", "explain absent --json ?", "explain absent --plot ?", "plot absent --out ?"),
    *(
        "reproduce absent.toml --out ?",
        "reproduce absent.toml --json ?",
        "query absent --csv ?",
        "query absent --parquet ?",
    ),
    *("query absent --json ?", "bench --rounds 0 --json ?"),
)
NUMBER = (
    *("run small.toml --seeds ?", "run small.toml --seed ?", "run small.toml --jobs ?", "run small.toml --until ?"),
    *(
        "run small.toml --interval ? --out out",
        "sweep small.toml --seeds ?",
        "reproduce absent --jobs ?",
        "bench --rounds ?",
    ),
    *("plot absent --y-min ?", "plot absent --size ?"),
)
TEXT = (
    *(
        "run small.toml --set ?",
        "run small.toml --metric ? --seed -1",
        "sweep small.toml --over ?",
        "sweep small.toml --metric ? --seed -1",
    ),
    *(
        "sweep small.toml --address ?",
        "reproduce absent --claim ?",
        "reproduce absent --figure ?",
        "plot absent --metric ?",
    ),
    *(
        "plot absent --only ?",
        "plot absent --flow ?",
        "plot absent --kind ?",
        "plot absent --legend ?",
        "explain small.toml --set ?",
    ),
    *("compare absent absent --flow ?", "show ?", "list ?"),
)
# With these numbers a run is requested; their meaning is tested elsewhere.
RUNS = {("run small.toml --seed ?", "0"), ("run small.toml --seed ?", "-0")}


@pytest.fixture(scope="module")
def places(tmp_path_factory):
    """A directory with what `FILES` names, made once, and a store."""
    from conftest import SMALL

    folder = tmp_path_factory.mktemp("odd")
    before, build = Path.cwd(), cli.build_parser
    os.chdir(folder)
    cli.build_parser = cache(build)  # to make it again takes most of the time of a refusal
    Path("small.toml").write_text(SMALL)
    Path("empty").touch()
    for name in ("binary", "binary.json"):
        Path(name).write_bytes(bytes(range(256)) * 20)
    Path("nul.toml").write_bytes(b"a = 1\0")
    Path("deep.json").write_text('{"a":' * 100_000)
    Path("deep.toml").write_text("a = " + "[" * 100_000)
    Path("digits.toml").write_text("duration = " + "9" * 5000)
    Path("digits.json").write_text('{"format": ' + "9" * 5000 + "}")
    Path("list.json").write_text("[1]")
    Path("short.json").write_text('{"format": 1, "runs": [{}], "scenario": 5, "warnings": [], "lasthop": "0"}')
    Path("loop").symlink_to("loop")
    Path("dangling.json").symlink_to("absent")
    Path("locked").mkdir(mode=0o555)
    yield folder
    os.chdir(before)
    cli.build_parser = build


def ends_well(line: str, value: str, capfd) -> None:
    try:
        arguments = [value if part == "?" else part for part in line.split()]
        status = cli.main(arguments)
    except BaseException as error:  # noqa: BLE001  which is what must not be
        pytest.fail(f"lasthop {line} with {value[:60]!r}: {type(error).__name__}: {str(error)[:200]}")
    said = capfd.readouterr().err
    assert status in (0, 1, 2, 77), (line, value[:60], status)
    assert "Traceback" not in said, (line, value[:60], said)
    assert status == 0 or said, (line, value[:60])
    # One sentence, except for text before it; a name in it may be long.
    assert status == 0 or said.splitlines()[-1].startswith("lasthop: "), (line, value[:60], said[-300:])


@pytest.mark.parametrize("line", READ)
def test_a_file_that_is_none_is_a_sentence(places, capfd, line):
    for value in FILES:
        if (line, value) != ("reproduce ?", "--"):  # which means all papers
            ends_well(line, value, capfd)


@pytest.mark.parametrize("line", WRITE)
def test_a_place_that_cannot_be_written_is_a_sentence(places, capfd, line):
    for value in FILES[WRITE.index(line) % 2 :: 2]:
        ends_well(line, value, capfd)


@pytest.mark.parametrize("line", NUMBER)
def test_a_number_that_is_none_is_a_sentence(places, capfd, line):
    for value in NUMBERS:
        if (line, value) not in RUNS:
            ends_well(line, value, capfd)


@pytest.mark.parametrize("line", TEXT)
def test_a_text_that_is_none_is_a_sentence(places, capfd, line):
    for value in TEXTS:
        ends_well(line, value, capfd)


def test_a_question_of_any_kind_has_an_answer_or_a_sentence(places, capfd):
    from lasthop.study.store import Store

    Store.open("runs.duckdb")
    for number, sql in enumerate(SQL):
        output = ("", "--csv -", "--json -", "--parquet answer.parquet")
        ends_well(f"query runs.duckdb ? {output[number % 4]}", sql, capfd)
    for output in ("", "--csv -", "--json -", "--parquet answer.parquet"):
        ends_well(f"query runs.duckdb ? {output}", "SELECT 'infinity'::TIMESTAMP", capfd)


@pytest.mark.parametrize(
    "line", ["list >&-", "list 2>&-", "list <&-", "list <&- >&- 2>&-", "run small.toml --seed 1 --json x.json >&- 2>&-"]
)
def test_a_stream_that_is_closed_is_no_traceback(small, line):
    done = subprocess.run(
        ["sh", "-c", f'"$0" -m lasthop {line}', sys.executable], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "x.json" not in line or Path("x.json").stat().st_size > 1000


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full here")
@pytest.mark.parametrize("line", [["--help"], ["--version"], ["run", "--help"]])
def test_help_that_cannot_be_written_is_an_error(small, line):
    with open("/dev/full", "w") as full:
        done = subprocess.run([*LASTHOP, *line], stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 1 and done.stderr == "lasthop: output: No space left on device\n"


def test_a_directory_whose_name_is_not_utf8_is_refused_before_anything_runs(small, capfd):
    assert cli.main(["run", "small.toml", "--out", "x\udcff"]) == 2
    assert cli.main(["sweep", "small.toml", "--over", "station.0.count=1", "--store", "x\udcff.duckdb"]) == 2
    said = capfd.readouterr().err
    assert "--out x?: is not a name in UTF-8" in said and "finished" not in said
    assert [file.name for file in small.parent.iterdir()] == ["small.toml"]


def test_replaced_files_are_named_and_no_other_is_touched(small, capfd):
    line = ["run", "small.toml", "--seed", "1", "--out", "out"]
    assert cli.main(line) == 0 and "out: " not in capfd.readouterr().err
    assert cli.main(line) == 0
    assert "lasthop: out: the result that is there is replaced\n" in capfd.readouterr().err
    Path("out/notes.txt").write_text("mine")
    assert cli.main(line) == 0
    assert (
        "lasthop: out: the result that is there is replaced; other files that are there stay\n"
        in capfd.readouterr().err
    )
    assert Path("out/notes.txt").read_text() == "mine"
