"""Runs as text of the engine: what is written and read of them is what their documents give in plain Python."""

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
from lasthop.data import runs
from lasthop.data.result import Result

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
    assert all(isinstance(run, _core.RunText) for run in result.told_runs)
    written = result.to_json()
    assert written == plain(result)
    assert all(isinstance(run, dict) for run in result.told_runs)
    assert result.to_json() == written


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


def compact(value):
    """As the engine writes it: without blanks, exponents as short as can be, none from 1e-5 on."""
    if isinstance(value, dict):
        return (
            "{"
            + ",".join(f"{json.dumps(key, ensure_ascii=False)}:{compact(item)}" for key, item in value.items())
            + "}"
        )
    if isinstance(value, list):
        return "[" + ",".join(map(compact, value)) + "]"
    return short(repr(value)) if isinstance(value, float) else json.dumps(value, ensure_ascii=False)


def short(number):
    mantissa, _, power = number.partition("e")
    if not power:
        return number
    sign, digits = ("-", mantissa[1:]) if mantissa.startswith("-") else ("", mantissa)
    return f"{sign}0.0000{digits.replace('.', '')}" if int(power) == -5 else f"{mantissa}e{int(power)}"


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
        texts = [_core.RunText(compact(each)) for each in documents]
        assert Result({**head, "runs": texts}).to_json() == plain(Result({**head, "runs": documents}))


def test_parts_rows_and_columns_are_those_of_the_document():
    draws = random.Random(5)
    for seed in range(50):
        whole = document(draws, seed)
        text = _core.RunText(compact(whole))
        assert json.dumps(runs.document_of(text)) == json.dumps(whole)
        assert "flows" in text and "waves" not in text and text.get("waves") is None
        with pytest.raises(KeyError, match="waves"):
            text["waves"]
        for part, value in whole.items():
            assert repr(text[part]) == repr(value) == repr(text.get(part))
        for part in ("flows", "links", "empty", "waves"):
            keys = ["node", "a", 'e"', "nothing"]
            assert repr(runs.columns(text, part, keys)) == repr(runs.columns(whole, part, keys))
            assert repr(runs.table([text, text], part)) == repr(runs.table([whole, whole], part))
        for most in (0, 1, 3, 100):
            assert repr(runs.first_rows(text, "flows", most)) == repr(whole["flows"][:most])


def test_a_run_whose_rows_lack_what_others_have_has_none_there():
    first, second = {"seed": 1, "flows": [{"a": 1}, {"b": 2}]}, {"seed": 2, "flows": [{"c": 3}]}
    expected = {"seed": [1, 1, 2], "a": [1, None, None], "b": [None, 2, None], "c": [None, None, 3]}
    for told in ([first, second], [_core.RunText(compact(each)) for each in (first, second)]):
        assert runs.table(told, "flows") == expected
        assert runs.table(told, "nodes") == {}


def test_a_result_can_be_pickled_and_copied_and_its_runs_replaced():
    result = ran("uploads", 2)
    again = pickle.loads(pickle.dumps(result))
    assert all(isinstance(run, _core.RunText) for run in again.told_runs)
    assert again.to_json() == copy.deepcopy(result).to_json() == result.to_json()
    assert len(result.metrics["totals.goodput_bps"]) == 2
    result.runs = result.runs[:1]
    assert result.seeds == [1] and len(result.metrics["totals.goodput_bps"]) == 1
