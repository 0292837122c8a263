"""The result of a campaign: the JSON document of format 1, its tables as data frames, its time series."""

from __future__ import annotations

import os
import weakref
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, Self

from .. import _core
from . import json_text, tables
from .arguments import path as file_name
from .arguments import shown
from .attached import Attached
from .confidence import Estimate, estimate, is_value
from .diagnostic import refused
from .files import PendingFile, named, sync, write_new
from .foreign_text import COPY, LARGEST_RESULT, Unreadable, parsed_json, text_of
from .metric import LISTED, unknown
from .origin import Origin, Source
from .profiles import moved
from .recording import FOLDER, Chosen, NewRecordings, Recordings, copied_beside, put_into
from .result_shape import mistake_of
from .runs import NOT_SUMMARISED, Run, metric_names, run_of
from .scenario_file import looks_like_scenario
from .series import TimeSeries

if TYPE_CHECKING:
    import pandas
    import pyarrow

FORMAT = 1
# Files in a directory of a result.
FILES = (
    "result.json",
    "scenario.toml",
    "flows.parquet",
    "nodes.parquet",
    "links.parquet",
    "timeseries.parquet",
    FOLDER,
)


class Outcome(Protocol):
    """A finished seed: its run, or a sentence with the cause of its failure."""

    @property
    def seed(self) -> int:
        """The seed."""

    @property
    def run(self) -> Run | None:
        """The run; None if it failed."""

    @property
    def error(self) -> str | None:
        """The cause of the failure."""


