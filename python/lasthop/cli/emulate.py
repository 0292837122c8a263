"""`lasthop emulate`: a scenario over the TCP of a real kernel."""

from __future__ import annotations

import argparse
import json
import shlex
import shutil
import sys
import tomllib
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

from .. import _core
from ..data.diagnostic import ScenarioError
from ..data.quantities import FLOW
from ..data.runs import Run
from ..kernel.emulation import EmulationError, Kernel, build_kernel, find_kernel, missing_daemons
from ..kernel.emulation.build import BuildStep
from ..kernel.emulation.campaign import Emulations
from ..kernel.emulation.certificate import verdicts
from ..kernel.emulation.machines import Guests, Host, Place
from ..study.progress import Progress
from ..study.scenario import Scenario, toml_value
from ..study.simulation import Kept, core_count
from . import _arguments
from ._code import load_code
from ._mistake import Mistake
from ._output import note
from .run import Emulation, add_kept, carry_out, check_options, report

# A longer interactive session is not expected.
SHELL_LASTS = "1000000 s"
# Of its duration; a run that is shorter has means over another time than its scenario.
ENDED_EARLY = 0.99


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of `lasthop emulate`."""
    parser.add_argument(
        "file", metavar="FILE", nargs="?", help="scenario file (TOML), or a name of `lasthop list scenario`"
    )
    _arguments.add_settings(parser)
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--seeds", metavar="N", type=_arguments.whole, help="run seeds 1 to N (default 1)")
    which.add_argument("--seed", metavar="K", type=_arguments.whole, help="run seed K only")
    parser.add_argument(
        "--jobs", metavar="N", type=_arguments.whole, help="number of guests that run at a time (default: all cores)"
    )
    parser.add_argument(
        "--time",
        choices=("virtual", "real"),
        help="clock of the run: a guest's virtual time, or real time on this machine (default: emulation.time, virtual)",
    )
    parser.add_argument(
        "--kernel",
        metavar="KERNEL",
        help="kernel for virtual time: own, stock, a version such as 6.12, or a path (default: emulation.kernel, own)",
    )
    add_kept(parser)
    parser.add_argument(
        "--station", metavar="NAME", help="also run the command after -- at this station; the run ends with it"
    )
    parser.add_argument(
        "--shell", metavar="NAME", help="open a shell at this station, in real time; the run ends with it"
    )
    parser.add_argument("--build-kernel", action="store_true", help="only build the kernel for virtual time")
    parser.add_argument(
        "--wifi",
        action="store_true",
        help='with --build-kernel: give it a Wi-Fi stack, for [emulation] wifi_stack = "kernel"',
    )
    parser.add_argument(
        "--version",
        metavar="VERSION",
        help="with --build-kernel: version of the distribution's source, such as 6.12 or 7.3 (default: the newest)",
    )
    parser.add_argument(
        "--source", metavar="TREE", help="with --build-kernel: folder or archive of the kernel's source"
    )
    parser.add_argument(
        "--patch",
        metavar="FILE",
        help="with --build-kernel --wifi: patch for mac80211_hwsim (default: that in kernel/patches of lasthop's source)",
    )
    parser.set_defaults(metric=[], command=[])


def execute(arguments: argparse.Namespace) -> int:
    """Checks everything, runs, writes; 1 if a run is not valid."""
    if sys.platform != "linux":
        raise Mistake("emulate: needs Linux; `lasthop run` simulates the same scenario here")
    try:
        return _build(arguments) if arguments.build_kernel else _emulate(arguments)
    except EmulationError as error:
        raise Mistake(str(error)) from None


def _build(arguments: argparse.Namespace) -> int:
    if arguments.file is not None:
        raise Mistake("--build-kernel: takes no scenario; run it by itself")
    source, patch = (None if given is None else Path(given) for given in (arguments.source, arguments.patch))
    if source is not None and arguments.version is not None:
        raise Mistake("--version: chooses a package of the distribution, and --source gives a source; leave one out")
    with Progress.fitting("kernel", "files") as progress:
        kernel = build_kernel(
            source, partial(_show_step, progress), version=arguments.version, wifi=arguments.wifi, patch=patch
        )
    sys.stdout.write(f"{kernel}\n")
    return 0


def _show_step(progress: Progress, step: BuildStep) -> None:
    if step.doing == "compiling":
        progress.update(step.done / max(step.total, 1), step.done, step.total)
    else:
        progress.say(step.doing)


def _emulate(arguments: argparse.Namespace) -> int:
    _check_arguments(arguments)
    check_options(arguments)
    scenario, added = _scenario(arguments)
    resolved = _resolved(scenario, arguments)
    if arguments.seeds is None and arguments.seed is None:
        arguments.seeds = 1
    seeds = _arguments.seeds_of(arguments)
    if added is not None and len(seeds) > 1:
        raise Mistake("--seeds: a command or a shell runs once; choose one with --seed")
    plan = json.loads(_core.emulation_plan_json(resolved, seeds[0]))
    if not plan["flows"]:
        raise Mistake(
            f"{scenario.file_name}: no flow of this scenario can run on a kernel, which carries bulk data over TCP and programs; "
            "`lasthop run` simulates it"
        )
    load_code([resolved])
    place = _place(arguments, plan, scenario)
    for line in started(plan):
        note(line)
    with ExitStack() as stack:
        emulations: list[Emulations] = []
        emulation = Emulation(
            plan["warnings"],
            place.name,
            partial(_start, emulations, stack, scenario, resolved.duration_s(), place, added),
            lambda seed: [file for emulated in emulations for file in emulated.outputs(seed)],
        )
        result = carry_out(
            arguments,
            scenario,
            resolved,
            seeds,
            _arguments.jobs_of(arguments),
            emulation=emulation,
            quiet=arguments.shell is not None,
        )
        for emulated in emulations:
            _show_output(emulated, seeds, result.seeds, added, arguments)
    ended_s = None if added is None else ended_after_s(result.told_runs, resolved.duration_s())
    if ended_s is not None:
        kept = "" if arguments.json or arguments.out else "; --json FILE would keep its numbers"
        note(f"the run ended with the command, after {ended_s:.4g} s of {resolved.duration_s():.4g} s{kept}")
    status = report(result, arguments, len(seeds), has_table=ended_s is None)
    for verdict in verdicts(result):
        for line in verdict.lines:
            note(line)
        status = status or int(not verdict.valid)
    return status


def ended_after_s(runs: Sequence[Run], duration_s: float) -> float | None:
    """The length of a run that ended before its duration, without a warm-up: the time over which its goodputs are means. None if it
    lasted, or if no flow delivered a byte."""
    for run in runs:
        for delivered, goodput in zip(*run.columns("flows", [FLOW.bytes_delivered, FLOW.goodput_bps]), strict=True):
            if delivered and goodput:
                lasted_s = 8 * delivered / goodput
                return lasted_s if lasted_s < ENDED_EARLY * duration_s else None
    return None


def _show_output(
    emulated: Emulations, seeds: list[int], finished: list[int], added: str | None, arguments: argparse.Namespace
) -> None:
    """Prints the output of the command line's program, and writes the output of seeds that failed to --out."""
    for seed in seeds:
        for file in emulated.outputs(seed):
            if added is not None and file.name.startswith(f"{added}.client."):
                stream = sys.stdout if file.suffix == ".out" else sys.stderr
                stream.write(file.read_text(errors="replace"))
            if arguments.out is not None and seed not in finished:
                into = Path(arguments.out) / "programs" / f"seed-{seed}"
                into.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(file, into / file.name)


