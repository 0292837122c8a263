"""Ready scenarios, papers and benchmarks state what they rely on: a change of defaults alters none of their results."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
import digests

KEPT = json.loads(digests.FILE.read_text())
SUBJECTS = dict(digests.subjects())


def test_whatever_has_a_digest_is_listed() -> None:
    assert SUBJECTS.keys() == KEPT.keys(), "python tests/python/digests.py --write"


@pytest.mark.parametrize("name", SUBJECTS)
def test_results_are_those_that_were_kept(name: str) -> None:
    found = digests.digest(SUBJECTS[name])
    assert found == KEPT[name], (
        f"results of {name} differ: python tests/python/digests.py --write {name}, and CHANGELOG says why"
    )