class Result:
    """The runs of one scenario, in the order of their seeds."""

    plot = Attached()
    explain = Attached()
    air = Attached()
    to_qlog = Attached()
    to_perfetto = Attached()
    _repr_html_ = Attached()

    def __init__(
        self,
        document: dict[str, Any],
        *,
        source: Path | None = None,
        scenario_text: str = "",
        origin: Origin = Origin(Source.RESULT),  # noqa: B008 - it does not change
    ) -> None:
        self._head = {key: document[key] for key in ("format", "lasthop", "scenario", "warnings")}
        self._head |= {key: document[key] for key in ("defaults", "code") if key in document}
        self._runs: list[Run] = [run_of(run) for run in document["runs"]]
        # As documents, as far as they were read.
        self._documents: list[dict[str, Any]] = []
        # Number of runs when their metrics were gathered, and these.
        self._metrics_of: tuple[int, dict[str, dict[int, float]]] = (0, {})
        self.failures: list[dict[str, Any]] = document.get("failed", [])
        self.interrupted: bool = document.get("interrupted", False)
        # Whether Ctrl-C came, even if it left nothing undone.
        self.was_told_to_stop = False
        self.until: dict[str, Any] | None = document.get("until")
        self.source = source
        self.origin = origin
        self._scenario_text = scenario_text
        self._series: list[tuple[int, Sequence[tables.Series]]] = []
        self._recordings: Recordings | None = None

    def add(self, outcome: Outcome, series: list[_core.SeriesBlock]) -> None:
        """Adds one finished seed: its run, or a sentence with the cause of its failure."""
        if outcome.run is None:
            self.failures.append({"seed": outcome.seed, "error": outcome.error})
            return
        self._runs.append(outcome.run)
        if series:
            self.add_series(outcome.seed, series)

    def add_series(self, seed: int, series: Sequence[tables.Series]) -> None:
        """Adds the time series of a seed whose run was added."""
        self._series.append((seed, series))

    @property
    def runs(self) -> list[dict[str, Any]]:
        """The runs as in the JSON document. They are large with thousands of stations, so they are made on demand."""
        self._documents += [run.document() for run in self._runs[len(self._documents) :]]
        return self._documents

    @runs.setter
    def runs(self, runs: Iterable[Run | Mapping[str, Any]]) -> None:
        self._runs = [run_of(run) for run in runs]
        self._documents = []
        self._metrics_of = (0, {})

    @property
    def told_runs(self) -> Sequence[Run]:
        """The runs as tables, for readers of some parts."""
        return self._runs

    def table(self, part: str) -> _core.Table:
        """Returns the rows of `part` (flows, nodes, links, queues, wires, totals, medium, simulator) of all seeds as columns.

        Any library reads them by Arrow's interface: `pyarrow.table(t)`, `polars.DataFrame(t)`, and DuckDB as well.
        """
        return _core.Table.of_runs(self._runs, part)

    @property
    def scenario(self) -> dict[str, Any]:
        """The resolved scenario."""
        value: dict[str, Any] = self._head["scenario"]
        return value

    @property
    def made_by(self) -> str:
        """The version of lasthop that ran it."""
        value: str = self._head["lasthop"]
        return value

    def with_runs(self, runs: Sequence[Run | Mapping[str, Any]]) -> Result:
        """Returns a result of the same scenario with other runs."""
        return Result(
            {**self._head, "runs": runs}, source=self.source, scenario_text=self._scenario_text, origin=self.origin
        )

    @property
    def name(self) -> str:
        """The scenario's name, or that of its file."""
        return str(self.scenario.get("name") or "") or (self.source.stem if self.source else "scenario")

    @property
    def warnings(self) -> list[str]:
        """Warnings for readers of the results, those of `moved` last."""
        value: list[str] = self._head["warnings"]
        return [*value, *self.moved]

    @cached_property
    def moved(self) -> list[str]:
        """Warnings of a stored result about profiles whose name stood for another version."""
        return moved(self._scenario_text, self.scenario) if self.source is not None else []

    def warn(self, warnings: Iterable[str]) -> None:
        """Adds warnings that travel with the result."""
        self._head["warnings"].extend(warnings)

    @property
    def defaults(self) -> list[dict[str, str]]:
        """Keys left out of the file whose default depends on the rest of the scenario: key, value, because."""
        value: list[dict[str, str]] = self._head.get("defaults", [])
        return value

    @property
    def code(self) -> list[dict[str, str]]:
        """The scenario's files of code: key, file and the SHA-256 of the code that ran."""
        value: list[dict[str, str]] = self._head.get("code", [])
        return value

    @property
    def seeds(self) -> list[int]:
        """The seeds that finished."""
        return [run["seed"] for run in self._runs]

    @property
    def metrics(self) -> dict[str, dict[int, float]]:
        """Every number of every run by its dotted name, such as `totals.goodput_bps`, for each seed that has it.

        Calls return the same table until a run is added; do not change it.
        """
        count, table = self._metrics_of
        if count != len(self._runs):
            table = {}
            seeds = self.seeds
            for name, values in self._numbers():
                table[name] = {seed: x for seed, x in zip(seeds, values, strict=True) if x is not None}
            self._metrics_of = (len(self._runs), table)
        return table

    @property
    def metric_names(self) -> list[str]:
        """The names of `metrics`, with those that have no value in any run."""
        names = dict.fromkeys(name for run in self._runs for name in metric_names(run))
        return [name for name in names if name not in NOT_SUMMARISED]

    @property
    def summary(self) -> dict[str, dict[str, float | int | None]]:
        """Mean and 95 % confidence interval over the seeds of every metric.

        An unknown name raises `KeyError` with similar names.
        """
        return _Summary({name: self._estimate([*values.values()])._asdict() for name, values in self.metrics.items()})

    def estimate(self, values: Iterable[float]) -> Estimate | None:
        """Mean and interval of one value per seed; wider if the data chose the number of seeds."""
        return estimate(list(values), stopped=self.until is not None)

    @cached_property
    def flows(self) -> pandas.DataFrame:
        """One row for each seed and flow."""
        return tables.frame(self._runs, "flows")

    @cached_property
    def nodes(self) -> pandas.DataFrame:
        """One row for each seed and node."""
        return tables.frame(self._runs, "nodes")

    @cached_property
    def links(self) -> pandas.DataFrame:
        """One row for each seed and directed link."""
        return tables.frame(self._runs, "links")

    @cached_property
    def timeseries(self) -> pandas.DataFrame:
        """Tidy time series: seed, time_s, entity, metric, value. Raises `LookupError` if none was kept."""
        return self.series.frame()

    @cached_property
    def series(self) -> TimeSeries:
        """The time series as columns of numpy. Raises `LookupError` if none was kept."""
        if self._series:
            return TimeSeries.of(tables.series_table(self._series))
        if (stored := self._stored_series()) is not None:
            return TimeSeries.of(_core.Table.read_series(stored))
        where = self.source or "this result"
        again = "run again with --out DIR (in Python: interval_s=1.0)"
        if any("capture" in run for run in self.told_runs):
            again = "a capture shorter than a row of 1 s has none: `lasthop analyze` again with --interval 5ms"
        raise LookupError(f"{where}: holds no time series; {again}")

    def recording(self, table: str, seed: int | None = None) -> pyarrow.Table:
        """Returns a recorded table of a seed: `ppdu`, `segment` and so on. `seed` may be left out if only one was recorded.

        Times are in nanoseconds, names are dictionaries; docs/formats.md has the columns. Raises `LookupError` if the table
        was not recorded.
        """
        there = self.recordings or Recordings(Path(os.devnull))
        return there.read(table, seed, self.source or "this result")

    def recorded(self, tables: Iterable[str], seed: int | None) -> tuple[Recordings, int, Run]:
        """Recordings with one of `tables` of a seed, the seed, and its run; raises `LookupError` if there is none."""
        recordings = self.recordings or Recordings(Path(os.devnull))
        seed = recordings.seed_of(tables, seed, self.source or "this result")
        run = next((run for run in self._runs if run["seed"] == seed), None)
        if run is None:
            raise LookupError(f"{self.source or 'this result'}: seed {seed} is recorded, but there is no run of it")
        return recordings, seed, run

    @property
    def recordings(self) -> Recordings | None:
        """Its recordings, if any."""
        beside = self.source.with_name(FOLDER) if self.source else None
        return self._recordings or (Recordings(beside, self.origin.sibling) if beside and beside.is_dir() else None)

    def keep_recordings(self, recordings: NewRecordings) -> None:
        """Keeps the recordings of finished seeds; they are removed with this object."""
        recordings.keep(self.seeds)
        self._recordings = recordings
        weakref.finalize(self, recordings.discard)

    def to_dict(self) -> dict[str, Any]:
        """The document of format 1."""
        return {**self._whole_head(), "runs": self.runs, "summary": dict(self.summary)}

    def _whole_head(self) -> dict[str, Any]:
        """The document without its runs and their summary."""
        document = dict(self._head)
        if self.until is not None:
            document["until"] = self.until
        if self.interrupted:
            document["interrupted"] = True
        if self.failures:
            document["failed"] = self.failures
        return document

    def to_json(self) -> str:
        """The document as text; the same runs give the same bytes, except `simulator.wall_s`."""
        return b"".join(self.json_pieces()).decode()

    def json_pieces(self) -> Iterator[bytes]:
        """`to_json` as UTF-8 in pieces, so that a result of a thousand stations need not be in memory as text."""
        numbers = ((name, [x for x in values if x is not None]) for name, values in self._numbers())
        summary = ((name, self._estimate(values)) for name, values in numbers)
        yield from json_text.pieces(self._whole_head(), self._runs, summary)

    def _numbers(self) -> Iterator[tuple[str, list[float | None]]]:
        """The numbers of the summary by run, of those names that some run has."""
        for name, values in _core.Numbers(self._runs):
            if name not in NOT_SUMMARISED:
                known = [x if x is not None and is_value(x) else None for x in values]
                if any(x is not None for x in known):
                    yield name, known

    def _estimate(self, values: list[float]) -> Estimate:
        """`estimate` of one value or more."""
        found = self.estimate(values)
        assert found is not None
        return found

    def save(self, directory: str | os.PathLike[str]) -> None:
        """Writes result.json, the tables as Parquet and scenario.toml; each file appears whole or not at all."""
        file_name("save", directory, "the name of a directory")
        with ResultDirectory(directory) as target:
            for seed, blocks in self._series:
                target.add_series(seed, blocks)
            if (stored := self._stored_series()) is not None:
                target.copy_series(stored)
            target.copy_recordings(self.recordings)
            target.commit(self)

    def _stored_series(self) -> Path | None:
        """The time series beside the file that this result was read from."""
        file = self.source and self.source.with_name("timeseries.parquet")
        return self.origin.sibling(file) if file and file.is_file() else None

    def __repr__(self) -> str:
        state = ", interrupted" if self.interrupted else ""
        return f"<lasthop.Result {self.name}: {len(self._runs)} seeds{state}>"


