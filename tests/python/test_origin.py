"""What comes from somebody else runs no code, names no address, opens nothing outside its folder, and does not reach a terminal raw."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path
from typing import NamedTuple

import lasthop
import pytest
import traced
from lasthop import _core
from lasthop.data.extras import lacks
from lasthop.data.origin import Origin, Role, Source, named_files, roles
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
    """The engine's types give each key its role; the schema that users see has the same keys."""
    schema = json.loads(_core.schema_json())
    assert _keys_of_any_text(schema, schema) == set(roles())


def test_keys_of_files_are_those_whose_manual_names_a_file_or_a_path():
    assert {key for key, role in roles().items() if role is Role.FILE} == {
        *("file", "library", "object", "kernel"),
        *("hostapd", "wpa_supplicant"),
    }


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

ESCAPES = 'Station 02:00:00:00:00:01 (on wlan0)\n\x1b]0;evil\x07 COPY (SELECT 1) TO "mark";\n'
POSERS = ("store.duckdb", "capture.pcap", "iw.txt", "sweep.parquet", "sweep.csv", "claim.toml", "own.toml")
QUICK = ("--set", "duration=0.3 s", "--set", "warmup=0.1 s", "--seeds", "1")


@pytest.fixture(scope="module")
def hostiles(honest, tmp_path_factory) -> list[Path]:
    """Results that each want one thing: code, an address, a file elsewhere, a command, an escape sequence."""
    folder = tmp_path_factory.mktemp("hostile")
    shutil.copytree(honest / "out", folder / "out")
    (folder / "elsewhere.py").write_text(CODE.replace("MARK", str(folder / "mark")))
    (folder / "trace.csv").write_text("0.1, 1000\n0.2, 1000\n")
    settings = {
        "code": PYTHON.replace("FILE", str(folder / "elsewhere.py")),
        "address": ADDRESS.removeprefix("# --set ").rstrip(),
        "trace": 'flow.0.traffic={kind="trace", file="../trace.csv"}',
        "rate": 'wired.rate={kind="trace", file="../trace.csv"}',
        "object": f'flow.0.congestion_control={{kind="bpf", object="{folder}/trace.csv"}}',
        "kernel": 'emulation.kernel="/etc/passwd"',
        "command": f'flow.0.application={{kind="command", client="touch {folder}/mark", server="true"}}',
    }
    for name, setting in settings.items():
        shutil.copytree(folder / "out", folder / name)
        with_settings(folder / name, setting)
    odd = folder / "out"
    document = json.loads((odd / "result.json").read_text())
    document["scenario"]["name"] = "x\x1b]0;evil\x07\x9b31m"
    document["warnings"] = ["\x1b[31m red"]
    (odd / "result.json").write_text(json.dumps(document))
    (odd / "recording" / "seed-1" / "ppdu.parquet").write_bytes(b"PAR1" + b"\x1b[31m" * 30 + b"PAR1")
    for name in POSERS:
        (folder / name).write_text(ESCAPES)
    return [odd, *(folder / name for name in settings)]


def lines_of(results: list[Path]) -> list[tuple[str, ...]]:
    """Command lines that name these results, and texts that pose as other files."""
    first = str(results[0])
    of_results = [
        words
        for each in map(str, results)
        for words in (("explain", each), ("report", each, "--out", "x.html"), ("compare", each, each, "--explain"))
    ]
    return [
        *of_results,
        ("explain", first, first),
        ("compare", first, first),
        ("plot", first, "--out", "x.csv"),
        ("plot", first, "--kind", "air", "--out", "x.csv"),
        ("plot", "sweep.csv", "--kind", "sweep", "--out", "x.csv"),
        ("plot", "sweep.parquet", "--kind", "sweep", "--out", "x.csv"),
        ("plot", "store.duckdb", "--kind", "sweep", "--out", "x.csv"),
        ("query", "store.duckdb", "SELECT * FROM runs"),
        ("sweep", "tcp-nup", "--over", "station.0.count=1", *QUICK, "--store", "store.duckdb"),
        ("reproduce", "claim.toml", "--out", "reproduced"),
        ("export", "perfetto", first, "--out", "x"),
        ("export", "qlog", first, "--out", "x"),
        ("analyze", "capture.pcap"),
        ("analyze", "iw.txt"),
        ("twin", "capture.pcap"),
        ("twin", "iw.txt"),
        *((command, each) for command in ("run", "theory", "show", "emulate") for each in (first, "own.toml")),
        ("check", str(results[0] / "result.json")),
    ]


