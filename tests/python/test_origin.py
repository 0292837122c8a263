"""What comes from somebody else runs no code, names no address, opens nothing outside its folder, and does not reach a terminal raw."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import lasthop
import pytest
from lasthop import _core
from lasthop.data.origin import ROLES, Origin, Role, Source, named_files
from lasthop.data.terminal import printable

WATCH = Path(__file__).with_name("watched_command.py")
ADDRESS = '# --set flow.0.congestion_control={kind="c", library="address:0x41414140"}\n'
SCENARIO = """\
duration = "1 s"
warmup = "0.2 s"
[bss]
standard = "802.11g"
[[station]]
[[flow]]
direction = "up"
"""
PYTHON = 'flow.0.congestion_control={kind="python", file="FILE", class="Mine"}'
CODE = (
    "import pathlib, lasthop\n"
    "pathlib.Path('MARK').write_text('ran')\n"
    "class Mine(lasthop.CongestionControl):\n"
    "    def on_ack(self, ack):\n"
    "        self.window = 4.0\n"
)


@pytest.fixture(scope="module")
def honest(tmp_path_factory) -> Path:
    """A folder with a scenario and its result."""
    folder = tmp_path_factory.mktemp("honest")
    (folder / "a.toml").write_text(SCENARIO)
    result = lasthop.run(str(folder / "a.toml"), [1, 2], record="ppdu", progress=False)
    result.save(folder / "out")
    return folder


@pytest.fixture
def hostile(honest, tmp_path) -> Path:
    """A copy of the result, whose settings a test replaces; `elsewhere.py` beside it leaves a mark where it runs."""
    shutil.copytree(honest / "out", tmp_path / "out")
    (tmp_path / "elsewhere.py").write_text(CODE.replace("MARK", str(tmp_path / "mark")))
    (tmp_path / "trace.csv").write_text("0.1, 1000\n0.2, 1000\n")
    return tmp_path / "out"


def with_settings(result: Path, *settings: str) -> None:
    """Adds settings to the head of a result's scenario, and takes its account of nothing away."""
    file = result / "scenario.toml"
    file.write_text("".join(f"# --set {setting}\n" for setting in settings) + file.read_text())


def watched(*words: object, folder: Path) -> tuple[subprocess.CompletedProcess[str], list[list[str]]]:
    """A command in `folder` under an audit hook, and the events that somebody else's file may not cause."""
    log = folder / "events.json"
    line = [sys.executable, str(WATCH), str(folder), str(log), *map(str, words)]
    done = subprocess.run(line, cwd=folder, capture_output=True, text=True, timeout=300, check=False)
    return done, json.loads(log.read_text()) if log.exists() else []


def refused(result: Path, *words: object) -> str:
    done, events = watched(*words, folder=result.parent)
    assert done.returncode == 2, (done.returncode, done.stderr)
    assert "Traceback" not in done.stderr
    assert not (result.parent / "mark").exists(), "code ran"
    assert events == []
    return done.stderr


# The table of keys.


def _takes_any_text(schema: dict, value: object) -> bool:
    if not isinstance(value, dict):
        return False
    if "$ref" in value:
        return _takes_any_text(schema, schema["$defs"][value["$ref"].rpartition("/")[2]])
    if value.get("type") == "string" and not {"enum", "const", "pattern"} & value.keys():
        return True
    return any(_takes_any_text(schema, each) for each in (value.get("items"), *value.get("anyOf", ())))


def _keys_of_any_text(schema: dict, part: object) -> set[str]:
    found: set[str] = set()
    if isinstance(part, dict):
        found |= {key for key, value in part.get("properties", {}).items() if _takes_any_text(schema, value)}
    for each in part.values() if isinstance(part, dict) else part if isinstance(part, list) else ():
        found |= _keys_of_any_text(schema, each)
    return found


def test_every_key_that_takes_any_text_has_a_role():
    """A new key that names a file or a program must be in the table, so that somebody else's file cannot use it."""
    schema = json.loads(_core.schema_json())
    assert _keys_of_any_text(schema, schema) == set(ROLES)


def test_keys_of_files_are_those_whose_manual_names_a_file_or_a_path():
    files = {key for key, role in ROLES.items() if role is Role.FILE}
    assert files == {"file", "library", "object", "kernel"}


