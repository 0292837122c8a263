"""The engine: text, numbers and JSON in and out. `lasthop` itself is the interface to use."""

from collections.abc import Callable, Iterator, Sequence
from os import PathLike
from typing import Any, Self, final

import numpy as np
from numpy.typing import NDArray

from .data.diagnostic import Diagnostic

__version__: str
source_digest: str
"""of the sources that the engine was compiled from, 16 hexadecimal digits"""
profile_guided: bool
"""whether it was compiled with a profile (`make fast`, `make wheel`); results do not depend on it"""
CAPTURE_SNAP: int
"""bytes of a frame that captures keep where nothing is said"""
LEAST_CAPTURE_SNAP: int
"""the fewest bytes of a frame that they may keep"""

def sentence(place: str, key: str, message: str, remedy: str) -> str: ...
def parse(text: str, file_name: str) -> str: ...
def not_allowed(text: str, file_name: str, key: str, message: str, remedy: str) -> Diagnostic: ...

@final
class ResolvedScenario:
    def to_json(self) -> str: ...
    def check_simulable(self) -> None: ...
    def check_without_code(self) -> None: ...
    def load_code(self) -> None: ...
    def code(self) -> list[tuple[str, str, str, PathLike[str]]]: ...
    def code_contents(self) -> list[tuple[str, bytes]]: ...
    def warnings(self) -> list[Diagnostic]: ...
    def defaults(self) -> list[tuple[str, str, str]]: ...
    def duration_s(self) -> float: ...
    def stations(self) -> list[str]: ...
    def sweep(self) -> list[tuple[str, list[str]]]: ...

@final
class SeriesBlock:
    metric: str
    entities: list[str]
    times: int
    start_s: float
    interval_s: float
    values: bytes
    """`times` rows of one native float64 for each entity."""
    @staticmethod
    def of_parts(head: str, values: bytes) -> SeriesBlock: ...
    def __reduce__(self) -> Any: ...

@final
class Run:
    """One element of "runs" of a result, as a mapping whose values are made anew each time they are read."""

    @staticmethod
    def parse(text: str) -> Run: ...
    def json(self) -> str: ...
    def lines(self, depth: int) -> bytes: ...
    def document(self) -> dict[str, Any]: ...
    def __reduce__(self) -> Any: ...
    def keys(self) -> list[str]: ...
    def __iter__(self) -> Iterator[str]: ...
    def __len__(self) -> int: ...
    def __contains__(self, part: str, /) -> bool: ...
    def __getitem__(self, part: str, /) -> Any: ...
    def get(self, part: str, default: Any = None) -> Any: ...
    def columns(self, part: str, keys: Sequence[str]) -> list[list[Any]]: ...
    def rows_of(self, part: str, most: int | None = None) -> list[dict[str, Any]]: ...
    def numbers(self, parts: Sequence[str] | None = None) -> dict[str, float]: ...
    def names(self) -> list[str]: ...
    def has_row(self, part: str) -> bool: ...
    def has_rows(self, part: str, keys: Sequence[str]) -> bool: ...

def parse_result(text: str) -> tuple[str, list[Run] | None]: ...

@final
class Numbers:
    """The numbers of runs: their dotted names, each with a value for each run."""

    def __new__(cls, runs: Sequence[Run]) -> Self: ...
    def __iter__(self) -> Self: ...
    def __next__(self) -> tuple[str, list[float | None]]: ...

@final
class Table:
    """Columns for any reader of Arrow's C data interface, such as `pyarrow.table(t)` or `polars.DataFrame(t)`."""

    names: list[str]
    types: list[str]
    @staticmethod
    def of_runs(runs: Sequence[Run], part: str, heads: tuple[str, list[str]] | None = None) -> Table: ...
    @staticmethod
    def read_series(path: str | PathLike[str]) -> Table: ...
    @staticmethod
    def of_series(series: Sequence[tuple[int, SeriesBlock | tuple[str, str, list[float], list[float]]]]) -> Table: ...
    def __len__(self) -> int: ...
    def column(self, name: str) -> list[Any]: ...
    def buffer(self, name: str) -> bytes: ...
    def names_of(self, name: str) -> list[str]: ...
    def write_parquet(self, path: str | PathLike[str], metadata: dict[str, str] = ...) -> None: ...
    def __arrow_c_schema__(self) -> object: ...
    def __arrow_c_stream__(self, requested_schema: object = None) -> object: ...

@final
class Shard:
    """Runs that are written together as Parquet: a table of the runs, and one of each part."""

    def __new__(cls, names: Sequence[str], parts: Sequence[str]) -> Self: ...
    def __len__(self) -> int: ...
    def add(self, run: Run, texts: Sequence[str]) -> None: ...
    def write(self, path: str | PathLike[str]) -> dict[str, list[tuple[str, str]]]: ...

