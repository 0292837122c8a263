"""Runs as tables of the engine: their text and their parts are those that plain Python makes of their documents."""

from __future__ import annotations

import copy
import json
import pickle
import random
import struct
from pathlib import Path

import lasthop
import pytest
from lasthop import _core
from lasthop.data.confidence import estimate
from lasthop.data.result import Result
from lasthop.data.runs import run_of

ROOT = Path(__file__).resolve().parents[2]
SCENARIOS = {
    "uploads": "scenarios/khademi2011-uplink-11b.toml",
    "aggregates": "scenarios/office-11ax.toml",
}
SHORT = {"duration": "400 ms", "warmup": "100 ms"}


def ran(name, seeds, **options):
    scenario = lasthop.load(ROOT / SCENARIOS[name])
    for path, value in SHORT.items():
        scenario = scenario.set(path, value)
    return lasthop.run(scenario, seeds=seeds, interval_s=None, progress=False, **options)


def plain(result):
    """The document as Python's own encoder writes it, with intervals that Python has worked out."""
    return json.dumps(result.to_dict(), indent=2, ensure_ascii=False, allow_nan=False) + "\n"


@pytest.mark.parametrize("name", SCENARIOS)
@pytest.mark.parametrize("seeds", [1, 2, 5])
def test_the_engine_writes_the_bytes_of_the_plain_document(name, seeds):
    result = ran(name, seeds)
    assert result.to_json() == plain(result)


def test_an_account_of_time_is_written_and_not_summarised():
    result = ran("uploads", 2, explain=True)
    assert result.to_json() == plain(result)
    assert "account" in result.runs[0] and not any("account" in name for name in result.summary)


def number(draws):
    """Any number that JSON has, more often one at which its form changes."""
    (any_number,) = struct.unpack("d", draws.randbytes(8))
    power = draws.choice([1, -1]) * 10.0 ** draws.randrange(-7, 19) * draws.choice([1, 1, 3, 0.7, draws.random()])
    return draws.choice(
        [any_number if abs(any_number) < 1e150 else 0.0, power, -0.0, 0, draws.randrange(2**63), -1, 1e16, 1e-5]
    )


def row_of(draws, **identity):
    keys = [key for key in ("a", "b", "c", "d\\é", 'e"', "f") if draws.random() < 0.8]
    values = [None, True, "text, {[", [0.5, None], [], {}, {"g": 1}, [{"name": "x", "h": 2}]]
    return identity | {key: number(draws) if draws.random() < 0.7 else draws.choice(values) for key in keys}


def document(draws, seed):
    names = draws.sample(["a", "a.b", "b", 'é"\\', "b.c", "c", "x.ap"], 4)
    return {
        "seed": seed,
        "flows": [row_of(draws, id=name) for name in names],
        "totals": row_of(draws),
        "nodes": [row_of(draws, name=name) for name in names],
        # "a.b" to "c" and "a" to "b.c" have one name together.
        "links": [row_of(draws, node=one, peer=other) for one in names for other in names],
        "medium": {},
        "empty": [],
        "simulator": {"events": draws.randrange(9), "wall_s": 0.5},
    }


