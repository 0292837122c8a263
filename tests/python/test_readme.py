"""The first screen of README.md: its numbers are those of the pages that it names, its gallery has every showcase, its counts are the program's."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
from lasthop.data.ready import showcase_question, showcases
from lasthop.papers import paper_files
from PIL import Image

ROOT = Path(__file__).resolve().parents[2]
README = ROOT / "README.md"
pytestmark = pytest.mark.skipif(not README.is_file(), reason="not in a source tree")

# Pages that count papers and claims in words or digits.
COUNTING = ("README.md", "docs/index.md", "docs/papers/index.md", "docs/how-to/paper.md")
NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


def text(page: str) -> str:
    """A page of the tree in one line."""
    return " ".join((ROOT / page).read_text(encoding="utf-8").split())


def ratios(column: int) -> list[float]:
    """The first numbers of a column of the table of speed in README.md, from 1; cells without one are left out."""
    (table,) = re.findall(r"<!-- bench: readme -->(.*?)<!-- end -->", README.read_text(encoding="utf-8"), re.DOTALL)
    cells = [line.split("|")[column] for line in table.splitlines() if line.startswith("| ")][1:]
    return [float(cell.split()[0].replace(",", "")) for cell in cells if cell.strip()]


def test_the_speeds_are_the_least_and_the_most_of_the_table():
    least, most = min(ratios(3)), max(ratios(3))
    assert f"**{least:g} to {most:g} times** | as fast as ns-2.35" in text("README.md")
    assert f"and {min(ratios(4)):,.0f} to {max(ratios(4)):,.0f} times as fast as ns-3.44" in text("README.md")


def test_the_traces_are_those_of_the_page_of_vectors():
    rows = re.findall(
        r"^Linux (?:2\.6\.22|6\.12)[^\t]*\t[^\t]+\t[^\t]+\t(\d+)\t(\d+)\t(\d+)\t",
        (ROOT / "docs/recorded/vectors.tsv").read_text(encoding="utf-8"),
        re.MULTILINE,
    )
    all_rows, exact, within = (sum(int(row[column]) for row in rows) for column in range(3))
    whole = sum(row[0] == row[2] for row in rows)
    assert len(rows) > 100
    stated = f"**{whole} of {len(rows)}** | recorded traces"
    assert stated in text("README.md")
    assert f"{all_rows:,} rows, {100 * exact / all_rows:.1f} % of them exact" in text("README.md")
    assert within == all_rows


def test_the_goodput_beside_a_kernel_is_that_of_its_table():
    file = "recorded/kernel-random-paths.tsv"
    assert f"Linux 7.3.4, 2026-11-28:\n\n[Every row]({file})" in (ROOT / "docs/kernel.md").read_text(encoding="utf-8")
    _, *rows = (line.split("\t") for line in (ROOT / "docs" / file).read_text(encoding="utf-8").splitlines())
    off = [float(row[10].split()[0]) for row in rows]
    assert len(off) == 20
    stated = f"**within {max(map(abs, off)):.1f} %** | of the goodput that sockets of Linux 7.3 reach on each of twenty random paths"
    assert stated in text("README.md")
    assert f"{abs(sum(off) / len(off)):.1f} % on average" in text("README.md")


@pytest.mark.parametrize("page", COUNTING)
def test_papers_and_claims_are_counted_as_the_program_counts_them(page):
    claims = sum(len(tomllib.loads(file.read_text(encoding="utf-8"))["claim"]) for file in paper_files())
    papers = len(paper_files())
    counted = re.findall(r"\b(\d+|[a-z]+) (claims of|papers\b)(?: (\w+) papers)?", text(page), re.IGNORECASE)
    for number, what, of in counted:
        if what == "claims of":
            assert (number, of) == (str(claims), NUMBERS[papers])
        elif number.isdecimal() or number.lower() in NUMBERS[1:]:
            assert number.lower() == NUMBERS[papers]


def test_the_gallery_has_every_showcase_with_its_picture_and_is_what_the_program_writes():
    import showcase_page

    made = README.read_text(encoding="utf-8")
    assert made == showcase_page.page(), "python tests/python/showcase_page.py --write"
    assert all(f"pictures/{name}.png" in made for name in showcases())
    for name in showcases():
        with Image.open(showcase_page.PICTURES / f"{name}.png") as picture:
            assert picture.width == showcase_page.WIDTH
    assert {file.stem for file in showcase_page.PICTURES.glob("*.png")} == set(showcases())


def test_the_first_picture_has_the_size_at_which_readmes_are_shown():
    with Image.open(ROOT / "docs/page/first.png") as picture:
        # Wider ones are shrunk, and letters of 11 pixels with them.
        assert picture.width <= 900


def test_every_question_ends_as_one_and_is_listed(command):
    listed = command("list", "showcase", "--json").stdout
    for name, script in showcases().items():
        assert "?" in showcase_question(script) and f'"{name}"' in listed


def test_a_showcase_is_printed_and_an_unknown_one_answered_with_the_nearest(command):
    assert command("showcase", "anomaly", "--print").stdout == showcases()["anomaly"].read_text(encoding="utf-8")
    refused = command("showcase", "anomalie")
    assert refused.returncode == 2 and "did you mean anomaly?" in refused.stderr


def test_a_showcase_runs_and_leaves_its_pictures_in_the_folder_that_is_given(command, tmp_path):
    done = command("showcase", "anomaly", "--out", tmp_path / "seen")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("The performance anomaly\n\nThree stations") and done.stdout.count(" seeds), ") >= 3
    assert {file.name for file in (tmp_path / "seen").iterdir()} == {"anomaly.png", "anomaly-air.png", "anomaly.html"}


@pytest.mark.parametrize("page", sorted((ROOT / "docs").glob("**/*.md")), ids=lambda page: page.name)
def test_no_page_needs_the_site_to_be_read(page):
    shown = page.read_text(encoding="utf-8")
    assert "{toctree}" not in shown and "{doc}" not in shown and "{ref}" not in shown


def test_every_page_is_linked_from_one_index():
    link = re.compile(r"\]\(([^)\s:#]+\.md)\)")
    children = [
        (index.parent / target).resolve()
        for index in sorted((ROOT / "docs").glob("**/index.md"))
        for target in dict.fromkeys(link.findall(index.read_text(encoding="utf-8")))
    ]
    pages = {page for page in (ROOT / "docs").glob("**/*.md") if page != ROOT / "docs" / "index.md"}
    assert [str(page.relative_to(ROOT)) for page in sorted(pages - set(children))] == []
    assert sorted(child for child in set(children) if children.count(child) > 1) == []
