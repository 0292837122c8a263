"""Arguments that several commands share, and their checks: all of them before anything runs."""

from __future__ import annotations

import argparse
import errno
import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from ..data.diagnostic import ScenarioError
from ..data.files import check_writable, is_special
from ..data.metric import UnknownMetric, check_keys
from ..data.result import Result, read
from ..data.temporary import remove_leftovers
from ..foreign.recognition import has_packets, other_kind
from ..study.scenario import Scenario, load, readable_text
from ..study.sequential import GOODPUT, MOST, Until
from ..study.simulation import MAX_SEED, core_count, seed_list
from ._mistake import Mistake
from ._output import note

if TYPE_CHECKING:
    from .._core import ResolvedScenario
    from ..views.explain import Explanation

MAX_SEEDS = 1_000_000
MAX_JOBS = 1024
DEFAULT_SEEDS = 5
# Endings of what `lasthop sweep` writes.
OF_SWEEPS = (".csv", ".parquet", ".duckdb")
Read = TypeVar("Read")
UNITS = {"us": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0}


def add_scenario(parser: argparse.ArgumentParser) -> None:
    """FILE and --set."""
    parser.add_argument("file", metavar="FILE", help="scenario file (TOML), or a name of `lasthop list scenario`")
    add_settings(parser)


def add_settings(parser: argparse.ArgumentParser) -> None:
    """--set."""
    what = (
        'override a value of the file, e.g. --set station.0.count=4 or --set "wired.delay=10 ms"; repeatable. A step into a list is '
        "an index, a name or a pattern of names: flow.web*.size"
    )
    _add_settings(parser, "--set", "settings", what)


def add_settings_of_sides(parser: argparse.ArgumentParser) -> None:
    """--set, and --set-a and --set-b for one of two sides."""
    _add_settings(
        parser, "--set", "settings", "override a value of both scenarios, e.g. --set station.0.count=4; repeatable"
    )
    for side in "ab":
        _add_settings(
            parser, f"--set-{side}", f"settings_{side}", f"override a value of {side.upper()} alone; repeatable"
        )


def _add_settings(parser: argparse.ArgumentParser, option: str, name: str, what: str) -> None:
    parser.add_argument(option, dest=name, metavar="PATH=VALUE", action="append", default=[], type=_setting, help=what)


def laid_over(
    side: Result | Scenario, path: str, settings: Sequence[tuple[str, str]], option: str = "--set"
) -> Result | Scenario:
    """`side`, read from `path`, with settings laid over it, checked; a result cannot be changed."""
    if not settings:
        return side
    if isinstance(side, Result):
        raise Mistake(f"{option}: {path} is a result, which cannot be changed; give a scenario file")
    for key, value in settings:
        side = side.set(key, value)
    side.resolve()
    return side


def add_seeds(parser: argparse.ArgumentParser) -> None:
    """--seeds, --seed and --jobs."""
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--seeds", metavar="N", type=whole, help=f"run seeds 1 to N (default {DEFAULT_SEEDS})")
    which.add_argument("--seed", metavar="K", type=whole, help="run seed K only")
    parser.add_argument("--jobs", metavar="N", type=whole, help=f"threads (default: all cores, here {core_count()})")


def add_allow_code(parser: argparse.ArgumentParser, whose: str = "a result") -> None:
    """--allow-code."""
    parser.add_argument(
        "--allow-code",
        action="store_true",
        help=f"let {whose}, which may be somebody else's, run its code and open files outside its folder",
    )


def add_until(parser: argparse.ArgumentParser) -> None:
    """--until and --metric."""
    parser.add_argument(
        "--until",
        metavar="SHARE",
        type=_share,
        help=f"add seeds until the 95 %% interval is within this share of the mean, e.g. 2%%; at most --seeds ({MOST})",
    )
    parser.add_argument(
        "--metric",
        metavar="NAME",
        action="append",
        default=[],
        help=f"quantity that --until judges and the table shows: a name or glob of `lasthop list quantity`; repeatable (default {GOODPUT})",
    )


def add_congestion_control(parser: argparse.ArgumentParser, what: str) -> None:
    """--congestion-control."""
    parser.add_argument(
        "--congestion-control",
        metavar="CHOICE",
        help=f'{what}: a name, or a table such as \'{{ kind = "python", file = "mine.py", class = "Mine" }}\'',
    )


