"""Ready scenarios, papers and benchmarks come with the package: names work wherever a file is taken, from any folder."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import lasthop
import pytest
from lasthop.data import ready
from lasthop.papers import paper_files

ROOT = Path(__file__).resolve().parents[2]
SHORT = ["--set", "duration=6 s", "--set", "warmup=5500 ms"]
# A wheel built from this tree: it is tested in the form of a user's installation, in an environment of its own.
WHEEL = os.environ.get("LASTHOP_WHEEL")
needs_tree = pytest.mark.skipif(not (ROOT / "scenarios").is_dir(), reason="not in a source tree")


def commands(page: Path) -> list[list[str]]:
    """The command lines of `lasthop` in the code of a page."""
    code = "".join(
        re.findall(r"^```(?:sh|console)\n(.*?)^```", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    )
    return [
        ["lasthop", *shlex.split(line, comments=True)]
        for line in re.findall(r"^(?:\$ )?(?:\.venv/bin/)?lasthop (.*)", code, re.MULTILINE)
    ]


# Commands of the README, as a user copies them.
COMMANDS = commands(ROOT / "README.md") if (ROOT / "README.md").is_file() else []


def test_the_readme_has_commands_to_copy():
    assert ["lasthop", "run"] in [words[:2] for words in COMMANDS]


@pytest.fixture
def empty(tmp_path, monkeypatch):
    """An empty folder, which is the current one."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@needs_tree
def test_the_package_has_every_scenario_and_paper_of_the_tree():
    assert {file.name for file in ready.scenarios().values()} == {
        file.name for file in (ROOT / "scenarios").glob("*.toml")
    }
    assert {file.name for file in ready.papers().values()} == {file.name for file in (ROOT / "papers").glob("*.toml")}


def test_a_name_is_a_ready_scenario_from_any_folder(empty):
    by_name = lasthop.load("tcp-nup")
    assert by_name.text == ready.scenarios()["tcp-nup"].read_text(encoding="utf-8")
    assert lasthop.load("scenarios/tcp-nup.toml").text == by_name.text


def test_a_file_that_is_there_goes_before_a_name(empty, small):
    small.rename("tcp-nup")
    assert lasthop.load("tcp-nup").to_dict()["name"] == "small"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("tcp-nupp", "did you mean tcp-nup or "),
        ("rtt-fare.toml", "did you mean rtt-fair? `lasthop list scenario` names them"),
        ("qqqqqq", "and no ready scenario is called so; `lasthop list scenario` names them"),
    ],
)
def test_an_unknown_name_is_answered_with_near_names(command, empty, given, said):
    done = command("run", given)
    assert done.returncode == 2 and done.stdout == ""
    assert (
        done.stderr.startswith(f"lasthop: {given}: No such file or directory")
        and said in done.stderr
        and done.stderr.count("\n") == 1
    )


def test_a_missing_path_is_the_usual_error(command, empty):
    done = command("run", "folder/mine.toml")
    assert (done.returncode, done.stderr) == (2, "lasthop: folder/mine.toml: No such file or directory\n")


def test_ready_scenarios_are_listed_with_their_subject(command):
    told = {entry["name"]: entry["summary"] for entry in json.loads(command("list", "scenario", "--json").stdout)}
    assert set(told) == set(ready.scenarios()) and all(told.values())
    assert all(f"{name} " in command("list", "scenario").stdout for name in ("tcp-nup", "office-11ax"))


def test_a_ready_scenario_is_printed_to_begin_with(command, empty):
    printed = command("new", "tcp-nup").stdout
    assert printed == ready.scenarios()["tcp-nup"].read_text(encoding="utf-8")
    assert list(empty.iterdir()) == []


@pytest.mark.parametrize(
    "line",
    [
        ["run", "tcp-nup", "--seed", 1, *SHORT],
        ["sweep", "tcp-nup", "--over", "wired.delay=1 ms", "--seeds", 1, *SHORT],
        ["theory", "saturation-11a", "--seed", 1, "--set", "duration=2 s", "--set", "warmup=1 s"],
        ["host", "deploy", "tcp-nup", "--dry-run"],
    ],
)
def test_commands_take_names(command, empty, line):
    done = command(*line)
    assert done.returncode == 0, done.stderr


def test_papers_are_found_from_any_folder(empty):
    assert [file.stem for file in paper_files()] == sorted(ready.papers())


def test_a_folder_of_papers_goes_before_those_of_the_package(empty):
    (empty / "papers").mkdir()
    (empty / "papers" / "mine.toml").write_text("")
    assert [file.stem for file in paper_files()] == ["mine"]


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """`lasthop` of the wheel, in an environment that shares this one's packages but neither this tree nor its own lasthop."""
    if WHEEL is None:
        pytest.skip("LASTHOP_WHEEL names no wheel; `make wheel` tests one")
    place = tmp_path_factory.mktemp("installed")
    (place / "site").mkdir()
    with zipfile.ZipFile(WHEEL) as wheel:
        wheel.extractall(place / "site")
    venv.create(place / "venv", with_pip=False)
    others = [path for path in sys.path if path.endswith("site-packages")]
    # After the wheel, and without the .pth files that lead to this tree: those are read in site folders only.
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(place / "site"), *others])}
    python = place / "venv" / "bin" / "python"

    def run(folder: Path, *arguments: object) -> subprocess.CompletedProcess[str]:
        line = [str(python), *map(str, arguments)]
        return subprocess.run(
            line, capture_output=True, text=True, timeout=600, check=False, cwd=folder, env=environment
        )

    where = run(place, "-c", "import lasthop; print(lasthop.__file__)").stdout
    assert where.startswith(str(place / "site")), where
    return run


@pytest.mark.parametrize(
    "line",
    [
        *(["-m", *words] for words in COMMANDS),
        ["-m", "lasthop.demo"],
        ["-m", "lasthop", "run", "tcp-nup", "--seed", 1, *SHORT],
        ["-m", "lasthop", "list", "scenario"],
        ["-m", "lasthop", "new", "rrul"],
        ["-m", "lasthop", "reproduce", "heusse2003", "--quick"],
        ["-m", "lasthop", "self", "bench", "--help"],
    ],
)
def test_the_wheel_works_in_an_empty_folder(installed, tmp_path, line):
    done = installed(tmp_path, *line)
    assert done.returncode == 0, done.stderr


def test_a_newcomer_with_the_wheel_gets_a_picture(installed, tmp_path):
    page = (ROOT / "docs" / "start" / "first-run.md").read_text(encoding="utf-8")
    for line in re.findall(r"^lasthop (.*)$", page, re.MULTILINE):
        done = installed(tmp_path, "-m", "lasthop", *shlex.split(line))
        assert done.returncode == 0, done.stderr
    assert (tmp_path / "first.png").read_bytes().startswith(b"\x89PNG")


def test_the_wheel_has_its_benchmarks(installed, tmp_path):
    told = installed(
        tmp_path, "-c", "from lasthop.data.ready import DATA; print((DATA / 'benches' / 'run.py').is_file())"
    )
    assert told.stdout.strip() == "True", told.stderr