@pytest.mark.parametrize(
    ("setting", "names"),
    [
        (("flow.0.traffic", '{ kind = "trace", file = "x.csv" }'), ["x.csv"]),
        (("flow.*.traffic. file", "x.csv"), ["x.csv"]),
        (("sweep", '{ "flow.0.traffic.file" = ["a", "b"] }'), ["a", "b"]),
        (("flow", '[{ congestion_control = { kind = "bpf", object = "o" } }]'), ["o"]),
        (("emulation.kernel", "./linux"), ["./linux"]),
        (("emulation.kernel", "own"), []),
        (("flow.0.traffic.file", 'a"\nb = "c'), ['a"\nb = "c']),
        (("name", "file"), []),
    ],
)
def test_files_are_found_in_settings_as_the_engine_reads_them(setting, names):
    assert [named.name for named in named_files("", "x.toml", [setting])] == names


# Results.


@pytest.mark.parametrize("words", [("explain",), ("report", "--out", "x.html"), ("compare", "--explain")])
def test_an_address_in_a_result_is_never_jumped_to(hostile, words):
    with_settings(hostile, ADDRESS.removeprefix("# --set ").rstrip())
    command, *options = words
    results = [hostile, hostile] if command == "compare" else [hostile]
    for more in ([], ["--allow-code"]):
        assert "an address is of one process" in refused(hostile, command, *results, *options, *more)


@pytest.mark.parametrize("inside", [False, True])
@pytest.mark.parametrize("words", [("explain",), ("report", "--out", "x.html"), ("compare", "--explain")])
def test_code_of_a_result_does_not_run_unasked(hostile, words, inside):
    file = hostile / "inside.py" if inside else hostile.with_name("elsewhere.py")
    if inside:
        shutil.copyfile(hostile.with_name("elsewhere.py"), file)
    with_settings(hostile, PYTHON.replace("FILE", str(file)))
    command, *options = words
    results = [hostile, hostile] if command == "compare" else [hostile]
    said = refused(hostile, command, *results, *options)
    assert "--allow-code" in said and ("this is code" if inside else "outside the folder of a result") in said


def test_allowed_code_of_a_result_is_named_with_its_digest(hostile):
    file = hostile.with_name("elsewhere.py")
    with_settings(hostile, PYTHON.replace("FILE", str(file)))
    done, _ = watched("explain", hostile, "--allow-code", folder=hostile.parent)
    from hashlib import sha256

    assert f"{file} is code, comes from a result and runs with your rights" in done.stderr
    assert f"(SHA-256 {sha256(file.read_bytes()).hexdigest()})" in done.stderr


@pytest.mark.parametrize("file", ["../trace.csv", "/etc/passwd", "link.csv"])
def test_a_result_opens_no_file_outside_its_folder(hostile, file):
    (hostile / "link.csv").symlink_to(hostile.with_name("trace.csv"))
    with_settings(hostile, f'flow.0.traffic={{kind="trace", file="{file}"}}')
    assert f"{file!r} is outside the folder of a result" in refused(hostile, "explain", hostile)


@pytest.mark.parametrize("name", ["result.json", "scenario.toml", "recording", "timeseries.parquet"])
def test_links_in_a_result_do_not_lead_out(hostile, name):
    (hostile / name).rename(hostile.with_name(f"moved-{name}"))
    (hostile / name).symlink_to(hostile.with_name(f"moved-{name}"))
    words = (
        ("export", "perfetto", hostile, "--out", "x") if name == "recording" else ("plot", hostile, "--out", "x.csv")
    )
    assert "is a link that leads out of a result" in refused(hostile, *words)


def test_a_command_in_a_result_does_not_start(hostile):
    with_settings(
        hostile, f'flow.0.application={{kind="command", client="touch {hostile.parent}/mark", server="true"}}'
    )
    assert "a command is a program, and it comes from a result" in refused(hostile, "explain", hostile)


def test_python_has_the_same_rule(hostile):
    with_settings(hostile, PYTHON.replace("FILE", str(hostile.with_name("elsewhere.py"))))
    with pytest.raises(lasthop.ScenarioError, match="outside the folder of a result"):
        lasthop.read(hostile).explain()
    assert not hostile.with_name("mark").exists()


