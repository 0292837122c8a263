"""`lasthop export link`: a station's link, for tests of other transports."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

from ...data.plain_number import plain
from ...study.progress import Progress
from ...study.warmup import seconds
from ...views.export.capacity import Link, formats, measure
from ...views.export.capacity.measure import DIRECTIONS
from .. import _arguments
from .._code import load_code
from .._mistake import Mistake
from .._output import note, write_data


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of `lasthop export link`."""
    _arguments.add_scenario(parser)
    parser.add_argument("--station", metavar="NAME", required=True, help="station whose link is exported")
    parser.add_argument(
        "--format",
        choices=sorted(WRITERS),
        required=True,
        help="mahimahi: two traces; netem: a script; json: one document with both directions",
    )
    parser.add_argument(
        "--out",
        metavar="PREFIX",
        help="start of the names of the files (default: SCENARIO-STATION); - writes netem and json to standard output",
    )
    parser.add_argument("--seed", metavar="K", type=_arguments.whole, default=1, help="seed of the run (default 1)")
    parser.add_argument(
        "--interval", metavar="TIME", type=_arguments.duration_s, help="for netem: length of a step (default 100ms)"
    )


def execute(arguments: argparse.Namespace) -> int:
    """Measures both directions, one after the other, then writes."""
    scenario, resolved = _arguments.resolved_of(arguments)
    described = scenario.to_dict()
    if arguments.interval is not None and arguments.format != "netem":
        raise Mistake(
            f"--interval: has no effect on {arguments.format}, which has every packet; only netem changes step by step"
        )
    step_s = 0.1 if arguments.interval is None else arguments.interval
    if arguments.format == "netem" and seconds(described["duration"]) - seconds(described["warmup"]) < step_s:
        raise Mistake("--interval: longer than the measured time, which starts at the end of the warm-up")
    if arguments.out == "-" and len(ENDINGS[arguments.format]) > 1:
        raise Mistake(
            f"--out -: {arguments.format} is {len(ENDINGS[arguments.format])} files, but standard output is one; give a PREFIX"
        )
    prefix = arguments.out or f"{Path(arguments.file).stem}-{arguments.station}"
    files = ["-"] if prefix == "-" else [f"{prefix}.{ending}" for ending in ENDINGS[arguments.format]]
    for file in files:
        _arguments.check_file("--out", file)
    load_code([resolved])
    try:
        with Progress.fitting("measuring") as progress:
            links = [
                measure(scenario, arguments.station, direction, arguments.seed, progress) for direction in DIRECTIONS
            ]
    except LookupError as error:
        raise Mistake(str(error)) from None
    except RuntimeError as error:
        note(str(error))
        return 1
    for warning in resolved.warnings():
        note(str(warning))
    for file, text in zip(files, WRITERS[arguments.format](links, round(step_s * 1e9)), strict=True):
        write_data(file, [text])
        if file != "-":
            note(file)
    for link in links:
        note(
            f"{link.direction}: {link.rate_bps / 1e6:.2f} Mbit/s, {plain(100 * link.loss, 2)} % of packets lost, {link.wire_delay_ns / 1e6:g} ms of wire"
        )
    return 0


ENDINGS = {"mahimahi": DIRECTIONS, "netem": ("sh",), "json": ("json",)}
WRITERS: dict[str, Callable[[list[Link], int], list[str]]] = {
    "mahimahi": lambda links, _interval_ns: [formats.mahimahi(link) for link in links],
    "netem": lambda links, interval_ns: [formats.netem(links, interval_ns)],
    "json": lambda links, _interval_ns: [formats.document(links)],
}
