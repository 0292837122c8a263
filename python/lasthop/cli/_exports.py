"""qlog and Perfetto files of a result: the options of `lasthop run`, and the writing that `lasthop export` shares."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from ..data.result import Result
from ..study.progress import Progress
from ..views.export import perfetto, qlog
from ..views.export.of_result import to_perfetto, to_qlog
from . import _arguments
from ._mistake import Mistake
from ._output import note


def add_exports(parser: argparse.ArgumentParser) -> None:
    """--qlog and --perfetto."""
    parser.add_argument(
        "--qlog",
        metavar="DIR",
        help="write a qlog file for each end of each TCP and QUIC flow to DIR/seed-K, for qvis",
    )
    parser.add_argument(
        "--perfetto",
        metavar="FILE",
        help="write a trace of nodes, queues and windows for ui.perfetto.dev; with several seeds one file each: NAME-seed-K.EXT",
    )


class Exports(NamedTuple):
    """Targets of a run in formats of other tools."""

    qlog: Path | None
    perfetto: Path | None
    # Whether Perfetto files are named by their seeds.
    are_several: bool

    @classmethod
    def of(cls, arguments: argparse.Namespace, seeds: int) -> Exports:
        """Returns the requested exports after checking that they can be written."""
        if arguments.qlog is not None:
            _arguments.check_directory("--qlog", arguments.qlog)
        check_trace("--perfetto", arguments.perfetto)
        qlog, perfetto = (None if given is None else Path(given) for given in (arguments.qlog, arguments.perfetto))
        return cls(qlog, perfetto, seeds > 1)

    @property
    def tables(self) -> set[str]:
        """The tables that must be recorded."""
        return {*(qlog.TABLES if self.qlog else ()), *(perfetto.TABLES if self.perfetto else ())}

    def write(self, result: Result) -> None:
        """Writes the exports of each finished seed."""
        if self.qlog is not None and not write_qlog(result, result.seeds, self.qlog):
            note("--qlog: no TCP segment and no QUIC packet was recorded; nothing is written")
        if self.perfetto is not None:
            write_perfetto(result, result.seeds, self.perfetto, are_several=self.are_several)


def check_trace(option: str, file: str | None) -> None:
    """Refuses names to which a Perfetto trace cannot be written."""
    if file == "-":
        raise Mistake(f"{option} -: cannot write a trace to standard output; give the name of a file")
    _arguments.check_file(option, file)


def write_qlog(result: Result, seeds: Sequence[int], directory: Path) -> int:
    """Writes the qlog files of these seeds, each into its folder. Returns the number of files."""
    written = 0
    for seed, show in _with_progress("qlog", seeds):
        with _named(directory):
            written += len(to_qlog(result, directory / f"seed-{seed}", seed, show=show))
    return written


def write_perfetto(result: Result, seeds: Sequence[int], file: Path, *, are_several: bool) -> list[Path]:
    """Writes a trace of each of these seeds, named by seeds if there are several. Returns the files."""
    files = [file.with_name(f"{file.stem}-seed-{seed}{file.suffix}") if are_several else file for seed in seeds]
    for own, (seed, show) in zip(files, _with_progress("Perfetto", seeds), strict=True):
        with _named(own):
            to_perfetto(result, own, seed, show=show)
    return files


def _with_progress(what: str, seeds: Sequence[int]) -> Iterator[tuple[int, Callable[[float], None]]]:
    """Each seed with a function that shows its progress, from 0 to 1."""
    total = len(seeds)
    with Progress.fitting(f"writing {what}") as progress:
        for done, seed in enumerate(seeds):
            yield seed, lambda part, done=done: progress.update((done + part) / total, done, total)  # type: ignore[misc]
            progress.update((done + 1) / total, done + 1, total)


@contextmanager
def _named(path: Path) -> Iterator[None]:
    """Adds this path to an error without one, such as a full disk's."""
    try:
        yield
    except OSError as error:
        error.filename = error.filename or str(path)
        raise
