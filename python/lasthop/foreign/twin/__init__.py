"""A scenario that behaves like a network of which there are captures.

`observation` reads captures, `radio`, `losses`, `path` and `loads` turn it into keys of a scenario, `model` assembles them and writes the
file, `fit` simulates and corrects it, `live` and `hosts` read the output of a host's tools. Each value has its origin: seen, estimated, fitted or
assumed.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence

from ...data.diagnostic import ScenarioError
from ...data.foreign_text import head_of, text_of
from ...data.quantities import MEDIUM
from ...data.temporary import TemporaryFolder
from ...study.scenario import Scenario
from ..analysis import analyze
from ..recognition import refusal
from ..testbed import kind_of
from . import fit as fitting
from .hosts import beside_captures, seen_live
from .live import Live, is_live, read_live
from .model import Assumed, Twin, twin_of
from .observation import Seen, seen_in
from .provenance import Told

TAKEN = "a twin is made of captures (pcap or pcapng), of the output of `iw dev … station dump`, or of both"

__all__ = ["Assumed", "Seen", "Twin", "twin"]


def twin(
    files: Sequence[str | os.PathLike[str]],
    name: str = "twin",
    *,
    from_s: float | None = None,
    to_s: float | None = None,
    fit: bool = False,
    congestion_control: str | None = None,
    show: Callable[[float], None] | None = None,
    tell: Callable[[str], None] = lambda _: None,
) -> Twin:
    """The twin of the network in `files`: captures, or texts of a host's `iw`, `ss`, `tc`, `ethtool` and `rc_stats`, or both.

    Captures are used between `from_s` and `to_s`, in seconds as in `analyze`. `fit`: the twin is simulated and corrected
    twice, and the twin of a host's output judged alone, which needs connections. `congestion_control`: the senders', if known. `show` receives the progress
    of reading, from 0 to 1, `tell` each step in words. Raises the errors of `analyze`, and `ValueError` if the files have no station.
    """
    texts = {os.fspath(file): text for file in files if (text := _text_of(file)) is not None}
    captures = [file for file in files if os.fspath(file) not in texts]
    live = read_live(texts, needs_station=not captures)
    assumed = _assumed(congestion_control, live)
    if not captures:
        found = _simulable(twin_of(seen_live(live), name, None, assumed), texts)
        if fit and not found.seen.flows:
            raise ValueError("--fit needs flows: give also what `ss -tin` prints, or a capture")
        return fitting.fit(found, tell) if fit else found
    for file in captures:
        _refuse_other_kinds(os.fspath(file))
    result = analyze(captures, from_s, to_s, None, show, writes=True)
    found = twin_of(
        beside_captures(seen_in(result), live), name, result.runs[0]["medium"].get(MEDIUM.idle_fraction), assumed
    )
    return fitting.fit(found, tell) if fit and _runs(found) else found


def _refuse_other_kinds(path: str) -> None:
    """Raises `ValueError` for a file that is no capture: here other kinds are read than by `analyze`."""
    if os.path.isfile(path) and (sentence := refusal(path, TAKEN)) is not None:
        if (program := kind_of(path)) is not None:
            sentence = f"{path}: is a file of {program}, which `lasthop analyze` reads; {TAKEN}"
        raise ValueError(sentence)


def _runs(found: Twin) -> bool:
    """Whether a twin resolves. One that does not is not fitted, and its reader is told of its mistakes."""
    with TemporaryFolder("lasthop-twin") as folder:
        try:
            found.scenario_in(folder.path).resolve()
        except ScenarioError:
            return False
    return True


def _simulable(found: Twin, files: Iterable[str]) -> Twin:
    """A twin whose scenario resolves: a damaged text may show a rate that no mode of its standard has."""
    try:
        Scenario(found.text()).resolve()
    except ScenarioError as error:
        raise ValueError(f"{', '.join(files)}: its values do not go together: {error.key}: {error.message}") from None
    return found


def _assumed(congestion_control: str | None, live: Live) -> Assumed:
    if congestion_control is not None:
        return Assumed(Told(congestion_control, "given"))
    if live.congestion_control is not None:
        return Assumed(Told(live.congestion_control, "seen: by ss"))
    return Assumed()


def _text_of(file: str | os.PathLike[str]) -> str | None:
    """The text of a file of a host's commands or JSON; None for a capture, and for any other file."""
    path = os.fspath(file)
    head = head_of(path)
    if head is None or not is_live(head):
        return None
    return text_of(path, is_log=not head.lstrip().startswith("{"))
