"""The positions of nodes and walls of a scenario, for the map, and the edits of its text that move one."""

from __future__ import annotations

import math
import re
from contextlib import suppress
from typing import Any

from ..data.plain_number import plain
from .toml_text import Edit, Path, TomlText

METRES = re.compile(r"\s*([-+0-9.eE]+)\s*(mm|cm|km|m)?\s*")
SCALES = {"mm": 1e-3, "cm": 1e-2, "m": 1.0, "km": 1e3, None: 1.0}
DBM = re.compile(r"\s*([-+0-9.eE]+)\s*dBm?\s*")
DEFAULT_DISTANCE = "10 m"
LIGHT_MPS = 299_792_458.0
# More stations are not drawn one by one.
MOST = 2000


def places_of(resolved: dict[str, Any]) -> dict[str, Any]:
    """Nodes, interferers among them, walls, ranges and hidden pairs, in metres.

    Each node has `name`, `kind`, `x`, `y`, `bss`, the `path` of its section, and `drag`: `position`, the `distance` of
    a group on a circle, or None with the reason in `why`.
    """
    access_points = [_access_point(bss, index, len(resolved["bss"])) for index, bss in enumerate(resolved["bss"])]
    nodes = list(access_points)
    for index, group in enumerate(resolved["station"]):
        if len(nodes) < MOST:
            nodes += _stations(group, index, _home(group, resolved["bss"], access_points))
    nodes += [_interferer(one, index) for index, one in enumerate(resolved.get("interferer", []))]
    channel = resolved["channel"]
    walls = [
        {"path": f"wall.{index}", "from": _place(wall["from"]), "to": _place(wall["to"]), "loss": wall["loss"]}
        for index, wall in enumerate(resolved["wall"])
    ]
    return {
        "nodes": nodes[:MOST],
        "more": max(0, sum(group.get("count") or 1 for group in resolved["station"]) + len(access_points) - MOST),
        "walls": walls,
        "ranges": [_ranges(bss, channel) for bss in resolved["bss"]],
        "hidden": channel.get("hidden") or [],
        "weakens": channel["path_loss"]["kind"] != "none",
    }


def _access_point(bss: dict[str, Any], index: int, count: int) -> dict[str, Any]:
    x, y = _place(bss["ap"]["position"])
    name = "ap" if count == 1 else f"{bss.get('name') or index}"
    path = f"bss.{index}.ap"
    return {"name": name, "kind": "ap", "x": x, "y": y, "bss": index, "path": path, "drag": "position", "why": ""}


def _interferer(one: dict[str, Any], index: int) -> dict[str, Any]:
    x, y = _place(one["position"])
    path = f"interferer.{index}"
    return {
        "name": one["name"],
        "kind": "interferer",
        "x": x,
        "y": y,
        "bss": None,
        "path": path,
        "drag": "position",
        "why": "",
    }


def _home(group: dict[str, Any], all_bss: list[dict[str, Any]], access_points: list[dict[str, Any]]) -> dict[str, Any]:
    named = [ap for ap, bss in zip(access_points, all_bss, strict=True) if bss.get("name") == group.get("bss")]
    return named[0] if named else access_points[0]


def _stations(group: dict[str, Any], index: int, ap: dict[str, Any]) -> list[dict[str, Any]]:
    count = group.get("count")
    names = [group["name"]] if count is None else [f"{group['name']}{n}" for n in range(1, min(count, MOST) + 1)]
    common = {"kind": "station", "bss": ap["bss"], "path": f"station.{index}", "why": ""}
    if group.get("waypoints"):
        way = [[_metres(x), _metres(y)] for _, x, y in (_waypoint(point) for point in group["waypoints"])]
        why = "it moves along its waypoints, which are in the text"
        return [{**common, "name": names[0], "x": way[0][0], "y": way[0][1], "drag": None, "why": why, "way": way}]
    if group.get("position"):
        x, y = _place(group["position"])
        return [{**common, "name": name, "x": x, "y": y, "drag": "position"} for name in names]
    distance = _metres(group.get("distance") or DEFAULT_DISTANCE)
    several = {"drag": "distance", "why": "the group is on a circle; moving one changes its distance"}
    kind = several if (count or 1) > 1 else {"drag": "position"}
    turns = [2 * math.pi * member / len(names) for member in range(len(names))]
    return [
        {
            **common,
            **kind,
            "name": name,
            "x": ap["x"] + distance * math.cos(turn),
            "y": ap["y"] + distance * math.sin(turn),
        }
        for name, turn in zip(names, turns, strict=True)
    ]


def _waypoint(point: Any) -> Any:
    return tuple(point) if isinstance(point, list) else (point["at"], *point["place"])


def _ranges(bss: dict[str, Any], channel: dict[str, Any]) -> list[dict[str, Any]]:
    """The distances at which a transmission is noticed, as its preamble and as energy, if distance alone decides."""
    power = _dbm(channel["tx_power"])
    loss = channel["path_loss"]
    ranges = []
    for key, label in (("cca_preamble", "preambles are heard"), ("cca_energy", "energy is sensed")):
        metres = _reach(power - _dbm(channel[key]), loss, _frequency_hz(bss))
        if metres is not None:
            ranges.append({"metres": metres, "label": f"{label} as far as about {plain(metres, 3)} m ({channel[key]})"})
    return ranges


def _reach(budget_db: float, loss: dict[str, Any], frequency_hz: float) -> float | None:
    def free_space_db(metres: float) -> float:
        return 20 * math.log10(4 * math.pi * metres * frequency_hz / LIGHT_MPS)

    with suppress(ArithmeticError):  # an exponent of 0, a loss beyond all numbers: no distance
        if loss["kind"] == "friis":
            return float(10 ** ((budget_db - free_space_db(1.0)) / 20))
        if loss["kind"] == "log_distance":
            reference = _metres(loss.get("reference_distance") or "1 m")
            at_reference = _dbm(loss["reference_loss"]) if loss.get("reference_loss") else free_space_db(reference)
            return float(reference * 10 ** ((budget_db - at_reference) / (10 * loss["exponent"])))
    return None


def _frequency_hz(bss: dict[str, Any]) -> float:
    """The centre frequency of a BSS's primary channel."""
    number = bss["channel"]
    if number == 14:
        return 2484e6
    return float(2407 + 5 * number if number < 14 else 5000 + 5 * number) * 1e6


def moved(text: str, path: Path, place: tuple[float, float], end: str | None = None) -> list[Edit]:
    """The edits that move an access point, a station, an interferer, or the `end` of a wall, named by `path`, to `place`."""
    toml = TomlText(text)
    key = (*path, end or "position")
    if (*key, 0) in toml.values and (*key, 1) in toml.values:
        return [toml.setting((*key, axis), _written(value)) for axis, value in enumerate(place)]
    value = f"[{', '.join(map(_written, place))}]"
    return [toml.setting(key, value, instead_of=(*path, "distance"))]


def moved_away(text: str, path: Path, metres: float) -> list[Edit]:
    """The edits that set a group's distance from its access point."""
    return [TomlText(text).setting((*path, "distance"), _written(metres))]


def _written(metres: float) -> str:
    return f'"{round(metres, 2) + 0.0:g} m"'


def _place(lengths: list[str]) -> tuple[float, float]:
    return _metres(lengths[0]), _metres(lengths[1])


def _metres(length: str) -> float:
    match = METRES.fullmatch(length)
    return float(match[1]) * SCALES[match[2]] if match else 0.0


def _dbm(power: str) -> float:
    match = DBM.fullmatch(power)
    return float(match[1]) if match else 0.0
