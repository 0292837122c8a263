"""--qlog and --perfetto of `lasthop run`: what is recorded for them, and where it goes."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from ..data.result import Result
from ..study.progress import Progress
from ..views.export import perfetto, qlog
from . import _arguments
from ._mistake import Mistake
from ._output import note


def add_exports(parser: argparse.ArgumentParser) -> None:
    """--qlog and --perfetto."""
    parser.add_argument(
        "--qlog",
        metavar="DIR",
        help="write a qlog file for each end of each TCP flow to DIR/seed-K, for qvis",
    )
    parser.add_argument(
        "--perfetto",
        metavar="FILE",
        help="write a trace of nodes, queues and windows for ui.perfetto.dev; with several seeds one file each: NAME-seed-K.EXT",
    )


class Exports(NamedTuple):
    """Where a run goes in formats of other tools."""

    qlog: Path | None
    perfetto: Path | None
    # Whether files are named by their seeds.
    are_several: bool

    @classmethod
    def of(cls, arguments: argparse.Namespace, seeds: int) -> Exports:
        """Returns the requested exports after checking that they can be written."""
        if arguments.qlog is not None:
            _arguments.check_directory("--qlog", arguments.qlog)
        if arguments.perfetto == "-":
            raise Mistake("--perfetto -: cannot write a trace to standard output; give the name of a file")
        _arguments.check_file("--perfetto", arguments.perfetto)
        paths = (None if given is None else Path(given) for given in (arguments.qlog, arguments.perfetto))
        return cls(*paths, seeds > 1)

    @property
    def tables(self) -> set[str]:
        """The tables that have to be recorded."""
        return {*(qlog.TABLES if self.qlog else ()), *(perfetto.TABLES if self.perfetto else ())}

    def write(self, result: Result) -> None:
        """Writes them of each seed that finished."""
        if self.qlog is not None:
            ends = self._of_each_seed("qlog", result, self._write_qlog)
            if not any(ends):
                note("--qlog: no TCP segment was recorded, of which it tells; nothing is written")
        if self.perfetto is not None:
            self._of_each_seed("Perfetto", result, self._write_perfetto)

    def _of_each_seed(self, what: str, result: Result, write: Callable[..., int]) -> list[int]:
        done: list[int] = []
        seeds = result.seeds
        with Progress.fitting(f"writing {what}") as progress:
            for seed in seeds:
                share = len(done), len(seeds)
                done.append(write(result, seed, lambda part, at=share: progress.update((at[0] + part) / at[1], *at)))
                progress.update(len(done) / len(seeds), len(done), len(seeds))
        return done

    def _write_qlog(self, result: Result, seed: int, show: Callable[[float], None]) -> int:
        with _named(self.qlog):
            return len(result.to_qlog(self.qlog / f"seed-{seed}", seed, show=show))

    def _write_perfetto(self, result: Result, seed: int, show: Callable[[float], None]) -> int:
        file = self.perfetto
        if self.are_several:
            file = file.with_name(f"{file.stem}-seed-{seed}{file.suffix}")
        with _named(file):
            result.to_perfetto(file, seed, show=show)
        return 1


@contextmanager
def _named(path: Path) -> Iterator[None]:
    """An error that names no file, such as that of a full disk, is told with this one."""
    try:
        yield
    except OSError as error:
        error.filename = error.filename or str(path)
        raise
