"""The directories and files that `lasthop run` and `lasthop emulate` write: begun before the runs, given their names after them."""

from __future__ import annotations

import argparse
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Self

from ..data.files import sync
from ..data.recording import NewRecordings, chosen, tables_of
from ..data.result import Result, ResultDirectory
from ..study.pcap import NewCaptures
from ..study.pcap import Request as Captures
from ..study.simulation import HeldInterrupt
from ._exports import Exports
from ._output import write_data

if TYPE_CHECKING:
    from ..study.unfinished import Unfinished


class Outputs(NamedTuple):
    """The outputs of a run that its options name."""

    arguments: argparse.Namespace
    directory: ResultDirectory | None
    captures: NewCaptures | None
    recordings: NewRecordings | None
    exports: Exports
    unfinished: Unfinished | None
    held: HeldInterrupt

    @classmethod
    def begun(
        cls,
        arguments: argparse.Namespace,
        captures: Captures | None,
        exports: Exports,
        unfinished: Unfinished | None,
        held: HeldInterrupt,
        stack: ExitStack,
        *,
        records: bool,
    ) -> Self:
        """Begins to write. Leaving `stack` removes files that have no name yet."""
        directory = None if arguments.out is None else stack.enter_context(ResultDirectory(arguments.out))
        kept = unfinished.captures if unfinished else None
        new = stack.enter_context(NewCaptures(captures, kept)) if captures else None
        recordings = _recordings(directory, unfinished, stack) if records else None
        return cls(arguments, directory, new, recordings, exports, unfinished, held)

    def give_up(self) -> None:
        """Forgets the first seeds of a run that has just begun, which showed that its command line is wrong."""
        if self.unfinished is not None and not self.unfinished.goes_on:
            self.unfinished.remove()

    def commit(self, result: Result, *, several: bool) -> None:
        """Writes everything of the finished seeds. The seeds stay to go on with if the run was interrupted."""
        if result.told_runs:
            self._write(result)
        if self.captures is not None:
            sync(self.captures.commit(result.seeds, several=several))
        if self.unfinished is None:
            return
        if self.arguments.out is not None:
            self.unfinished.put_programs(Path(self.arguments.out) / "programs")
        if not result.interrupted:
            self.unfinished.remove()

    def _write(self, result: Result) -> None:
        """Writes the exports, then the result, which is kept even if an export fails or is interrupted."""
        try:
            if self.recordings is not None and self.exports.tables:
                result.keep_recordings(self.recordings)
                with self.held.let():
                    self.exports.write(result)
        finally:
            if self.directory is not None:
                record = self.arguments.record
                recorded = () if record is None else tables_of(chosen(record))
                self.directory.commit(result, recorded=recorded, lasting=True)
            if self.arguments.json is not None:
                write_data(self.arguments.json, result.json_pieces())


def _recordings(directory: ResultDirectory | None, unfinished: Unfinished | None, stack: ExitStack) -> NewRecordings:
    """The recordings of the run: for --out, or in a temporary directory for exports."""
    if directory is not None:
        return directory.new_recordings(unfinished.recording if unfinished else None)
    recordings = NewRecordings()
    stack.callback(recordings.discard)
    return recordings
