"""`lasthop plot`: a picture of results, or of a sweep, and the data that it shows."""

from __future__ import annotations

import argparse
import io
import re
import sys
from dataclasses import fields
from pathlib import Path

from ..data.arguments import on_command_line
from ..data.nulls import is_measured
from ..data.result import Result
from ..views import plot
from ..views.plot import PLACES, TABLES, Chart, Options, StoredRuns, SweepTable, is_store, read_sweep
from . import _arguments
from ._mistake import Mistake
from ._output import note

# Plots of values that change within a round trip, and the number of points below which they cannot show it.
OF_SAWTEETH, FEW_POINTS = ("cwnd",), 100
EXAMPLES = {"flow": "'slow.*'", "node": "'fast*'", "traffic": "ping"}
INCHES = {"": 1.0, "in": 1.0, "cm": 1 / 2.54, "mm": 1 / 25.4}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of `lasthop plot`."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = "kinds:\n" + "\n".join(f"  {kind:20}{plot.summary(kind)}" for kind in plot.kinds())
    parser.add_argument(
        "results",
        metavar="RESULT",
        nargs="+",
        help="directory or JSON file of `lasthop run`; for heat_map and sweep also a table or store of `lasthop sweep`",
    )
    parser.add_argument(
        "--kind",
        choices=plot.kinds(),
        default="goodput_over_time",
        help="kind of plot, see below (default goodput_over_time)",
        metavar="KIND",
    )
    parser.add_argument("--metric", metavar="NAME", help="metric to show, for kinds that leave the choice")
    parser.add_argument("--x", metavar="PATH", help="for a sweep: the setting along the horizontal axis")
    parser.add_argument(
        "--by",
        "--y",
        metavar="PATH",
        help="for a sweep: one line, or row of the heat map, for each value; for latency_cdf and combined: one line for each flow, "
        "traffic or result",
    )
    parser.add_argument(
        "--only",
        metavar="PATH=VALUE",
        type=_value,
        action="append",
        default=[],
        help="for a sweep: use only the runs with this value; repeatable",
    )
    for name, what in (("flow", "flows by id"), ("node", "nodes by name"), ("traffic", "flows by kind of traffic")):
        parser.add_argument(
            f"--{name}",
            metavar="PATTERN",
            action="append",
            default=[],
            help=f"only {what}, matched as a shell pattern, e.g. {EXAMPLES[name]}; repeatable",
        )
    _arguments.add_allow_code(parser)
    looks = parser.add_argument_group("looks")
    looks.add_argument("--title", metavar="TEXT", help="title (default: quantity and number of seeds)")
    looks.add_argument("--x-label", metavar="TEXT", help="label of the horizontal axis")
    looks.add_argument("--y-label", metavar="TEXT", help="label of the value axis")
    looks.add_argument(
        "--label",
        metavar="OLD=NEW",
        type=_renaming,
        action="append",
        default=[],
        help="another name for a curve, a panel, a word along an axis or the title of the legend: sta1.up=near; repeatable",
    )
    looks.add_argument("--x-min", metavar="NUMBER", type=float, help="lower end of the horizontal axis, in its unit")
    looks.add_argument("--x-max", metavar="NUMBER", type=float, help="upper end of the horizontal axis, in its unit")
    looks.add_argument("--y-min", metavar="NUMBER", type=float, help="lower end of the value axis, in its unit")
    looks.add_argument("--y-max", metavar="NUMBER", type=float, help="upper end of the value axis, in its unit")
    looks.add_argument("--log-x", action="store_true", help="use a logarithmic horizontal axis")
    looks.add_argument("--log-y", action="store_true", help="use a logarithmic value axis")
    looks.add_argument("--legend", metavar="PLACE", help=f"position of the legend: {', '.join(PLACES)} (default below)")
    looks.add_argument(
        "--size", metavar="WxH", type=_size, help="width and height, in inches unless cm or mm follow: 7x3, 9x6cm"
    )
    parser.add_argument(
        "--out",
        metavar="FILE",
        help="file to write; the ending chooses PNG, PDF, SVG or, for the data, CSV; - writes PNG to standard output (default KIND.png)",
    )


def execute(arguments: argparse.Namespace) -> int:
    """Reads the sources, makes the chart, draws and writes it."""
    out = arguments.out or f"{arguments.kind}.png"
    if out != "-":
        _file_format(out)
    _arguments.check_file("--out", out)
    sources = [_source(path, arguments.allow_code) for path in arguments.results]
    chart = _chart(arguments, sources)
    simulated = not any(isinstance(source, Result) and any(map(is_measured, source.runs)) for source in sources)
    if (
        simulated
        and arguments.kind in OF_SAWTEETH
        and 0 < (points := max(len(curve.x) for curve in chart.curves)) < FEW_POINTS
    ):
        note(f"{points} points a line; `lasthop run --interval 20ms --out DIR` keeps more than one a second")
    if out == "-":
        sys.stdout.buffer.write(_png(chart))
    else:
        plot.write(chart, out)
        note(f"wrote {out}")
    return 0


def _source(path: str, allow_code: bool) -> Result | SweepTable | StoredRuns:
    """A sweep if the file is a store or is named like a table, else a result."""
    try:
        if is_store(path):
            return StoredRuns(path)
        is_table = not Path(path).is_dir() and path.lower().endswith(TABLES)
        return read_sweep(path) if is_table else _arguments.result_of(path, allow_code=allow_code)
    except OSError as error:
        raise Mistake(f"{path}: {error.strerror}") from None


def _value(text: str) -> tuple[str, str]:
    path, equals, value = text.partition("=")
    if not equals or not path.strip():
        raise argparse.ArgumentTypeError(f"{text!r} is not of the form PATH=VALUE, e.g. station.0.count=4")
    return path.strip(), value.strip()


def _renaming(text: str) -> tuple[str, str]:
    old, equals, new = text.rpartition("=") if text.count("=") > 1 else text.partition("=")
    if not equals or not old or not new.strip():
        raise argparse.ArgumentTypeError(f"{text!r} is not of the form OLD=NEW, e.g. sta1.up=near")
    return old, new.strip()


def _size(text: str) -> tuple[float, float]:
    match = re.fullmatch(r"\s*([0-9]*\.?[0-9]+)\s*[x×]\s*([0-9]*\.?[0-9]+)\s*(in|cm|mm|)\s*", text)
    if not match:
        raise argparse.ArgumentTypeError(f"{text!r} is not a size; write e.g. 7x3 (inches) or 9x6cm")
    inches = INCHES[match[3]]
    return float(match[1]) * inches, float(match[2]) * inches


def _chart(arguments: argparse.Namespace, sources: list[Result | SweepTable | StoredRuns]) -> Chart:
    given = {each.name: getattr(arguments, each.name) for each in fields(Options)}
    try:
        options = Options(**{**given, "only": dict(arguments.only), "label": dict(arguments.label)})
        return plot.chart(arguments.kind, sources, options)
    except (LookupError, ValueError) as error:
        raise Mistake(on_command_line(error)) from None


def _png(chart: Chart) -> bytes:
    picture = io.BytesIO()
    with plot.new_figure() as figure:
        plot.draw_chart(chart, figure)
        plot.save_picture(figure, picture, "png")
    return picture.getvalue()


def _file_format(out: str) -> None:
    try:
        plot.file_format(out)
    except ValueError as error:
        raise Mistake(f"--out {error}") from None
