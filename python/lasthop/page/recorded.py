"""A recorded run in arrays: names as numbers, the needed columns of each table, in order of time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from threading import Lock, RLock
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np

from ..data.recording import Recordings
from ..data.result import Result
from ..study.warmup import seconds

if TYPE_CHECKING:
    import pyarrow

KINDS = (
    *("RTS", "CTS", "CTS-to-self", "data", "Ack", "A-MPDU", "BlockAck", "BlockAckReq", "beacon", "CF-End"),
    *("MU-BAR", "BSRP", "trigger", "Multi-STA BlockAck", "QoS Null"),
)
Key = tuple[Any, ...]
T = TypeVar("T")
LOSSES = ("collision", "interference", "noise", "interferer")
# The value for a missing name in a column of numbers.
NOBODY = 0xFFFF


class Node(NamedTuple):
    """A station or access point."""

    name: str
    is_ap: bool
    # The name of its AP; an AP's own name.
    ap: str


class Flow(NamedTuple):
    """A flow, and the sender of its data."""

    name: str
    station: str
    # True from the station to the server.
    up: bool
    transport: str
    # The traffic of its application.
    traffic: str


class Recorded:
    """The recording of one seed. Raises `LookupError` for a table that was not recorded."""

    def __init__(self, result: Result, seed: int, recordings: Recordings) -> None:
        self.seed = seed
        self.duration_ns, self.warmup_ns = (nanoseconds(result.scenario[key]) for key in ("duration", "warmup"))
        # Whether all frames are sent with DSSS, whose slots and spaces are longer.
        standards = [bss["standard"] for bss in result.scenario["bss"]]
        # A result of captures names no standard.
        self.is_dsss = bool(standards) and all(standard == "802.11b" for standard in standards)
        run = next(run for run in result.runs if run["seed"] == seed)
        self.nodes = _nodes(run)
        self.flows = [
            Flow(f["id"], f["station"], f["direction"] == "up", f["transport"], f["traffic"]) for f in run["flows"]
        ]
        self.node_of = {node.name: number for number, node in enumerate(self.nodes)}
        self.flow_of = {flow.name: number for number, flow in enumerate(self.flows)}
        self.tables = sorted(table for of, table in recordings.tables() if of == seed)
        self._recordings = recordings
        self._cache: dict[Key, Any] = {}
        self._lock = Lock()
        self._locks: dict[Key, RLock] = {}

    def has(self, table: str) -> bool:
        """Whether a table was recorded."""
        return table in self.tables

    def cached(self, key: Key, make: Callable[[], T]) -> T:
        """Returns the result of `make`, called once for each key; other keys do not wait for it."""
        with self._lock:
            lock = self._locks.setdefault(key, RLock())
        with lock:
            if key not in self._cache:
                self._cache[key] = make()
            value: T = self._cache[key]
            return value

    def forget(self) -> None:
        """Drops the arrays that were read."""
        with self._lock:
            self._cache.clear()

    def rows(self, table: str, columns: Sequence[str]) -> dict[str, np.ndarray]:
        """Columns of a table as arrays in order of time, names as numbers, missing values as the largest number or NaN."""
        read = self._recordings.read(table, self.seed, f"seed {self.seed}", columns)
        made = {column: self._column(table, column, read.column(column)) for column in columns}
        times = made[next(iter(made))]
        if len(times) > 1 and np.any(times[1:] < times[:-1]):
            order = np.argsort(times, kind="stable")
            made = {column: values[order] for column, values in made.items()}
        return made

    def rows_of(self, table: str, by: str, entity: int, columns: Sequence[str]) -> dict[str, np.ndarray]:
        """Like `rows`, for one node or flow, read without the rest of the table; without the names. Cached."""

        if not self.has(table):
            raise LookupError(f"{table}: was not recorded")

        def make() -> dict[str, np.ndarray]:
            import duckdb

            name = (self.nodes if by == "node" else self.flows)[entity].name
            file = str(self._recordings.file(table, self.seed))
            # A name may be a word of SQL, such as "offset".
            named = ", ".join(f'"{column}"' for column in columns)
            query = f"SELECT {named} FROM read_parquet($file) WHERE {by} = $name"
            with duckdb.connect() as connection:
                arrow = connection.sql(query, params={"file": file, "name": name}).to_arrow_table()
            return {column: self._column(table, column, arrow.column(column)) for column in columns}

        return self.cached(("rows", table, by, entity), make)

    def _column(self, table: str, name: str, column: pyarrow.ChunkedArray) -> np.ndarray:
        import pyarrow.types

        if pyarrow.types.is_string(column.type):
            column = column.dictionary_encode()
        if pyarrow.types.is_dictionary(column.type):
            return self._numbered(table, name, column.unify_dictionaries().combine_chunks())
        if pyarrow.types.is_floating(column.type) or (pyarrow.types.is_boolean(column.type) and not column.null_count):
            return np.asarray(column.to_numpy())
        if column.null_count:
            column = column.fill_null(_none(column.type.to_pandas_dtype()))
        return np.asarray(column.to_numpy())

    def _numbered(self, table: str, name: str, column: Any) -> np.ndarray:
        known = self._numbers(table, name)
        words = column.dictionary.to_pylist()
        numbers = np.array([known.get(word, NOBODY) for word in words] + [NOBODY], np.uint16)
        indices = column.indices.fill_null(len(words)).to_numpy(zero_copy_only=False)
        return np.asarray(numbers[indices])

    def _numbers(self, table: str, column: str) -> dict[str, int]:
        match column:
            case "node" | "to" | "initiator":
                return self.node_of
            case "flow":
                return self.flow_of
            case "link":
                return self.link_of
            case "kind":
                return {word: number for number, word in enumerate(KINDS)}
            case "lost_to":
                return {word: number for number, word in enumerate(LOSSES)}
        return {word: number for number, word in enumerate(self.words(table, column))}

    def words(self, table: str, column: str) -> list[str]:
        """The distinct words of a column, in alphabetical order."""

        def make() -> list[str]:
            import pyarrow.parquet

            read = pyarrow.parquet.read_table(self._recordings.file(table, self.seed), columns=[column])
            return sorted(word for word in read.column(0).unique().to_pylist() if word is not None)

        return self.cached(("words", table, column), make)

    @cached_property
    def links(self) -> list[str]:
        """Links by number: an AP to each of its stations, and back."""
        of_pairs = [(node.ap, node.name) for node in self.nodes if not node.is_ap]
        return [f"{a}->{b}" for pair in of_pairs for a, b in (pair, pair[::-1])]

    @cached_property
    def link_of(self) -> dict[str, int]:
        """The number of a link."""
        return {link: number for number, link in enumerate(self.links)}


def _nodes(run: dict[str, Any]) -> list[Node]:
    aps = {wire["ap"] for wire in run["wires"]}
    serving = {link["peer"]: link["node"] for link in run["links"] if link["node"] in aps}
    names = [node["name"] for node in run["nodes"]]
    return [Node(name, name in aps, name if name in aps else serving.get(name, name)) for name in names]


def _none(kind: type) -> int | bool:
    """Returns the value that marks a missing one in a column: false, or the largest number."""
    return False if kind is np.bool_ else int(np.iinfo(kind).max)


def nanoseconds(length: str) -> int:
    """A length of time in a resolved scenario, such as `10 s`."""
    return round(seconds(length) * 1e9)


def between(column: np.ndarray, first: int, end: int) -> slice:
    """Rows of a sorted column from `first` up to, without, `end`. The search uses the column's type, to avoid a copy."""
    limits = np.iinfo(column.dtype)
    bounds = np.array([min(max(value, limits.min), limits.max) for value in (first, end)], column.dtype)
    return slice(*np.searchsorted(column, bounds).tolist())
