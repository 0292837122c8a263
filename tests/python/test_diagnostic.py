"""Mistakes and warnings are values: their fields, their one sentence, and the places where they are read."""

from __future__ import annotations

import ast
import json
import pickle
import re
from dataclasses import replace
from pathlib import Path

import lasthop
import pytest
from conftest import SMALL
from lasthop.page.checking import problem
from lasthop.views.plot._sweep_table import read_sweep

PACKAGE = Path(lasthop.__file__).parent
WARNING = "station[0].distance has no effect because channel.path_loss"
NAMED = """
duration = "400 ms"
[bss]
name = "home"
standard = "802.11n"
[[station]]
name = "near"
[[station]]
name = "far"
[[flow]]
name = "web1"
station = "near"
[[flow]]
name = "web2"
station = "far"
[[flow]]
station = "f*"
"""


def mistake_in(text: str, *settings: tuple[str, str]) -> lasthop.ScenarioError:
    scenario = lasthop.Scenario(text, "mine.toml")
    for path, value in settings:
        scenario = scenario.set(path, value)
    with pytest.raises(lasthop.ScenarioError) as caught:
        scenario.resolve()
    return caught.value


def test_a_mistake_in_a_file_has_its_place_kind_arguments_and_remedy() -> None:
    text = SMALL.replace("count = 2", "cuont = 2")
    error = mistake_in(text)
    line = text[: text.index("cuont")].count("\n") + 1
    assert (error.file, error.line, error.column, error.key) == ("mine.toml", line, 1, "station[0].cuont")
    assert error.kind == "unknown_key" and error.setting is None
    assert error.arguments["key"] == "cuont" and "count" in error.arguments["known"]
    assert error.message == 'unknown key "cuont"' and error.remedy.startswith('did you mean "count"? one of: ')
    assert text[slice(*error.span)] == "cuont"
    assert str(error) == f"mine.toml:{line}: station[0].cuont: {error.message}; {error.remedy}"
    assert [str(each) for each in error.diagnostics] == [str(error)]


def test_a_mistake_in_a_setting_has_the_setting_instead_of_a_line() -> None:
    error = mistake_in(SMALL, ("wired.delay", "10"))
    assert (error.file, error.line, error.setting) == (None, None, ("wired.delay", "10"))
    assert error.key == "wired.delay" and error.kind == "quantity"
    assert str(error).startswith('--set wired.delay=10: wired.delay: "10" has no unit; ')
    (mistake,) = error.diagnostics
    assert mistake.sentence(lambda _: "--over").startswith("--over wired.delay=10: ")


def test_a_mistake_of_the_package_has_the_same_fields(tmp_path) -> None:
    (tmp_path / "x.toml").write_bytes(b"\xff")
    with pytest.raises(lasthop.ScenarioError, match="not a text file in UTF-8") as caught:
        lasthop.load(tmp_path / "x.toml")
    assert (caught.value.file, caught.value.kind) == (str(tmp_path / "x.toml"), "file")


def test_an_error_survives_the_way_between_processes() -> None:
    error = mistake_in(SMALL, ("wired.delay", "10"))
    copy = pickle.loads(pickle.dumps(error))
    assert copy.diagnostics == error.diagnostics and str(copy) == str(error)


@pytest.mark.parametrize(
    ("old", "new", "kind", "key"),
    [
        ("standard =", "standrd =", "unknown_key", "bss.standrd"),
        ('"newreno"', '"newrenno"', "unknown_name", "tcp.congestion_control"),
        ("802.11b", "802.11be", "not_modelled", "bss.standard"),
        ("count = 2", 'count = "two"', "wrong_type", "station[0].count"),
        ("count = 2", "count = -2", "out_of_range", "station[0].count"),
        ("[wired]", "[wired]\ndelay = 10\n[wired2]", "unknown_key", "wired2"),
        ('name = "small"', 'name = "small', "syntax", ""),
    ],
)
def test_mistakes_have_kinds(old: str, new: str, kind: str, key: str) -> None:
    assert old in SMALL
    error = mistake_in(SMALL.replace(old, new, 1) if "[wired2]" not in new else SMALL + "[wired2]\n")
    assert (error.kind, error.key) == (kind, key)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("standard =", "standrd ="),
        ('"newreno"', '"newrenno"'),
        ('duration = "2 s"', 'duration = "2"'),
        ("[wired]", "[wirred]"),
        ("count = 2", "count = 2\ncount = 3"),
    ],
)
def test_rewording_a_mistake_moves_no_mark(old: str, new: str) -> None:
    text = SMALL.replace(old, new, 1)
    (mistake,) = mistake_in(text).diagnostics
    reworded = replace(mistake, message='what: "x" key; no effect', remedy="one; two")
    places = ("line", "column", "end", "begin", "until", "where")
    assert [problem(text, mistake)[name] for name in places] == [problem(text, reworded)[name] for name in places]