@final
class SeriesFile:
    def __new__(cls, path: str | PathLike[str]) -> Self: ...
    def add(self, seed: int, block: SeriesBlock | tuple[str, str, list[float], list[float]]) -> None: ...
    def close(self) -> None: ...

@final
class RunOutcome:
    seed: int
    run: Run | None
    error: str | None
    def take_series(self) -> list[SeriesBlock]: ...
    @staticmethod
    def read(seed: int, folder: str | PathLike[str], wall_s: float | None = None) -> RunOutcome: ...

# What code in Python is handed.

@final
class Context:
    initial_window: float
    initial_ssthresh: float
    mss_bytes: int
    slow_start_growth: str
    avoidance_growth: str
    tick_ns: int
    abe: bool
    def random(self) -> float: ...
    def random_below(self, end: int) -> int: ...

@final
class Rate:
    delivered: int
    delivered_ce: int
    lost: int
    prior_delivered: int
    flight_at_send: int
    is_app_limited: bool
    is_ack_delayed: bool
    interval_s: float
    interval_ns: int

@final
class Ack:
    now_s: float
    now_ns: int
    acked_segments: int
    acked_bytes: int
    delivered_bytes: int
    slow_start_credit: float
    avoidance_credit: float
    delivered_segments: int
    lost_segments: int
    total_delivered: int
    total_lost: int
    rate: Rate | None
    next_departure_ns: int
    rtt_s: float | None
    rtt_ns: int | None
    srtt_s: float | None
    srtt_ns: int | None
    prior_flight_bytes: int
    flight_bytes: int
    prior_flight_segments: int
    flight_segments: int
    app_limited: bool
    ece: bool
    round_trips: int
    in_recovery: bool
    ends_timeout: bool
    snd_una: int
    snd_nxt: int
    ce_segments: int
    window: int
    send_rate: int
    is_paced: bool
    observed: bool

@final
class Event:
    cause: str
    now_s: float
    now_ns: int
    window: float
    flight_bytes: int
    repeated: bool
    snd_una: int
    snd_nxt: int
    total_lost: int

@final
class Moment:
    now_s: float
    now_ns: int
    snd_una: int
    snd_nxt: int
    app_limited: bool

@final
class Prior:
    window: float
    ssthresh: float

@final
class QueueContext:
    def random(self) -> float: ...

@final
class Packet:
    bytes: int
    flow: int
    station: int
    up: bool
    tid: int
    is_tcp_ack: bool
    is_ecn_capable: bool
    def mark(self) -> bool: ...

@final
class Wanted:
    any: bool
    def includes(self, packet: Packet) -> bool: ...

@final
class Peer:
    rates_bps: list[int]
    received_dbm: float
    def random(self) -> float: ...

@final
class Frame:
    now_s: float
    bytes: int
    aggregates: bool
    retry: int

@final
class Status:
    now_s: float
    mode: int
    success: bool
    mpdus: int
    acknowledged: int
    rts: bool
    snr_db: float | None
    is_good: bool

@final
class AgentContext:
    quantities: list[str]
    controls: list[tuple[str, float, float]]
    seed: int

@final
class Observation:
    now_s: float
    values: list[float]
    absent: list[bool]

@final
class ErrorModelContext:
    def random(self) -> float: ...

@final
class ReceivedFrame:
    now_s: float
    kind: str
    up: bool
    link: int
    bits: int
    sinr: float
    rate_bps: int
    modulation: str
    code_rate: float
    mcs: int | None
    streams: int
    antennas_per_stream: float
    bandwidth_hz: float
    sensitivity_dbm: float

@final
class SchedulerContext:
    stations: int
    max_users: int
    bsrp: bool
    def random(self) -> float: ...

@final
class Won:
    now_s: float
    has_data: bool
    reported: list[int]

@final
class User:
    place: int
    bytes: int
    rate_bps: int

@final
class Offer:
    now_s: float
    users: list[User]
    max_users: int
    is_known: bool
    longest_s: float
    around_one_s: float
    around_several_s: float

# On Linux.
def emulation_plan_json(scenario: ResolvedScenario, seed: int) -> str: ...
def emulate(job: str) -> None: ...

@final
class Recording:
    def __new__(
        cls, directory: str | PathLike[str], tables: list[str], from_s: float = 0.0, length_s: float | None = None
    ) -> Self: ...

@final
class Campaign:
    def __new__(
        cls,
        scenario: ResolvedScenario,
        seeds: list[int],
        jobs: int,
        series_interval_s: float | None = None,
        account: bool = False,
        recording: Recording | None = None,
        captures: tuple[str | PathLike[str], int] | None = None,
    ) -> Self: ...
    def progress(self) -> float: ...
    def cancel(self) -> None: ...
    def is_done(self) -> bool: ...
    def take_finished(self) -> list[RunOutcome]: ...

