"""A run that was interrupted goes on after its finished seeds; what a killed command left is removed."""

from __future__ import annotations

import errno
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from lasthop import cli
from lasthop.data.files import PendingFile
from lasthop.data.result import ResultDirectory
from lasthop.data.temporary import TemporaryFolder
from lasthop.study.unfinished import CAMPAIGN, LOG, Unfinished

RUN = ["run", "small.toml", "--seeds", "4", "--set", "duration=1 s", "--jobs", "1"]
KEEPING = ["--record", "air,tcp", "--record-for", "200 ms", "--explain", "--pcap", "out/pcap", "--out", "out"]
STRIKES = Path(__file__).with_name("strikes.py")


def written(folder: str) -> dict[str, bytes]:
    """The files of a result, without the times that a run took."""
    paths = [path for path in Path(folder).rglob("*") if path.is_file()]
    return {str(path): re.sub(rb'"wall_s": [0-9.e+-]+', b"", path.read_bytes()) for path in paths}


@pytest.fixture
def cut_short(monkeypatch):
    """Runs a command up to the writing of its result, for which there is no room."""

    def no_room(self, result, **_options):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "out/result.json")

    def run(*line: str) -> None:
        with monkeypatch.context() as patched:
            patched.setattr(ResultDirectory, "commit", no_room)
            assert cli.main([*line]) == 1

    return run


@pytest.mark.parametrize("more", [["--seeds", "4"], ["--seeds", "10", "--until", "1%"]])
def test_a_resumed_run_gives_the_same_bytes_and_runs_only_missing_seeds(small, capsys, cut_short, more):
    assert cli.main([*RUN, *KEEPING, *more]) == 0
    seeds = int(more[1])
    whole = written("out")
    for path in whole:
        Path(path).unlink()
    cut_short(*RUN, *KEEPING, *more)
    log = Path("out/unfinished", LOG)
    os.truncate(log, log.stat().st_size - 1)
    capsys.readouterr()
    assert cli.main([*RUN, *KEEPING, *more, "--jobs", "2", "--resume"]) == 0
    assert f"out: goes on after {seeds - 1} finished seeds" in capsys.readouterr().err
    assert written("out") == whole


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (["--set", "wired.delay=11 ms"], 'scenario.wired.delay was "10 ms" and is "11 ms"'),
        (["--interval", "500 ms"], "--interval was 1.0 and is 0.5"),
        (["--seeds", "5"], '--seeds was "1 to 4" and is "1 to 5"'),
        (["--explain"], "--explain was false and is true"),
        (["--seeds", "10", "--until", "2%"], '--seeds was "1 to 4" and is "1 to 10"'),
    ],
)
def test_resume_refuses_another_run_and_names_the_difference(small, capsys, cut_short, change, words):
    cut_short(*RUN, "--out", "out")
    before = written("out")
    assert cli.main([*RUN, "--out", "out", *change, "--resume"]) == 2
    assert f"out: --resume: the interrupted run was another one: {words}; give" in capsys.readouterr().err
    assert written("out") == before


def test_resume_refuses_the_seeds_of_another_engine(small, capsys, cut_short):
    cut_short(*RUN, "--out", "out")
    file = Path("out/unfinished", CAMPAIGN)
    file.write_text(json.dumps({**json.loads(file.read_text()), "engine": "0.0.1+0123"}))
    assert cli.main([*RUN, "--out", "out", "--resume"]) == 2
    assert 'another one: engine was "0.0.1+0123" and is "' in capsys.readouterr().err


def test_a_run_without_resume_replaces_an_unfinished_one_and_says_so(small, capsys, cut_short):
    cut_short(*RUN, "--out", "out")
    line = ["run", "small.toml", "--seed", "7", "--set", "duration=1 s", "--out", "out"]
    assert cli.main(line) == 0
    assert "out: 4 finished seeds of an interrupted run are replaced; --resume would go on" in capsys.readouterr().err
    assert not Path("out/unfinished").exists()


def test_resume_without_a_directory_is_refused_and_without_an_interrupted_run_begins_anew(small, capsys):
    assert cli.main([*RUN, "--resume"]) == 2
    assert "--resume: needs the --out DIR or --pcap DIR" in capsys.readouterr().err
    assert cli.main([*RUN, "--out", "out", "--resume"]) == 0
    assert "out: no interrupted run is there; this one begins anew" in capsys.readouterr().err


def test_a_directory_has_one_run_at_a_time(small, capsys, cut_short):
    cut_short(*RUN, "--out", "out")
    campaign = json.loads(Path("out/unfinished", CAMPAIGN).read_text())
    with Unfinished(Path("out"), campaign, resume=True) as unfinished:
        assert unfinished.seeds == {1, 2, 3, 4}
        assert cli.main([*RUN, "--out", "out"]) == 2
    assert "out: another process writes its result here" in capsys.readouterr().err
    assert cli.main([*RUN, "--out", "out", "--resume"]) == 0


def test_a_folder_of_the_user_is_no_unfinished_run(small, capsys):
    Path("out/unfinished").mkdir(parents=True)
    Path("out/unfinished/mine.txt").write_text("mine")
    assert cli.main([*RUN, "--out", "out"]) == 2
    assert "out/unfinished: is not an unfinished run of lasthop" in capsys.readouterr().err
    assert Path("out/unfinished/mine.txt").read_text() == "mine"


def test_leftovers_of_killed_commands_are_removed_and_nothing_else(small, capsys):
    code = """if True:
        import os, signal
        from pathlib import Path
        from lasthop.data.files import PendingFile
        from lasthop.data.temporary import TemporaryFolder
        PendingFile("out/result.json").begin()
        folder = TemporaryFolder("recording", Path("out"))
        (folder.path / "file").write_text("part")
        os.kill(os.getpid(), signal.SIGKILL)"""
    Path("out/seed-1").mkdir(parents=True)
    subprocess.run([sys.executable, "-c", code], check=False)
    left = list(Path("out").glob(".*.part"))
    assert len(left) == 2
    left[0].rename(Path("out/seed-1", left[0].name))
    others = [Path("out/.result.json.12.part"), Path("out/.mine.part"), Path("out/.link.12.0123456789abcdef.part")]
    for file in others[:2]:
        file.write_text("of the user")
    others[2].symlink_to(small)
    with PendingFile("out/flows.parquet") as pending, TemporaryFolder("pcap", Path("out")) as used:
        pending.begin().close()
        assert cli.main([*RUN, "--out", "out"]) == 0
        assert pending.temporary.exists() and used.path.exists()
    assert "out: 2 temporary files or folders of a command that was killed are removed" in capsys.readouterr().err
    assert all(file.is_symlink() or file.exists() for file in others) and small.exists()
    assert sorted(Path("out").rglob(".*")) == sorted(others)


@pytest.mark.alone
@pytest.mark.skipif(not Path("/proc/self/cwd").exists(), reason="needs /proc to see which processes remain")
def test_strikes_at_random_moments_lose_no_finished_seed(tmp_path):
    """The longer form is `make soak`."""
    struck = subprocess.run(
        [sys.executable, STRIKES, "60", "1"], cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False
    )
    assert struck.returncode == 0, struck.stdout + struck.stderr
    counts = json.loads(struck.stdout)
    assert counts["strikes"] == 60 and counts["struck"] > 30
    assert (counts["lost"], counts["leftovers"], counts["half"], counts["wrong"]) == (0, 0, 0, 0)