class _Summary(dict[str, Any]):
    """A dict whose `KeyError` says what there is."""

    def __missing__(self, name: str) -> Any:
        if not isinstance(name, str):
            raise KeyError(f"{shown(name)}: the name of a metric is needed; {LISTED}")
        raise KeyError(str(unknown(name, list(self))))


class ResultDirectory:
    """A directory of a result being written: time series as seeds finish, the rest with `commit`."""

    def __init__(self, directory: str | os.PathLike[str]) -> None:
        self._directory = Path(directory)
        self._directory.mkdir(parents=True, exist_ok=True)
        self._series = tables.SeriesFile(self._directory / "timeseries.parquet")
        self._recordings: NewRecordings | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._series.discard()
        if self._recordings is not None:
            self._recordings.discard()

    def new_recordings(self, kept: Path | None = None) -> NewRecordings:
        """Returns recordings to be written into this directory: under a temporary name, or in the folder `kept`."""
        self._recordings = NewRecordings(self._directory, kept=kept)
        return self._recordings

    def copy_recordings(self, recordings: Recordings | None) -> None:
        """Copies the recordings of another result."""
        if recordings is not None:
            self._recordings = copied_beside(recordings, self._directory)

    def add_series(self, seed: int, blocks: Iterable[tables.Series]) -> None:
        """Appends the time series of one seed."""
        self._series.add(seed, blocks)

    def copy_series(self, file: Path) -> None:
        """Copies the time series of another directory."""
        self._series.copy(file)

    def commit(self, result: Result, *, recorded: Iterable[str] | None = None, lasting: bool = False) -> None:
        """Writes the remaining files, then gives all files their names.

        `recorded`: the tables of recordings that the result gets, or all. `lasting`: waits until all is on the disk.
        """
        files = [PendingFile(self._directory / name) for name in ("flows.parquet", "nodes.parquet", "links.parquet")]
        document, scenario = (PendingFile(self._directory / name) for name in ("result.json", "scenario.toml"))
        pending = (*files, scenario, document)
        try:
            for file in files:
                with named(file.path):
                    tables.write_table(file.begun(), result.told_runs, file.path.stem, result.warnings)
            write_new(scenario, [result._scenario_text])
            write_new(document, result.json_pieces())
            series = self._series.close()
            if lasting:
                sync([*(file.temporary for file in pending), *([series] if series else [])])
            self._series.commit()
            chosen = Chosen(frozenset(result.seeds), None if recorded is None else frozenset(recorded))
            folders = put_into(self._directory, self._recordings, chosen)
            for file in pending:
                file.commit()
            if lasting:
                sync([self._directory, *folders])
        finally:
            for file in pending:
                file.discard()


