"""The names by which numbers of a result are asked for.

A name is dotted: the place of the number (`totals`, `flows.ID`, `nodes.NAME`, …), then its key, or a glob of such names. A
key alone, `rtt_p95_s`, means the one number that has it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from fnmatch import fnmatchcase

from .quantities import Quantity, Shown, numbers, quantity_of


class UnknownMetric(ValueError):
    """No run has a metric of that name."""


GLOB = re.compile(r"[*?\[]")
# Number of paths of an ambiguous key in a message.
PATHS_SHOWN = 6
LISTED = "`lasthop list quantity` names them"


def shown(name: str) -> Shown:
    """How the number of this dotted name is shown: Mbit/s, ms, percent, as in the tables of `lasthop run`."""
    quantity = quantity_of(name)
    return quantity.shown if quantity is not None else Shown("", 1.0, 2)


def matching(pattern: str, names: Iterable[str]) -> list[str]:
    """The names that a pattern is or matches; of a key alone, those that end in it."""
    wanted = f"*.{pattern}" if _is_key(pattern) else pattern
    return [name for name in names if fnmatchcase(name, wanted)]


def chosen(patterns: Iterable[str], names: Iterable[str]) -> list[str]:
    """The names that one of the patterns is or matches, in their order."""
    names = list(names)
    kept = {name for pattern in patterns for name in matching(pattern, names)}
    return [name for name in names if name in kept]


def check_keys(patterns: Iterable[str]) -> None:
    """Raises `UnknownMetric` for what no run of any scenario can have; asked before anything runs."""
    for pattern in patterns:
        if _is_key(pattern):
            _check_single(pattern, [quantity.path for quantity in numbers() if quantity == pattern])
            continue
        table, _, rest = pattern.partition(".")
        if GLOB.search(table):
            continue  # it may match the whole name
        if not any(fnmatchcase(quantity.table, table) and _may_be(quantity, rest) for quantity in numbers()):
            raise unknown(pattern, _candidates(pattern))


def check_names(patterns: Iterable[str], names: Collection[str]) -> None:
    """Raises `UnknownMetric` unless each pattern is or matches one of `names`, those that runs have, values or not."""
    for pattern in patterns:
        found = matching(pattern, names)
        if not found:
            raise unknown(pattern, names)
    check_single(patterns, names)


def check_single(patterns: Iterable[str], names: Collection[str]) -> None:
    """Raises `UnknownMetric` for a key alone that several of `names` end in, those that one run has."""
    for pattern in filter(_is_key, patterns):
        _check_single(pattern, matching(pattern, names))


def single(name: str, names: Collection[str], listed: str = LISTED) -> str:
    """The one of `names` that is `name`, or whose key alone it is; raises `UnknownMetric`."""
    if name in names:
        return name
    check_single([name], names)
    found = matching(name, names) if _is_key(name) else []
    if not found:
        raise unknown(name, names, listed)
    return found[0]


def unknown(pattern: str, names: Collection[str], listed: str = LISTED) -> UnknownMetric:
    """The error for an unknown name, with the nearest of `names`; `listed` is where to find them."""
    return UnknownMetric(f"{pattern}: no run has such a metric{_did_you_mean(pattern, names)}; {listed}")


def _is_key(pattern: str) -> bool:
    """Whether a pattern is the key of a number without its path."""
    return "." not in pattern and any(quantity == pattern for quantity in numbers())


def _check_single(key: str, paths: Sequence[str]) -> None:
    """Raises `UnknownMetric` if a key alone matches several numbers."""
    if len(paths) > 1:
        more = f" and {len(paths) - PATHS_SHOWN} more" if len(paths) > PATHS_SHOWN else ""
        raise UnknownMetric(f"{key}: matches {len(paths)} numbers; name one of: {', '.join(paths[:PATHS_SHOWN])}{more}")


def _may_be(quantity: Quantity, rest: str) -> bool:
    """Whether what follows the table may name this quantity of some entity."""
    if quantity.entity is None:
        return fnmatchcase(quantity, rest)
    # A glob may match the entity and part of the key; entities have dots of their own.
    if GLOB.search(rest):
        return any(fnmatchcase(name, rest) for name in (f"x.{quantity}", f"x.x.{quantity}")) or fnmatchcase(
            quantity, rest.rpartition(".")[2]
        )
    return rest.endswith(f".{quantity}") and len(rest) > len(quantity) + 1


def _candidates(pattern: str) -> list[str]:
    """Names to suggest without a run: of the same entity as the pattern has."""
    entity = pattern.partition(".")[2].rpartition(".")[0]
    return [quantity.path_of(quantity.entity and (entity or quantity.entity)) for quantity in numbers()]


def _did_you_mean(name: str, names: Collection[str]) -> str:
    if GLOB.search(name):
        return ""
    from difflib import get_close_matches

    near = get_close_matches(name, names, n=3, cutoff=0.5)
    last = name.rpartition(".")[2]
    # The key may be known and its place wrong.
    near = [known for known in names if known.rpartition(".")[2] == last][:3] or near
    return f"; did you mean {' or '.join(near)}?" if near else ""
