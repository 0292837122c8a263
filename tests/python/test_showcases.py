"""The pages of docs/showcases: each runs as a script does, and what it claims holds; a page that is wrong is named with the sentence.

A page whose claims were held with all of its seeds in its present state (`showcase_claims.py`) runs with two, which show that it still
runs, and its claims are not judged again. Any change of the page, of results or of what it reads has it judged here. Sphinx is not needed for it. The pages are dealt out to a few classes, which run beside each other where tests do.
"""

from __future__ import annotations

import ast
import math
import os
import runpy
import sys
from pathlib import Path

import lasthop
import pandas
import pytest
import showcase_claims

FOLDER = Path(__file__).resolve().parents[2] / "docs" / "showcases"
PAGES = sorted(FOLDER.glob("*.py"))
CLASSES = 4

pytestmark = pytest.mark.skipif(not PAGES, reason="not in a source tree")

SMALL = """
duration = "600 ms"
warmup = "100 ms"
[bss]
standard = "802.11n"
[[station]]
name = "near"
[[flow]]
station = "near"
direction = "down"
"""


@pytest.fixture(autouse=True)
def showing(monkeypatch):
    """The package that pages share, with nothing written."""
    import matplotlib.pyplot

    monkeypatch.setenv("LASTHOP_SHOWCASES", "")
    monkeypatch.syspath_prepend(str(FOLDER))
    import showing

    yield showing
    matplotlib.pyplot.close("all")


def few(seeds):
    """At most two of them."""
    return min(seeds, 2) if isinstance(seeds, int) else [*seeds][:2]


def dealt(number: int) -> type:
    """The tests of every page whose turn it is."""

    class Share:
        @pytest.mark.parametrize("page", PAGES[number::CLASSES], ids=lambda page: page.stem)
        def test_every_claim_of_the_page_holds(self, page, showing, monkeypatch, capsys):
            import matplotlib.pyplot

            if (
                showcase_claims.held().get(page.stem) == showcase_claims.state_of(page)
                and "LASTHOP_ALL" not in os.environ
            ):
                run, claim = lasthop.run, showing.claim
                monkeypatch.setattr(lasthop, "run", lambda *of, seeds, **more: run(*of, seeds=few(seeds), **more))
                monkeypatch.setattr(showing, "claim", lambda told, values, **_: claim(told, values, above=-math.inf))
            monkeypatch.setattr(sys, "argv", [str(page)])
            runpy.run_path(str(page), run_name="__main__")
            assert matplotlib.pyplot.get_fignums(), "there is no picture"
            assert capsys.readouterr().out.count(" seeds), ") >= 3

    return Share


TestPages1, TestPages2, TestPages3, TestPages4 = map(dealt, range(CLASSES))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_has_all_its_parts(page):
    tree = ast.parse(page.read_text(encoding="utf-8"))
    title, line, *_ = ast.get_docstring(tree).splitlines()
    assert len(line) == len(title) and set(line) == {"="}
    assert "**Question.**" in ast.get_docstring(tree)
    text = page.read_text(encoding="utf-8")
    assert all(
        f"# %%\n# {heading}\n# {'-' * len(heading)}\n" in text
        for heading in ("The scenario", "What is seen", "The air itself")
    )
    called = [node.func.id for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)]
    assert called.count("claim") >= 3 and "picture" in called and "report" in called


def test_there_are_as_many_pages_as_the_folder_promises():
    assert len(PAGES) >= 20


def test_a_claim_is_held_against_the_whole_interval_and_not_the_mean(showing):
    values = pandas.Series([9.0, 10.0, 11.0])  # 10 ± 4.303 · 1 / √3: 7.516 to 12.484
    showing.claim("It is above 7.5.", values, above=7.5)
    showing.claim("It is between 7.5 and 12.5.", values, above=7.5, below=12.5)
    with pytest.raises(
        AssertionError, match=r"^It is above 8\. The interval is not above 8: 10 \(7\.516 to 12\.48, 3 seeds\)$"
    ):
        showing.claim("It is above 8.", values, above=8)
    with pytest.raises(AssertionError, match=r"not above 0 and below 12:"):
        showing.claim("It is between.", values, above=0, below=12)


@pytest.mark.parametrize("values", [[1.0], [], [1.0, float("nan")]], ids=["one seed", "none", "one that is a number"])
def test_a_claim_needs_seeds_that_say_something_of_spread(showing, values):
    with pytest.raises(ValueError, match="at least two"):
        showing.claim("It is so.", pandas.Series(values, dtype=float), above=0)


def test_a_claim_without_a_bound_is_none(showing):
    with pytest.raises(ValueError, match="cannot fail"):
        showing.claim("It is so.", pandas.Series([1.0, 2.0]))


def test_a_glob_sums_what_it_matches_by_seed(showing):
    result = lasthop.run(lasthop.Scenario(SMALL, "small.toml").set("flow.0.count", 2), seeds=2, interval_s=None)
    total = showing.per_seed(result, "flows.near.down*.goodput_bps")
    assert total.to_dict() == pytest.approx(result.metrics["totals.goodput_bps"])
    with pytest.raises(KeyError, match=r"no metric matches flows\.far"):
        showing.per_seed(result, "flows.far*.goodput_bps")


def test_a_page_leaves_its_picture_and_its_report_in_the_folder_that_is_named(showing, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("LASTHOP_SHOWCASES", str(tmp_path / "new"))
    monkeypatch.setattr(sys, "argv", ["docs/showcases/small.py"])
    scenario = lasthop.Scenario(SMALL, "small.toml")
    showing.picture("goodput", lasthop.run(scenario, seeds=2, interval_s=None))
    shown = showing.report(scenario, warmup="50 ms", duration="100 ms")
    assert sorted(file.name for file in (tmp_path / "new").iterdir()) == ["small.html", "small.png"]
    assert 'href="reports/small.html"' in shown._repr_html_()
    assert "picture:" not in capsys.readouterr().out


def test_a_report_that_cannot_be_written_says_why(showing, tmp_path, monkeypatch):
    monkeypatch.setenv("LASTHOP_SHOWCASES", str(tmp_path))
    monkeypatch.setattr(sys, "argv", ["small.py"])
    (tmp_path / "small.html").mkdir()
    with pytest.raises(RuntimeError, match=r"small\.html"):
        showing.report(lasthop.Scenario(SMALL, "small.toml"), warmup="50 ms", duration="100 ms")
