"""Mutated files of others give a result or one sentence: some seconds of what `make fuzz-python` does for long."""

from __future__ import annotations

import foreign_fuzz
import pytest

COUNT = 150
"""of each format; a second of CPU. Formats of which a file takes long have fewer"""


@pytest.mark.parametrize("name", foreign_fuzz.READERS)
def test_mutated_files_give_a_result_or_a_sentence(name, tmp_path):
    for number, found in foreign_fuzz.outcomes(
        tmp_path, foreign_fuzz.READERS[name](), foreign_fuzz.count_of(name, COUNT), seed=1
    ):
        assert not foreign_fuzz.is_wrong(found), f"{name}, seed {number}: {found}"


def test_the_fuzzer_sees_an_error_that_is_no_sentence(tmp_path):
    def fails(_file):
        raise KeyError("x")

    def complains(file):
        raise ValueError(f"{file}: is not whole")

    file = tmp_path / "x"
    assert foreign_fuzz.is_wrong(foreign_fuzz.outcome(foreign_fuzz.Reader([], fails), file))
    assert foreign_fuzz.is_wrong(foreign_fuzz.outcome(foreign_fuzz.Reader([], lambda _: int("x")), file))
    assert not foreign_fuzz.is_wrong(foreign_fuzz.outcome(foreign_fuzz.Reader([], complains), file))