def started(plan: dict[str, Any]) -> Iterator[str]:
    """Lists the user's programs that will run, one per line."""
    for flow in plan["flows"]:
        for end, node in (("server", f"the server behind {flow['ap']}"), ("client", flow["station"])):
            if (command := flow[end]) is not None:
                yield f"{flow['id']} runs at {node}: {shlex.join(command)}"


def _start(
    emulations: list[Emulations],
    stack: ExitStack,
    scenario: Scenario,
    duration_s: float,
    place: Place,
    added: str | None,
    seeds: Sequence[int],
    jobs: int,
    kept: Kept,
) -> Emulations:
    emulated = Emulations(scenario, duration_s, seeds, place, kept, jobs=jobs, ends_with=added)
    stack.callback(emulated.close)
    emulations.append(emulated)
    return emulated


def _check_arguments(arguments: argparse.Namespace) -> None:
    if arguments.file is None:
        raise Mistake("a scenario file is needed, or --build-kernel")
    for option in ("source", "version", "patch"):
        if getattr(arguments, option) is not None:
            raise Mistake(f"--{option}: has no effect without --build-kernel")
    if arguments.wifi:
        raise Mistake(
            "--wifi: has no effect without --build-kernel; set emulation.wifi_stack=kernel to use the kernel's"
        )
    if arguments.shell is not None and arguments.station is not None:
        raise Mistake("--shell: opens a shell at a station itself, so --station cannot be given with it")
    if bool(arguments.command) != (arguments.station is not None):
        raise Mistake("--station: give the command after --, e.g. --station sta1 -- curl http://server/big")
    if arguments.shell is not None and arguments.time == "virtual":
        raise Mistake("--shell: not possible in virtual time; use --time real")
    if arguments.kernel is not None and arguments.time == "real":
        raise Mistake("--kernel: real time uses the kernel of this machine; leave it out, or use --time virtual")


