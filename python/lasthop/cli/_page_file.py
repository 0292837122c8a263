"""The work of `lasthop report` after its arguments are read, which needs the layer `page`."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from contextlib import ExitStack
from typing import Any

from ..data.files import write_whole
from ..data.result import Result
from ..page.comparing import compared
from ..page.report import Side, document
from ..page.sides import side_of
from ..study.progress import Progress
from ._mistake import Mistake
from ._output import note


def write(arguments: argparse.Namespace, results: Sequence[Result], seeds: Sequence[int]) -> None:
    """Records each seed that has no recording, then writes the page."""
    with ExitStack() as stack, Progress.fitting("report", "runs") as progress:
        sides = [_side(result, seed, arguments, stack, progress) for result, seed in zip(results, seeds, strict=True)]
        write_whole(arguments.out, document(sides, progress, _compared(results)))


def _side(result: Result, seed: int, arguments: argparse.Namespace, stack: ExitStack, progress: Progress) -> Side:
    window = (arguments.from_s, arguments.for_s)
    try:
        return side_of(result, seed, stack, progress, window_s=window, flows=arguments.flow, tell=note)
    except (ValueError, LookupError) as error:
        raise Mistake(f"{'--from' if isinstance(error, ValueError) else '--flow'}: {error.args[0]}") from None
    except RuntimeError as error:
        raise Mistake(f"{result.source}: {error}") from None


def _compared(results: Sequence[Result]) -> dict[str, Any] | None:
    """Returns the differences between two results; `None` for one result."""
    if len(results) != 2:
        return None
    sides = [
        {"key": None, "name": result.name, "seeds": result.seeds, "warnings": result.warnings} for result in results
    ]
    return compared(sides, list(results))
