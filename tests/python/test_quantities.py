"""One list says what runs measure: results, the manual, the schema, labels and the text of the package come from it."""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path

import jsonschema
import lasthop
import pytest
from lasthop import _core
from lasthop.data.quantities import FLOW, LINK, NODE, SERIES, TOTALS, listed

ROOT = Path(__file__).parents[2]
NAMES = {str(quantity) for quantity in listed()}
# Words with other meanings too: `packets` is a unit and a key of the account of time.
COMMON = {"packets", "events", "pages", "stalls", "mos", "timeouts", "reordered"}


# Columns of recordings, some with names of quantities; and the files that read these.
COLUMNS = {column for table in _core.recording_tables() for column, _type, _meaning in table[2]}
READERS = {
    "page/curves.py",
    "page/frames.py",
    "page/report.py",
    "views/export/capacity/measure.py",
    "views/export/perfetto.py",
    "views/export/qlog.py",
}


def reads_recordings(file: Path) -> bool:
    """Whether a file of the package reads columns of recordings."""
    return file.relative_to(ROOT / "python" / "lasthop").as_posix() in READERS


def strings_of(file: Path):
    """Every string of a Python file but its docstrings."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    bodies = (node for node in ast.walk(tree) if isinstance(node, ast.Module | ast.FunctionDef | ast.ClassDef))
    said = {id(part.value) for body in bodies for part in body.body if isinstance(part, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in said:
            yield node.value


def test_no_file_of_the_package_writes_the_name_of_a_quantity():
    word = re.compile(rf"\b({'|'.join(NAMES - COMMON)})\b")
    found = {}
    for file in (ROOT / "python" / "lasthop").rglob("*.py"):
        here = [text for text in strings_of(file) if word.search(text)]
        if file.name == "tables.py" and file.parent.name == "store":
            # A store has a column of its own for the wall-clock time.
            here = [text for text in here if set(word.findall(text)) != {"wall_s"}]
        if file.name == "tasks.py" and file.parent.name == "gym":
            # Rewards are expressions as users write them; the tasks' own tests run each.
            here = []
        if reads_recordings(file):
            here = [text for text in here if not set(word.findall(text)) <= COLUMNS]
        if file.name == "_sniffer.py":
            # The stamps of a sniffer have a jitter of their own.
            here = [text for text in here if set(word.findall(text)) != {"jitter_s"}]
        if here:
            found[str(file.relative_to(ROOT))] = here
    assert found == {}


def test_the_common_words_are_used_as_keys_nowhere():
    used = re.compile(rf"(?:\[|get\()[\"']({'|'.join(COMMON)})[\"'][\])]")
    found = {
        str(file.relative_to(ROOT)): used.findall(file.read_text(encoding="utf-8"))
        for file in (ROOT / "python" / "lasthop").rglob("*.py")
        if not reads_recordings(file)
    }
    # The account of time has packets of its own, and so has the load of a flow in captures; a file of qlog has events.
    found.pop("python/lasthop/foreign/testbed/qlog_file.py")
    found.pop("python/lasthop/views/explain/account.py")
    found.pop("python/lasthop/foreign/twin/observation.py")
    assert {file: names for file, names in found.items() if names} == {}


def test_the_crates_write_each_name_in_its_row_alone():
    written: dict[str, int] = dict.fromkeys(NAMES - COMMON, 0)
    # Traces of congestion controls and packet scripts have words of their own.
    crates = ("observe", "link", "wifi", "network", "scenario", "python")
    for file in (file for crate in crates for file in (ROOT / "crates" / crate / "src").rglob("*.rs")):
        code = file.read_text(encoding="utf-8").partition("#[cfg(test)]")[0]
        for name in re.findall(r'"([a-z0-9_]+)"', code):
            if name in written:
                written[name] += 1
    tables = {name: len({q.table for q in listed() if q == name}) for name in written}
    assert written == tables


def test_a_quantity_is_its_key_with_unit_label_and_bound():
    goodput = FLOW.goodput_bps
    assert goodput == "goodput_bps" and json.dumps({goodput: 1}) == '{"goodput_bps": 1}'
    assert (goodput.path, goodput.path_of("sta.up")) == ("flows.ID.goodput_bps", "flows.sta.up.goodput_bps")
    assert (goodput.unit, goodput.shown, goodput.axis) == ("bit/s", ("Mbit/s", 1e-6, 3), "goodput (Mbit/s)")
    assert TOTALS.goodput_bps.path == "totals.goodput_bps"
    assert (NODE.airtime_fraction.most, LINK.retry_fraction.most, goodput.most) == (100.0, 100.0, None)
    assert SERIES.drops_early.is_rare and not SERIES.cwnd_segments.is_rare


def test_a_quantity_that_there_is_not_is_an_error_with_the_nearest():
    with pytest.raises(AttributeError, match="no quantity godput_bps of flows; did you mean goodput_bps"):
        FLOW.godput_bps  # noqa: B018
    with pytest.raises(AttributeError, match="no quantity cwnd_segments of flows"):
        FLOW.cwnd_segments  # noqa: B018


def test_a_key_has_one_unit_in_all_tables():
    for name in NAMES:
        assert len({(q.unit, q.shown) for q in listed() if q == name}) == 1, name


def test_time_series_have_one_kind_of_entity_for_each_key():
    keys = [str(quantity) for quantity in listed() if quantity.in_series]
    assert len(keys) == len(set(keys)) == len(list(SERIES))


def test_results_fit_the_schema(command, small):
    schema = json.loads(command("self", "schema", "--result").stdout)
    validator = jsonschema.Draft202012Validator
    validator.check_schema(schema)
    for name, arguments in {"run": ("--seeds", 2), "explained": ("--seed", 1, "--explain")}.items():
        assert command("run", small, *arguments, "--json", f"{name}.json").returncode == 0
        document = json.loads(Path(f"{name}.json").read_text(encoding="utf-8"))
        validator(schema).validate(document)
    document["runs"][0]["totals"]["jain_index"] = 1.5
    with pytest.raises(jsonschema.ValidationError, match="1.5 is greater than the maximum"):
        validator(schema).validate(document)
    del document["runs"][0]["totals"]["jain_index"]
    with pytest.raises(jsonschema.ValidationError, match="'jain_index' is a required property"):
        validator(schema).validate(document)


def test_the_schema_has_unit_and_meaning(command):
    run = json.loads(command("self", "schema", "--result").stdout)["properties"]["runs"]["items"]["properties"]
    assert "Unit: bit/s" in run["totals"]["properties"]["goodput_bps"]["description"]
    assert run["flows"]["items"]["properties"]["mos"]["description"].endswith("Only voip.")


def test_the_tables_of_the_manual_are_those_of_the_list(monkeypatch):
    text = (ROOT / "docs" / "model" / "metrics.md").read_text(encoding="utf-8")
    monkeypatch.syspath_prepend(str(ROOT / "docs" / "_ext"))
    from reference import tables

    assert set(tables.QUANTITIES.findall(text)) == {q.table for q in listed()} | {tables.SERIES}
    filled = tables.filled(text)
    assert all(f"\n| `{q}` |" in filled for q in listed())


def test_list_and_show_name_quantities_with_units(command):
    entries = json.loads(command("list", "quantity", "--json").stdout)
    unsettled = next(entry for entry in entries if entry["name"] == "totals.unsettled_s")
    assert (unsettled["kind"], unsettled["unit"], unsettled["type"]) == ("quantity", "s", "amount")
    assert "flows.ID.rtt_p95_s" in command("list", "quantity").stdout
    assert command("show", "flows.*.rtt_p95_s").stdout.startswith(
        "flows.ID.rtt_p95_s (quantile of TCP, QUIC, ping in s, shown in ms; result): RTT, 95th percentile\n    95th percentile"
    )
    both = command("show", "goodput_bps").stdout
    assert "totals.goodput_bps (rate in bit/s, shown in Mbit/s; result)" in both
    assert "flows.ID.goodput_bps (rate of flows in bit/s, shown in Mbit/s; result and time series)" in both
    wrong = command("show", "goodput_bits")
    assert wrong.returncode == 2 and 'did you mean "goodput_bps"?' in wrong.stderr
    assert "quantity" in command("list", "colours").stderr


def test_a_key_without_its_path_is_found_where_one_number_has_it(command, small):
    single = ("--set", "station.0.count=1")
    for key, path in (("jain_index", "totals.jain_index"), ("rtt_p95_s", "flows.sta1.up.rtt_p95_s (ms)")):
        done = command("run", small, "--seeds", 2, *single, "--metric", key)
        assert done.returncode == 0 and f"\n{path} " in done.stdout, done.stderr + done.stdout
    result = lasthop.sweep(small, {"station.0.count": [1]}, seeds=1, metrics=["rtt_p95_s"])
    assert "flows.sta1.up.rtt_p95_s" in result


def test_a_sweep_is_drawn_by_a_key_alone(command, small):
    sweep = (
        "sweep",
        small,
        "--over",
        "station.0.count=1,2",
        "--seeds",
        2,
        "--metric",
        "totals.*",
        "--csv",
        "points.csv",
    )
    assert command(*sweep).returncode == 0
    assert (
        command("plot", "points.csv", "--kind", "sweep", "--metric", "jain_index", "--out", "jain.csv").returncode == 0
    )
    done = command("plot", "points.csv", "--kind", "sweep", "--metric", "collision_fraction", "--out", "share.csv")
    assert done.returncode == 0, done.stderr
    wrong = command("plot", "points.csv", "--kind", "sweep", "--metric", "mos", "--out", "mos.csv")
    assert wrong.returncode == 2 and "mos: no run has such a metric" in wrong.stderr


@pytest.mark.parametrize(
    "line",
    [
        ("run", "small.toml", "--seeds", 2),
        ("run", "small.toml", "--until", "5%"),
        ("compare", "small.toml", "small.toml", "--seeds", 2),
        ("sweep", "small.toml", "--over", "station.0.count=2", "--seeds", 2),
    ],
    ids=lambda line: f"{line[0]} {line[-2]}",
)
def test_a_key_that_several_have_is_one_error_with_the_paths(command, small, line):
    done = command(*line, "--metric", "goodput_bps")
    assert (done.returncode, done.stdout) == (2, "") and done.stderr.count("\n") == 1
    assert "goodput_bps: matches 2 numbers; name one of: totals.goodput_bps, flows.ID.goodput_bps" in done.stderr
    done = command(*line, "--metric", "rtt_p95_s")
    assert (done.returncode, done.stdout) == (2, "")
    last = done.stderr.splitlines()[-1]
    assert last.endswith("name one of: flows.sta1.up.rtt_p95_s, flows.sta2.up.rtt_p95_s"), done.stderr
