"""A document written in pieces has the bytes that Python's own encoder gives."""

from __future__ import annotations

import json
import random
import struct

import pytest
from lasthop.data import json_text
from lasthop.data.confidence import Estimate
from lasthop.data.runs import run_of

AWKWARD = ['"', "\\", '\\"', "[{", "}, ]", "\u2028\n\t", "a: b, c", "\\\\", "é\ud7ff😀", ""]


def plain(document):
    return json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False)


def in_pieces(document):
    return b"".join(json_text.pieces(document, [], [])).decode()


def expected(document):
    return plain({**document, "runs": [], "summary": {}}) + "\n"


def text(draws):
    """Any characters but those that UTF-8 does not have, often those that JSON treats apart."""
    return "".join(
        draws.choice(AWKWARD) if draws.random() < 0.3 else chr(draws.randrange(0xD800))
        for _ in range(draws.randrange(4))
    )


def number(draws):
    (value,) = struct.unpack("d", draws.randbytes(8))
    return value if abs(value) < float("inf") else draws.randrange(-(10**20), 10**20)


def tree(draws, depth):
    kind = draws.randrange(6 if depth else 4)
    if kind == 4:
        return [tree(draws, depth - 1) for _ in range(draws.randrange(4))]
    if kind == 5:
        return {text(draws): tree(draws, depth - 1) for _ in range(draws.randrange(4))}
    return [None, draws.random() < 0.5, number(draws), text(draws)][kind]


@pytest.mark.parametrize("seed", range(20))
def test_any_document_has_the_bytes_of_the_plain_encoder(seed):
    draws = random.Random(seed)
    for _ in range(50):
        document = {text(draws): tree(draws, 4) for _ in range(draws.randrange(5))}
        assert in_pieces(document) == expected(document)


def test_strings_that_look_like_json_stay_as_they_are():
    document = {text: {text: [text, {text: AWKWARD}, [], {}]} for text in AWKWARD}
    assert in_pieces(document) == expected(document)


@pytest.mark.parametrize("count", [0, 1, json_text.ENTRIES - 1, json_text.ENTRIES, 2 * json_text.ENTRIES + 1])
def test_summaries_of_any_length_are_one_table(count):
    estimates = [(f'"{n}"', Estimate(n / 7, n and -1e-7 / n, n and 1e22 / n, n)) for n in range(count)]
    document = {"runs": [{"n": n} for n in range(3)], "summary": {name: each._asdict() for name, each in estimates}}
    runs = [run_of(run) for run in document["runs"]]
    assert b"".join(json_text.pieces({}, runs, estimates)).decode() == plain(document) + "\n"


def test_numbers_that_are_not_finite_are_refused():
    with pytest.raises(ValueError, match="not JSON compliant"):
        in_pieces({"rows": [{"x": float("nan")}]})
