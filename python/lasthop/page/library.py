"""The files below the given directories: results, stores and scenarios, each under a key that hides its path."""

from __future__ import annotations

import hashlib
import os
from collections import OrderedDict
from collections.abc import Iterable, Iterator
from pathlib import Path
from threading import Lock
from typing import Literal, NamedTuple

from ..data.origin import Origin, Source
from ..data.ready import SCENARIOS
from ..data.result import Result, read
from ..data.temporary import TemporaryFolder
from .stored import run_of

Kind = Literal["result", "store", "scenario"]
# Number of results kept in memory.
MOST_RESULTS = 8
# Limits on depth and number of files in a search: a home directory, given by mistake, must not hang the page.
DEEPEST = 6
MOST_FILES = 50_000
SKIPPED = {"node_modules", "target", "__pycache__", "site-packages"}
RUNS = "runs"
# Bytes of a TOML file that are read.
HEAD_BYTES = 100_000
# At the ninth byte of a DuckDB file.
DUCKDB = b"DUCK"


class Entry(NamedTuple):
    """A result, store or scenario that the page can open."""

    key: str
    kind: Kind
    path: Path
    name: str
    modified_s: float


class Unknown(LookupError):
    """No entry has this key."""


class Gone(Unknown):
    """No file has this key, or no longer."""


class Library:
    """The entries below `roots`: directories, or single results, stores and scenarios."""

    def __init__(self, roots: Iterable[Path], *, allows_code: bool = False) -> None:
        self.roots = [Path(os.path.realpath(root)) for root in roots]
        self.allows_code = allows_code
        self._results: OrderedDict[tuple[Path, str], tuple[float, Result]] = OrderedDict()
        self._known: dict[str, Entry] = {}
        self._lock = Lock()
        self._temporary: TemporaryFolder | None = None

    def entries(self) -> list[Entry]:
        """All current entries, the latest first, and the scenarios that come with lasthop."""
        entries = {entry.path: entry for entry in _ready()}
        entries |= {entry.path: entry for root in self.roots for entry in _entries(root)}
        if self._temporary is not None:
            entries |= {entry.path: entry for entry in _entries(self._temporary.path)}
        self._known = {entry.key: entry for entry in entries.values()}
        return sorted(entries.values(), key=lambda entry: (-entry.modified_s, entry.name))

    def entry(self, key: str) -> Entry:
        """The entry of a key, or the store of a run's key. Searches all files only for a key not seen before. Raises
        `Unknown`.
        """
        key = key.partition(".")[0]
        known = self._known.get(key)
        if known is not None and (now := _now(known)) is not None:
            return now
        for entry in (*self.entries(), *_ready()):
            if entry.key == key:
                return entry
        raise Gone(f"{key}: is not, or no longer, below the directories that this page was opened for")

    def result(self, key: str) -> Result:
        """The result of a key, or a store's run as one, read once until its file changes.

        The key of a run is the key of its store, a dot, and its own. Raises `Unknown`, `ScenarioError` and
        `StoreError`.
        """
        entry, run = self.entry(key), key.partition(".")[2]
        with self._lock:
            known = self._results.get((entry.path, run))
            if known is not None and known[0] == entry.modified_s:
                self._results.move_to_end((entry.path, run))
                return known[1]
        result = _read(entry, run)
        result.origin = self.origin()
        with self._lock:
            self._results[entry.path, run] = (entry.modified_s, result)
            while len(self._results) > MOST_RESULTS:
                self._results.popitem(last=False)
        return result

    def origin(self) -> Origin:
        """The origin of material of the page, which may name files below the roots."""
        return Origin(Source.PAGE, tuple(root for root in self.roots if root.is_dir()), self.allows_code)

    def is_within(self, path: Path) -> bool:
        """Whether a file lies below one of the roots after following symbolic links."""
        return self.origin().holds(path)

    def is_own(self, path: Path) -> bool:
        """Whether a file is in the temporary directory of the page."""
        own = self._temporary
        return own is not None and Path(os.path.realpath(path)).is_relative_to(os.path.realpath(own.path))

    def home(self) -> Path:
        """The first given directory, for saved files; else the folder of the first given file."""
        here = [root for root in self.roots if root.is_dir() and not _is_result(root)]
        return here[0] if here else self.roots[0].parent

    def directory(self) -> Path:
        """The directory of new runs: `runs` in the first given directory, else a temporary directory."""
        for root in self.roots:
            if root.is_dir() and not _is_result(root) and os.access(root, os.W_OK):
                return root / RUNS
        if self._temporary is None:
            self._temporary = TemporaryFolder("lasthop-page")
        return self._temporary.path

    def is_temporary(self, path: Path) -> bool:
        """Whether the files at `path` are deleted with the page."""
        return self._temporary is not None and path.is_relative_to(self._temporary.path)


