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


def test_keys_that_a_kernels_wifi_stack_ignores_are_named(command, tmp_path) -> None:
    file, stack = tmp_path / "a.toml", ("--set", "emulation.wifi_stack=kernel")
    file.write_text(RIGHT.replace("[[station]]", 'rate_control = "arf"\n[[station]]'))
    assert command("check", str(file)).stderr == ""
    done = command("check", str(file), *stack)
    assert done.returncode == 0 and "bss.rate_control" in done.stderr and "no effect: mac80211" in done.stderr
    # It carries no flow of a simulation.
    file.write_text(file.read_text() + 'traffic = "ping"\n')
    refused = command("check", str(file), *stack)
    assert refused.returncode == 2 and "would be simulated" in refused.stderr


def test_code_of_a_scenario_is_not_loaded(command, tmp_path) -> None:
    file = tmp_path / "a.toml"
    (tmp_path / "mine.py").write_text("raise SystemExit('loaded')\n")
    file.write_text(RIGHT + 'congestion_control = { kind = "python", file = "mine.py", class = "Mine" }\n')
    assert command("check", str(file)).returncode == 0