def test_no_module_takes_a_sentence_apart() -> None:
    """No text of an exception is searched or replaced, and no pattern holds words of a message."""
    methods = {"replace", "partition", "rpartition", "split", "removeprefix", "removesuffix", "startswith", "endswith"}
    found = []
    for file in sorted(PACKAGE.rglob("*.py")):
        tree = ast.parse(file.read_text(encoding="utf-8"))
        caught = {each.name for each in ast.walk(tree) if isinstance(each, ast.ExceptHandler) and each.name}
        for node in ast.walk(tree):
            if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
                continue
            is_pattern = ast.unparse(node.func.value) == "re"
            taken = node.args[:2] if is_pattern else [node.func.value] if node.func.attr in methods else []
            names = {each.id for part in taken for each in ast.walk(part) if isinstance(each, ast.Name)}
            if names & caught and any("str(" in ast.unparse(part) or "f'" in ast.unparse(part) for part in taken):
                found.append(f"{file.relative_to(PACKAGE)}:{node.lineno}")
    # Those shorten what pyarrow, DuckDB and Python say.
    others = ("cli/_rows.py", "data/recording.py", "study/store/__init__.py", "papers/expression.py")
    assert [place for place in found if not place.startswith(others)] == []


def test_check_prints_mistakes_and_warnings_as_json(command, tmp_path) -> None:
    wrong, right = tmp_path / "wrong.toml", tmp_path / "right.toml"
    wrong.write_text(SMALL.replace("count = 2", "cuont = 2"))
    right.write_text(SMALL)
    done = command("check", "--json", str(wrong), str(right), str(tmp_path / "absent.toml"))
    assert (done.returncode, done.stderr) == (2, "")
    unknown, warning, absent = json.loads(done.stdout)
    assert (unknown["file"], unknown["key"], unknown["kind"]) == (str(wrong), "station[0].cuont", "unknown_key")
    assert unknown["sentence"].startswith(f"{wrong}:{unknown['line']}: ") and unknown["severity"] == "error"
    assert warning["severity"] == "warning" and warning["message"].startswith(WARNING) and warning["remedy"]
    assert (absent["file"], absent["message"]) == (str(tmp_path / "absent.toml"), "No such file or directory")
    done = command("check", "--json", str(right))
    assert done.returncode == 0 and [each["kind"] for each in json.loads(done.stdout)] == ["no_effect"]


# Steps by name --------------------------------------------------------------------------------------------------------


def flows(scenario: lasthop.Scenario) -> list[str]:
    return [flow["congestion_control"]["kind"] for flow in scenario.to_dict()["flow"]]


def test_a_step_may_be_a_name_a_pattern_or_a_station_as_written() -> None:
    scenario = lasthop.Scenario(NAMED)
    assert flows(scenario.set("flow.web2.congestion_control", "bbr")) == ["cubic", "bbr", "cubic"]
    assert flows(scenario.set("flow.web*.congestion_control", "bbr")) == ["bbr", "bbr", "cubic"]
    assert flows(scenario.set("flow.f*.congestion_control", "bbr")) == ["cubic", "cubic", "bbr"]
    assert flows(scenario.set("flow.1.congestion_control", "bbr")) == ["cubic", "bbr", "cubic"]
    near, far = scenario.set("station.far.queue", "fq_codel").to_dict()["station"]
    assert (near["queue"], far["queue"]["kind"]) == ("backpressure", "fq_codel")
    assert scenario.set("bss.home.channel", 6).to_dict()["bss"][0]["channel"] == 6


def test_a_name_of_no_entry_is_an_error_that_lists_the_names() -> None:
    error = mistake_in(NAMED, ("flow.wbe1.size", "1 MB"))
    assert error.kind == "no_such_place" and error.arguments["known"] == ["web1", "web2", "f*"]
    assert 'did you mean "web1"? names: web1, web2, f*; write flow.0.size' in str(error)


