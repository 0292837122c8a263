"""Ready scenarios, papers and benchmarks state their settings: a change of defaults alters none of their results."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
import digests

RECORDED = digests.recorded()
SUBJECTS = dict(digests.subjects())

TOY = {
    "flows": [{"id": "a.down", "goodput_bps": 1.5}, {"id": "b.up", "goodput_bps": None}],
    "totals": {"goodput_bps": 1.5},
    "nodes": [{"name": "ap", "queue_drops": 3}],
    "links": [],
    "medium": {"idle_fraction": 0.25},
}


def test_digests_exist_for_all_subjects() -> None:
    assert RECORDED.keys() == SUBJECTS.keys(), "python tests/python/digests.py --write"


@pytest.mark.parametrize("name", SUBJECTS)
def test_results_equal_the_recorded_ones(name: str) -> None:
    difference = digests.difference(RECORDED[name], digests.digests(SUBJECTS[name]))
    assert not difference, (
        f"{name}: {difference}\npython tests/python/digests.py --write {name}, and CHANGELOG says why"
    )


def toy_digests(*runs: dict) -> digests.Digests:
    return digests.of_runs(digests.columns(run) for run in runs)


def changed_toy(table: str, row: int, **values: object) -> dict:
    """The toy result with other values in one row."""
    toy = json.loads(json.dumps(TOY))
    rows = toy[table] if isinstance(toy[table], list) else [toy[table]]
    rows[row].update(values)
    return toy


def test_a_new_metric_leaves_the_other_digests() -> None:
    before = toy_digests(TOY, TOY)
    after = toy_digests(TOY, changed_toy("nodes", 0, empty_fraction=0.5))
    assert digests.difference(before, after) == "new: nodes.empty_fraction"
    assert before.items() <= after.items()


@pytest.mark.parametrize("value", [1.5000000000000002, 2, None])
def test_a_changed_value_changes_the_digest_of_its_quantity_alone(value: object) -> None:
    after = toy_digests(changed_toy("flows", 0, goodput_bps=value))
    assert digests.difference(toy_digests(TOY), after) == "changed: flows.goodput_bps"


def test_a_value_in_another_row_or_run_changes_the_digest() -> None:
    swapped = TOY | {"flows": [TOY["flows"][0] | {"goodput_bps": None}, TOY["flows"][1] | {"goodput_bps": 1.5}]}
    assert digests.difference(toy_digests(TOY), toy_digests(swapped)) == "changed: flows.goodput_bps"
    first, second = toy_digests(swapped, TOY), toy_digests(TOY, swapped)
    assert digests.difference(first, second) == "changed: flows.goodput_bps"


def test_the_simulator_has_no_digest() -> None:
    assert toy_digests(TOY | {"simulator": {"wall_s": 1.0}}) == toy_digests(TOY)


def test_the_file_returns_the_digests_that_were_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(digests, "FILE", tmp_path / "digests.json")
    written = {"a": toy_digests(TOY), "b": toy_digests(changed_toy("medium", 0, busy_fraction=0.75))}
    digests.write(written)
    assert digests.recorded() == written