@pytest.mark.parametrize("seeds", [1, 2, 3, 7])
@pytest.mark.parametrize("stopped", [False, True])
def test_odd_documents_are_written_alike(seeds, stopped):
    draws = random.Random(seeds)
    for _ in range(30):
        documents = [document(draws, seed) for seed in range(seeds)]
        head = {
            "format": 1,
            "lasthop": "0",
            "scenario": {},
            "warnings": [],
            **({"until": {"n": seeds}} if stopped else {}),
        }
        summary = {name: estimate(values, stopped=stopped)._asdict() for name, values in flat(documents).items()}
        expected = {**head, "runs": documents, "summary": summary}
        text = json.dumps(expected, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
        assert Result({**head, "runs": documents}).to_json() == text


def flat(documents):
    """The numbers of documents by dotted name, in plain Python."""
    found = {}
    for whole in documents:
        own = {}
        for part, value in whole.items():
            if part != "seed":
                walk(part, value, own)
        for name, value in own.items():
            found.setdefault(name, []).append(value)
    found.pop("simulator.wall_s")
    return found


def walk(name, value, found):
    if isinstance(value, dict):
        for key, item in value.items():
            walk(f"{name}.{key}", item, found)
    elif isinstance(value, list):
        for item in value:
            if isinstance(item, dict):
                entity = item.get("id") or (f"{item['node']}.{item['peer']}" if "peer" in item else item.get("name"))
                if entity is not None:
                    walk(f"{name}.{entity}", item, found)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        found[name] = value


def test_parts_rows_and_columns_are_those_of_the_document():
    draws = random.Random(5)
    for seed in range(50):
        whole = document(draws, seed)
        run = run_of(whole)
        assert json.dumps(run.document()) == json.dumps(whole) == json.dumps(json.loads(run.json()))
        assert list(run) == run.keys() == list(whole) and len(run) == len(whole)
        assert "flows" in run and "waves" not in run and run.get("waves") is None and run.get("waves", 1) == 1
        with pytest.raises(KeyError, match="waves"):
            run["waves"]
        for part, value in whole.items():
            assert repr(run[part]) == repr(value) == repr(run.get(part))
        for part in ("flows", "links", "empty", "waves"):
            keys, rows = ["node", "a", 'e"', "nothing"], whole.get(part, [])
            assert repr(run.columns(part, keys)) == repr([[row.get(key) for row in rows] for key in keys])
        for most in (0, 1, 3, 100):
            assert repr(run.rows_of("flows", most)) == repr(whole["flows"][:most])


def test_a_run_whose_rows_lack_what_others_have_has_none_there():
    first, second = {"seed": 1, "flows": [{"a": 1}, {"b": 2}]}, {"seed": 2, "flows": [{"c": 3}]}
    table = _core.Table.of_runs([run_of(first), run_of(second)], "flows")
    expected = {"seed": [1, 1, 2], "a": [1, None, None], "b": [None, 2, None], "c": [None, None, 3]}
    assert {name: table.column(name) for name in table.names} == expected
    assert _core.Table.of_runs([run_of(first)], "nodes").names == []
    with pytest.raises(KeyError, match="waves"):
        table.column("waves")


def test_columns_have_the_type_of_their_values_in_the_order_in_which_their_keys_occur():
    first = {"flows": [{"id": "a", "n": 1, "l": [1, None], "t": True, "x": None}, {"n": 0.5, "l": [], "y": {"z": 1}}]}
    second = {"flows": [{"id": None, "n": None, "t": 1, "x": "now", "l": None, "late": [["deep"]], "w": 1, "v": None}]}
    table = _core.Table.of_runs([run_of(first), run_of(second)], "flows", ("run", ["first", "second"]))
    types = {"run": "text", "id": "text", "n": "real", "l": "list", "t": "text", "x": "text", "y": "text"}
    assert dict(zip(table.names, table.types, strict=True)) == types | {"late": "text", "w": "whole", "v": "nothing"}
    assert table.column("run") == ["first", "first", "second"] and len(table) == 3
    assert table.column("t") == ["true", None, "1"] and table.column("y") == [None, '{"z":1}', None]
    assert table.column("l") == [[1.0, None], [], None]


def test_what_is_no_number_of_json_is_refused():
    with pytest.raises(ValueError, match="JSON"):
        run_of({"seed": 1, "totals": {"x": float("nan")}})
    with pytest.raises(ValueError, match="expected"):
        _core.Run.parse("[1]")


def test_results_of_other_versions_are_read_whatever_their_keys(tmp_path):
    run = {
        "seed": 3,
        "flows": [{"id": "a", "station": "a", "goodput_bps": 5e6, "new": {"deep": [1]}}, {"id": "b", "station": "b"}],
        "totals": {"goodput_bps": 5e6},
        "nodes": [{"name": "ap"}],
        "links": [],
        "medium": {},
        "unknown": [1, "two"],
    }
    document = {"format": 1, "lasthop": "9.9", "scenario": {}, "warnings": [], "runs": [run], "summary": {"x": 1}}
    (tmp_path / "result.json").write_text(json.dumps(document | {"later": True}))
    result = lasthop.read(tmp_path)
    assert result.runs == [run] and result.metrics["flows.a.goodput_bps"] == {3: 5e6}
    assert json.loads(result.to_json())["runs"] == [run]
    assert list(result.flows["goodput_bps"].isna()) == [False, True]


def test_a_result_can_be_pickled_and_copied_and_its_runs_replaced():
    result = ran("uploads", 2)
    again = pickle.loads(pickle.dumps(result))
    assert again.to_json() == copy.deepcopy(result).to_json() == result.to_json()
    assert len(result.metrics["totals.goodput_bps"]) == 2
    result.runs = result.runs[:1]
    assert result.seeds == [1] and len(result.metrics["totals.goodput_bps"]) == 1
