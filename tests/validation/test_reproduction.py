"""The papers as `lasthop reproduce --quick` runs them: every claim has a verdict, and what held still holds."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from lasthop.papers.released import origin, read_origins

ROOT = Path(__file__).resolve().parents[2]
CLAIMS = {"khademi2011": ("K", 15), "hashimoto2008": ("M", 9), "hashimoto2016": ("Y", 8), "gopal2005": ("G", 9)}
VERDICTS = ("holds", "holds in part", "does not hold", "undecided: more seeds needed", "not comparable")
# Figures that show data, by paper; a separate panel has a letter.
FIGURES = {
    "khademi2011": range(1, 7),
    "hashimoto2008": range(2, 11),
    "hashimoto2016": range(3, 15),
    "gopal2005": range(3, 7),
}


@pytest.fixture(scope="module")
def reproduced(tmp_path_factory):
    """The directory that a quick reproduction of all papers wrote."""
    out = tmp_path_factory.mktemp("reproduction")
    line = [sys.executable, "-m", "lasthop", "reproduce", "--quick", "--out", str(out), "--json", str(out / "c.json")]
    done = subprocess.run(line, cwd=ROOT, capture_output=True, text=True, timeout=1800, check=False)
    assert done.returncode == 0, "\n".join(done.stderr.splitlines()[-5:])
    return out


def test_every_claim_has_a_verdict_that_comes_from_runs(reproduced):
    claims = {claim["id"]: claim for claim in json.loads((reproduced / "c.json").read_text())["claims"]}
    expected = {f"{letter}-{number}" for letter, last in CLAIMS.values() for number in range(1, last + 1)}
    assert expected <= set(claims)
    for claim in claims.values():
        assert claim["verdict"] in VERDICTS
        assert bool(claim["not_comparable"]) == (claim["verdict"] == "not comparable")
        assert claim["reason"], claim["id"]
        assert claim["n"] >= 1, claim["id"]
        assert any(run["seeds"] for run in claim["runs"]), claim["id"]


@pytest.mark.parametrize("quick", [False, True], ids=["full", "quick"])
@pytest.mark.parametrize("paper", [*CLAIMS, "heusse2003"])
def test_recorded_verdicts_are_of_this_claim_file_and_these_results(paper, quick):
    recorded = read_origins(ROOT / "papers", quick=quick)[paper]
    assert recorded == origin(ROOT / "papers", paper), (
        "lasthop reproduce --record writes them anew, with --quick and without"
    )


def test_every_figure_that_shows_data_is_drawn(reproduced):
    drawn = {file.name for file in (reproduced / "figures").iterdir()}
    for paper, numbers in FIGURES.items():
        for number in numbers:
            stems = [name.removesuffix(".csv") for name in drawn if _is_of(name, f"{paper}-fig{number}")]
            assert stems, f"{paper} has no figure {number}"
            assert all({f"{stem}.pdf", f"{stem}.png"} <= drawn for stem in stems)


def _is_of(name: str, figure: str) -> bool:
    rest = name.removesuffix(".csv").removeprefix(figure)
    return name.endswith(".csv") and name.startswith(figure) and not rest[:1].isdigit()


def test_the_page_has_every_claim_and_figure(reproduced):
    page = (reproduced / "index.html").read_text()
    assert page.count("<figure") == len(list((reproduced / "figures").glob("*.png")))
    assert all(f">{letter}-1: " in page for letter, _ in CLAIMS.values())
