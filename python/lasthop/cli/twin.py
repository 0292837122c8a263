"""`lasthop twin`: a scenario that behaves like a captured network, or as `iw` and `ss` on a station describe it."""

from __future__ import annotations

import argparse
import json
from dataclasses import replace
from pathlib import Path

from ..data.diagnostic import ScenarioError
from ..data.files import write_whole
from ..data.temporary import TemporaryFolder
from ..foreign.twin import Twin, fit, twin
from ..foreign.twin.verdict import NONE_JUDGED, Verdict
from ..study.progress import Progress
from ..study.simulation import RunFailed
from . import _arguments
from ._mistake import Mistake
from ._output import note, show, write_data
from ._table import table


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of `lasthop twin`."""
    parser.add_argument(
        "captures",
        metavar="CAPTURE",
        nargs="+",
        help="pcap or pcapng of the air with radiotap, with one of the wire beside it if there is one; or the output of `iw dev … station dump`, with output of `ss -tin`, `tc -s qdisc`, `iw dev … survey dump`, `ethtool -S` and Minstrel's rc_stats, in one file or several",
    )
    parser.add_argument(
        "--out", metavar="FILE.toml", required=True, help="scenario to write; traces of flows are written beside it"
    )
    parser.add_argument(
        "--fit",
        action="store_true",
        help="simulate the twin, compare its captures with these and correct it; done twice; then judge each flow and link, or the flows of `ss`; status 1 if a flow with more than 5 %% of the bytes does not hold",
    )
    parser.add_argument(
        "--from",
        dest="begin",
        metavar="TIME",
        type=_arguments.moment_s,
        help="start of the part that is used, as in `lasthop analyze`",
    )
    parser.add_argument("--to", metavar="TIME", type=_arguments.moment_s, help="end of the part that is used")
    parser.add_argument(
        "--congestion-control",
        metavar="NAME",
        help="congestion control of the senders, which no capture shows (default: from ss, else cubic)",
    )
    parser.add_argument(
        "--json", metavar="FILE", help="write the verdict of --fit as JSON to FILE, or to standard output with -"
    )


def execute(arguments: argparse.Namespace) -> int:
    """Reads, writes, prints the report."""
    out = Path(arguments.out)
    if out.suffix != ".toml":
        raise Mistake(f"--out {arguments.out}: a scenario file ends in .toml")
    if arguments.begin is not None and arguments.to is not None and arguments.to <= arguments.begin:
        raise Mistake(f"--to: {arguments.to:g} s is not after --from, {arguments.begin:g} s")
    if arguments.json is not None and not arguments.fit:
        raise Mistake("--json: has the verdict of --fit; give that too")
    _arguments.check_file("--out", arguments.out)
    _arguments.check_file("--json", arguments.json)
    found = _found(arguments, out.stem)
    for name, text in found.files.items():
        write_whole(out.parent / name, [text])
        note(f"{out.parent / name}: written")
    write_whole(out, [found.text()])
    warnings = _checked(found, out)
    for line in found.seen.unused:
        note(line)
    for warning in [*found.cautions, *warnings]:
        note(f"warning: {out}: {warning}")
    show(fit.report(found) + verdict_text(found.verdict), beside_data=arguments.json == "-")
    if arguments.json is not None and found.verdict is not None:
        write_data(arguments.json, [json.dumps(found.verdict.to_dict(), indent=2, ensure_ascii=False) + "\n"])
    note(f"{out}: written")
    if not found.loads and not found.foreign_bps:
        note(f"next: add a [[flow]] to {out}, or give the output of `ss -tin` too, which has flows")
    else:
        note(f"next: lasthop run {out}")
    return 0 if found.verdict is None or found.verdict.holds else 1


def verdict_text(verdict: Verdict | None) -> str:
    """The verdict as a table, with its rule; empty without a fit."""
    if verdict is None:
        return ""
    if not any(row.matters for row in verdict.rows):
        result = f"The verdict is undecided: {NONE_JUDGED}."
    elif verdict.is_decided and verdict.holds:
        result = "The twin holds."
    else:
        result = "\n".join(verdict.sentences()[1 if verdict.undecided else 0 :])
    compared = f"{table(*verdict.table(), left=2)}{verdict.rule}.\n" if verdict.rows else ""
    return f"\n{compared}{result}\n"


def _checked(found: Twin, out: Path) -> list[str]:
    """The warnings of a twin. One that cannot run is kept, as its reader may mend it."""
    with TemporaryFolder("lasthop-twin") as folder:
        try:
            return list(map(str, found.scenario_in(folder.path).resolve().warnings()))
        except ScenarioError as error:
            # The reader knows the files by their names alone.
            named = (replace(each, file=each.file and Path(each.file).name) for each in error.diagnostics)
            said = "; ".join(map(str, named))
            raise Mistake(f"the twin cannot run: {said}; {out} is kept, so that you can mend it") from None


def _found(arguments: argparse.Namespace, name: str) -> Twin:
    with Progress.fitting(Path(arguments.captures[0]).stem, "captures") as progress:
        count = len(arguments.captures)
        try:
            return twin(
                arguments.captures,
                name,
                from_s=arguments.begin,
                to_s=arguments.to,
                fit=arguments.fit,
                congestion_control=arguments.congestion_control,
                show=lambda part: progress.update(part, 0, count),
                tell=progress.step,
            )
        except RunFailed as failed:
            raise Mistake(f"the twin does not run: {failed}") from None
        except ValueError as error:
            raise Mistake(str(error)) from None
        except OSError as error:
            raise Mistake(f"{error.filename}: {error.strerror}") from None
