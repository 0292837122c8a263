"""Claim files from elsewhere: they compute and do nothing else, and what they ask for is bounded."""

from __future__ import annotations

import subprocess
import time
from pathlib import Path

import claim_fuzz
import numpy
import pytest
from lasthop import cli
from lasthop.papers import PaperError, read_paper, recorded
from lasthop.papers.measure import Rehearsal, evaluate
from lasthop.papers.rehearsal import Planner
from lasthop.papers.released import read_released

ROOT = Path(__file__).resolve().parents[2]
FUZZED = 45

CLAIM = """\
title = "From elsewhere"
[quick]
set = { duration = "1 s" }
[case.uploads]
scenario = "small.toml"
series = ["goodput_bps"]
seeds = 3
[case.uploads.over]
stations = { path = "station.0.count", values = [1, 2] }
[[claim]]
id = "E-1"
sentence = "It computes."
[[claim.part]]
measure = 'MEASURE'
expect = { from = 0 }
[[figure]]
number = "1"
title = "A figure"
kind = "bars"
x = [1]
curves = [ { label = "a", y = '[totals(uploads, "goodput_bps", stations=1)]' } ]
"""
GOOD = 'totals(uploads, "goodput_bps", stations=1)'


@pytest.fixture
def claim(small: Path) -> Path:
    """A claim file beside its scenario, whose measure is to be filled in."""
    return small.with_name("claim.toml")


def value(expression: str):
    return evaluate(expression, "claim E-1.part[1].measure", {}, Rehearsal(lambda _case: None))


def planned(claim: Path, old: str = "MEASURE", new: str = GOOD) -> None:
    text = CLAIM.replace(old, new).replace("MEASURE", GOOD)
    assert old == "MEASURE" or old in CLAIM
    claim.write_text(text)
    planner = Planner(read_paper(claim, quick=True))
    planner._vocabulary = lambda _case: None
    planner.check()


@pytest.mark.parametrize(
    ("expression", "words"),
    [
        ('count([1 for x in [array([1.0]).tofile("pwned.py")]])', "has an attribute (.tofile)"),
        ('array([1.0]).dump("pwned")', "has an attribute (.dump)"),
        ("array([1]).ctypes.data", "has an attribute (.data)"),
        ('"".__class__', "has an attribute (.__class__)"),
        ('"{0.__class__}".format(1)', "has an attribute (.format)"),
        ('f"{1}"', "has formatted text"),
        ("(lambda: 1)()", "calls a value that is not a function"),
        ("[totals][0](1)", "calls a value that is not a function"),
        ('open("pwned", "w")', "unknown function 'open'"),
        ('__import__("os")', "unknown function '__import__'"),
        ("max([1], key=total)", "unknown name 'total'"),
        ("{1: 2}", "has a dictionary"),
        ("(x := 1)", "has an assignment"),
        ("array(*[[1]])", "has an asterisk"),
        ('max([[1, "a"]])', "has a list of more than numbers where a number is needed"),
        ('"a" + "b"', "computes with text where a number is needed"),
        ('"%s" % 1', "computes with text"),
        ("[1] + [2]", "computes with a list where a number is needed; write array([…])"),
        ("None", "has None, which is neither number nor text"),
        ("1j", "has 1j, which is neither number nor text"),
        ("(-1) ** 0.5", "makes a complex number where a number is needed"),
        ("array([1, 2])[0.5]", "has a number as an index of a list, where a whole number is needed"),
        ("1 if array([1, 2]) > 0 else 2", "uses a list as a condition"),
        ("round(1.5, 1, 2)", "calls round wrongly: "),
    ],
)
def test_expressions_other_than_arithmetic_are_refused_with_place_and_reason(small, expression, words):
    with claim_fuzz.watched(small.parent) as seen, pytest.raises(PaperError) as raised:
        value(expression)
    assert str(raised.value).startswith("claim E-1.part[1].measure: ")
    assert words in str(raised.value) and "\n" not in str(raised.value)
    assert seen == [] and [file.name for file in small.parent.iterdir()] == ["small.toml"]