def test_options_take_names_and_show_them_as_typed(command, tmp_path) -> None:
    (tmp_path / "named.toml").write_text(NAMED)
    sweep = (
        "sweep",
        tmp_path / "named.toml",
        "--seeds",
        1,
        "--csv",
        tmp_path / "out.csv",
        "--over",
        "flow.web*.congestion_control=cubic,bbr",
    )
    done = command(*sweep, "--set", "station.far.queue=fifo")
    assert done.returncode == 0, done.stderr
    assert "flow.web*.congestion_control" in done.stdout
    assert (tmp_path / "out.csv").read_text().startswith("flow.web*.congestion_control,seed,")
    done = command("sweep", tmp_path / "named.toml", "--seeds", 1, "--over", "flow.wbe1.congestion_control=cubic,bbr")
    assert done.returncode == 2
    assert done.stderr.startswith(
        "lasthop: --over flow.wbe1.congestion_control=cubic: expected an index from 0 or a name"
    )


def test_sweeps_take_names_from_the_file_and_from_python() -> None:
    text = NAMED + '[sweep]\n"flow.web1.congestion_control" = ["cubic", "bbr"]\n'
    table = lasthop.sweep(lasthop.Scenario(text), seeds=1)
    assert list(table["flow.web1.congestion_control"]) == ["cubic", "bbr"]
    table = lasthop.sweep(lasthop.Scenario(NAMED), over={"station.near.distance": ["1 m", "2 m"]}, seeds=1)
    assert list(table.columns[:2]) == ["station.near.distance", "seed"]


# Warnings travel with numbers -----------------------------------------------------------------------------------------


@pytest.fixture
def swept(command, small, tmp_path):
    done = command(
        "sweep",
        "small.toml",
        "--seeds",
        1,
        "--set",
        "duration=600 ms",
        "--over",
        "station.0.count=1,2",
        "--csv",
        "out.csv",
        "--parquet",
        "out.parquet",
    )
    assert done.returncode == 0, done.stderr
    return tmp_path


def test_rows_of_csv_have_the_warnings_about_their_point(swept) -> None:
    import pandas

    table = pandas.read_csv(swept / "out.csv")
    assert table.columns[-1] == "warnings" and table["warnings"].str.contains(WARNING, regex=False).all()


def test_parquet_has_warnings_in_its_metadata(swept) -> None:
    import pyarrow.parquet

    schema = pyarrow.parquet.read_schema(swept / "out.parquet")
    assert any(WARNING in each for each in json.loads(schema.metadata[b"warnings"]))
    assert "warnings" not in schema.names


@pytest.mark.parametrize("name", ["out.csv", "out.parquet"])
def test_a_figure_of_a_table_has_the_warnings_of_the_table(swept, name: str) -> None:
    assert any(WARNING in each for each in read_sweep(swept / name).warnings)
    chart = __import__("lasthop.views.plot", fromlist=["chart"]).chart("sweep", [read_sweep(swept / name)])
    assert any(WARNING in each for each in chart.notes)


def test_warnings_are_below_a_figure_and_in_its_data(small, tmp_path) -> None:
    result = lasthop.run(lasthop.load(small).set("duration", "600 ms"), seeds=1, interval_s=0.1)
    figure = result.plot("goodput_over_time", out=tmp_path / "figure.csv")
    lowest = min(figure.texts, key=lambda text: text.get_position()[1])
    assert re.sub(r"\s+", " ", lowest.get_text()).startswith(f"Warning: {WARNING}")
    assert lowest.get_window_extent().y1 < min(axes.get_tightbbox().y0 for axes in figure.axes)
    assert all(WARNING in line for line in (tmp_path / "figure.csv").read_text().splitlines()[1:])


def test_a_scenario_without_warnings_has_no_column_and_no_note(command, tmp_path) -> None:
    (tmp_path / "named.toml").write_text(NAMED)
    command(
        "sweep", tmp_path / "named.toml", "--seeds", 1, "--csv", tmp_path / "out.csv", "--over", "wired.delay=1 ms,2 ms"
    )
    assert "warnings" not in (tmp_path / "out.csv").read_text().splitlines()[0]


def test_a_notebook_shows_the_warnings_of_results_sweeps_and_comparisons(small) -> None:
    scenario = lasthop.load(small).set("duration", "600 ms")
    result = lasthop.run(scenario, seeds=1, interval_s=None)
    table = lasthop.sweep(scenario, over={"station.0.count": [1, 2]}, seeds=1)
    for html in (result._repr_html_(), lasthop.compare(result, result)._repr_html_(), table._repr_html_()):
        assert WARNING in html
