"""Flows of a capture and of a simulation under one name: paired by name, by address, or as the only ones of one station.

A pair is certain or there is none: two flows of one station, direction and transport stay as they are, and each is listed.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from ..data.result import Result
from ..data.runs import Run

ADDRESS = re.compile(r"[0-9A-Fa-f]{2}(?:[:-][0-9A-Fa-f]{2}){5}")
# The words for each way to pair, in the order in which they are tried.
BY_NAME, BY_ADDRESS, BY_NODE, AS_ONLY = "name", "address", "node", "only"
WORDS = {
    BY_NAME: "by name",
    BY_ADDRESS: "by the address that is the station's name",
    BY_NODE: "by the addresses that nodes have in captures of `run --pcap`",
    AS_ONLY: "as the only flow of their direction and transport, and each side has one station",
}


class Flow(NamedTuple):
    """A flow as far as a pair needs it."""

    id: str
    station: str
    direction: str
    transport: str

    @property
    def kind(self) -> tuple[str, str]:
        """Direction and transport."""
        return self.direction, self.transport


class Pair(NamedTuple):
    """A flow of A and the same of B."""

    a: str
    b: str
    by: str


class Pairing(NamedTuple):
    """All flows of two results."""

    pairs: tuple[Pair, ...]
    only_a: tuple[str, ...]
    only_b: tuple[str, ...]

    def document(self) -> dict[str, Any]:
        """As in `compare --json`."""
        return {"paired": [pair._asdict() for pair in self.pairs], "only_a": self.only_a, "only_b": self.only_b}

    def sentences(self, most: int) -> list[str]:
        """How flows are paired, and those that are not; at most so many names each."""
        lines = []
        for by, words in WORDS.items():
            of_this = [pair for pair in self.pairs if pair.by == by]
            if of_this:
                names = [pair.a if pair.a == pair.b else f"{pair.a} = {pair.b}" for pair in of_this]
                lines.append(f"Flows paired {words}: {_listed(names, most)}.")
        for side, alone in (("A", self.only_a), ("B", self.only_b)):
            if alone:
                lines.append(f"Flows of {side} without a certain partner: {_listed(alone, most)}.")
        return lines


def _listed(names: Sequence[str], most: int) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def is_captured(result: Result) -> bool:
    """Whether captures were read instead of a simulation run."""
    return any("capture" in run for run in result.told_runs)


def paired(a: Result, b: Result) -> tuple[Result, Result, Pairing | None]:
    """A and B with equal ids for the same flows, those of the simulation if there is one; `None` if neither was captured."""
    if not a.told_runs or not b.told_runs or not (is_captured(a) or is_captured(b)):
        return a, b, None
    found = pairing_of(a, b)
    if is_captured(b):
        return a, _renamed(b, {pair.b: pair.a for pair in found.pairs}), found
    return _renamed(a, {pair.a: pair.b for pair in found.pairs}), b, found


def pairing_of(a: Result, b: Result) -> Pairing:
    """The pairs that are certain."""
    left, right = _flows_of(a), _flows_of(b)
    pairs: list[Pair] = []
    by_node = is_captured(a) != is_captured(b)
    nodes = [{} if is_captured(side) else _addresses_of(side.told_runs[0]) for side in (a, b)]
    # Names first: a station of that name may have another address.
    _pair(pairs, left, right, BY_NAME, _id, _id)
    _pair(pairs, left, right, BY_ADDRESS, _of_address, _of_address)
    if by_node:
        _pair(pairs, left, right, BY_NODE, _with(nodes[0]), _with(nodes[1]))
    if len({flow.station for flow in left}) == len({flow.station for flow in right}) == 1:
        _pair(pairs, left, right, AS_ONLY, _kind, _kind)
    return Pairing(tuple(pairs), tuple(flow.id for flow in left), tuple(flow.id for flow in right))


Key = Callable[[Flow], object]


def _pair(pairs: list[Pair], left: list[Flow], right: list[Flow], by: str, key_a: Key, key_b: Key) -> None:
    """Moves flows into `pairs` whose key one flow of each side has."""
    counts = [Counter(key(flow) for flow in side) for key, side in ((key_a, left), (key_b, right))]
    of_right = {key_b(flow): flow for flow in right}
    for flow in [*left]:
        key = key_a(flow)
        if key is not None and counts[0][key] == counts[1][key] == 1:
            pairs.append(Pair(flow.id, of_right[key].id, by))
            left.remove(flow)
            right.remove(of_right[key])


def _id(flow: Flow) -> object:
    return flow.id


def _kind(flow: Flow) -> object:
    return flow.kind


def _of_address(flow: Flow) -> object:
    """Station, direction and transport, if the station's name is its address."""
    if ADDRESS.fullmatch(flow.station):
        return flow.station.lower().replace("-", ":"), flow.kind
    return None


def _with(addresses: Mapping[str, str]) -> Key:
    """The key of a station whose name is its address, or that has one by its place among the nodes."""

    def key(flow: Flow) -> object:
        address = addresses.get(flow.station)
        return _of_address(flow) or (address and (address, flow.kind))

    return key


def _flows_of(result: Result) -> list[Flow]:
    ids, *rest = result.told_runs[0].columns("flows", ["id", "station", "direction", "transport"])
    return [Flow(*map(str, flow)) for flow in zip(ids, *rest, strict=True)]


def _addresses_of(run: Run) -> dict[str, str]:
    """The addresses of nodes in captures of this run, by name; docs/formats.md has the rule."""
    (names,) = run.columns("nodes", ["name"])
    return {
        str(name): ":".join(f"{byte:02x}" for byte in (2, 0, *number.to_bytes(4)))
        for number, name in enumerate(names, 1)
    }


def _renamed(result: Result, names: Mapping[str, str]) -> Result:
    """The result with other ids of flows."""
    if all(old == new for old, new in names.items()):
        return result
    documents = [run.document() for run in result.told_runs]
    for document in documents:
        for flow in document["flows"]:
            flow["id"] = names.get(flow["id"], flow["id"])
    return result.with_runs(documents)
