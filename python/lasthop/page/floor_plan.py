"""Where the nodes and walls of a scenario stand, for the map, and how moving one changes the text."""

from __future__ import annotations

import math
import re
from contextlib import suppress
from typing import Any

from .toml_text import Edit, Path, TomlText

METRES = re.compile(r"\s*([-+0-9.eE]+)\s*(mm|cm|km|m)?\s*")
SCALES = {"mm": 1e-3, "cm": 1e-2, "m": 1.0, "km": 1e3, None: 1.0}
DBM = re.compile(r"\s*([-+0-9.eE]+)\s*dBm?\s*")
DEFAULT_DISTANCE = "10 m"
LIGHT_MPS = 299_792_458.0
# More stations are not drawn one by one.
MOST = 2000


def places_of(resolved: dict[str, Any]) -> dict[str, Any]:
    """Nodes, walls, ranges and pairs that do not hear one another, in metres.

    Each node has `name`, `kind`, `x`, `y`, `bss`, `path` of what its place is said by, and `drag`: `position`, `distance` of a
    group on a circle, or nothing and the reason in `why`.
    """
    access_points = [_access_point(bss, index, len(resolved["bss"])) for index, bss in enumerate(resolved["bss"])]
    nodes = list(access_points)
    for index, group in enumerate(resolved["station"]):
        if len(nodes) < MOST:
            nodes += _stations(group, index, _home(group, resolved["bss"], access_points))
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


def _home(group: dict[str, Any], all_bss: list[dict[str, Any]], access_points: list[dict[str, Any]]) -> dict[str, Any]:
    named = [ap for ap, bss in zip(access_points, all_bss, strict=True) if bss.get("name") == group.get("bss")]
    return named[0] if named else access_points[0]


def _stations(group: dict[str, Any], index: int, ap: dict[str, Any]) -> list[dict[str, Any]]:
    count = group.get("count")
    names = [group["name"]] if count is None else [f"{group['name']}{n}" for n in range(1, min(count, MOST) + 1)]
    told = {"kind": "station", "bss": ap["bss"], "path": f"station.{index}", "why": ""}
    if group.get("waypoints"):
        way = [[_metres(x), _metres(y)] for _, x, y in (_waypoint(point) for point in group["waypoints"])]
        why = "it goes along its waypoints, which the text says"
        return [{**told, "name": names[0], "x": way[0][0], "y": way[0][1], "drag": None, "why": why, "way": way}]
    if group.get("position"):
        x, y = _place(group["position"])
        return [{**told, "name": name, "x": x, "y": y, "drag": "position"} for name in names]
    distance = _metres(group.get("distance") or DEFAULT_DISTANCE)
    several = {"drag": "distance", "why": "the group stands on a circle; moving one changes its distance"}
    kind = several if (count or 1) > 1 else {"drag": "position"}
    turns = [2 * math.pi * member / len(names) for member in range(len(names))]
    return [
        {
            **told,
            **kind,
            "name": name,
            "x": ap["x"] + distance * math.cos(turn),
            "y": ap["y"] + distance * math.sin(turn),
        }
        for name, turn in zip(names, turns, strict=True)
    ]


def _waypoint(point: Any) -> tuple[str, str, str]:
    return tuple(point) if isinstance(point, list) else (point["at"], *point["place"])


def _ranges(bss: dict[str, Any], channel: dict[str, Any]) -> list[dict[str, Any]]:
    """How far a transmission is noticed, as its preamble and as energy, where distance alone decides."""
    power = _dbm(channel["tx_power"])
    loss = channel["path_loss"]
    found = []
    for key, label in (("cca_preamble", "preambles are heard"), ("cca_energy", "energy is sensed")):
        metres = _reach(power - _dbm(channel[key]), loss, _frequency_hz(bss))
        if metres is not None:
            found.append({"metres": metres, "label": f"{label} as far as about {metres:.3g} m ({channel[key]})"})
    return found


def _reach(budget_db: float, loss: dict[str, Any], frequency_hz: float) -> float | None:
    def free_space_db(metres: float) -> float:
        return 20 * math.log10(4 * math.pi * metres * frequency_hz / LIGHT_MPS)

    with suppress(ArithmeticError):  # an exponent of 0, a loss beyond all numbers: no distance
        if loss["kind"] == "friis":
            return 10 ** ((budget_db - free_space_db(1.0)) / 20)
        if loss["kind"] == "log_distance":
            reference = _metres(loss.get("reference_distance") or "1 m")
            at_reference = _dbm(loss["reference_loss"]) if loss.get("reference_loss") else free_space_db(reference)
            return reference * 10 ** ((budget_db - at_reference) / (10 * loss["exponent"]))
    return None


def _frequency_hz(bss: dict[str, Any]) -> float:
    """The middle of its primary channel."""
    number = bss["channel"]
    if number == 14:
        return 2484e6
    return (2407 + 5 * number if number < 14 else 5000 + 5 * number) * 1e6


def moved(text: str, path: Path, place: tuple[float, float], end: str | None = None) -> list[Edit]:
    """How a text says that what `path` names stands at `place`: an access point, a station, or the `end` of a wall."""
    said = TomlText(text)
    key = (*path, end or "position")
    if (*key, 0) in said.values and (*key, 1) in said.values:
        return [said.setting((*key, axis), _written(value)) for axis, value in enumerate(place)]
    value = f"[{', '.join(map(_written, place))}]"
    return [said.setting(key, value, instead_of=(*path, "distance"))]


def moved_away(text: str, path: Path, metres: float) -> list[Edit]:
    """How a text says that a group stands so far from its access point."""
    return [TomlText(text).setting((*path, "distance"), _written(metres))]


def _written(metres: float) -> str:
    return f'"{round(metres, 2) + 0.0:g} m"'


def _place(said: list[str]) -> tuple[float, float]:
    return _metres(said[0]), _metres(said[1])


def _metres(said: str) -> float:
    found = METRES.fullmatch(said)
    return float(found[1]) * SCALES[found[2]] if found else 0.0


def _dbm(said: str) -> float:
    found = DBM.fullmatch(said)
    return float(found[1]) if found else 0.0
