"""What holds and tells speed: instructions against those that are kept, aims, growth, and the tables of a page."""

from __future__ import annotations

import importlib
import math
import re
import shutil
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BENCHES = ROOT / "benches"

pytestmark = pytest.mark.skipif(not BENCHES.is_dir(), reason="benches are not part of a package")

RUSTC = "rustc 1.95.0 (59807616e 2026-04-14)"
KEPT = {("uploads", "a segment"): 10_000, ("uploads", "a frame"): 5_000}


@pytest.fixture
def bench(monkeypatch):
    """Imports a file of `benches`, whatever other files of its name were imported before."""
    names = [path.stem for path in BENCHES.glob("*.py")]
    monkeypatch.syspath_prepend(str(BENCHES))
    for name in names:
        monkeypatch.delitem(sys.modules, name, raising=False)
    yield importlib.import_module
    for name in names:
        sys.modules.pop(name, None)


def test_two_percent_more_instructions_pass_and_more_fail(bench):
    instructions = bench("instructions")
    assert instructions.judge(KEPT, RUSTC, KEPT | {("uploads", "a segment"): 10_200}, RUSTC)[0] == 0
    status, said = instructions.judge(KEPT, RUSTC, KEPT | {("uploads", "a segment"): 10_201}, RUSTC)
    assert status == 1
    assert "!!  uploads, a segment: 10,000 -> 10,201 (+2.0%)" in said
    assert "ok  uploads, a frame: 5,000 -> 5,000 (+0.0%)" in said


def test_fewer_instructions_pass(bench):
    assert bench("instructions").judge(KEPT, RUSTC, KEPT | {("uploads", "a segment"): 1}, RUSTC)[0] == 0


def test_another_compiler_is_reported_and_fails_no_gate(bench):
    status, said = bench("instructions").judge(KEPT, "rustc 1.90.0", KEPT | {("uploads", "a segment"): 20_000}, RUSTC)
    assert status == 0
    assert "Not a failure: they were kept under rustc 1.90.0, this is rustc 1.95.0" in said


@pytest.mark.parametrize(("old", "new"), [({}, KEPT), (KEPT, {})])
def test_a_count_that_only_one_side_has_fails(bench, old, new):
    assert bench("instructions").judge(old, RUSTC, new, RUSTC)[0] == 1


def test_counts_are_read_as_they_were_written(bench, tmp_path):
    instructions = bench("instructions")
    instructions.write(KEPT, RUSTC, tmp_path / "table.tsv")
    assert instructions.kept(tmp_path / "table.tsv") == (KEPT, RUSTC)
    assert instructions.kept(tmp_path / "absent.tsv") == ({}, "")


def test_every_case_that_is_gated_has_its_instructions(bench):
    instructions = bench("instructions")
    names = {case["name"] for case in tomllib.loads(instructions.CASES.read_text())["case"]}
    kept, rustc = instructions.kept()
    assert {subject for subject, per in kept if per == "a segment"} == names | {f"{instructions.EXPLAINED} explained"}
    assert rustc.startswith("rustc 1.")


def test_a_segment_over_quic_takes_at_most_two_and_a_half_times_what_tcp_took_when_quic_came(bench):
    """That was 6,984. TCP takes less by now, of late as it compresses ACKs; packets of quinn-proto, most of the cost, do not."""
    kept, _ = bench("instructions").kept()
    assert kept["download-11n over QUIC", "a segment"] <= 2.5 * 6984
    assert kept["download-11n over QUIC", "a segment"] <= 3 * kept["download-11n", "a segment"]


def test_a_run_under_valgrind_counts_the_whole_process_and_reports_failures(bench, monkeypatch, tmp_path):
    instructions = bench("instructions")
    folder = tmp_path / "bin"
    folder.mkdir()
    valgrind = folder / "valgrind"
    valgrind.write_text("#!/bin/sh\necho '{\"flows\": []}'\necho '==1== Collected : 1234567' >&2\nexit ${STATUS:-0}\n")
    valgrind.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")
    assert instructions.Run("scenarios/rrul.toml", ("duration=1 s",)).count() == (1_234_567, {"flows": []})
    monkeypatch.setenv("STATUS", "3")
    with pytest.raises(instructions.Failed, match="exit status 3"):
        instructions.Run("scenarios/rrul.toml", ()).count()


