"""`lasthop run`: one scenario, one seed or several."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from .. import _core
from ..data.arguments import ArgumentError
from ..data.metric import UnknownMetric
from ..data.recording import Request, check_span, chosen, tables_of
from ..data.result import FILES as RESULT_FILES
from ..data.result import Result
from ..study.pcap import LEAST_SNAP, MOST_SNAP, SNAP, requested
from ..study.pcap import Request as Captures
from ..study.progress import Progress
from ..study.scenario import Scenario
from ..study.sequential import Until
from ..study.simulation import HeldInterrupt, Starter, seed_list, simulate
from ..study.unfinished import FOLDER as UNFINISHED
from ..study.unfinished import Unfinished, UnfinishedError, campaign_of
from . import _arguments
from ._code import load_code
from ._exports import Exports, add_exports
from ._mistake import Mistake
from ._output import note, note_few, show, summary_text, until_text
from ._outputs import Outputs

Checked = TypeVar("Checked")
MAX_ROWS_PER_SEED = 10_000_000


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of `lasthop run`."""
    _arguments.add_scenario(parser)
    _arguments.add_seeds(parser)
    _arguments.add_until(parser)
    add_kept(parser)


def add_kept(parser: argparse.ArgumentParser) -> None:
    """Adds the options for the data kept of runs."""
    parser.add_argument("--out", metavar="DIR", help="write result.json, tables and time series (Parquet) to DIR")
    parser.add_argument("--json", metavar="FILE", help="write the result as JSON to FILE, or to standard output with -")
    parser.add_argument(
        "--interval",
        metavar="TIME",
        type=_arguments.duration_s,
        help="simulated time between two rows of the time series in --out (default 1s)",
    )
    parser.add_argument(
        "--record",
        metavar="TABLES",
        help="record every event of these tables to --out: air, tcp, queue, backoff, waits, rate, step, or all; separated by commas",
    )
    parser.add_argument(
        "--record-from",
        metavar="TIME",
        type=_arguments.moment_s,
        help="simulated time at which the recording begins (default 0s)",
    )
    parser.add_argument(
        "--record-for", metavar="TIME", type=_arguments.duration_s, help="length of the recording (default: to the end)"
    )
    add_exports(parser)
    parser.add_argument(
        "--pcap",
        metavar="DIR",
        help="write captures for Wireshark to DIR: the air, each node, the server; always of the whole run",
    )
    parser.add_argument(
        "--pcap-snap",
        metavar="BYTES",
        type=_arguments.whole,
        help=f"bytes kept of each frame in --pcap, {LEAST_SNAP} to {MOST_SNAP} (default {SNAP}: all headers); 0 keeps all",
    )
    parser.add_argument("--explain", action="store_true", help="store the account of time that `lasthop explain` shows")
    parser.add_argument(
        "--resume",
        action="store_true",
        help="go on with the finished seeds of the same run that was interrupted or killed, which --out and --pcap keep",
    )


def execute(arguments: argparse.Namespace) -> int:
    """Checks everything, runs, writes."""
    check_options(arguments)
    until, jobs = _arguments.until_of(arguments), _arguments.jobs_of(arguments)
    seeds = seed_list(until.most) if until else _arguments.seeds_of(arguments)
    scenario, resolved = _arguments.resolved_of(arguments)
    resolved.check_simulable()
    load_code([resolved])
    result = carry_out(arguments, scenario, resolved, seeds, jobs, until=until)
    return report(result, arguments, len(seeds))


