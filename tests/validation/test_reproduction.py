"""Papers as `lasthop reproduce --quick` runs them: every claim has a verdict, and what held still holds.

`make test` runs two papers, since the recorded verdicts of all are of these claim files and these results; `make validation` runs all.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from lasthop.papers.released import origins_of, read_origins

ROOT = Path(__file__).resolve().parents[2]
CLAIMS = {
    "khademi2011": ("K", 15),
    "hashimoto2008": ("M", 9),
    "hashimoto2016": ("Y", 8),
    "gopal2005": ("G", 9),
    "heusse2003": ("H", 3),
    "hoiland2017-anomaly": ("T", 7),
    "grazia2018-cotsq": ("C", 2),
    "sharon2017": ("S", 4),
    "alethea2021": ("A", 3),
}
VERDICTS = ("holds", "holds in part", "does not hold", "undecided: more seeds needed", "not comparable")
# Figures that show data, by paper; a separate panel has a letter.
FIGURES = {
    "khademi2011": range(1, 7),
    "hashimoto2008": range(2, 11),
    "hashimoto2016": range(3, 15),
    "gopal2005": range(3, 7),
    "heusse2003": range(1, 3),
    "hoiland2017-anomaly": (),
    "grazia2018-cotsq": (),
    "sharon2017": ("goodput",),
    "alethea2021": ("tcp",),
}
PAPERS = tuple(CLAIMS) if os.environ.get("LASTHOP_ALL") else ("gopal2005", "heusse2003")


@pytest.fixture(scope="module")
def reproduced(tmp_path_factory):
    """The directory that quick reproductions wrote: the page of all papers, or a page for each of two."""
    out = tmp_path_factory.mktemp("reproduction")
    for papers in ([],) if len(PAPERS) == len(CLAIMS) else ([paper] for paper in PAPERS):
        line = [sys.executable, "-m", "lasthop", "reproduce", *papers, "--quick", "--out", str(out)]
        done = subprocess.run(line, cwd=ROOT, capture_output=True, text=True, timeout=1800, check=False)
        assert done.returncode == 0, "\n".join(done.stderr.splitlines()[-5:])
    return out


def test_every_claim_has_a_verdict_that_comes_from_runs(reproduced):
    documents = [json.loads(file.read_text()) for file in reproduced.glob("*.json")]
    claims = {claim["id"]: claim for document in documents for claim in document["claims"]}
    expected = {f"{CLAIMS[paper][0]}-{number}" for paper in PAPERS for number in range(1, CLAIMS[paper][1] + 1)}
    assert expected <= set(claims)
    for claim in claims.values():
        assert claim["verdict"] in VERDICTS
        assert bool(claim["not_comparable"]) == (claim["verdict"] == "not comparable")
        assert claim["reason"], claim["id"]
        assert claim["n"] >= 1, claim["id"]
        assert any(run["seeds"] for run in claim["runs"]), claim["id"]


@pytest.mark.parametrize("quick", [False, True], ids=["full", "quick"])
@pytest.mark.parametrize("paper", CLAIMS)
def test_recorded_verdicts_are_of_this_claim_file_and_these_results(paper, quick):
    recorded, now = read_origins(ROOT / "papers", quick=quick).get(paper, {}), origins_of(ROOT / "papers", paper)
    older = sorted(claim for claim in now if recorded.get(claim) != now[claim])
    assert not older, f"lasthop reproduce {paper} --record {'--quick' if quick else ''} writes them anew"


def test_every_figure_that_shows_data_is_drawn(reproduced):
    drawn = {file.name for file in (reproduced / "figures").iterdir()}
    for paper in PAPERS:
        for number in FIGURES[paper]:
            stems = [name.removesuffix(".csv") for name in drawn if _is_of(name, f"{paper}-fig{number}")]
            assert stems, f"{paper} has no figure {number}"
            assert all({f"{stem}.pdf", f"{stem}.png"} <= drawn for stem in stems)


def _is_of(name: str, figure: str) -> bool:
    rest = name.removesuffix(".csv").removeprefix(figure)
    return name.endswith(".csv") and name.startswith(figure) and not rest[:1].isdigit()


def test_the_pages_have_every_claim_and_figure(reproduced):
    pages = "".join(file.read_text() for file in reproduced.glob("*.html"))
    assert pages.count("<figure") == len(list((reproduced / "figures").glob("*.png")))
    assert set(re.findall(r">([A-Z])-1: ", pages)) >= {CLAIMS[paper][0] for paper in PAPERS}