class Walk(NamedTuple):
    """Lines that ran under an audit hook, and under strace where that is."""

    lines: list[tuple[str, ...]]
    folder: Path
    logs: Path
    calls: Path

    @classmethod
    def of(cls, lines: list[tuple[str, ...]], folder: Path) -> Walk:
        """Runs the lines in `folder`, each in a process."""
        walk = cls(lines, folder, folder.with_name(f"{folder.name}-logs"), folder.with_name(f"{folder.name}-calls"))
        walk.logs.mkdir()
        (folder / "tmp").mkdir()
        (walk.logs / "lines.json").write_text(json.dumps(lines))
        before = [] if traced.why_not() else traced.line(walk.calls)
        line = [*before, sys.executable, str(WATCH), str(folder), str(walk.logs), f"@{walk.logs / 'lines.json'}"]
        environment = {**os.environ, "TMPDIR": str(folder / "tmp"), "PYTHONDONTWRITEBYTECODE": "1"}
        done = subprocess.run(
            line, cwd=folder, env=environment, capture_output=True, text=True, timeout=600, check=False
        )
        assert done.returncode == 0, done.stderr
        return walk

    def check(self) -> None:
        """Every line ends with a status and readable text, and no event was one that it may not cause."""
        statuses = json.loads((self.logs / "statuses.json").read_text())
        for number, (words, status) in enumerate(zip(self.lines, statuses, strict=True)):
            said = "".join((self.logs / f"{number}.{stream}").read_text() for stream in ("out", "err"))
            assert status in (0, 1, 2), (words, status, said)
            assert json.loads((self.logs / f"{number}.json").read_text()) == [], words
            assert "Traceback" not in said, (words, said)
            assert printable(said) == said, words
        assert not (self.folder / "mark").exists()

    def outside(self, *never: Path) -> list[traced.Call]:
        """The calls that strace saw and that somebody else's files may not cause."""
        if reason := traced.why_not():
            pytest.skip(reason)
        return traced.outside(self.calls, [self.folder, self.logs], never, programs=[sys.executable])


@pytest.fixture(scope="module")
def walk(hostiles) -> Walk:
    """Every command with hostile files."""
    return Walk.of(lines_of(hostiles), hostiles[0].parent)


def test_commands_do_nothing_outside_with_files_of_somebody_else(walk):
    walk.check()


def test_the_engine_opens_nothing_outside_with_files_of_somebody_else(walk):
    """Strace sees the files that the engine opens, its programs and its sockets."""
    never = [walk.folder / "elsewhere.py", walk.folder / "trace.csv", Path("/etc/passwd"), Path("/etc/shadow")]
    found = walk.outside(*never)
    assert found == [], found[:10]


def test_the_watch_sees_what_the_engine_opens(tmp_path):
    """A trace outside the folder, in a scenario of the user's, who may name it: only strace sees that."""
    folder = tmp_path / "in"
    folder.mkdir()
    (tmp_path / "trace.csv").write_text("0.1, 1000\n0.2, 1000\n")
    flow = 'traffic = { kind = "trace", file = "../trace.csv" }\ntransport = "udp"\n'
    (folder / "a.toml").write_text(SCENARIO + flow)
    walk = Walk.of([("run", "a.toml", "--seed", "1")], folder)
    walk.check()
    found = walk.outside()
    assert {call.file for call in found} == {str(tmp_path / "trace.csv")}, found[:10]


def test_the_page_does_nothing_outside_with_files_of_somebody_else(hostiles):
    if reason := lacks("page"):
        pytest.skip(f"the page {reason}")
    folder = hostiles[0].parent
    log = folder.with_name(f"{folder.name}.json")
    line = [sys.executable, str(WATCH), str(folder), str(log), "serve", str(folder), "--port", "0"]
    process = subprocess.Popen(line, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        address = process.stdout.readline().strip().rstrip("/")
        statuses = asked_of_page(address, hostiles)
    finally:
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=60)
    assert process.returncode == 130 and "Traceback" not in said, said
    assert max(statuses) < 500 and statuses.count(200) > 5, statuses
    events = [
        event for event in json.loads(log.read_text()) if event[0] != "socket.bind" or "127.0.0.1" not in event[1]
    ]
    assert events == [] and not (folder / "mark").exists()


def asked_of_page(address: str, results: list[Path]) -> list[int]:
    """The statuses of requests for everything that the page shows of these results, and of their scenarios as texts."""
    entries = json.loads(urllib.request.urlopen(f"{address}/api/entries", timeout=60).read())
    keys = re.findall(r'"key": ?"([^"]+)"', json.dumps(entries))
    assert len(keys) >= len(results)
    parts = ("", "/seeds", "/result", "/seeds/1/explain", "/seeds/1/air", "/seeds/1/frames")
    asked = [f"/api/entries/{key}" for key in keys] + [f"/api/runs/{key}{part}" for key in keys for part in parts[1:]]
    statuses = [status_of(urllib.request.Request(address + each)) for each in asked]
    for result in results:
        head = result.joinpath("scenario.toml").read_text()
        for route in ("check", "theory", "runs"):
            body = json.dumps({"text": head, "name": "../x.toml", "seeds": 1}).encode()
            headers = {"Content-Type": "application/json", "Origin": address}
            statuses.append(status_of(urllib.request.Request(f"{address}/api/{route}", body, headers)))
    return statuses


def status_of(request: urllib.request.Request) -> int:
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            answer.read()
            return answer.status
    except urllib.error.HTTPError as error:
        return error.code


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
