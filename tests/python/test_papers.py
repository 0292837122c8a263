"""Claims of papers: what a file may say, how a verdict comes about, and `lasthop reproduce` as a user runs it."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest
from lasthop.papers import PaperError, Reproduction, Runs, Verdict, read_paper
from lasthop.papers.gallery import begun, shows
from lasthop.papers.measure import same_slot
from lasthop.papers.paper import Expectation
from lasthop.papers.queue_drops import Loss, worst_shares
from lasthop.papers.released import lost, read_released, record
from lasthop.papers.report import losses_text
from lasthop.papers.verdict import combine, judge
from lasthop.study.campaign import complete
from lasthop.study.store import Store

PAPER = """\
title = "Two stations"
summary = "They share."
notes = ["Read with care."]

[quick]
seeds = 2
set = { duration = "1 s" }

[case.uploads]
scenario = "small.toml"
seeds = 3
max_seeds = 6
series = ["goodput_bps"]

[case.uploads.over]
stations = { path = "station.0.count", values = [1, 2] }
rate = { fast = { "bss.rate_control.rate" = "11 Mbit/s" }, slow = { "bss.rate_control.rate" = "1 Mbit/s" } }

[[claim]]
id = "T-1"
place = "Fig. 1, section 2"
sentence = "The slow rate carries at most 0.93 Mbit/s of TCP."

[[claim.part]]
sentence = "goodput at 1 Mbit/s"
measure = 'totals(uploads, "goodput_bps", stations=1, rate="slow")'
unit = "Mbit/s"
expect = { from = 0.5e6, to = 0.93e6 }

[[claim]]
id = "T-2"
place = "section 3"
sentence = "One station is ten times slower at 11 Mbit/s."
found = "It is not."

[[claim.part]]
sentence = "goodput at 11 Mbit/s over that at 1 Mbit/s"
measure = 'totals(uploads, "goodput_bps", stations=1, rate="fast") / totals(uploads, "goodput_bps", stations=1, rate="slow")'
expect = { to = 0.1 }

[[claim.part]]
sentence = "goodput grows with the rate"
measure = '[totals(uploads, "goodput_bps", stations=1, rate=r) for r in ["slow", "fast"]]'
unit = "Mbit/s"
expect = { shape = "increasing" }

[[claim.today]]
label = "with two stations"
measure = 'jain(flows(uploads, "goodput_bps", stations=2, rate="fast"))'

[[figure]]
number = "1a"
title = "The fast rate is faster"
kind = "time_series"
x_label = "time (s)"
y_label = "goodput (Mbit/s)"
scale = 1e-6
curves = [
  { label = "11 Mbit/s", y = 'series(uploads, "goodput_bps", stations=1, rate="fast")' },
  { label = "1 Mbit/s", y = 'series(uploads, "goodput_bps", stations=1, rate="slow")' },
]

