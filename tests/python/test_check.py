"""`lasthop check`: scenario files held to what a run would refuse, without running them."""

from __future__ import annotations

from pathlib import Path

RIGHT = '[bss]\nstandard = "802.11n"\n[[station]]\n[[flow]]\nstation = "*"\n'
ROOT = Path(__file__).parents[2]


def test_files_that_are_right_are_said_nothing_of(command, tmp_path) -> None:
    (tmp_path / "a.toml").write_text(RIGHT)
    done = command("check", str(tmp_path / "a.toml"), str(ROOT / "scenarios" / "tcp-nup.toml"))
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_each_wrong_file_has_its_sentence(command, tmp_path) -> None:
    good, bad, absent = (tmp_path / name for name in ("a.toml", "b.toml", "c.toml"))
    good.write_text(RIGHT)
    bad.write_text(RIGHT + 'colour = "red"\n')
    done = command("check", str(bad), str(good), str(absent))
    assert done.returncode == 2
    first, second = done.stderr.splitlines()
    assert first.startswith(f"lasthop: {bad}:6: ") and "colour" in first
    assert str(absent) in second


def test_warnings_are_mistakes_where_that_is_asked(command, tmp_path) -> None:
    file = tmp_path / "a.toml"
    file.write_text(RIGHT.replace("802.11n", "802.11b") + '[channel]\npath_loss = "none"\n')
    settings = ("--set", "station.0.distance=10 m")
    lenient = command("check", str(file), *settings)
    strict = command("check", "--strict", str(file), *settings)
    assert lenient.returncode == 0 and "no effect" in lenient.stderr
    assert strict.returncode == 2 and lenient.stderr == strict.stderr


def test_code_of_a_scenario_is_not_loaded(command, tmp_path) -> None:
    file = tmp_path / "a.toml"
    (tmp_path / "mine.py").write_text("raise SystemExit('loaded')\n")
    file.write_text(RIGHT + 'congestion_control = { kind = "python", file = "mine.py", class = "Mine" }\n')
    assert command("check", str(file)).returncode == 0