@pytest.mark.parametrize(
    ("expression", "words"),
    [
        ('"a" * 10**10', "computes with text"),
        ("[0] * 10**9", "computes with a list"),
        ("array(range(10**10))", "more than 100000 values"),
        ("range(10**30)", "more than 100000 values"),
        ("((9**99)**99)**99", "makes a number beyond 1.8e308"),
        ("1e308 ** 100", "makes a number beyond 1.8e308"),
        ("2 ** 10**6", "has an exponent beyond 100"),
        ("[1 for a in range(10**5 + 1)]", "more than 100000 values"),
        ("[[[1 for a in range(999)] for b in range(999)] for c in range(999)]", "takes more than 100000 steps"),
        ("count([1 for a in range(10**4) if a in range(10**4)])", "takes more than 100000 steps"),
        ("[range(10**4) for a in range(10**4)]", "takes more than 100000 steps"),
        (f"[a for a in [[1, 1]] {'for a in [[a, a]] ' * 80}]", "more than 100000 values"),
        ("array(range(1000)) == [[1], [2]]", "where a number is needed"),
        ("round(5, -10**9)", "rounds to more than 20 digits"),
        ("same_slot(10**9, 10**12)", "1 to 10000 contenders"),
        ("-" * 9000 + "1", "nested"),
        ("+".join(["1"] * 500), "is nested more than 100 deep"),
        ("+".join(["1"] * 3000), "nested"),
        ("(" * 3000, "is not an expression"),
        ("1 " + "+ 1" * 9000, "has 27002 characters; at most 10000"),
        ("9" * 5000, "is not an expression"),
        ("9" * 400, "makes a number beyond 1.8e308"),
    ],
)
def test_endless_expressions_are_refused_within_seconds(expression, words):
    begun = time.process_time()
    with pytest.raises(PaperError) as raised:
        value(expression)
    assert words in str(raised.value) and len(str(raised.value)) < 400
    assert time.process_time() - begun < 5


def test_arithmetic_equals_python():
    assert value("2 * (3 + 4) ** 2 / 7 - -1 % 3") == 2 * 7**2 / 7 - -1 % 3
    assert value("[a * b for a, b in zip([1, 2, 3], [4, 5, 6]) if a > 1][1:]") == [18]
    assert value("total(array([1, 2, 3]) * 2)") == 12.0
    assert value("1 if 2 in [1, 2] and not 1 > 2 else 0") == 1
    assert value('[x for x in ["on", "off"] if x == "on"]') == ["on"]
    assert value("1 < 2 < 3") is True and value("1 < 2 < 2") is False
    assert value("total([1.0 * (x < 2) for x in range(4)])") == 2.0
    assert value("total([1 < 2, 2 < 1])") == 1.0, "a comparison counts as 1 or 0"
    assert numpy.array_equal(value("array([1, 2, 3]) >= 2"), [False, True, True])
    assert value("total([x for x in [1, 2] for x in [x * 10]])") == 30.0, "an inner name hides an outer one"


@pytest.mark.parametrize(
    ("measure", "words"),
    [
        ('"text"', "gives text; a number is needed"),
        ("uploads", "gives a case; a number is needed"),
        ("[1, 2]", "gives a list; a number is needed"),
        ("1 / 0", "has no value: a division by zero"),
        ("mean([])", "has no value: a list without numbers"),
        ("1e999", "gives inf; a finite number is needed"),
        ("sqrt(-1)", "gives nan; a finite number is needed"),
    ],
)
def test_a_value_that_is_no_number_is_a_sentence(claim, measure, words):
    with pytest.raises(PaperError) as raised:
        planned(claim, new=measure)
    assert str(raised.value).startswith(f"{claim}: claim E-1.part[1].measure: ") and words in str(raised.value)