def digest_of(text: bytes) -> str:
    """Returns a digest of the content, short enough for a name."""
    return hashlib.sha256(text).hexdigest()[:16]


def key_of(path: Path) -> str:
    """The key of a path, which stays the same."""
    return hashlib.sha256(os.fsencode(os.path.realpath(path))).hexdigest()[:12]


def _read(entry: Entry, run: str) -> Result:
    if entry.kind == "store":
        if not run:
            raise Unknown(f"{entry.name}: is a store; choose one of its runs")
        return run_of(entry.path, run)
    if run:
        raise Unknown(f"{entry.name}: is not a store, and has no run {run}")
    return read(entry.path)


def _ready() -> Iterator[Entry]:
    """The scenarios that come with lasthop."""
    return _entries(SCENARIOS.resolve())


def _entries(root: Path) -> Iterator[Entry]:
    if root.is_file():
        entry = _entry(root)
        if entry is not None:
            yield entry
        return
    seen = 0
    for folder, folders, files in os.walk(root):
        here = Path(folder)
        if _is_result(here):
            folders.clear()
            if _leads_out(here / "result.json", root):
                continue
            yield Entry(key_of(here), "result", here, here.name, _modified_s(here / "result.json"))
            continue
        deep = len(here.relative_to(root).parts)
        folders[:] = sorted(f for f in folders if deep < DEEPEST and f not in SKIPPED and not f.startswith("."))
        for file in sorted(files):
            entry = None if _leads_out(here / file, root) else _entry(here / file)
            if entry is not None:
                yield entry
        seen += len(files)
        if seen > MOST_FILES:
            return


def _leads_out(file: Path, root: Path) -> bool:
    """Whether a symbolic link below `root` leads outside it."""
    return file.is_symlink() and not Path(os.path.realpath(file)).is_relative_to(root)


def _now(entry: Entry) -> Entry | None:
    """An entry with its current time; None if its file is gone."""
    file = entry.path / "result.json" if entry.path.is_dir() else entry.path
    return entry._replace(modified_s=_modified_s(file)) if file.is_file() else None


def _entry(file: Path) -> Entry | None:
    kind = _kind(file)
    return kind and Entry(key_of(file), kind, file, file.stem, _modified_s(file))


def _kind(file: Path) -> Kind | None:
    match file.suffix:
        case ".toml" if _describes_a_network(file):
            return "scenario"
        case ".json" if _begins_as_result(file):
            return "result"
        case ".duckdb" | ".db" | ".store" | "" if _begins(file, 12)[8:] == DUCKDB:
            return "store"
    return None


def _describes_a_network(file: Path) -> bool:
    """Whether a TOML file is a scenario, not a project's settings or a paper's claims."""
    text = _begins(file, HEAD_BYTES).decode("utf-8", "replace")
    return "\n[bss" in f"\n{text}" or "\n[[bss" in text or "\n[[station" in f"\n{text}"


def _begins_as_result(file: Path) -> bool:
    head = _begins(file, 200).lstrip()
    return head.startswith(b"{") and b'"format"' in head and b'"lasthop"' in head


def _begins(file: Path, size: int) -> bytes:
    """The first bytes of a file; empty if it is unreadable, a device or a pipe."""
    try:
        if not file.is_file():
            return b""
        with file.open("rb") as opened:
            return opened.read(size)
    except OSError:
        return b""


def _is_result(directory: Path) -> bool:
    return (directory / "result.json").is_file()


def _modified_s(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0