def test_the_users_own_scenario_is_not_asked_about(tmp_path):
    (tmp_path / "mine.py").write_text(CODE.replace("MARK", str(tmp_path / "mark")))
    (tmp_path / "a.toml").write_text(
        SCENARIO.replace(
            "direction", 'congestion_control = { kind = "python", file = "mine.py", class = "Mine" }\ndirection'
        )
    )
    done, _ = watched("run", "a.toml", "--seed", 1, folder=tmp_path)
    assert done.returncode == 0 and (tmp_path / "mark").exists(), done.stderr
    assert lasthop.load(tmp_path / "a.toml").origin.source is Source.USER


# Claim files.

CLAIM = """\
title = "From elsewhere"
[case.one]
scenario = "SCENARIO"
set = { SETTINGS }
seeds = 2
[[claim]]
id = "E-1"
sentence = "It computes."
[[claim.part]]
measure = 'totals(one, "goodput_bps")'
expect = { from = 0 }
"""


@pytest.mark.parametrize(
    ("scenario", "settings", "said"),
    [
        ("../outside.toml", "", "neither in the claim file's folder nor in the folder `scenarios` next to that"),
        (
            "a.toml",
            '"flow.0.congestion_control" = { kind = "c", library = "address:0x41414140" }',
            "an address is of one",
        ),
        (
            "a.toml",
            '"flow.0.congestion_control" = { kind = "python", file = "mine.py", class = "Mine" }',
            "this is code",
        ),
        ("a.toml", '"flow.0.traffic" = { kind = "trace", file = "../t.csv" }', "outside the folder of a claim file"),
    ],
)
def test_a_claim_file_runs_no_code_and_opens_nothing_elsewhere(tmp_path, scenario, settings, said):
    folder = tmp_path / "claims"
    folder.mkdir()
    (folder / "mine.py").write_text(CODE.replace("MARK", str(tmp_path / "mark")))
    (folder / "a.toml").write_text(SCENARIO)
    (tmp_path / "outside.toml").write_text(SCENARIO)
    (tmp_path / "t.csv").write_text("0.1, 1000\n")
    (folder / "claim.toml").write_text(CLAIM.replace("SCENARIO", scenario).replace("SETTINGS", settings))
    done, events = watched("reproduce", folder / "claim.toml", "--out", "out", folder=tmp_path)
    assert done.returncode == 2 and said in done.stderr, done.stderr
    assert events == [] and not (tmp_path / "mark").exists()


# Every command with files that come from somebody else.


def test_commands_do_nothing_outside_with_files_of_somebody_else(hostile):
    """Results with everything hostile at once, a text that poses as a store, a recording, a capture and a dump for a twin."""
    folder = hostile.parent
    with_settings(
        hostile, PYTHON.replace("FILE", str(folder / "elsewhere.py")), ADDRESS.removeprefix("# --set ").rstrip()
    )
    document = json.loads((hostile / "result.json").read_text())
    document["scenario"]["name"] = "x\x1b]0;evil\x07\x9b31m"
    document["warnings"] = ["\x1b[31m red"]
    (hostile / "result.json").write_text(json.dumps(document))
    (hostile / "recording" / "seed-1" / "ppdu.parquet").write_bytes(b"PAR1" + b"\x1b[31m" * 30 + b"PAR1")
    for name in ("store.duckdb", "capture.pcap", "iw.txt", "sweep.parquet", "sweep.csv"):
        (folder / name).write_text('Station 02:00:00:00:00:01 (on wlan0)\n\x1b]0;evil\x07 COPY (SELECT 1) TO "mark";\n')
    lines = [
        ("explain", hostile),
        ("explain", hostile, hostile),
        ("compare", hostile, hostile),
        ("compare", hostile, hostile, "--explain"),
        ("plot", hostile, "--out", "x.csv"),
        ("plot", hostile, "--kind", "air", "--out", "x.csv"),
        ("plot", "sweep.csv", "--kind", "sweep", "--out", "x.csv"),
        ("plot", "sweep.parquet", "--kind", "sweep", "--out", "x.csv"),
        ("plot", "store.duckdb", "--kind", "sweep", "--out", "x.csv"),
        ("report", hostile, "--out", "x.html"),
        ("query", "store.duckdb", "SELECT * FROM runs"),
        ("export", "perfetto", hostile, "--out", "x"),
        ("export", "qlog", hostile, "--out", "x"),
        ("analyze", "capture.pcap"),
        ("analyze", "iw.txt"),
        ("twin", "capture.pcap"),
        ("twin", "iw.txt"),
        ("run", hostile),
        ("check", hostile / "result.json"),
    ]
    for words in lines:
        done, events = watched(*words, folder=folder)
        assert done.returncode >= 0, (words, done.returncode, done.stderr)
        assert events == [], words
        assert "Traceback" not in done.stderr, (words, done.stderr)
        assert printable(done.stdout + done.stderr) == done.stdout + done.stderr, words
        assert not (folder / "mark").exists(), words