def test_missing_in_made_up_numbers_is_no_mistake(claim):
    planned(claim, new='mean([a for a in series(uploads, "goodput_bps", stations=1) if a < 0])')


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        (
            "seeds = 3",
            "seeds = 1000000000",
            "case.uploads.seeds: the number of seeds is from 1 to 10000, not 1000000000",
        ),
        ("seeds = 3", f"seeds = {'9' * 400}", "from 1 to 10000, not so many digits"),
        ("seeds = 3", "max_seeds = 10001", "case.uploads.max_seeds: the number of seeds"),
        ("values = [1, 2]", "values = []", "a list that is not empty"),
        ("values = [1, 2]", "values = [1, 1]", "a label occurs twice"),
        ("values = [1, 2]", "values = 5", "a list that is not empty"),
        ("values = [1, 2]", "values = [1979-05-27]", "no key of a scenario takes"),
        ("values = [1, 2]", f"values = {list(range(10_001))}", "10001 combinations; at most 10000"),
        ('series = ["goodput_bps"]', "series = [1]", "a list of texts is needed, not 1"),
        ('number = "1"', 'number = "/../../x"', "letters, digits, - and _ and . are needed, not '/../../x'"),
        ('id = "E-1"', 'id = "../x"', "claim[1].id: up to 40 letters"),
        ('sentence = "It', 'sentence = "\\u001b[2J', "has a control character"),
        ("from = 0", "from = nan", "a finite number is needed"),
        ("from = 0", f"from = {'9' * 400}", "a finite number is needed"),
        ('kind = "bars"', 'kind = "bars"\nseeds = [-1]', "whole numbers of 0 or more are needed"),
        ('kind = "bars"', 'kind = "bars"\nclaims = [{}]', "a list of texts is needed, not {}"),
        ("x = [1]", "x = [[1]]", "numbers or words are needed"),
        ("x = [1]", "x = '5'", "numbers or words in a list are needed, not a number"),
        ("y = '[totals", "y = '0 * [totals", "computes with a list"),
        ("title = ", "x = " + "[" * 5000, "is nested too deeply"),
        ("title = ", "x = " + "9" * 5000, "not a claim file"),
        ("title = ", "#" * 1_000_001, "not a claim file: has more than 1000000 bytes"),
    ],
)
def test_requests_of_a_claim_file_are_bounded(claim, old, new, words):
    with pytest.raises(PaperError) as raised:
        planned(claim, old, new)
    assert str(raised.value).startswith(str(claim)) and words in str(raised.value)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    "name", ["/etc/passwd", "../../../../etc/passwd", "link.toml", "/dev/zero", "small.txt", "pipe.toml", ""]
)
def test_a_claim_file_names_scenarios_near_it_only(claim, name):
    claim.with_name("link.toml").symlink_to("/etc/passwd")
    subprocess.run(["mkfifo", claim.with_name("pipe.toml")], check=True)
    absolute = name if not name.startswith("/etc") else str(claim.with_name("small.toml"))
    for each in {name, absolute}:
        with pytest.raises(PaperError, match="case.uploads.scenario: "):
            planned(claim, "small.toml", each)


def test_runs_without_number_are_refused_before_they_are_counted_up(claim, monkeypatch):
    monkeypatch.setattr(recorded, "MAX_RUNS", 100)
    planned(claim, "seeds = 3", "seeds = 60")
    paper = read_paper(claim)
    needs = Planner(paper).of_claim(paper.claims[0])[0]
    runs = recorded.Runs(None, lambda _jobs: None)
    many = [(type(needs)({point: frozenset()}), range(1, 61)) for point in paper.cases["uploads"].points()]
    with pytest.raises(PaperError, match="brings the number of runs above 100; give fewer seeds"):
        runs.lacking(many)


def test_verdicts_that_are_none_are_a_sentence(claim, capsys):
    claim.write_text(CLAIM.replace("MEASURE", "1"))
    for text in ("{", "[1]", '{"quick": 5}', "[" * 100_000):
        claim.with_name("verdicts.json").write_text(text)
        with pytest.raises(PaperError, match="verdicts.json: not a file of verdicts by `lasthop reproduce --record`"):
            read_released(claim.parent, quick=True)
    assert cli.main(["reproduce", str(claim), "--claim", "E-1", "--quick", "--out", "out"]) == 2
    assert "verdicts.json: not a file of verdicts" in capsys.readouterr().err


def test_mutated_claim_files_are_a_sentence_or_a_plan_and_do_nothing(tmp_path):
    texts = claim_fuzz.laid_out(tmp_path)
    kinds = set()
    for number, found in claim_fuzz.outcomes(tmp_path, texts, FUZZED, seed=16, simulate_each=30):
        assert not claim_fuzz.is_wrong(found), (number, found)
        kinds.add(found.kind)
    assert kinds == {"sentence", "plan"}
    made = {file for file in tmp_path.rglob("*") if file.is_file() and file.parent != tmp_path / "scenarios"}
    assert made == {tmp_path / "papers" / "mutated.toml"}


def test_the_watch_sees_files_processes_and_sockets(tmp_path):
    with claim_fuzz.watched(tmp_path) as seen:
        numpy.array([1.0]).tofile(tmp_path / "a")
        (tmp_path / "b").write_text("")
        Path("/etc/hostname").exists() and Path("/etc/hostname").read_text()
        subprocess.run(["true"], check=True)
    assert any("'a'" in event or "/a'" in event for event in seen), seen
    assert any("/b'" in event for event in seen) and any(event.startswith("subprocess.Popen") for event in seen)