def test_missing_valgrind_is_one_sentence(bench, monkeypatch, capsys):
    instructions = bench("instructions")
    monkeypatch.setattr(instructions.shutil, "which", lambda _: None)
    monkeypatch.setattr(sys, "argv", ["instructions.py"])
    assert instructions.main() == 1
    assert capsys.readouterr().err == "bench: valgrind is not installed: `apt-get install valgrind`\n"


def test_files_of_several_bsss_are_those_that_are_made(bench):
    several_bss = bench("several_bss")
    for name, (bsss, apart_m) in several_bss.FILES.items():
        assert (several_bss.FOLDER / f"{name}.toml").read_text() == several_bss.text(name, bsss, apart_m)


def test_memory_of_a_command_excludes_its_measurement(bench):
    child = bench("child")
    held = bytearray(150_000_000)
    usage = child.run([sys.executable, "-S", "-c", "print('words'); held = bytearray(50_000_000)"])
    assert 50e6 < usage.peak_bytes < len(held)
    assert usage.output == "words\n" and usage.cpu_s > 0


def test_a_failing_command_is_reported_with_its_last_line(bench):
    child = bench("child")
    with pytest.raises(child.Failed, match="exit status 3: enough"):
        child.run(["sh", "-c", "echo enough; exit 3"])
    with pytest.raises(child.Failed, match="No such file or directory: '/absent'"):
        child.run(["/absent"])


@pytest.mark.parametrize("power", [0, 0.5, 1, 2])
def test_a_power_is_found(bench, power):
    x = (1, 10, 100, 5000)
    assert bench("scale").power_law(x, [3 * n**power for n in x]) == pytest.approx(power, abs=1e-12)


def test_no_power_without_two_points(bench):
    assert math.isnan(bench("scale").power_law((1, 10), (0, 5)))


def test_an_aim_is_met_on_its_side(bench):
    aim = bench("aims").Aim
    fast = aim("ratio", 20, "", {"lasthop": 19, "lasthop-plain": 17, "none": None}, True, 18)
    assert [fast.met(key) for key in ("lasthop", "lasthop-plain", "none", "absent")] == [True, False, None, None]
    small = aim("memory", 80, "MB", {"lasthop": 80, "lasthop-plain": 81})
    assert [small.met(key) for key in ("lasthop", "lasthop-plain")] == [True, False]


@pytest.fixture
def filled(bench):
    """A table with made-up samples: an engine of 1 ms a simulated second, its plain build of 2, peers of 40."""
    table, simulators, engines, cases = (bench(name) for name in ("table", "simulators", "engines", "cases"))
    both = [engines.INSTALLED, engines.PLAIN_BUILD]
    peers = [peer for peer in simulators.peers() if peer.key != "ns3"]
    found = table.Table([*map(simulators.Lasthop, both), *peers])
    costs = {"lasthop": 0.001, "lasthop-plain": 0.002, "ns2": 0.04, "ns2-splay": 0.04}
    for case in cases.CASES:
        for key, cost in costs.items():
            if key.startswith("lasthop") or key in case.peers:
                sample = simulators.Sample(cost, 8 * case.payload_bytes * 1000, 500, 3000)
                found._samples[case.name, key] = [sample]
    return found, both