def carry_out(
    arguments: argparse.Namespace,
    scenario: Scenario,
    resolved: _core.ResolvedScenario,
    seeds: list[int],
    jobs: int,
    *,
    until: Until | None = None,
    emulation: Emulation | None = None,
    quiet: bool = False,
) -> Result:
    """Checks the outputs, runs and writes them; each seed is kept as it finishes. `quiet`: shows no progress."""
    warnings = list(map(str, resolved.warnings())) if emulation is None else emulation.warnings
    interval_s = _interval_s(arguments, resolved.duration_s())
    exports = Exports.of(arguments, len(seeds))
    request = _request(arguments, resolved.duration_s(), exports)
    captures = _refused(requested, arguments.pcap, arguments.pcap_snap)
    _check_targets(arguments)
    for warning in warnings:
        note(f"warning: {warning}")
    options = _options(arguments, interval_s, request, captures, until, emulation)
    with ExitStack() as stack:
        held = stack.enter_context(HeldInterrupt())
        unfinished = _unfinished(arguments, lambda: campaign_of(resolved, scenario.file_name, seeds, options), stack)
        if unfinished is not None and emulation is not None:
            unfinished.outputs = emulation.outputs
        outputs = Outputs.begun(arguments, captures, exports, unfinished, held, stack, records=request is not None)
        with Progress.silent() if quiet else Progress.fitting(Path(arguments.file).stem) as progress:
            try:
                result = simulate(
                    scenario,
                    seeds,
                    jobs,
                    interval_s,
                    progress,
                    account=arguments.explain,
                    recording=(outputs.recordings.directory, request) if request and outputs.recordings else None,
                    captures=outputs.captures.asked if outputs.captures else None,
                    on_series=outputs.directory.add_series if outputs.directory else None,
                    until=until,
                    metrics=arguments.metric,
                    resolved=resolved,
                    start=emulation and emulation.start,
                    warnings=list(warnings),
                    held=held,
                    unfinished=unfinished,
                )
            except UnknownMetric as unknown:
                outputs.give_up()
                raise Mistake(f"--metric {unknown}") from None
        outputs.commit(result, several=len(seeds) > 1)
    for warning in result.warnings[len(warnings) :]:
        note(f"warning: {warning}")
    return result


class Emulation(NamedTuple):
    """The parts of an emulation: its warnings, its kernel, the start of runs, and the output of programs by seed."""

    warnings: list[str]
    kernel: str
    start: Starter
    outputs: Callable[[int], Iterable[Path]]


def _options(
    arguments: argparse.Namespace,
    interval_s: float | None,
    request: Request | None,
    captures: Captures | None,
    until: Until | None,
    emulation: Emulation | None,
) -> dict[str, Any]:
    """The options that decide what is kept of a run, and which seeds run."""
    return {
        "--until": until and [until.target, *until.metrics],
        "--interval": interval_s,
        "--explain": arguments.explain,
        "--record": request and request.tables,
        "--record-from": request and request.from_s,
        "--record-for": request and request.length_s,
        "--pcap": captures is not None,
        "--pcap-snap": captures and captures.snap,
        "--kernel": emulation and emulation.kernel,
    }


def _unfinished(
    arguments: argparse.Namespace, campaign: Callable[[], dict[str, Any]], stack: ExitStack
) -> Unfinished | None:
    """Keeps seeds as they finish, in the directory of the result or of the captures, with a note about seeds that are there."""
    target = arguments.out or arguments.pcap
    if target is None:
        return None
    captures = None if arguments.pcap is None else Path(arguments.pcap)
    try:
        unfinished = Unfinished(Path(target), campaign(), captures=captures, resume=arguments.resume)
    except UnfinishedError as error:
        raise Mistake(str(error)) from None
    stack.push(partial(_note_kept, unfinished, target))
    stack.enter_context(unfinished)
    if unfinished.goes_on:
        note(f"{target}: goes on after {len(unfinished.seeds)} finished seeds")
    elif unfinished.replaced:
        note(f"{target}: {unfinished.replaced} finished seeds of an interrupted run are replaced; --resume would go on")
    elif arguments.resume:
        note(f"{target}: no interrupted run is there; this one begins anew")
    return unfinished


def _note_kept(unfinished: Unfinished, target: str, _kind: object, error: object, _place: object) -> None:
    """Notes that seeds are kept although their result could not be written."""
    if unfinished.remains and isinstance(error, OSError | KeyboardInterrupt):
        count = len(unfinished.seeds)
        note(f"{target}: {count} finished seeds are kept in {UNFINISHED}; the same command with --resume goes on")


