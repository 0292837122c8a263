"""A stored result whose scenario names a profile that stands for another version now."""

import json

import lasthop
from lasthop.data.profiles import version_today

SCENARIO = """
duration = "0.3 s"
warmup = "0 s"
[bss]
standard = "802.11n"
[[station]]
name = "a"
[[flow]]
station = "a"
traffic = "bulk"
direction = "up"
"""


def stored(command, folder, scenario):
    """The folder of a result of `scenario`."""
    folder.mkdir()
    file = folder / "file.toml"
    file.write_text(scenario)
    command("run", str(file), "--seeds", "1", "--out", str(folder / "out"))
    return folder / "out"


def as_if_run_with(out, version):
    """Edits a result as if `linux` had been another version when it was made."""
    file = out / "result.json"
    text = file.read_text()
    assert f'"{version_today("linux")}"' in text
    file.write_text(text.replace(f'"{version_today("linux")}"', f'"{version}"'))


def test_a_result_of_today_has_no_warning(command, tmp_path):
    for number, text in enumerate(["", '[tcp]\nprofile = "linux"\n', '[tcp]\nprofile = "linux-7.3"\n']):
        out = stored(command, tmp_path / str(number), SCENARIO + text)
        assert lasthop.read(out).moved == []


def test_a_moved_name_is_a_warning(command, tmp_path):
    for number, text in enumerate(["", '[tcp]\nprofile = "linux"\n']):
        out = stored(command, tmp_path / str(number), SCENARIO + text)
        as_if_run_with(out, "linux-6.18")
        result = lasthop.read(out)
        (warning,) = result.moved
        assert 'tcp.profile = "linux" was "linux-6.18" when this was run and is "linux-7.3" now' in warning
        assert result.warnings[-1] == warning
    printed = command("compare", str(out), str(tmp_path / "0" / "file.toml"))
    assert f"warning: {out}: {warning}" in printed.stderr
    assert warning in lasthop.compare(result, result).warnings[0]


def test_a_version_that_is_named_has_not_moved(command, tmp_path):
    out = stored(command, tmp_path / "a", SCENARIO + '[tcp]\nprofile = "linux-7.3"\n')
    as_if_run_with(out, "linux-6.18")
    assert lasthop.read(out).moved == []


def test_a_flow_of_its_own_profile_is_looked_at(command, tmp_path):
    flow = SCENARIO.replace('direction = "up"', 'direction = "up"\nprofile = "linux"') + '[tcp]\nprofile = "ns2"\n'
    out = stored(command, tmp_path / "a", flow)
    as_if_run_with(out, "linux-6.18")
    assert [warning.split(" ", 1)[0] for warning in lasthop.read(out).moved] == ["flow.*.profile"]


def test_a_result_alone_has_no_name(command, tmp_path):
    out = stored(command, tmp_path / "a", SCENARIO)
    as_if_run_with(out, "linux-6.18")
    (out / "scenario.toml").unlink()
    assert lasthop.read(out).moved == []
    assert json.loads((out / "result.json").read_text())["warnings"] == []
