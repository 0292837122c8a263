"""Where keys and values stand in a TOML text, and changes that leave the rest as it is."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest
from lasthop import load
from lasthop.page.floor_plan import moved, moved_away, places_of
from lasthop.page.scenario_text import with_settings
from lasthop.page.toml_text import TomlText, applied, canonical, path_of
from lasthop.papers import paper_files, read_paper

ROOT = Path(__file__).resolve().parents[2]
SCENARIOS = sorted((ROOT / "scenarios").glob("*.toml"))
ODD = '''\
# a remark with [brackets] and "quotes"
name = "a # no remark" # one
'quoted key' = 'x\\'
long = """
[no header] ""
"""
raw = \'\'\'it's\'\'\'
a.b."c d" = [ 1, # first
  [2, 3,], { x = "}", y = [4] },
]
[[station]]
name = "s" # the first
queue = { kind = "codel", target = "5 ms" }
[station.more]
z = 1979-05-27T07:32:00Z
[[station]]
position = [ "1 m" ,  "2 m" ]   # here
'''


def walked(value: Any, path: tuple = ()):
    yield path, value
    entries = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in entries:
        yield from walked(item, (*path, key))


@pytest.mark.parametrize("text", [ODD, *(file.read_text() for file in SCENARIOS)])
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_each_value_is_at_its_span(text: str, newline: str) -> None:
    text = text.replace("\n", newline)
    found = TomlText(text)
    leaves = [(path, value) for path, value in walked(tomllib.loads(text)) if not isinstance(value, dict | list)]
    assert leaves
    for path, value in leaves:
        span = found.values[canonical(path)]
        assert tomllib.loads(f"value = {text[span.begin : span.end]}")["value"] == value, path


def test_a_change_leaves_remarks_and_layout() -> None:
    edits = moved(ODD, ("station", 1), (3.25, -4.0))
    assert applied(ODD, edits) == ODD.replace('[ "1 m" ,  "2 m" ]   # here', '[ "3.25 m" ,  "-4 m" ]   # here')


@pytest.mark.parametrize(
    ("text", "path", "expected"),
    [
        ("", ("name",), 'name = "v"\n'),
        ("a = 1 # x\n[bss]\n", ("name",), 'a = 1 # x\nname = "v"\n[bss]\n'),
        ("[bss]\nchannel = 1\n\n[tcp]\n", ("bss", "ap", "queue"), '[bss]\nchannel = 1\nap.queue = "v"\n\n[tcp]\n'),
        ("[bss]\n[bss.ap] # here", ("bss", 0, "ap", "queue"), '[bss]\n[bss.ap] # here\nqueue = "v"'),
        ("bss = { ap = { } }", ("bss", "ap", "queue"), 'bss = { ap = { queue = "v" } }'),
        ("bss = { ap = { a = 1 } }", ("bss", "ap", "queue"), 'bss = { ap = { a = 1, queue = "v" } }'),
        ("[[flow]]\n[[flow]]\nx = 1\n", ("flow", 0, "x"), '[[flow]]\nx = "v"\n[[flow]]\nx = 1\n'),
        ("[a]\nb.c = 1\n", ("a", "b", "d e"), '[a]\nb.c = 1\nb."d e" = "v"\n'),
    ],
)
def test_a_missing_key_is_added_to_its_table(text: str, path: tuple, expected: str) -> None:
    assert applied(text, [TomlText(text).setting(path, '"v"')]) == expected
    tomllib.loads(expected)


def test_a_distance_gives_its_place_to_a_position() -> None:
    text = '[[station]]\ndistance = "10 m"   # far\nname = "a"\n'
    expected = '[[station]]\nposition = ["1 m", "2 m"]   # far\nname = "a"\n'
    assert applied(text, moved(text, ("station", 0), (1.0, 2.0))) == expected
    assert applied(text, moved_away(text, ("station", 0), 4.5)) == text.replace("10 m", "4.5 m")


def test_paths_are_read_as_errors_and_settings_write_them() -> None:
    assert path_of("station[3].queue.limit") == ("station", 3, "queue", "limit")
    assert path_of("station.3.queue.limit") == ("station", 3, "queue", "limit")
    assert path_of('sweep."station.0.count"') == ("sweep", "station.0.count")


@pytest.mark.parametrize("file", paper_files(), ids=lambda file: file.stem)
def test_settings_written_into_a_text_resolve_as_laid_over_it(file: Path) -> None:
    cases = read_paper(file).cases.values()
    points = [point for case in cases for point in list(case.points())[:3]]
    for point in points:
        text = with_settings(point.scenario)
        resolved = point.scenario.resolve().to_json()
        assert load_text(text, point.scenario.file_name) == resolved, str(point)


def load_text(text: str, name: str) -> str:
    from lasthop import _core

    return _core.resolve(text, name, []).to_json()


def test_stations_of_a_group_form_a_circle_around_their_access_point() -> None:
    resolved = load(ROOT / "scenarios" / "office-11ax.toml").to_dict()
    nodes = {node["name"]: node for node in places_of(resolved)["nodes"]}
    # Four bulk stations at 8 m: east, north, west, south.
    assert [(round(nodes[f"bulk{n}"]["x"], 9), round(nodes[f"bulk{n}"]["y"], 9)) for n in (1, 2, 3, 4)] == [
        (8.0, 0.0),
        (0.0, 8.0),
        (-8.0, 0.0),
        (0.0, -8.0),
    ]
    assert nodes["bulk1"]["drag"] == "distance"
    assert nodes["ap"]["drag"] == "position"


def test_a_preamble_is_heard_as_far_as_the_path_loss_lets_it() -> None:
    resolved = load(ROOT / "scenarios" / "office-11ax.toml").to_dict()
    preamble, energy = places_of(resolved)["ranges"][0]
    # 16 dBm to -82 dBm are 98 dB. At 5180 MHz free space takes 46.73 dB in the first metre, each decade 30 dB more:
    # 10^((98 - 46.73) / 30) = 51.2 m; to -62 dBm 20 dB less, 11.0 m.
    assert preamble["metres"] == pytest.approx(51.2, abs=0.1)
    assert energy["metres"] == pytest.approx(11.03, abs=0.05)