def read(path: str | os.PathLike[str], *, allow_code: bool = False) -> Result:
    """Reads a result from its JSON file or directory; raises `ScenarioError` if it is not one, `OSError` if it cannot be
    read.

    A result may come from somebody else: to run it again, for an explanation, is refused if it names code, or a file outside
    its folder. `allow_code` allows both.
    """
    file = Path(file_name("read", path, "the name of a result, its directory or its JSON file,"))
    origin = Origin(Source.RESULT, (file if file.is_dir() else file.parent,), allow_code)
    if file.is_dir():
        file = origin.sibling(file / "result.json")
    try:
        text = text_of(file, LARGEST_RESULT, "give a result of fewer seeds")
        if not text.lstrip().startswith("{"):
            raise ValueError("it does not begin with {")
        head, runs = _core.parse_result(text)
    except Unreadable:
        raise
    except ValueError as error:
        if looks_like_scenario(file):
            remedy = f"run it first, `lasthop run {file} --out DIR`, and give DIR"
            raise refused("is a scenario, but a result is needed", remedy, file=str(file)) from None
        raise refused(f"not a result of `lasthop run`: not JSON: {error}", file=str(file)) from None
    document = parsed_json(file, head)
    if (mistake := mistake_of(document, runs)) is not None:
        raise refused(f"not a result of `lasthop run` in format {FORMAT}: {mistake}", COPY, file=str(file))
    scenario = origin.sibling(file.with_name("scenario.toml"))
    text = text_of(scenario) if scenario.is_file() else ""
    return Result({**document, "runs": runs}, source=file, scenario_text=text, origin=origin)