def check_options(arguments: argparse.Namespace) -> None:
    if arguments.interval is not None and arguments.out is None:
        raise Mistake("--interval: has no effect without --out DIR, which is where the time series goes")
    if arguments.resume and arguments.out is None and arguments.pcap is None:
        raise Mistake("--resume: needs the --out DIR or --pcap DIR of the run that was interrupted")
    if arguments.record is not None and arguments.out is None:
        raise Mistake("--record: needs --out DIR, which is where the recording goes")
    _refused(requested, arguments.pcap, arguments.pcap_snap)
    for option in ("record_from", "record_for"):
        given = (arguments.record, arguments.qlog, arguments.perfetto)
        if getattr(arguments, option) is not None and given == (None, None, None):
            raise Mistake(
                f"--{option.replace('_', '-')}: has no effect without --record TABLES, --qlog DIR or --perfetto FILE, "
                "which name what is recorded"
            )


def _check_targets(arguments: argparse.Namespace) -> None:
    """Checks that the outputs can be written; notes what they replace."""
    _arguments.check_file("--json", arguments.json)
    if arguments.out is not None:
        _arguments.check_directory("--out", arguments.out)
        _note_what_is_there(arguments.out)
    if arguments.pcap is not None:
        _arguments.check_directory("--pcap", arguments.pcap)
        if any(Path(arguments.pcap).glob("*.pcapng")) or any(Path(arguments.pcap).glob("seed-*/*.pcapng")):
            note(f"{arguments.pcap}: captures of the same names are replaced; others that are there stay")


def _note_what_is_there(directory: str) -> None:
    """Notes that a result will be replaced, or that the directory has other files, which remain."""
    there = {file.name for file in Path(directory).iterdir()}
    said = ["the result that is there is replaced"] if "result.json" in there else []
    said += ["other files that are there stay"] if there.difference((*RESULT_FILES, UNFINISHED)) else []
    if said:
        note(f"{directory}: {'; '.join(said)}")


def _interval_s(arguments: argparse.Namespace, run_s: float) -> float | None:
    if arguments.out is None:
        return None
    interval_s = 1.0 if arguments.interval is None else arguments.interval
    if arguments.interval is not None and interval_s > run_s:
        raise Mistake(f"--interval: {interval_s:g} s is longer than the run of {run_s:g} s and gives no rows")
    if run_s / interval_s > MAX_ROWS_PER_SEED:
        raise Mistake(f"--interval: {interval_s:g} s gives more than {MAX_ROWS_PER_SEED} rows for a run of {run_s:g} s")
    return interval_s


def _request(arguments: argparse.Namespace, run_s: float, exports: Exports) -> Request | None:
    """Returns the request of --record and of the exports, checked."""
    named = set() if arguments.record is None else tables_of(_refused(chosen, arguments.record))
    tables = sorted({*named, *exports.tables})
    if not tables:
        return None
    from_s = arguments.record_from or 0.0
    _refused(check_span, from_s, arguments.record_for, run_s)
    return Request(tuple(tables), from_s, arguments.record_for)


def _refused(check: Callable[..., Checked], *values: Any) -> Checked:
    """The outcome of a check of arguments, which are named as options if it refuses them."""
    try:
        return check(*values)
    except ArgumentError as error:
        raise Mistake(error.on_command_line()) from None


def report(result: Result, arguments: argparse.Namespace, asked: int, *, has_table: bool = True) -> int:
    """Prints the table and how the seeds ended; returns the exit status."""
    if result.told_runs and has_table:
        show(summary_text(result, arguments.metric), beside_data=arguments.json == "-")
    note_few(len(result.told_runs))
    if result.until and result.told_runs:
        note(until_text(result.until))
    for failure in result.failures:
        note(failure["error"])
    if result.interrupted:
        kept = "are kept" if arguments.out or arguments.json else "are shown above"
        if arguments.out or arguments.pcap:
            kept = "are kept; the same command with --resume goes on"
        of = "" if result.until else f" of {asked}"
        finished = f"; {len(result.told_runs)}{of} seeds were finished and {kept}" if result.told_runs else ""
        note(f"interrupted{finished}")
        return 130
    return 1 if result.failures else 0
