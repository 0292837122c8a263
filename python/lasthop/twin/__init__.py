"""A scenario that behaves like a network of which there are captures.

`seen` reads captures, `radio`, `losses`, `path` and `loads` make of it what a scenario says, `model` puts it together and writes the
file, `fit` simulates and corrects it, `live` reads what a station says of itself. Everything has its origin: seen, estimated, fitted
or assumed.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence

from ..analysis import analyze
from . import fit as fitting
from .model import Assumed, Twin, twin_of
from .seen import Seen, seen_in

__all__ = ["Assumed", "Seen", "Twin", "twin"]


def twin(
    files: Sequence[str | os.PathLike[str]],
    name: str = "twin",
    *,
    from_s: float | None = None,
    to_s: float | None = None,
    fit: bool = False,
    assumed: Assumed | None = None,
    show: Callable[[float], None] | None = None,
    tell: Callable[[str], None] = lambda _: None,
) -> Twin:
    """The twin of the network in the captures `files`, from `from_s` to `to_s`, in seconds as `analyze` counts them.

    `fit`: it is simulated and corrected twice, 3 seeds each. `show` is told how far reading is, from 0 to 1, `tell` in words what is
    done. Raises what `analyze` raises, and `ValueError` where captures have no frame of a station.
    """
    result = analyze(files, from_s, to_s, None, show)
    found = twin_of(seen_in(result), name, result.runs[0]["medium"].get("idle_fraction"), assumed)
    return fitting.fit(found, tell) if fit else found
