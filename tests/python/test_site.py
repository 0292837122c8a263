"""The site of the docs: its reference has every option, key, algorithm, quantity and name, each with an anchor; it builds without a warning."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import lasthop
import pytest
from lasthop.cli import COMMANDS

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
pytestmark = pytest.mark.skipif(not DOCS.is_dir(), reason="not in a source tree")
SECTIONS = ("scenario", "channel", "bss", "bss.ap", "station", "wall", "wired", "tcp", "tcp.ack_loss", "emulation")
# Tables of algorithms, whose contents are parameters.
CHOICES = (
    "queue",
    "rate_control",
    "downlink_rate_control",
    "congestion_control",
    "path_loss",
    "fading",
    "error_model",
    "traffic",
    "loss",
    "application",
    "sweep",
)


@pytest.fixture(scope="module")
def reference():
    """The package that writes the reference."""
    sys.path.insert(0, str(DOCS / "_ext"))
    try:
        import reference
    finally:
        sys.path.pop(0)
    return reference


@pytest.fixture(scope="module")
def pages(reference) -> dict[str, str]:
    return reference.pages()


def anchors(pages: dict[str, str], kind: str, folder: str = "") -> set[str]:
    """What the pages of a folder have an anchor for, by the directive that makes it."""
    return {
        name
        for page, text in pages.items()
        if page.startswith(folder)
        for name in re.findall(rf"^\.\. {kind}:: (\S+)", text, re.MULTILINE)
    }


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_of_a_command_has_an_anchor(reference, pages, name):
    from reference.commands import below, page_of, parser_of

    text = pages[f"commands/{page_of(name)}.rst"]
    assert f".. program:: lasthop {name}\n" in text
    option = re.compile(r"(?<![\w-])--[a-z][a-z-]*")
    documented = set(option.findall("\n".join(re.findall(r"^\.\. option:: (.*)$", text, re.MULTILINE))))
    parser = parser_of(name)
    helps = "\n".join(one.format_help() for one in (parser, *below(parser).values()))
    heads = re.findall(r"^  (-\S.*)$", helps, re.MULTILINE)
    assert {found for head in heads for found in option.findall(head.partition("   ")[0])} - {"--help"} == documented


def shown(section: str) -> Iterator[str]:
    prefix = "" if section == "scenario" else f"{section}."
    entries = json.loads(lasthop._core.show_json(section))["parameters"]
    return (f"{prefix}{entry['name']}" for entry in entries)


def used(table: dict, path: str = "") -> Iterator[str]:
    """The paths of the keys that a scenario file has."""
    for key, value in table.items():
        where = f"{path}{key}"
        yield where
        if key in CHOICES:
            continue
        for one in value if isinstance(value, list) else [value]:
            if isinstance(one, dict):
                yield from used(one, f"{where}.")


def test_every_key_has_an_anchor(pages):
    found = anchors(pages, "confval", "keys/")
    sections = {
        "bss",
        "channel",
        "station",
        "wall",
        "interferer",
        "wired",
        "tcp",
        "quic",
        "flow",
        "change",
        "agent",
        "emulation",
    }
    told = {path for section in SECTIONS for path in shown(section)} - sections
    files = [tomllib.loads(file.read_text(encoding="utf-8")) for file in ROOT.glob("scenarios/*.toml")]
    written = {path for file in files for path in used(file)} - sections - {"sweep"}
    assert told <= found
    # A flow has the keys of [tcp] under its own names too.
    assert {path for path in written if path.replace("flow.tcp.", "tcp.") not in found} == set()
    assert len(found) > 150


def test_every_algorithm_and_parameter_has_an_anchor(pages):
    algorithms, parameters = anchors(pages, "algorithm"), anchors(pages, "parameter")
    entries = json.loads(lasthop._core.list_json(None))
    assert algorithms == {f"{entry['kind']}.{entry['name']}" for entry in entries if entry["kind"] != "quantity"}
    for kind, name in (
        ("congestion_control", "cubic"),
        ("queue_discipline", "fq_codel"),
        ("rate_control", "minstrel_ht"),
        ("traffic", "voip"),
    ):
        told = {f"{kind}.{name}.{one['name']}" for one in json.loads(lasthop._core.show_json(name))["parameters"]}
        assert told and told <= parameters
    assert len({name.rpartition(".")[0] for name in parameters}) > 40


def test_every_quantity_has_an_anchor(pages):
    assert anchors(pages, "quantity") == {entry["name"] for entry in json.loads(lasthop._core.list_json("quantity"))}


def test_everything_that_the_package_exports_is_on_its_page(pages):
    found = set(re.findall(r"^\.\. auto\w+:: lasthop\.(\w+)$", pages["python/index.rst"], re.MULTILINE))
    assert found == {name for name in lasthop.__all__ if not name.startswith("_")}


def test_the_examples_of_messages_are_current(reference, command, tmp_path, monkeypatch):
    from reference import messages

    found = messages.tried()
    assert len(found) > 15
    assert all(one["said"].startswith("lasthop: ") and "\n" not in one["said"] for one in found)
    monkeypatch.chdir(tmp_path)
    (one, *_) = (one for one in found if one.get("run", [""])[0] == "rum")
    assert command(*one["run"]).stderr.strip() == one["said"]


def test_a_right_input_among_the_examples_of_messages_is_an_error(reference, monkeypatch, tmp_path):
    from reference import messages

    (tmp_path / "mistakes.toml").write_text('base = ""\n[[mistake]]\ntitle = "None"\nrun = ["list"]\nremedy = ""\n')
    monkeypatch.setattr(messages, "MISTAKES", tmp_path / "mistakes.toml")
    with pytest.raises(ValueError, match="is no mistake any more"):
        messages.tried()


def test_sentences_are_found_in_each_of_their_forms(reference):
    from reference.sentences import refusals

    source = """
    return Err(ParamError::new(path, "at (least) 1"));
    let message = format!("{n} is not a rate; \\"54 Mbit/s\\"");
    return Err(ParamError::new(format!("{path}.rate"), message));
    let wrong = |key: &str, message: &str| Err(ParamError::new(format!("{path}.{key}"), message));
    return wrong("on", "must be above 0");
    """
    assert list(refusals(source)) == [["at (least) 1"], ['{n} is not a rate; "54 Mbit/s"'], ["must be above 0"]]


def test_most_places_that_refuse_have_their_sentence(reference):
    """The rest hands on what a library or another part of the program says."""
    from reference import sentences

    sources = (
        file.read_text(encoding="utf-8").partition(sentences.TESTS)[0]
        for file in (ROOT / "crates").rglob("src/**/*.rs")
    )
    told = [bool(found) for source in sources for found in sentences.refusals(source)]
    assert len(told) > 100 and sum(told) > 0.8 * len(told)
    assert len(sentences.of_python()) > 20


RECORDED = sorted((DOCS / "recorded").glob("*.tsv"))


@pytest.mark.parametrize("file", RECORDED, ids=lambda file: file.stem)
def test_a_table_of_measurements_is_whole_and_stands_on_one_page(reference, file):
    from reference.tables import MEASURED

    head, *rows = (line.split("\t") for line in file.read_text(encoding="utf-8").splitlines())
    assert len(rows) > 1
    assert {len(row) for row in rows} == {len(head)}
    linked = [
        page.name
        for page in DOCS.glob("**/*.md")
        for name in MEASURED.findall(page.read_text("utf-8"))
        if name.endswith(f"/{file.name}")
    ]
    assert len(linked) == 1


def test_columns_of_numbers_are_aligned_to_the_right(reference):
    from reference.tables import measured

    text = "case\tMbit/s\tnote\none\t6.05 ± 0.01\t\ntwo|three\t-7.1 %\twhy\n"
    assert measured(text).splitlines() == [
        "| case | Mbit/s | note |",
        "| --- | --: | --- |",
        "| one | 6.05 ± 0.01 |  |",
        "| two\\|three | -7.1 % | why |",
    ]


@pytest.fixture
def copy(tmp_path):
    """The docs alone, beside links to the rest of the tree, so that a build leaves the kept results of showcases as they are."""
    for path in ROOT.iterdir():
        if path.name not in ("docs", "out") and not path.name.startswith("."):
            (tmp_path / path.name).symlink_to(path)
    shutil.copytree(DOCS, tmp_path / "docs", ignore=shutil.ignore_patterns("gallery", "__pycache__"))
    return tmp_path


@pytest.mark.skipif(find_spec("sphinx") is None, reason="Sphinx is not installed; `make docs` installs it")
def test_the_site_builds_without_a_warning(copy):
    """Showcases are not run here: `make docs` does that."""
    site = copy / "site"
    line = [
        sys.executable,
        "-m",
        "sphinx",
        "-b",
        "html",
        "-n",
        "-W",
        "--keep-going",
        "-q",
        "-D",
        "plot_gallery=0",
        "-d",
        str(copy / "trees"),
    ]
    done = subprocess.run(
        [*line, str(copy / "docs"), str(site)], capture_output=True, text=True, timeout=600, check=False
    )
    assert done.returncode == 0, done.stderr
    ids = {
        name: set(re.findall(r'id="([^"]+)"', (site / "reference" / page).read_text())) for name, page in PAGES.items()
    }
    assert "cmdoption-lasthop-run-seeds" in ids["option"] and "confval-bss.ap.queue" in ids["key"]
    assert "quantity-totals.goodput_bps" in ids["quantity"] and "algorithm-congestion_control.cubic" in ids["algorithm"]
    assert "message-" in " ".join(ids["message"])
    # A reader's browser fetches nothing, including for the search.
    page = (site / "index.html").read_text()
    assert re.findall(r'<(?:script|link|img)[^>]*(?:src|href)="https?:', page) == []
    assert (site / "searchindex.js").stat().st_size > 10_000


PAGES = {
    "option": "commands/run.html",
    "key": "keys/bss.html",
    "quantity": "quantities/totals.html",
    "algorithm": "algorithms/congestion_control.html",
    "message": "messages/scenarios.html",
}