@final
class Pool:
    """Runs of any scenario on at most `jobs` threads, each known by a ticket."""

    def __new__(cls, jobs: int) -> Self: ...
    def submit(
        self, ticket: int, scenario: ResolvedScenario, seed: int, series_interval_s: float | None = None
    ) -> None: ...
    def take_finished(self, longest_s: float) -> list[tuple[int, RunOutcome]]: ...
    def fraction(self) -> float: ...
    def cancel(self) -> None: ...
    def close(self) -> None: ...

@final
class Simulation:
    def __new__(cls, scenario: ResolvedScenario, seed: int, series_interval_s: float | None = None) -> Self: ...
    def now_ns(self) -> int: ...
    def run_until(self, text: str) -> bool: ...
    def metrics(self) -> Run | None: ...
    def finish(self) -> RunOutcome: ...

@final
class AccountSoFar:
    """A run whose account, from the end of the warm-up on, can be read at moments of it."""

    def __new__(cls, scenario: ResolvedScenario, seed: int) -> Self: ...
    def until(self, until_ns: int) -> dict[str, Any]: ...
    def metrics(self) -> Run | None: ...
    def end_ns(self) -> int: ...

@final
class Task:
    """A scenario with the controls, the observations and the reward of an agent."""

    def __new__(
        cls, scenario: ResolvedScenario, control: list[str], observe: list[str], rewards: list[str], decide: str
    ) -> Self: ...
    def controls(self) -> list[tuple[str, str, float, float, bool, float | None]]: ...
    def seen(self) -> list[str]: ...
    def bounds(self) -> list[float | None]: ...
    def unseen(self) -> list[tuple[str, str]]: ...

@final
class BuiltIn:
    """A built-in algorithm as the policy of a task's agent, in one episode."""

    def __new__(cls, task: Task, kind: str, algorithm: str | None, seed: int) -> Self: ...
    @staticmethod
    def needs(kind: str) -> tuple[str, list[str]]: ...
    def act(self, now_ns: int, values: list[float], absent: list[bool]) -> list[float]: ...

def linear_values(
    observations: NDArray[np.float64],
    weights: NDArray[np.float64],
    scales: list[float],
    bounds: tuple[float, float],
    values: NDArray[np.float64],
) -> None: ...

@final
class World:
    """A simulation of a task; arrays are contiguous, of 64-bit numbers."""

    def __new__(cls, task: Task, seed: int, observation: NDArray[np.float64]) -> Self: ...
    def step(
        self, action: NDArray[np.float64] | None, observation: NDArray[np.float64], rewards: NDArray[np.float64]
    ) -> bool: ...
    def absent(self) -> list[bool]: ...
    def now_ns(self) -> int: ...
    def finish(self) -> RunOutcome: ...

@final
class Worlds:
    """Several of them, on threads."""

    def __new__(cls, task: Task, count: int, threads: int) -> Self: ...
    def reset(self, seeds: list[tuple[int, int]], observations: NDArray[np.float64]) -> list[int]: ...
    def step(
        self, actions: NDArray[np.float64] | None, observations: NDArray[np.float64], rewards: NDArray[np.float64]
    ) -> list[int]: ...

def recording_tables() -> list[tuple[str, str, list[tuple[str, str, str]]]]: ...
def recording_groups() -> list[tuple[str, list[str]]]: ...
def resolve(text: str, file_name: str, settings: list[tuple[str, str]]) -> ResolvedScenario: ...
def schema_json() -> str: ...
def result_schema_json() -> str: ...
def texts() -> list[tuple[str, str]]: ...
def list_json(kind: str | None = None) -> str: ...
def describe_object(bytes: bytes, name: str) -> tuple[str, str]: ...
def show_json(name: str) -> str: ...
def theory_json(scenario: ResolvedScenario) -> str: ...
def run_job(job: str) -> None: ...
def replay_cc(text: str, choice: str | None = None) -> tuple[str, str]: ...
def check_cc(choice: str) -> list[tuple[str, str | None]]: ...
def packetdrill(
    text: str, options: list[tuple[str, str]], choice: str | None = None
) -> tuple[str, int, str, list[tuple[int, str, list[tuple[str, int]]]]]: ...
def replay_recovery(text: str) -> tuple[str, str, str, str]: ...
def collision_probability(stations: int, window: int, doublings: int, attempts: int | None) -> float:
    """Of an attempt of one of saturated stations, by Bianchi's model: all begin with `window` slots, which double `doublings` times."""

def mpdu_losses(mode: object, antennas: int, mpdu_bytes: float, snrs_db: Sequence[float]) -> list[float] | None:
    """The probability that noise destroys an MPDU in a mode of a capture, for each SNR for noise of 20 MHz; None if the engine lacks the mode."""

def analyze(
    files: Sequence[str | PathLike[str]],
    from_s: float | None = None,
    to_s: float | None = None,
    interval_s: float | None = None,
    show: Callable[[int], None] | None = None,
    recording: Recording | None = None,
) -> tuple[str, list[SeriesBlock], list[str]]: ...