def _scenario(arguments: argparse.Namespace) -> tuple[Scenario, str | None]:
    """The scenario with the additions of the command line, and the id of an added flow."""
    scenario = _arguments.scenario_of(arguments)
    for option in ("time", "kernel"):
        if (given := getattr(arguments, option)) is not None:
            # As text: the version 6.20 is not the number 6.2.
            scenario = scenario.set(f"emulation.{option}", toml_value(given))
    if arguments.shell is None and arguments.station is None:
        return scenario, None
    # The program may end before a warm-up does, and with it ends the run.
    scenario = _unless_given(scenario, "warmup", "0 s")
    if arguments.shell is None:
        return _with_program(scenario, arguments.station, "command", shlex.join(arguments.command))
    scenario = _unless_given(scenario, "duration", SHELL_LASTS).set("emulation.time", "real")
    return _with_program(scenario, arguments.shell, "shell", "exec $SHELL")


def _unless_given(scenario: Scenario, path: str, value: str) -> Scenario:
    return scenario if any(path == given for given, _ in scenario.settings) else scenario.set(path, value)


def _resolved(scenario: Scenario, arguments: argparse.Namespace) -> _core.ResolvedScenario:
    """The resolved scenario. The error for a missing station names the option that asked for it."""
    try:
        return scenario.resolve()
    except ScenarioError as error:
        option = "--station" if arguments.shell is None else "--shell"
        name = arguments.shell or arguments.station
        if error.kind != "no_match" or error.arguments["name"] != name:
            raise
        raise Mistake(f"{option}: {error.message}; {error.remedy}") from None


def _with_program(scenario: Scenario, station: str, name: str, line: str) -> tuple[Scenario, str]:
    """The scenario with a flow more, which a program at this station is, and its id."""
    # Within quotes, like each word with a brace; a brace with a quote behind it begins no placeholder.
    client = line.replace("{", "'\"{\"'")
    flow = {"name": name, "station": station, "direction": "down", "application": {"kind": "command", "client": client}}
    keys = "".join(f"{key} = {toml_value(value)}\n" for key, value in flow.items())
    text = f"{scenario.text.rstrip()}\n\n[[flow]]\n{keys}"
    return Scenario(text, scenario.file_name, scenario.settings), f"{station}.{name}"


def _place(arguments: argparse.Namespace, plan: dict[str, Any], scenario: Scenario) -> Place:
    """The place of the run: this machine or guests."""
    if plan["time"] == "real":
        return Host(terminal=arguments.shell is not None)
    if plan["wifi_stack"] == "kernel":
        kernel = find_kernel(plan["kernel"], wifi=True)
        _check_daemons()
        return Guests(kernel, core_count(), (flow["congestion_control"] for flow in plan["flows"]))
    kernel = _kernel(
        plan["kernel"],
        is_asked_for="kernel" in tomllib.loads(scenario.text).get("emulation", {}) or bool(arguments.kernel),
    )
    if kernel.virtual == "approximate":
        note(f"{kernel.path} has no time travel: the same seed gives nearly the same run, and not the same to the bit")
    return Guests(kernel, core_count(), (flow["congestion_control"] for flow in plan["flows"]))


def _check_daemons() -> None:
    missing = missing_daemons()
    if missing:
        raise EmulationError(
            f"a kernel's Wi-Fi stack needs {' and '.join(missing)} on this machine, whose root is the guest's: "
            f"`apt install {' '.join(missing.values())}` as root, or the like"
        )


def _kernel(choice: str, *, is_asked_for: bool) -> Kernel:
    """The kernel for virtual time: the chosen or built one, else the distribution's."""
    try:
        return find_kernel(choice)
    except EmulationError:
        if is_asked_for:
            raise
    try:
        kernel = find_kernel("stock")
    except EmulationError:
        return find_kernel(choice)
    note(
        f"no kernel was built for virtual time (`lasthop emulate --build-kernel`): {kernel.path} runs, Linux {kernel.version}"
    )
    return kernel