def test_a_store_reaches_no_other_file(tmp_path):
    duckdb = pytest.importorskip("duckdb")
    (tmp_path / "secret.csv").write_text("a\n1\n")
    (tmp_path / "a.toml").write_text(SCENARIO)
    lasthop.sweep(tmp_path / "a.toml", {"station.0.count": [1]}, seeds=1, store=tmp_path / "s.duckdb", progress=False)
    with duckdb.connect(str(tmp_path / "s.duckdb")) as made:
        made.execute(f"CREATE VIEW evil AS SELECT * FROM read_csv('{tmp_path}/secret.csv')")
        made.execute("CREATE TABLE names AS SELECT chr(27) || '[31m' AS name")
    for sql, status in (
        ("SELECT * FROM evil", 2),
        (f"COPY (SELECT 1) TO '{tmp_path}/mark'", 2),
        (f"ATTACH '{tmp_path}/other.duckdb'", 2),
        ("SELECT * FROM names", 0),
    ):
        done, events = watched("query", "s.duckdb", sql, folder=tmp_path)
        assert done.returncode == status and events == [], (sql, done.stdout, done.stderr)
        assert "\x1b" not in done.stdout + done.stderr
    assert not (tmp_path / "mark").exists() and not (tmp_path / "other.duckdb").exists()


# Text for a terminal.


def test_control_characters_do_not_reach_a_terminal(tmp_path):
    (tmp_path / "a.toml").write_text(SCENARIO)
    hostile = tmp_path / "out"
    lasthop.run(tmp_path / "a.toml", [1], explain=True, progress=False).save(hostile)
    document = json.loads((hostile / "result.json").read_text())
    document["scenario"]["name"] = "x\x1b]0;evil\x07"
    document["warnings"] = ["\x1b[31m red \x9b31m \u202e"]
    (hostile / "result.json").write_text(json.dumps(document))
    done, _ = watched("explain", hostile, folder=hostile.parent)
    assert done.returncode == 0, done.stderr
    assert "\\u001b[31m red \\u009b31m \\u202e" in done.stderr
    assert printable(done.stdout + done.stderr) == done.stdout + done.stderr


def test_printable_text_keeps_lines_and_means_the_same_in_json():
    text = "a\tb\nc \x1b[31m \x7f \x9b ± …"
    assert printable(text) == "a\tb\nc \\u001b[31m \\u007f \\u009b ± …"
    assert json.loads(printable(json.dumps("\x9b", ensure_ascii=False))) == "\x9b"


def test_commands_write_to_a_terminal_through_one_door():
    """`sys.stdout.write` of a text that may be foreign is `put`, `show` or `note`; the others write texts of our own."""
    own = {
        "cli/_output.py",
        "cli/_pager.py",
        "cli/__init__.py",
        "cli/self/man.py",
        "cli/self/schema.py",
        "cli/self/completion.py",
        "cli/self/doctor.py",
        "cli/cc/header.py",
        "cli/show.py",
        "cli/new.py",
        "cli/list.py",
        "cli/emulate.py",
        "cli/host/stats.py",
    }
    package = Path(lasthop.__file__).parent
    writers = {
        str(file.relative_to(package))
        for file in (package / "cli").rglob("*.py")
        if any(word in file.read_text() for word in ("sys.stdout.write(", "sys.stderr.write(", "print("))
        and "printable" not in file.read_text().split("sys.stderr.write(")[-1][:12]
    }
    assert writers <= own


# The type itself.


def test_an_origin_without_folders_holds_nothing(tmp_path):
    assert not Origin(Source.STORE).holds(tmp_path)
    assert Origin(Source.RESULT, (tmp_path,)).holds(tmp_path / "x")
    assert not Origin(Source.RESULT, (tmp_path,)).holds(tmp_path / ".." / "x")
