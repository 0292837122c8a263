"""Finished seeds of a campaign whose result is not whole yet, in the folder `unfinished` of the result's directory.

    campaign.json                              what decides the runs: seeds of another campaign are never taken
    runs.log                                   a record for each finished seed: its run and its time series
    recording/seed-K  captures/seed-K  programs/seed-K     its files

A seed's record is written once its files are on the disk, so a seed with a record is whole. A record has a length and a checksum: an
incomplete one at the end belongs to a seed that was in progress. The folder appears whole, with `campaign.json`, and is locked by the process that uses it.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Any, NamedTuple, Self

from .. import _core
from ..data.files import named, put, sync
from ..data.recording import FOLDER as RECORDING
from ..data.records import HEAD, framed, whole
from ..data.runs import Run
from ..data.temporary import TemporaryFolder, is_free, is_locked_by_us, temporary_name
from .store.finished import head_of, packed, unpacked
from .store.identity import engine_identity, traces_of

FOLDER = "unfinished"
CAMPAIGN, LOG = "campaign.json", "runs.log"
CAPTURES, PROGRAMS = "captures", "programs"
FORMAT = 1
# A document of 20 kB shrinks to a sixth with this, in a fraction of a millisecond.
COMPRESSION = 1
# A lock over a network needs a file that may be written.
TO_LOCK = os.O_RDWR | getattr(os, "O_NOFOLLOW", 0)
# Longer values are not shown in the sentence about a difference.
SHOWN = 40


class UnfinishedError(ValueError):
    """An unfinished run that cannot be used; the message has the directory and a remedy."""


class Outcome(NamedTuple):
    """A finished seed, with the interface of the engine's `RunOutcome`."""

    seed: int
    run: Run | None
    error: str | None
    series: list[_core.SeriesBlock]

    def take_series(self) -> list[_core.SeriesBlock]:
        """The time series."""
        return self.series


def campaign_of(
    resolved: _core.ResolvedScenario, file_name: str, seeds: Sequence[int], options: Mapping[str, Any]
) -> dict[str, Any]:
    """Everything on which the runs depend, as JSON holds it."""
    document = json.loads(resolved.to_json())
    contents = {**traces_of(document, Path(file_name).parent), **dict(resolved.code_contents())}
    campaign = {
        "format": FORMAT,
        "engine": engine_identity(),
        "scenario": document,
        "contents": {path: hashlib.sha256(content).hexdigest() for path, content in contents.items()},
        "options": {"--seeds": _of_seeds(seeds), **options},
    }
    held: dict[str, Any] = json.loads(json.dumps(campaign))
    return held


def _of_seeds(seeds: Sequence[int]) -> str:
    """Seeds as text, which is short for seeds in a row."""
    is_row = list(seeds) == list(range(seeds[0], seeds[0] + len(seeds)))
    return f"{seeds[0]} to {seeds[-1]}" if is_row else " ".join(map(str, seeds))


def difference(there: Any, here: Any, path: str = "") -> str | None:
    """The first difference of two campaigns, in words; None if they are equal."""
    if isinstance(there, dict) and isinstance(here, dict):
        for name in dict.fromkeys([*there, *here]):
            if words := difference(there.get(name), here.get(name), f"{path}.{name}" if path else name):
                return words
        return None
    if isinstance(there, list) and isinstance(here, list) and len(there) == len(here):
        pairs = enumerate(zip(there, here, strict=True))
        return next(filter(None, (difference(*pair, f"{path}.{number}") for number, pair in pairs)), None)
    return None if there == here else f"{path} was {_shown(there)} and is {_shown(here)}"


def _shown(value: Any) -> str:
    text = "not given" if value is None else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}…"


class _Folder:
    """The folder of one directory, locked."""

    def __init__(self, target: Path, campaign: Mapping[str, Any], *, resume: bool) -> None:
        self.path = target / FOLDER
        self._target = target
        self._lock: int | None = None
        #: how many finished seeds of another run were there
        self.replaced = 0
        self.goes_on = self._is_there() and self._is_taken(campaign, resume=resume)
        if not self.goes_on:
            self._make(campaign)

    def _is_there(self) -> bool:
        """Locks the folder if there is one; raises `UnfinishedError` if another process has."""
        if not self.path.is_dir():
            return False
        file = self.path / CAMPAIGN
        try:
            self._lock = os.open(file, TO_LOCK)
        except OSError as error:
            raise UnfinishedError(
                f"{self.path}: is not an unfinished run of lasthop ({error.strerror}); remove it"
            ) from None
        if not is_free(self._lock, file, without_locks=True):
            self.close()
            raise UnfinishedError(f"{self._target}: another process writes its result here; give another directory")
        return True

    def _is_taken(self, campaign: Mapping[str, Any], *, resume: bool) -> bool:
        """Whether the run of the folder goes on; if not, the folder is removed."""
        try:
            there = json.loads((self.path / CAMPAIGN).read_text(encoding="utf-8"))
        except ValueError as error:
            self.close()
            raise UnfinishedError(f"{self.path}: is not an unfinished run of lasthop ({error}); remove it") from None
        if resume and (words := difference(there, campaign)):
            self.close()
            raise UnfinishedError(
                f"{self._target}: --resume: the interrupted run was another one: {words.removeprefix('options.')}; give the same command, or leave "
                "--resume out to begin anew"
            )
        if resume:
            return True
        if (self.path / LOG).exists():
            with _Log(self.path / LOG) as log:
                self.replaced = len(log.seeds)
        self.remove()
        return False

    def _make(self, campaign: Mapping[str, Any]) -> None:
        try:
            with TemporaryFolder(FOLDER, self._target) as temporary:
                file = temporary.path / CAMPAIGN
                file.write_text(json.dumps(campaign), encoding="utf-8")
                self._lock = os.open(file, TO_LOCK)
                is_locked_by_us(self._lock, file)
                os.rename(temporary.path, self.path)
        except BaseException:
            self.close()
            raise

    def remove(self) -> None:
        """Removes the folder: all of it at once, as others see it."""
        temporary = self._target / temporary_name(FOLDER)
        os.rename(self.path, temporary)
        shutil.rmtree(temporary, ignore_errors=True)
        self.close()

    def close(self) -> None:
        """Leaves the folder to others."""
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None