def test_aims_follow_from_samples_for_each_engine(bench, filled):
    table, both = filled
    found = {aim.what: aim for aim in bench("aims").table_aims(table, [engine.key for engine in both])}
    assert found["ten NewReno uploads, 802.11b: ns-2.35's CPU time over ours"].measured == {
        "lasthop": 40,
        "lasthop-plain": 20,
    }
    assert found["802.11n downloads, two stations: ns-3.44's over ours"].measured == {
        "lasthop": None,
        "lasthop-plain": None,
    }
    # 1 ms of CPU for 1000 segments, and 500 frames of 6 events each.
    assert found["802.11n downloads, two stations: a segment"].measured["lasthop"] == pytest.approx(1000)
    assert found["20 BSSs of six nodes, 1 m apart: events a frame"].measured["lasthop"] == 6
    assert found["20 BSSs of six nodes, 30 m apart: CPU time a frame over that of one BSS"].measured["lasthop"] == 1


def test_tables_are_written_between_their_marks_only(bench, filled, tmp_path):
    report, scale, aims = bench("report"), bench("scale"), bench("aims")
    table, both = filled
    point = scale.Point
    grown = [scale.Growth("stations", "frame", (point(1, 1e-7, 10**7), point(100, 1e-6, 10**7)))]
    aimed = [*aims.table_aims(table, [engine.key for engine in both])]
    found = report.tables(table, aimed, table.targets(), grown, both)
    page = tmp_path / "speed.md"
    page.write_text(
        "# Speed\n\n<!-- bench: aims -->\n\nold\n<!-- end -->\n\nProse.\n<!-- bench: scale -->\n<!-- end -->\n"
    )
    assert report.write(page, found) == ["aims", "scale"]
    text = page.read_text()
    assert text.startswith(
        "# Speed\n\n<!-- bench: aims -->\n\n| aim |  | lasthop | met | lasthop, plain build | met |\n|---|--:|"
    )
    assert "| office-11ax: times faster than real time | ≥ 40 | 1,000 | yes | 500 | yes |" in text
    assert "old" not in text
    assert "\n\n<!-- end -->\n\nProse.\n<!-- bench: scale -->\n\n| with | how many |" in text
    assert "| stations | 100 | 1,000 ns a frame | 10 MB |\n| stations | grows as | n^0.50 | n^0.00 |" in text
    report.write(page, found)
    assert page.read_text() == text, "written twice is written once"


def test_a_change_since_the_last_run_is_judged_by_its_interval(bench, filled, monkeypatch, tmp_path):
    history, report = bench("history"), bench("report")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert history.last() is None
    before = {"uplink-11b": {"lasthop": [1.0, 1.1, 1.05], "ns2": [20.0, 21.0, 19.5]}, "gone": {"lasthop": [1.0]}}
    history.keep(before, "0123")
    now = {
        "uplink-11b": {"lasthop": [2.0, 2.1, 2.2], "ns2": [20.0, 19.0, 21.0], "ns3": [300.0]},
        "new": {"lasthop": [1.0]},
    }
    found = {one.simulator: one for one in history.changes(now, history.last()["costs"])}
    assert {name: one.verdict for name, one in found.items()} == {"lasthop": "slower", "ns2": "no change shown"}
    # By scipy.stats.ttest_ind of the logarithms, equal_var=False.
    assert found["lasthop"].ratio == pytest.approx((2.0, 1.79517926, 2.22818974))
    text = report.changes(list(found.values()), history.last())
    assert "(engine 0123)" in text and "| lasthop | 2 (1.8 to 2.23) | slower |" in text
    # Peers take turns with lasthop, so that what slows a round down slows both.
    assert history.ratio_of([1.0, 2.0, 1.5], [10.0, 20.0, 15.0]) == pytest.approx((10, 10, 10))
    assert history.ratio_of([1.0], [10.0]) == pytest.approx((10, None, None))
    assert filled[0].costs()["uplink-11b"]["ns2"] == [0.04]


def test_every_table_has_its_place(bench, filled):
    table, both = filled
    report, scale = bench("report"), bench("scale")
    grown = [scale.Growth("stations", "frame", (scale.Point(1, 1e-7, 10**7),))]
    names = set(report.tables(table, [], [], grown, both))
    pages = "".join((ROOT / page).read_text() for page in ("docs/speed.md", "README.md"))
    assert set(re.findall(r"<!-- bench: (.*) -->|recorded/speed-(\w+)\.tsv", pages)) == {
        (name, "") if name in ("aims", "readme") else ("", name) for name in names
    }