def add_flow(parser: argparse.ArgumentParser, when: str) -> None:
    """--flow."""
    parser.add_argument(
        "--flow",
        metavar="PATTERN",
        action="append",
        default=[],
        help=f"explain only the flows whose id matches this shell pattern, e.g. 'slow.*'; repeatable {when}",
    )


def of_flows(explanation: Explanation, arguments: argparse.Namespace) -> Explanation:
    """An explanation of the flows that --flow asks for."""
    try:
        return explanation.of_flows(arguments.flow) if arguments.flow else explanation
    except LookupError as error:
        raise Mistake(f"--flow: {error.args[0]}") from None


def until_of(arguments: argparse.Namespace) -> Until | None:
    """The stopping rule of --until, if it is given; checks the names of --metric."""
    try:
        check_keys(arguments.metric)
    except UnknownMetric as unknown:
        raise Mistake(f"--metric {unknown}") from None
    if arguments.until is None:
        return None
    if arguments.seed is not None:
        raise Mistake("--until: chooses how many seeds are run, so --seed cannot be given with it")
    most = MOST if arguments.seeds is None else arguments.seeds
    try:
        return Until(arguments.until, tuple(arguments.metric or [GOODPUT]), most)
    except ValueError as error:
        raise Mistake(f"--{error}") from None


def scenario_of(arguments: argparse.Namespace) -> Scenario:
    """The scenario that FILE and --set describe, checked."""
    return resolved_of(arguments)[0]


def resolved_of(arguments: argparse.Namespace) -> tuple[Scenario, ResolvedScenario]:
    """The scenario of FILE and --set, and its resolved form."""
    return resolved_file(arguments.file, arguments.settings)


def resolved_file(file: str, settings: Iterable[tuple[str, str]]) -> tuple[Scenario, ResolvedScenario]:
    """A scenario file with settings over it, and its resolved form."""
    scenario = _loaded(file)
    for path, value in settings:
        scenario = scenario.set(path, value)
    return scenario, scenario.resolve()


def seeds_of(arguments: argparse.Namespace) -> list[int]:
    """The seeds to run."""
    if arguments.seed is not None:
        if not 0 <= arguments.seed <= MAX_SEED:
            raise Mistake(f"--seed {arguments.seed}: a seed is a whole number from 0 to {MAX_SEED}")
        return [arguments.seed]
    count = DEFAULT_SEEDS if arguments.seeds is None else arguments.seeds
    if not 1 <= count <= MAX_SEEDS:
        raise Mistake(f"--seeds {count}: the number of seeds is from 1 to {MAX_SEEDS}")
    return seed_list(count)


def jobs_of(arguments: argparse.Namespace) -> int:
    """How many threads to run on."""
    if arguments.jobs is None:
        return core_count()
    if not 1 <= arguments.jobs <= MAX_JOBS:
        raise Mistake(
            f"--jobs {arguments.jobs}: the number of threads is from 1 to {MAX_JOBS}; this machine has {core_count()} cores"
        )
    return int(arguments.jobs)


def duration_s(text: str) -> float:
    """A length of time such as `1s` or `100 ms`, in seconds."""
    match = re.fullmatch(r"\s*([0-9]*\.?[0-9]+)\s*([a-zµ]+)\s*", text)
    unit = match and UNITS.get(match[2].replace("µ", "u"))
    if not match or unit is None or float(match[1]) == 0:
        raise argparse.ArgumentTypeError(f"{text!r} is not a length of time; write e.g. 1s, 100ms or 500us")
    return float(match[1]) * unit


def moment_s(text: str) -> float:
    """A time of a run such as `20s`, in seconds; also `0s`."""
    match = re.fullmatch(r"\s*0+(\.0+)?\s*([a-zµ]+)\s*", text)
    return 0.0 if match and match[2].replace("µ", "u") in UNITS else duration_s(text)


def result_of(path: str, *, allow_code: bool = False, taken: str = "a result of `lasthop run` is needed") -> Result:
    """The result in a file or directory; `allow_code`: whether it may run its code. `taken` is for the refusal of others."""
    try:
        return _readable(lambda file: read(file, allow_code=allow_code), path)
    except ScenarioError as error:
        raise _by_content(path, taken) or error from None


def _loaded(path: str, taken: str = "a scenario (TOML) is needed") -> Scenario:
    """The scenario in a file, or the ready one of this name."""
    try:
        return _readable(load, path)
    except ScenarioError as error:
        if os.path.isfile(path) and has_packets(path):
            raise Mistake(
                f"{path}: is a capture; `lasthop twin {path} --out FILE.toml` makes a scenario of it"
            ) from None
        raise _by_content(path, taken) or error from None


