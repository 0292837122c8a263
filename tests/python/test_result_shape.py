"""The check of a result refuses and accepts what jsonschema does by the schema of results, on the same mutants."""

from __future__ import annotations

import copy
import json
import math
import random

import foreign_fuzz
import jsonschema
import lasthop
import pytest
from lasthop import _core
from lasthop.data.diagnostic import ScenarioError
from lasthop.data.result_shape import mistake_of

MUTANTS = 400
"""jsonschema takes 30 ms for each"""
# Values that JSON cannot hold, or that JSON Schema and floats differ about.
LEFT_OUT = ("\ud800",)


def _judge():
    """The schema without the summary, which is computed anew; keys that versions added may be absent, and in lists of rows null."""
    schema = json.loads(_core.result_schema_json())
    del schema["properties"]["summary"]
    schema["required"].remove("summary")
    run = schema["properties"]["runs"]["items"]
    run["required"] = ["seed", "totals", "medium", "flows", "nodes", "links"]
    needed = {"flows": ["id", "station"], "nodes": ["name"], "links": ["node", "peer"]}
    for name, part in run["properties"].items():
        row = part.get("items", part)
        row["required"] = needed.get(name, [])
        for key, cell in row.get("properties", {}).items() if row is not part else ():
            if key in row["required"]:
                cell["type"] = "string"
            else:
                types = cell["type"] if isinstance(cell["type"], list) else [cell["type"]]
                cell["type"] = [*types, "null"]
    return jsonschema.Draft202012Validator(schema)


def _is_taken(document):
    head, runs = _core.parse_result(json.dumps(document, allow_nan=False))
    return mistake_of(json.loads(head), runs) is None


def _is_of_json(value):
    """Whether JSON can hold a value."""
    return not isinstance(value, float) or math.isfinite(value)


def _mutants():
    chance = random.Random(5)
    seeds = [json.loads(data) for _, data in foreign_fuzz.results()]
    for document in seeds:
        del document["summary"]
    values = [value for value in foreign_fuzz.VALUES if value not in LEFT_OUT and _is_of_json(value)]
    for _ in range(MUTANTS):
        document = copy.deepcopy(chance.choice(seeds))
        foreign_fuzz.change_somewhere(document, chance, values)
        yield document


@pytest.mark.parametrize(("part", "key"), [("nodes", "name"), ("flows", "id"), ("flows", "station"), ("links", "peer")])
@pytest.mark.parametrize("value", ["absent", None, 7])
def test_a_row_without_its_name_is_refused_with_its_place(part, key, value):
    document = json.loads(foreign_fuzz.results()[0][1])
    row = document["runs"][0][part][1]
    row.pop(key) if value == "absent" else row.update({key: value})
    head, runs = _core.parse_result(json.dumps(document))
    assert mistake_of(json.loads(head), runs) == f"runs[0].{part}[1].{key}: is not string"


def test_mutants_are_judged_as_jsonschema_judges_them():
    judge, counts = _judge(), {True: 0, False: 0}
    for document in _mutants():
        wanted = judge.is_valid(document)
        assert _is_taken(document) == wanted, next(judge.iter_errors(document), "valid")
        counts[wanted] += 1
    assert min(counts.values()) > 50


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda result: result["runs"][0]["flows"][1].update(goodput_bps="fast"), "runs[0].flows[1].goodput_bps: is not number or null"),
        (lambda result: result["runs"][0]["totals"].update(jain_index=1.5), "runs[0].totals.jain_index: 1.5 is above its greatest value"),
        (lambda result: result["runs"][0].update(nodes={}), "runs[0].nodes: is not a list of objects"),
        (lambda result: result["runs"][0].update(quantile_probabilities=[0.5, 1]), "quantile_probabilities[1]: 1 is above its greatest value"),
        (lambda result: result["runs"][0]["nodes"][0].update(queue_drops=[]), "runs[0].nodes[0].queue_drops: is not"),
        (lambda result: result.update(warnings=[1]), "warnings[0]: is not string"),
        (lambda result: result.update(format=2), "format: is not 1"),
        (lambda result: result.pop("scenario"), "scenario: is missing"),
        (lambda result: result.update(runs=5), "runs: is not a list of objects"),
    ],
)  # fmt: skip
def test_a_difference_is_named_with_its_place(tmp_path, change, said):
    document = json.loads(foreign_fuzz.results()[0][1])
    change(document)
    file = tmp_path / "r.json"
    file.write_text(json.dumps(document))
    with pytest.raises(ScenarioError) as caught:
        lasthop.read(file)
    assert str(caught.value).startswith(f"{file}: not a result of `lasthop run` in format 1: ")
    assert said in str(caught.value) and "copy the file once more" in str(caught.value)


def test_a_result_without_a_quantity_that_came_later_is_read(tmp_path):
    document = json.loads(foreign_fuzz.results()[0][1])
    for flow in document["runs"][0]["flows"]:
        del flow["goodput_bps"]
    (tmp_path / "r.json").write_text(json.dumps(document))
    assert lasthop.read(tmp_path / "r.json").seeds