class _Log:
    """Records by seed in a file that only grows."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file: IO[bytes] = os.fdopen(
            os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o666), "r+b"
        )
        #: the place of each seed's record
        self.seeds: dict[int, tuple[int, int]] = {}
        end = 0
        for start, record in whole(self._file):
            self.seeds[head_of(record)["seed"]] = (start, len(record))
            end = start + len(record)
        self._file.truncate(end)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def add(self, records: Iterable[tuple[int, bytes]]) -> None:
        """Appends records, and waits until they are on the disk."""
        with named(self._path):
            self._file.seek(0, os.SEEK_END)
            for seed, record in records:
                self.seeds[seed] = (self._file.tell() + HEAD.size, len(record))
                self._file.write(framed(record))
            self._file.flush()
            os.fsync(self._file.fileno())

    def read(self, seed: int) -> bytes:
        """The record of a seed."""
        start, length = self.seeds[seed]
        self._file.seek(start)
        return self._file.read(length)

    def close(self) -> None:
        """Closes the file."""
        self._file.close()


class Unfinished:
    """The finished seeds of a campaign, kept in `target` as they finish, and their captures in `captures`.

    `resume`: goes on with those that are there. Raises `UnfinishedError` if they are of another campaign, or if another process
    uses the directory. On leaving the block the seeds stay, unless there are none or `remove` was called.
    """

    def __init__(
        self, target: Path, campaign: Mapping[str, Any], *, captures: Path | None = None, resume: bool = False
    ) -> None:
        self._folders = [_Folder(target, campaign, resume=resume)]
        try:
            if captures is not None and not captures.samefile(target):
                self._folders.append(_Folder(captures, campaign, resume=resume))
        except BaseException:
            if self._folders[0].goes_on:
                self._folders[0].close()
            else:
                self._folders[0].remove()
            raise
        main, last = self._folders[0].path, self._folders[-1].path
        self.recording = main / RECORDING if campaign["options"].get("--record") else None
        self.captures = None if captures is None else last / CAPTURES
        self._programs = main / PROGRAMS
        self._log = _Log(main / LOG)
        self._files = [folder for folder in (self.recording, self.captures) if folder is not None]
        self._is_new = True
        #: The seeds that are there.
        self.seeds = {
            seed for seed in self._log.seeds if all(self._of(seed, folder).is_dir() for folder in self._files)
        }
        #: Whether an interrupted run goes on, and the number of finished seeds of others that were removed.
        self.goes_on = self._folders[0].goes_on
        self.replaced = max(folder.replaced for folder in self._folders)
        #: The output of a seed's programs, which is kept too.
        self.outputs: Callable[[int], Iterable[Path]] = lambda _seed: ()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if not self.remains:
            self.remove()
        self._close()

    @property
    def remains(self) -> bool:
        """Whether seeds are there to go on with."""
        return bool(self._folders and self._log.seeds)

    def _of(self, seed: int, folder: Path) -> Path:
        return folder / f"seed-{seed}"

    def add(self, outcomes: Sequence[_core.RunOutcome]) -> Iterator[Outcome]:
        """Keeps those that have a run, and returns all of them."""
        taken = [Outcome(each.seed, each.run, each.error, each.take_series()) for each in outcomes]
        finished = [each for each in taken if each.run is not None]
        if finished:
            sync([*self._new_folders(), *(path for each in finished for path in self._files_of(each.seed))])
            self._log.add((each.seed, _record(each)) for each in finished)
            self.seeds.update(each.seed for each in finished)
        return iter(taken)

    def _new_folders(self) -> Iterator[Path]:
        """The folders with their names, until they are on the disk."""
        if self._is_new:
            self._is_new = False
            for folder in self._folders:
                yield from (folder.path / CAMPAIGN, folder.path, folder.path.parent)

    def _files_of(self, seed: int) -> Iterator[Path]:
        """The files of a seed, and their folders."""
        for file in self.outputs(seed):
            into = self._of(seed, self._programs)
            into.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, into / file.name)
        for folder in (*self._files, self._programs):
            if (own := self._of(seed, folder)).is_dir():
                yield from (folder, own, *own.iterdir())

    def take(self, seed: int) -> Outcome:
        """A seed that is there."""
        return _outcome(self._log.read(seed))

    def put_programs(self, into: Path) -> None:
        """Puts the output of programs into a folder."""
        for folder in sorted(self._programs.glob("seed-*")):
            (into / folder.name).mkdir(parents=True, exist_ok=True)
            for file in folder.iterdir():
                put(file, into / folder.name / file.name)

    def remove(self) -> None:
        """Removes all of it: the result is whole."""
        self._log.close()
        while self._folders:
            self._folders[0].remove()
            self._folders.pop(0)

    def _close(self) -> None:
        self._log.close()
        for folder in self._folders:
            folder.close()


def _record(outcome: Outcome) -> bytes:
    """A finished seed as bytes."""
    assert outcome.run is not None
    run = zlib.compress(outcome.run.json().encode(), COMPRESSION)
    return packed({"seed": outcome.seed}, run, outcome.series)


def _outcome(record: bytes) -> Outcome:
    head, run, series = unpacked(record)
    return Outcome(head["seed"], Run.parse(zlib.decompress(run).decode()), None, series)