def _by_content(path: str, taken: str) -> Mistake | None:
    """The mistake of giving a file of another kind, if its content is known."""
    from ..foreign.testbed import kind_of

    if not os.path.isfile(path):
        return None
    if (kind := kind_of(path)) is not None:
        return Mistake(
            f"{path}: is a file of {kind}; read it first with `lasthop analyze {path} --out DIR` and give DIR"
        )
    return None if (sentence := other_kind(path, taken)) is None else Mistake(sentence)


def _capture(path: str) -> Result:
    """Returns the result of analysing a capture."""
    from ..foreign.analysis import analyze

    try:
        return _readable(lambda file: analyze([file], interval_s=None), path)
    except ValueError as error:
        raise Mistake(str(error)) from None


def result_or_scenario(path: str, *, allow_code: bool = False) -> Result | Scenario:
    """Reads a result (a directory or .json), a capture or a scenario, and checks it.

    `allow_code`: whether a result may run its code.
    """
    if path.endswith((".pcap", ".pcapng", ".cap")) or (os.path.isfile(path) and has_packets(path)):
        return _capture(path)
    if path.endswith(OF_SWEEPS) and os.path.isfile(path):
        remedy = "`lasthop compare FILE FILE --set-b PATH=VALUE` compares two points of one"
        raise Mistake(
            f"{path}: is a table or a store of sweeps; results, scenarios and captures are taken here. {remedy}"
        )
    is_result = os.path.isdir(path) or path.endswith(".json")
    taken = "results, scenarios and captures are taken here"
    return result_of(path, allow_code=allow_code, taken=taken) if is_result else _loaded(path, taken)


def check_directory(option: str, directory: str) -> None:
    """Makes `directory` if it is missing, and checks that files can be written in it."""
    if not directory:
        raise Mistake(f"{option}: the name of a directory is needed")
    check_name(option, directory)
    with _reported(option, directory):
        Path(directory).mkdir(parents=True, exist_ok=True)
        remove_left(Path(directory))
        check_writable(Path(directory) / "timeseries.parquet")


def check_name(option: str, name: str) -> None:
    """Refuses names that are not UTF-8, in which Parquet and DuckDB cannot write."""
    if name != readable_text(name):
        raise Mistake(f"{option} {readable_text(name)}: is not a name in UTF-8, as Parquet and DuckDB need it")


def check_file(option: str, file: str | None) -> None:
    """Makes sure that `file` can be written; `-` always can."""
    if file is None or file == "-":
        return
    if not file:
        raise Mistake(f"{option}: the name of a file is needed")
    if os.path.isdir(file):
        raise Mistake(f"{option} {file}: is a directory; give the name of a file")
    with _reported(option, file):
        if not is_special(file):
            remove_left(Path(os.path.realpath(file)).parent)
            check_writable(Path(os.path.realpath(file)))
        elif not os.access(file, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))


def remove_left(folder: Path) -> None:
    """Removes the temporary files of killed commands, with a note."""
    if count := remove_leftovers(folder):
        note(f"{folder}: {count} temporary files or folders of a command that was killed are removed")


@contextmanager
def _reported(option: str, target: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise Mistake(f"{option} {readable_text(target)}: cannot be written: {error.strerror}") from None


def _readable(reader: Callable[[str], Read], path: str) -> Read:
    try:
        return reader(path)
    except OSError as error:
        raise Mistake(f"{error.filename or path}: {error.strerror}") from None


def _setting(text: str) -> tuple[str, str]:
    path, equals, value = text.partition("=")
    if not equals or not path.strip():
        raise argparse.ArgumentTypeError(f"{text!r} is not of the form PATH=VALUE, e.g. station.0.count=4")
    return path.strip(), value.strip()


def _share(text: str) -> float:
    match = re.fullmatch(r"\s*([0-9]*\.?[0-9]+)\s*%\s*", text)
    if not match or not 0 < float(match[1]) < 100:
        raise argparse.ArgumentTypeError(f"{text!r} is not a percentage between 0 and 100 %; write e.g. 2%")
    return float(match[1]) / 100


def whole(text: str) -> int:
    if not re.fullmatch(r"[+-]?[0-9]{1,30}", text):
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number")
    return int(text)
