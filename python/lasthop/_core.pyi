"""The engine: text, numbers and JSON in and out. `lasthop` itself is the interface to use."""

from collections.abc import Callable, Sequence
from os import PathLike
from typing import Any, Self, final

__version__: str
source_digest: str
"""of the sources that the engine was compiled from, 16 hexadecimal digits"""
profile_guided: bool
"""whether it was compiled with a profile (`make fast`, `make wheel`); results do not depend on it"""
CAPTURE_SNAP: int
"""bytes of a frame that captures keep where nothing is said"""
LEAST_CAPTURE_SNAP: int
"""the fewest bytes of a frame that they may keep"""

class ScenarioError(ValueError): ...

@final
class ResolvedScenario:
    def to_json(self) -> str: ...
    def check_simulable(self) -> None: ...
    def check_without_code(self) -> None: ...
    def load_code(self) -> None: ...
    def code(self) -> list[tuple[str, str, str, PathLike[str]]]: ...
    def code_contents(self) -> list[tuple[str, bytes]]: ...
    def warnings(self) -> list[str]: ...
    def defaults(self) -> list[tuple[str, str, str]]: ...
    def duration_s(self) -> float: ...
    def stations(self) -> list[str]: ...
    def sweep(self) -> list[tuple[str, list[str]]]: ...

class SeriesBlock:
    metric: str
    entities: list[str]
    times: int
    start_s: float
    interval_s: float
    values: bytes
    """`times` rows of one native float64 for each entity."""

class RunText:
    """One element of "runs" of a result. A part, or a row of it, is made anew each time it is asked for."""

    def __init__(self, text: str) -> None: ...
    def text(self) -> str: ...
    def __contains__(self, part: str) -> bool: ...
    def __getitem__(self, part: str) -> Any: ...
    def get(self, part: str) -> Any: ...
    def columns(self, part: str, keys: list[str]) -> list[list[Any]]: ...
    def table(self, part: str) -> dict[str, list[Any]]: ...
    def __reduce__(self) -> Any: ...
    def rows_at_most(self, part: str, most: int) -> list[Any]: ...

class RunLines:
    """Runs as the list of a document with a line for each entry, one deep, as UTF-8."""

    def __init__(self, runs: list[RunText]) -> None: ...
    def __iter__(self) -> RunLines: ...
    def __next__(self) -> bytes: ...

class Summary:
    """The table `summary` of a document with a line for each entry, one deep, as UTF-8."""

    has_namesakes: bool
    def __init__(self, runs: list[RunText], widths: list[tuple[float, float]]) -> None: ...
    def __iter__(self) -> Summary: ...
    def __next__(self) -> bytes: ...

class RunOutcome:
    seed: int
    run: RunText | None
    json: str | None
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

class ErrorModelContext:
    def random(self) -> float: ...

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
    def metrics_json(self) -> str | None: ...
    def finish(self) -> RunOutcome: ...

class AccountSoFar:
    """A run whose account, from the end of the warm-up on, can be read at moments of it."""

    def __init__(self, scenario: ResolvedScenario, seed: int) -> None: ...
    def until(self, until_ns: int) -> str: ...
    def metrics_json(self) -> str | None: ...
    def end_ns(self) -> int: ...

def recording_tables() -> list[tuple[str, str, list[tuple[str, str, str]]]]: ...
def recording_groups() -> list[tuple[str, list[str]]]: ...
def resolve(text: str, file_name: str, settings: list[tuple[str, str]]) -> ResolvedScenario: ...
def indented(text: str, depth: int) -> bytes: ...
def schema_json() -> str: ...
def result_schema_json() -> str: ...
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

def analyze(
    files: Sequence[str | PathLike[str]],
    from_s: float | None = None,
    to_s: float | None = None,
    interval_s: float | None = None,
    show: Callable[[int], None] | None = None,
    recording: Recording | None = None,
) -> tuple[str, list[SeriesBlock], list[str]]: ...
