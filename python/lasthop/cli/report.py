"""`lasthop report`: the page of a run, or of two side by side, as one file."""

from __future__ import annotations

import argparse
from pathlib import Path

from ..data.extras import lacks
from ..data.result import Result
from ..views.explain.rerun import scenario_of
from . import _arguments
from ._code import load_code_of
from ._mistake import Mistake
from ._output import note


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of `lasthop report`."""
    parser.add_argument("result", metavar="RESULT", help="result of `lasthop run`: directory or JSON file")
    parser.add_argument(
        "other", metavar="B", nargs="?", help="a second result, shown beside the first on the same time axis"
    )
    parser.add_argument("--out", metavar="FILE", required=True, help="the file to write, e.g. run.html")
    _arguments.add_allow_code(parser)
    parser.add_argument("--seed", metavar="K", type=int, help="which seed (default: the first)")
    parser.add_argument(
        "--from",
        dest="from_s",
        metavar="TIME",
        type=_arguments.moment_s,
        help="start of the part that shows each frame (default: the end of the warm-up)",
    )
    parser.add_argument(
        "--for",
        dest="for_s",
        metavar="TIME",
        type=_arguments.duration_s,
        help="length of that part (default: some 6000 frames)",
    )
    parser.add_argument(
        "--flow",
        metavar="PATTERN",
        action="append",
        default=[],
        help="draw curves of the flows whose id matches this shell pattern; repeatable (default: six flows)",
    )


def execute(arguments: argparse.Namespace) -> int:
    """Records the runs without a recording, then writes."""
    if reason := lacks("page"):
        raise Mistake(f"the page of a run {reason}")
    paths = [path for path in (arguments.result, arguments.other) if path is not None]
    results = [_arguments.result_of(path, allow_code=arguments.allow_code) for path in paths]
    load_code_of(map(scenario_of, results))
    seeds = [_seed(result, arguments.seed) for result in results]
    _arguments.check_file("--out", arguments.out)
    from ._page_file import write

    write(arguments, results, seeds)
    note(f"{arguments.out}: {Path(arguments.out).stat().st_size / 1e6:.1f} MB")
    return 0


def _seed(result: Result, asked: int | None) -> int:
    if not result.seeds:
        raise Mistake(f"{result.source}: holds no finished run")
    if asked is not None and asked not in result.seeds:
        raise Mistake(
            f"--seed {asked}: was not run in {result.source}; there are {', '.join(map(str, result.seeds[:20]))}"
        )
    return result.seeds[0] if asked is None else asked