[[figure]]
number = "2"
title = "Two stations share"
kind = "lines"
x = 'axis(uploads, "stations")'
x_label = "stations"
y_label = "goodput (Mbit/s)"
scale = 1e-6
curves = [ { label = "11 Mbit/s", y = 'totals(uploads, "goodput_bps", stations=x, rate="fast")' } ]
"""


@pytest.fixture
def paper(small: Path) -> Path:
    """A claim file beside its scenario."""
    file = small.with_name("toy.toml")
    file.write_text(PAPER)
    return file


# Verdicts --------------------------------------------------------------------------------------------------------------


def test_interval_within_the_expectation_holds():
    # mean 10, deviation 1, three seeds: 10 ± 4.303 / √3 = 7.52 to 12.48
    assert judge(Expectation(low=7.5, high=12.5), [9.0, 10.0, 11.0]).verdict is Verdict.HOLDS


def test_interval_outside_the_expectation_does_not_hold():
    assert judge(Expectation(low=12.5), [9.0, 10.0, 11.0]).verdict is Verdict.FAILS


def test_interval_across_a_bound_is_undecided():
    assert judge(Expectation(high=12.4), [9.0, 10.0, 11.0]).verdict is Verdict.UNDECIDED


def test_repeated_looks_need_more_evidence():
    # As above, 10 ± 2.48 at one look. At two: 97.5 %, t = 6.205, 10 ± 3.58.
    assert judge(Expectation(low=7.5, high=12.5), [9.0, 10.0, 11.0], looks=2).verdict is Verdict.UNDECIDED
    assert judge(Expectation(low=6.4, high=13.6), [9.0, 10.0, 11.0], looks=2).verdict is Verdict.HOLDS
    assert judge(Expectation(low=6.5, high=13.5), [9.0, 10.0, 11.0], looks=2).verdict is Verdict.UNDECIDED


def test_one_seed_is_undecided_and_a_closed_form_is_decided():
    assert judge(Expectation(high=1.0), [0.5]).verdict is Verdict.UNDECIDED
    assert judge(Expectation(high=1.0), [0.5], exact=True).verdict is Verdict.HOLDS


def test_shape_is_judged_by_its_worst_step():
    # Each seed falls from the second to the third value by 0.5: a step of -25 % from a mean of 2.
    rising = [[1.0, 2.0, 1.5], [1.1, 2.0, 1.5], [0.9, 2.0, 1.5]]
    found = judge(Expectation(shape="increasing"), rising)
    assert found.verdict is Verdict.FAILS
    assert found.estimate.mean == pytest.approx(-0.25)
    assert found.step == "2 to 3"
    assert judge(Expectation(shape="increasing", tolerance=0.25), rising).verdict is Verdict.HOLDS


def test_steps_are_paired_seed_by_seed():
    # The level differs by tens between seeds, each step is +1: unpaired, nothing could be said.
    assert judge(Expectation(shape="increasing"), [[10.0, 11.0], [50.0, 51.0], [90.0, 91.0]]).verdict is Verdict.HOLDS


def test_flat_compares_largest_and_smallest():
    flat = [[1.00, 1.05, 1.02], [1.00, 1.05, 1.02]]
    assert judge(Expectation(shape="flat", tolerance=0.06), flat).verdict is Verdict.HOLDS
    assert judge(Expectation(shape="flat", tolerance=0.04), flat).verdict is Verdict.FAILS


@pytest.mark.parametrize(
    ("parts", "whole"),
    [
        ([Verdict.HOLDS, Verdict.HOLDS], Verdict.HOLDS),
        ([Verdict.FAILS, Verdict.FAILS], Verdict.FAILS),
        ([Verdict.HOLDS, Verdict.FAILS], Verdict.IN_PART),
        ([Verdict.HOLDS, Verdict.UNDECIDED], Verdict.UNDECIDED),
        ([Verdict.FAILS, Verdict.UNDECIDED], Verdict.UNDECIDED),
        ([Verdict.HOLDS, Verdict.FAILS, Verdict.UNDECIDED], Verdict.IN_PART),
    ],
)
def test_a_claim_combines_the_verdicts_of_its_parts(parts, whole):
    assert combine(parts) is whole


def test_a_claim_that_is_not_comparable_is_not_lost(tmp_path):
    record(tmp_path, {"p": {"A": Verdict.HOLDS, "B": Verdict.NOT_COMPARABLE}}, quick=False, version="1")
    released = read_released(tmp_path, quick=False)
    assert released["p"]["B"] == "not comparable"
    assert lost(released, {"p": {"A": Verdict.NOT_COMPARABLE, "B": Verdict.FAILS}}) == []


def test_settings_count_by_the_queue_that_lost_most():
    # Two runs of one setting: the AP drops 5 and 15 of 100, one station 1 and 0 of 10, the other nothing.
    def run(ap, station):
        queue = {"kind": "fifo", "limit": "50 packets", "wait_mean_s": None}
        wire = {"ap": "ap", "kind": "fifo", "limit": "unlimited", "wait_mean_s": None, "wait_max_s": None}
        wire |= {"packets": 100, "queue_drops": 0, "queue_drops_tcp_ack": 0, "busy_fraction": 0.1}
        drops = {"ap": ap, "sta1": station, "sta2": 0}
        return {
            "queues": [queue | {"name": name, "packets": 100 if name == "ap" else 10} for name in drops],
            "nodes": [{"name": name, "queue_drops": n, "queue_drops_tcp_ack": 0} for name, n in drops.items()],
            "wires": [wire | {"direction": direction} for direction in ("up", "down")],
        }

    assert worst_shares([run(5, 1), run(15, 0)]) == {"AP": 0.1, "station": 0.05, "wired link": 0.0}
    assert worst_shares([{"nodes": []}]) == {}, "a run of an earlier version"


def test_losses_are_reported_with_the_worst_setting():
    found = (Loss("APs", 2, 8, 0.62, "uploads(remedy=none)"), Loss("stations", 0, 8, 0.004, "x"))
    assert losses_text(found) == (
        "Queues that dropped more than 1 % of their packets, by settings: "
        "APs in 2 of 8, at most 62 % in uploads(remedy=none)."
    )
    assert losses_text(found[1:]) == "No queue dropped more than 1 % of its packets."
    assert losses_text(()) == ""


def test_same_slot_is_the_papers_equation():
    # 1 - (32 · 31) / 32² = 1 / 32; of four: 1 - 31 · 30 · 29 / 32³
    assert same_slot(2, 32) == pytest.approx(1 / 32)
    assert same_slot(4, 32) == pytest.approx(1 - 31 * 30 * 29 / 32**3)


def test_claim_that_held_and_fails_is_lost(tmp_path):
    record(tmp_path, {"p": {"A": Verdict.HOLDS, "B": Verdict.HOLDS, "C": Verdict.FAILS}}, quick=False, version="1")
    released = read_released(tmp_path, quick=False)
    assert read_released(tmp_path, quick=True) == {}
    now = {"p": {"A": Verdict.FAILS, "B": Verdict.UNDECIDED, "C": Verdict.FAILS}}
    assert lost(released, now) == ["p A"]


@pytest.mark.parametrize(
    ("place", "figure", "seen"),
    [
        ("Fig. 1a", "1a", True),
        ("Fig. 1a", "1b", False),
        ("Fig. 1, section 3", "1b", True),
        ("Figs 2-4", "3", True),
        ("Figs 2-4", "5", False),
        ("Figs 2 to 4, section II", "3", True),
        ("Figs 3, 7 to 10 and 13", "9b", True),
        ("Figs 3, 7 to 10 and 13", "11", False),
        ("Figs 7, 10", "10", True),
        ("Fig. 1", "10", False),
        ("section 3", "3", False),
    ],
)
def test_place_names_its_figures(place, figure, seen):
    assert shows(place, figure) is seen


# Files -----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("expect = { to = 0.1 }", "expect = { }", "claim T-2.part[1].expect: allows every number"),
        ("expect = { to = 0.1 }", "expect = { from = 2, to = 0.1 }", "no number is from 2 to 0.1"),
        ("expect = { to = 0.1 }", 'expect = { to = 0.1, shape = "flat" }', "not both"),
        ("expect = { to = 0.1 }", "expect = { to = 0.1 }\ntolerance = 0.1", "add `because`"),
        ('shape = "increasing"', 'shape = "up"', 'unknown "up"; one of: flat, increasing, decreasing'),
        ('unit = "Mbit/s"', 'unit = "furlongs"', 'unknown "furlongs"'),
        ('id = "T-2"', 'id = "T-1"', "claim T-1 occurs twice"),
        ('sentence = "They', 'sentense = "They', "sentense"),
        ("seeds = 3", "seeds = 0", "the number of seeds is from 1 to 10000, not 0"),
        ("max_seeds = 6", "max_seeds = 2", "less than the 3 seeds"),
        ('scenario = "small.toml"', 'scenario = "absent.toml"', "absent.toml: No such file"),
        ('kind = "lines"', 'kind = "pie"', 'unknown "pie"'),
        ("values = [1, 2] }", "values = [1, 2], x = 1 }", "case.uploads.over.stations"),
        ("[case.uploads]", "[case.up-loads]", "letters, digits"),
        ("title = ", "title ", "not a claim file"),
        ('kind = "lines"', 'kind = "lines"\nclaims = ["T-7"]', "figure 2.claims: there is no claim T-7"),
        ('kind = "lines"', 'kind = "lines"\nmarks = [{ label = "a", from = 1 }]', "give y, or from and to, or x alone"),
        ('kind = "lines"', 'kind = "lines"\nmarks = [{ label = "a", y = 1, from = 1, to = 2 }]', "give y, or"),
        ('kind = "lines"', 'kind = "lines"\nmarks = [{ label = "a", z = 1, x = 2 }]', "unknown key 'z'"),
    ],
)
def test_mistake_in_a_claim_file_names_its_place(paper, old, new, words):
    assert old in PAPER or old.startswith("sentence")
    paper.write_text(PAPER.replace(old, new) if old in PAPER else PAPER + '\n[[claim]]\nid = "X"\n' + new + '"\n')
    with pytest.raises(PaperError, match=_literally(words)):
        read_paper(paper)


def _literally(words: str) -> str:
    return re.escape(words)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        (
            '"goodput_bps", stations=1, rate="slow")\'\nunit',
            '"goodputs", stations=1, rate="slow")\'\nunit',
            "no totals metric 'goodputs'",
        ),
        ('rate="slow")\'\nunit', 'rate="slov")\'\nunit', "axis rate of case uploads has no label 'slov'"),
        ('stations=1, rate="slow")\'\nunit', 'rate="slow")\'\nunit', "case uploads needs stations=…; one of: 1, 2"),
        ("curves = [ {", "marks = [{ label = \"a\", y = 'nought' }]\ncurves = [ {", "figure 2.marks[1]"),
        ("jain(flows(uploads", "jane(flows(uploads", "unknown function 'jane'; did you mean 'jain'"),
        ("jain(flows(uploads", "jain(flows(upload", "unknown name 'upload'; did you mean 'uploads'"),
        ("jain(flows", '__import__("os").system("true") + jain(flows', "claim T-2.today[1].measure"),
        (
            'series(uploads, "goodput_bps", stations=1, rate="fast")',
            'series(uploads, "rtt_s", stations=1, rate="fast")',
            "does not keep series",
        ),
        (
            '"bss.rate_control.rate" = "1 Mbit/s"',
            '"bss.rate_control.rate" = "3 Mbit/s"',
            "case.uploads(stations=1, rate=slow)",
        ),
    ],
)
def test_mistake_in_an_expression_is_found_before_anything_runs(command, paper, old, new, words):
    assert old in PAPER
    paper.write_text(PAPER.replace(old, new))
    done = command("reproduce", paper, "--quick", "--out", "out")
    assert done.returncode == 2, done.stderr
    assert done.stderr.count("\n") == 1, "one message, no traceback"
    assert words in done.stderr


def test_a_list_instead_of_a_number_is_a_mistake(command, paper):
    paper.write_text(PAPER.replace("jain(flows(uploads", "(flows(uploads"))
    done = command("reproduce", paper, "--quick", "--out", "out")
    assert done.returncode == 2
    assert "gives a list; a number is needed" in done.stderr


def test_unknown_paper_claim_and_figure_are_refused(command, paper):
    assert "absent.toml: No such file" in command("reproduce", "absent.toml").stderr
    assert "--claim T-9: there is no such claim" in command("reproduce", paper, "--claim", "T-9").stderr
    assert "--figure 9: there is no such figure; one of: " in command("reproduce", paper, "--figure", "9").stderr


# The command -----------------------------------------------------------------------------------------------------------


def test_reproduce_judges_draws_and_repeats(command, paper):
    done = command("reproduce", paper, "--out", "out", "--json", "claims.json")
    assert done.returncode == 0, done.stderr
    claims = {claim["id"]: claim for claim in json.loads(Path("claims.json").read_text())["claims"]}
    assert claims["T-1"]["verdict"] == "holds"
    assert claims["T-2"]["verdict"] == "holds in part"
    assert claims["T-2"]["reason"].endswith("It is not.")
    assert {"expected", "measured", "ci95_low", "ci95_high", "n", "runs"} <= set(claims["T-1"])
    for stem in ("toy-fig1a", "toy-fig2"):
        for ending in (".pdf", ".png", ".csv"):
            assert Path("out/figures", stem + ending).stat().st_size > 0
    page = Path("out/toy.html").read_text()
    assert "holds in part" in page and "The fast rate is faster" in page
    assert "drawing: 2 of 2 figures finished" in done.stderr
    # The text beside the number repeats it.
    run = claims["T-1"]["runs"][0]
    words = shlex.split(run["command"])
    again = json.loads(command(*words[1:], "--json", "-").stdout)
    assert again["summary"]["totals.goodput_bps"]["mean"] == pytest.approx(claims["T-1"]["measured"], rel=1e-12)
    assert again["summary"]["totals.goodput_bps"]["n"] == len(run["seeds"]) == claims["T-1"]["n"]


def test_claim_that_cannot_be_compared_is_measured_and_not_judged(command, paper):
    # The goodput is outside the paper's range, and no further seeds are run.
    paper.write_text(PAPER.replace('found = "It is not."', 'not_comparable = "The positions are lost."'))
    done = command("reproduce", paper, "--out", "out", "--claim", "T-2", "--json", "claims.json", "--record")
    assert done.returncode == 0, done.stderr
    claim = json.loads(Path("claims.json").read_text())["claims"][0]
    assert claim["verdict"] == "not comparable"
    assert {part["verdict"] for part in claim["parts"]} == {"not comparable"}
    assert claim["measured"] > 0.1 and claim["n"] == 3
    assert claim["not_comparable"] == "The positions are lost."
    assert claim["reason"].endswith("Not comparable: The positions are lost.")
    assert "Not comparable: The positions are lost." in Path("out/toy-T-2.html").read_text()
    assert json.loads(paper.with_name("verdicts.json").read_text())["full"]["toy"]["T-2"] == "not comparable"


def test_page_begins_with_totals_and_names_the_paper(command, paper):
    head = 'title = "Two stations"\nauthors = "A. B. Toy, C. Other"\npublished = "TOYS 2009"'
    text = PAPER.replace('title = "Two stations"', head)
    run = """measure = 'totals(uploads, "goodput_bps", stations=1, rate="slow")'\nunit"""
    paper.write_text(text.replace(run, "measure = '0.6e6'\nunit"))
    done = command("reproduce", paper, "--out", "out", "--quick")
    assert done.returncode == 0, done.stderr
    page = Path("out/toy.html").read_text()
    rows = re.findall(r"<tr>(.*?)</tr>", page[page.index('<table class="totals">') :], re.DOTALL)
    cells = [re.sub(r"<[^>]*>", " ", row).split() for row in rows[:3]]
    assert cells[0][:4] == ["paper", "claims", "hold", "hold"]
    assert cells[1] == ["T:", "Toy", "2009", "2", "1", "1"]
    assert cells[2] == ["all", "2", "1", "1"]
    assert page.index("T = Toy 2009") < page.index("T-1")
    assert "closed form" in page and " 2 seeds" in page and "1 seeds" not in page
    assert "2 claims: 1 hold, 1 hold in part" in done.stdout + done.stderr
    # On a telephone no cell needs a line of its own.
    assert "@media (max-width: 40rem)" in page and ".verdict { white-space: normal }" in page


def test_drops_of_queues_are_shown_with_claims_and_figures(command, paper):
    # One packet of queue at two stations that upload: their own queues drop most of slow start's packets.
    fast = 'fast = { "bss.rate_control.rate" = "11 Mbit/s"'
    short = ', "station.0.queue" = { kind = "fifo", limit = "1 packet" }'
    paper.write_text(PAPER.replace(fast, fast + short))
    done = command("reproduce", paper, "--out", "out", "--quick", "--json", "claims.json")
    assert done.returncode == 0, done.stderr
    slow, fast = json.loads(Path("claims.json").read_text())["claims"]
    assert [loss["place"] for loss in slow["losses"]] == ["APs", "stations", "wires"]
    (stations,) = (loss for loss in fast["losses"] if loss["place"] == "stations")
    assert (stations["settings"], stations["of"], stations["worst"]) == (1, 2, "uploads(stations=1, rate=fast)")
    assert stations["most"] > 0.01
    page = Path("out/toy.html").read_text()
    assert page.count("stations in 1 of 2, at most") == 2, "claim T-2 and the figure 1a"


def test_a_figure_shows_verdicts_and_the_papers_numbers(command, paper):
    marks = """marks = [
  { label = "paper: 5", y = 5 },
  { label = "paper: half of it", from = 0, to = 'totals(uploads, "goodput_bps", stations=1, rate="fast") / 2' },
]
claims = ["T-2"]
"""
    paper.write_text(PAPER.replace('number = "2"\n', 'number = "2"\n' + marks))
    store = Store.in_memory()
    work = Reproduction(read_paper(paper, quick=True), Runs(store, lambda jobs: complete(jobs, store)))
    (outcome,) = work.claims([claim for claim in work.paper.claims if claim.id == "T-2"])
    series, lines = (begun(work, figure, [outcome], paper.parent) for figure in work.paper.figures)
    assert lines.chart.subtitle == "T-2: holds in part; quick"
    assert series.chart.subtitle == "quick", "no claim that was judged is about it"
    fast = lines.chart.curves[0].mean[0]
    assert [(mark.low, mark.high) for mark in lines.chart.marks] == [(5, 5), (0, pytest.approx(fast / 2))]
    assert lines.on_page(paper.parent)["marks"] == ["paper: 5", "paper: half of it"]


def test_part_of_a_paper_does_not_replace_the_page_of_the_whole(command, paper):
    assert command("reproduce", paper, "--out", "out", "--quick").returncode == 0
    whole = Path("out/toy.html").read_bytes()
    assert command("reproduce", paper, "--out", "out", "--quick", "--claim", "T-1", "--figure", "2").returncode == 0
    assert Path("out/toy.html").read_bytes() == whole
    assert Path("out/toy-T-1-fig2.html").is_file() and Path("out/toy-T-1-fig2.json").is_file()


def test_figures_data_are_the_runs_own(command, paper):
    assert command("reproduce", paper, "--figure", "2", "--out", "out", "--quick").returncode == 0
    rows = [line.split(",") for line in Path("out/figures/toy-fig2.csv").read_text().splitlines()]
    mean = dict(zip(rows[0], rows[1], strict=True))["mean"]
    settings = ("--set", "station.0.count=1", "--set", "bss.rate_control.rate=11 Mbit/s", "--set", "duration=1 s")
    run = json.loads(command("run", "small.toml", "--seeds", 2, *settings, "--json", "-").stdout)
    assert float(mean) == pytest.approx(run["summary"]["totals.goodput_bps"]["mean"] / 1e6)


def test_claim_that_no_longer_holds_ends_with_one(command, paper):
    arguments = ("reproduce", paper, "--out", "out", "--claim", "T-1")
    assert command(*arguments, "--record").returncode == 0
    assert command(*arguments).returncode == 0
    paper.write_text(PAPER.replace("to = 0.93e6", "to = 0.6e6"))
    done = command(*arguments)
    assert done.returncode == 1
    assert "toy T-1 held in the last release and does not any more" in done.stderr


def test_undecided_claim_gets_more_seeds_up_to_its_maximum(command, paper):
    def claim(expectation):
        text = PAPER.replace('totals(uploads, "goodput_bps", stations=1, rate="slow")\'\nunit', MEASURE)
        paper.write_text(text.replace("from = 0.5e6, to = 0.93e6", expectation))
        done = command("reproduce", paper, "--out", "out", "--claim", "T-1", "--json", "-")
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)["claims"][0]

    first = claim("from = 0")
    assert (first["n"], first["verdict"]) == (3, "holds")
    # The interval of three seeds lies on both sides of their own mean.
    assert claim(f"from = {first['measured']}")["n"] == 6


MEASURE = 'totals(uploads, "goodput_bps", stations=2, rate="fast")\'\nunit'