def test_a_linked_table_goes_into_its_file(bench, tmp_path):
    report = bench("report")
    page = tmp_path / "speed.md"
    page.write_text("<!-- bench: aims -->\n<!-- end -->\n\n[Every case](recorded/speed-alone.tsv)\n")
    (tmp_path / "recorded").mkdir()
    table = "| alone | ns |\n|---|--:|\n| one | 5 |\n| two |  |"
    assert report.write(page, {"aims": table, "alone": table, "bounds": table}) == ["aims", "alone"]
    assert (tmp_path / "recorded/speed-alone.tsv").read_text() == "alone\tns\none\t5\ntwo\t\n"
    assert "two" not in page.read_text().partition("<!-- end -->")[2]


def test_growth_is_drawn(bench, tmp_path):
    scale = bench("scale")
    points = tuple(scale.Point(n, 1e-6 * n**0.1, 10**6 * n) for n in (1, 10, 100))
    scale.draw(
        [scale.Growth("stations", "frame", points), scale.Growth("runs of a sweep", "run", points)], tmp_path / "s.svg"
    )
    text = (tmp_path / "s.svg").read_text()
    assert "<svg" in text and text.count("<path") > 10


@pytest.mark.skipif(shutil.which("rustc") is None, reason="rustc is not installed")
def test_missing_profile_tools_are_named_with_the_package(bench):
    guided = bench("guided")
    with pytest.raises(guided.Failed, match=r"rustup component add llvm-tools`, or the package llvm-\d+$"):
        guided.find_profdata([shutil.which("false"), "/absent/llvm-profdata"])


def test_without_profiles_the_plain_engine_stays(bench, monkeypatch, capsys):
    guided = bench("guided")
    engine = guided.PACKAGE / guided.EXTENSION

    def written():
        return engine.exists() and engine.stat().st_mtime_ns

    before = written()

    def missing():
        raise guided.Failed("no profile-guided engine: none reads profiles")

    monkeypatch.setattr(guided, "find_profdata", missing)
    monkeypatch.setattr(sys, "argv", ["guided.py", "engine"])
    assert guided.main() == 1
    assert capsys.readouterr().err == "lasthop: no profile-guided engine: none reads profiles\n"
    assert written() == before


def test_the_plain_build_is_measured_only_beside_a_guided_one_of_the_same_sources(bench, monkeypatch):
    engines = bench("engines")

    def found(installed, plain):
        facts = {"lasthop": installed, "lasthop-plain": plain}
        monkeypatch.setattr(engines, "facts", lambda engine: facts[engine.key])
        return [engine.label for engine in engines.engines()]

    assert found(("a", True), ("a", False)) == ["lasthop, profile-guided", "lasthop, plain build"]
    assert found(("a", True), ("b", False)) == ["lasthop"]
    assert found(("a", True), None) == ["lasthop"]
    assert found(("a", False), ("a", False)) == ["lasthop"]


def test_bench_refuses_a_page_without_marks(command, tmp_path):
    page = tmp_path / "page.md"
    page.write_text("nothing\n")
    done = command("self", "bench", "--write", str(page))
    assert done.returncode == 2
    assert "has no mark <!-- bench: NAME -->" in done.stderr


def test_doctor_shows_how_the_engine_was_compiled(command):
    told = command("self", "doctor").stdout
    assert len(re.findall("engine compiled with(?:out)? a profile", told)) == 1


def test_the_store_knows_an_engine_by_its_sources():
    from lasthop import _core
    from lasthop.study.store import engine_identity

    assert re.fullmatch(r"[0-9a-f]{16}", _core.source_digest)
    assert engine_identity() == f"{_core.__version__}+{_core.source_digest}"
