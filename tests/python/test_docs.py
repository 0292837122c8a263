"""The documents keep to the code: links lead somewhere, commands run, every citation is listed."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from command_server import program

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
SCENARIO = "scenarios/khademi2011-uplink-11b.toml"

pytestmark = pytest.mark.skipif(not DOCUMENTS, reason="not in a source tree")

LINK = re.compile(r"\]\(([^)\s]+)\)")
BRACKETS = re.compile(r"\[([^\[\]]+)\]")
SOURCE = re.compile(r'\bsource:? "([^"]+)"')
# RFC 9293 · 802.11-2020 · Bianchi 2000 · Ha, Rhee, Xu 2008 · khademi2011; clauses and equations may follow.
KEY = re.compile(
    r"RFC \d{3,4}|802\.11-\d{4}"
    r"|(?:[A-ZÀ-Þ][\w-]+, )*(?:[A-ZÀ-Þ][\w-]+ & )?[A-ZÀ-Þ][\w-]+ (?:19|20)\d\d\b"
    r"|\b[a-z]+(?:19|20)\d\d\b"
    r"|draft(?:-[a-z]\w*)+"
)


def citations(text: str) -> set[str]:
    """Keys that stand in brackets, or in the source of a row of a registry."""
    places = [*BRACKETS.findall(text), *SOURCE.findall(text)]
    return {
        key for place in places for part in place.split(";") for key in KEY.findall(part) if not key.startswith("Linux")
    }


def comments(file: Path) -> str:
    """What a reader sees as prose: comments and rows of Rust, all of Python."""
    text = file.read_text(encoding="utf-8")
    if file.suffix == ".py":
        return text
    return "\n".join(line for line in text.splitlines() if "//" in line or "source" in line)


def listed() -> set[str]:
    """Keys of docs/references.md, those of drafts without their versions."""
    keys = re.findall(
        r"^- \*\*\[([^\]]+)\]\*\*", (ROOT / "docs/references.md").read_text(encoding="utf-8"), re.MULTILINE
    )
    return {re.sub(r"^(draft-.*)-\d\d$", r"\1", key) for key in keys}


def shell_blocks(page: Path) -> list[list[str]]:
    """The lines of the page's `sh` blocks, which are run; what needs a network, a kernel or a password stands in `console` blocks."""
    blocks = re.findall(r"```sh\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
    return [[line for line in block.splitlines() if line and not line.startswith("#")] for block in blocks]


def block_of(page: str, language: str) -> str:
    """The first block of a page in `language`."""
    (block, *_) = re.findall(rf"```{language}\n(.*?)```", (ROOT / page).read_text(encoding="utf-8"), re.DOTALL)
    return block


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_relative_links_lead_to_files(document):
    text = re.sub(r"```.*?```", "", document.read_text(encoding="utf-8"), flags=re.DOTALL)
    targets = [target.partition("#")[0] for target in LINK.findall(text)]
    missing = [
        target for target in targets if target and "://" not in target and not (document.parent / target).exists()
    ]
    assert not missing


def test_every_citation_is_in_the_list_of_references():
    scripts = ROOT.glob("tests/scripts/*.pkt")
    pages = ROOT.glob("docs/showcases/**/*.py")
    files = [*ROOT.glob("crates/**/*.rs"), *ROOT.glob("python/lasthop/**/*.py"), *pages, *scripts, *DOCUMENTS]
    cited = {key: file for file in files for key in citations(comments(file))}
    unknown = {key: str(cited[key].relative_to(ROOT)) for key in cited if key not in listed()}
    assert not unknown


def test_a_citation_is_found_in_each_of_its_forms():
    text = "[RFC 9438 §5.8, RFC 7661 §4] [802.11-2020 Table 17-5] [Gilbert 1960; Elliott 1963] [Ha, Rhee, Xu 2008] [khademi2011 Fig. 1]"
    text += " [draft-ietf-ccwg-bbr-02 §4.1]"
    expected = {
        "draft-ietf-ccwg-bbr",
        "RFC 9438",
        "RFC 7661",
        "802.11-2020",
        "Gilbert 1960",
        "Elliott 1963",
        "Ha, Rhee, Xu 2008",
        "khademi2011",
    }
    assert citations(text) == expected


@pytest.fixture(scope="module")
def lasthop_program():
    """The text of a program that starts commands of `lasthop` without an interpreter for each."""
    with tempfile.TemporaryDirectory() as place, program(Path(place)) as text:
        yield text


@pytest.fixture
def in_tree(tmp_path, monkeypatch, lasthop_program):
    """A directory with the scenarios, where commands may write; `lasthop` is on the path."""
    for folder in ("papers", "scenarios", "tests"):
        (tmp_path / folder).symlink_to(ROOT / folder)
    short = (
        block_of("docs/start/scenario.md", "toml")
        .replace('duration = "20 s"', 'duration = "5 s"')
        .replace('warmup = "5 s"', 'warmup = "2 s"')
    )
    (tmp_path / "two-downloads.toml").write_text(short, encoding="utf-8")
    programs = tmp_path / "bin"
    programs.mkdir()
    for name, text in (("lasthop", lasthop_program), ("python", f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')):
        (programs / name).write_text(text, encoding="utf-8")
        (programs / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(programs), prepend=os.pathsep)
    monkeypatch.chdir(tmp_path)
    return tmp_path


# As long as papers last, until Ctrl-C, with a kernel: test_reproduction, test_page_editor, test_emulate, and `make` itself.
NOT_RUN = re.compile(r"^make\b|\blasthop (serve|emulate|reproduce khademi2011)\b")


def shortened(line: str) -> str:
    """The line over less simulated time and fewer seeds, for a file that is there."""
    line = re.sub(r"\bFILE\b", "two-downloads.toml", line.replace(".venv/bin/", ""))
    line = re.sub(r"--seeds \d+", "--seeds 2", line).replace("--until 10%", "--until 10% --seeds 10")
    if "duration=" not in line and re.search(r"lasthop (run|sweep|explain) (tcp-n|aimd|my_)", line):
        line = re.sub(r"(lasthop \w+ \S+)", r'\1 --set "duration=12 s" --set "warmup=10 s"', line)
    if "warmup=" not in line:
        line = re.sub(r'"duration=[^"]*"', '"duration=5 s" --set "warmup=2 s"', line)
    # test_twin_verdict.py fits one by the same command, which takes half a minute.
    line = line.replace(" --fit", "")
    line = line.replace("--pcap out/p", '--set "duration=3.5 s" --pcap out/p')
    return line.replace("duration=15 s", "duration=6 s")


def run_page(page: Path) -> set[str]:
    """Runs what the page says, and returns the names of the commands. A block ends at a tool that is not installed."""
    names: set[str] = set()
    for block in shell_blocks(page):
        for line in block:
            if NOT_RUN.search(line):
                continue
            if shutil.which(line.split()[0].replace(".venv/bin/", "")) is None:
                break
            done = subprocess.run(shortened(line), shell=True, capture_output=True, text=True, timeout=300, check=False)
            assert done.returncode == 0, (page.name, line, done.stderr)
            words = line.split()[1:3]
            names.update((words[0], " ".join(words)))
    return names


START = [
    ROOT / "docs/start" / f"{name}.md"
    for name in ("install", "first-run", "result", "change", "compare", "sweep", "scenario", "python")
]


def test_the_pages_of_start_run_one_after_the_other(in_tree):
    assert {page.name for page in START} | {"index.md", "commands.md"} == {
        page.name for page in (ROOT / "docs/start").glob("*.md")
    }
    assert set().union(*map(run_page, START)) >= {
        "run",
        "plot",
        "explain",
        "report",
        "compare",
        "sweep",
        "query",
        "show",
        "list",
        "new",
        "check",
    }
    assert (in_tree / "first.png").read_bytes().startswith(b"\x89PNG")


def test_the_numbers_of_the_first_pages_are_those_of_this_engine(in_tree, command):
    first = command("run", "tcp-nup", "--seeds", 3, "--out", "out/first").stdout
    command("run", "tcp-nup", "--seeds", 3, "--set", "station.0.queue=fq_codel", "--out", "out/fq")
    compared = command("compare", "out/first", "out/fq").stdout
    for page, output in (("first-run", first), ("compare", compared)):
        blocks = re.findall(r"```text\n(.*?)```", (ROOT / f"docs/start/{page}.md").read_text("utf-8"), re.DOTALL)
        lines = [line for block in blocks for line in block.splitlines() if line.strip()]
        # A page leaves out rows, and columns at the end.
        older = [line for line in lines if not any(row.startswith(line) for row in output.splitlines())]
        assert len(lines) > 4
        assert older == []


def test_the_commands_at_a_glance_run(in_tree, command):
    assert (
        command(
            "run", SCENARIO, "--seeds", 2, "--set", "duration=45 s", "--set", "station.0.count=2", "--out", "out/b"
        ).returncode
        == 0
    )
    evidence = {"cc packetdrill", "cc replay", "cc recovery", "cc check"}
    assert run_page(ROOT / "docs/start/commands.md") >= evidence | {
        "run",
        "sweep",
        "compare",
        "plot",
        "theory",
        "self doctor",
        "analyze",
        "twin",
    }


@pytest.mark.parametrize(
    "page", [ROOT / "README.md", *sorted((ROOT / "docs/how-to").glob("*.md"))], ids=lambda page: page.name
)
def test_the_commands_of_a_page_run(page, in_tree):
    run_page(page)


def test_a_picture_takes_four_commands_at_most():
    commands = re.findall(r"^\$ (.*)", block_of("docs/start/install.md", "console"), re.MULTILINE)
    commands += [line for block in shell_blocks(ROOT / "docs/start/first-run.md") for line in block]
    assert len(commands) <= 4
    assert "plot" in commands[-1]


def test_the_python_example_runs(in_tree, capsys):
    exec(compile(block_of("docs/start/python.md", "python"), "python.md", "exec"), {})
    assert "goodput_bps" in capsys.readouterr().out


def test_every_plot_and_command_is_at_a_glance():
    from lasthop import cli
    from lasthop.views import plot

    text = (ROOT / "docs/start/commands.md").read_text(encoding="utf-8")
    assert [kind for kind in plot.kinds() if kind not in text] == []
    assert [name for name in cli.COMMANDS if f"lasthop {name}" not in text] == []
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    first_words = {name.split()[0] for name in cli.COMMANDS}
    assert [word for word in first_words if f"`{word}`" not in changelog] == []


# The page of each kind of algorithm, and how README.md counts it.
KINDS = {
    "congestion_control": ("docs/model/tcp.md", "{} congestion controls"),
    "queue_discipline": ("docs/model/queues.md", "{} queue disciplines"),
    "rate_control": ("docs/model/rate-control.md", "{} rate controls"),
    "error_model": ("docs/model/phy.md", None),
    "path_loss": ("docs/model/phy.md", None),
    "fading": ("docs/model/phy.md", None),
    "traffic": ("docs/model/traffic.md", None),
}
NUMBERS = {
    10: "ten",
    11: "eleven",
    12: "twelve",
    13: "thirteen",
    20: "twenty",
    21: "twenty-one",
    22: "twenty-two",
    23: "twenty-three",
}


@pytest.mark.parametrize("kind", KINDS)
def test_every_algorithm_is_on_the_page_of_its_kind_and_counted(kind):
    import json

    from lasthop import _core

    page, counted = KINDS[kind]
    entries = [entry for entry in json.loads(_core.list_json(kind)) if entry["name"] not in ("python", "c", "bpf")]
    # The QUIC stack's own controllers are on its page.
    names = [entry["name"] for entry in entries if entry.get("over") != "QUIC"]
    quic = (ROOT / "docs/model/quic.md").read_text(encoding="utf-8")
    assert all(f"`{entry['name']}`" in quic for entry in entries if entry.get("over") == "QUIC")
    text = (ROOT / page).read_text(encoding="utf-8")
    assert [name for name in names if f"`{name}`" not in text] == []
    if counted is not None:
        readme = " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())
        assert counted.format(NUMBERS[len(names)]) in readme


@pytest.mark.parametrize("kind", ["congestion_control", "queue_discipline", "rate_control", "error_model"])
def test_every_algorithm_has_an_origin(kind):
    import json

    from lasthop import _core

    names = [
        entry["name"] for entry in json.loads(_core.list_json(kind)) if entry["name"] not in ("python", "c", "bpf")
    ]
    origins = (ROOT / "docs/provenance.md").read_text(encoding="utf-8")
    assert [name for name in names if not re.search(rf"\b{name}\b", origins)] == []


def test_scenarios_on_the_pages_are_right():
    import lasthop

    for page in [*START, *(ROOT / "docs/how-to").glob("*.md")]:
        for block in re.findall(r"```toml\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL):
            lasthop.Scenario(block, page.name).resolve()


def test_every_metric_of_a_result_is_defined(command, small):
    import json

    defined = {entry["name"].rpartition(".")[2] for entry in json.loads(command("list", "quantity", "--json").stdout)}
    defined |= set(re.findall(r"`(\w+)`", (ROOT / "docs/model/metrics.md").read_text(encoding="utf-8")))
    (run,) = json.loads(command("run", small, "--seed", 1, "--json", "-").stdout)["runs"]
    rows = [*run["flows"], run["totals"], *run["nodes"], *run["links"], run["medium"], run["simulator"]]
    names = {
        "id",
        "station",
        "direction",
        "transport",
        "congestion_control",
        "congestion_control_validation",
        "name",
        "node",
        "peer",
        "jain_index_up",
        "jain_index_down",
    }
    assert sorted({key for row in rows for key in row} - names - defined) == []


PROFILES = ("ns2", "linux-2.6", "linux-3.13", "linux")


VERSIONS = ("linux-6.12", "linux-6.18", "linux-7.3")


def values_of(command, profile: str) -> dict[str, str]:
    """What `lasthop show` gives for each key of a profile; strings without their quotes, and absent ones by that word."""
    import json

    shown = json.loads(command("show", f"tcp.profile.{profile}", "--json").stdout)
    words = {key["name"]: key["default"] for key in shown["parameters"]}
    return {name: "absent" if word is None else str(word).strip('"') for name, word in words.items()}


def test_the_table_of_profiles_has_every_key_that_differs_with_its_values(command):
    values = [values_of(command, profile) for profile in PROFILES]
    differing = {key for key in values[0] if len({each[key] for each in values}) > 1}
    text = (ROOT / "docs/model/tcp.md").read_text(encoding="utf-8")
    (table,) = re.findall(r"\| key \| `ns2` \| `linux-2.6` \| `linux-3.13` \| `linux` \|\n(.*?)\n\n", text, re.DOTALL)
    rows = {key: cells.split(" | ") for key, cells in re.findall(r"^\| `(\w+)` \| (.*) \|$", table, re.MULTILINE)}
    assert set(rows) == differing
    # The table has those of a controller's many keys that differ.
    parts = [re.findall(r"`([^`]+)`", cell) for cell in rows.pop("congestion_control")]
    assert all(part in each["congestion_control"] for each, cell in zip(values, parts, strict=True) for part in cell)
    assert all(parts)
    for key, cells in rows.items():
        assert cells == [each[key] for each in values], key


def test_the_table_of_versions_has_every_key_that_differs_with_its_values(command):
    values = [values_of(command, version) for version in VERSIONS]
    differing = {key for key in values[0] if len({each[key] for each in values}) > 1}
    text = (ROOT / "docs/model/tcp.md").read_text(encoding="utf-8")
    heads = " | ".join(f"`{version}`" for version in VERSIONS)
    (table,) = re.findall(rf"\| \| {re.escape(heads)} \| since \|\n(.*?)\n\n", text, re.DOTALL)
    rows = {key: cells.split(" | ")[:3] for key, cells in re.findall(r"^\| `(\w+)` \| (.*) \|$", table, re.MULTILINE)}
    assert rows == {key: [each[key] for each in values] for key in differing}
    assert values[-1] == values_of(command, "linux")
