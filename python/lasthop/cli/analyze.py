"""`lasthop analyze`: captures of a network, or files of test tools, read into the tables of a run."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from ..data.arguments import ArgumentError
from ..data.quantities import LINK
from ..data.result import Result
from ..foreign.analysis import TABLES_TOLD, analyze, tables_told
from ..study.progress import Progress
from . import _arguments
from ._exports import Exports, add_exports
from ._mistake import Mistake
from ._output import note, show, summary_text, write_data
from ._sniffer import sniffer_text
from ._table import table
from ._testbed import execute_testbed, of_testbed

OF_LINKS = (
    "Retry bit: the MPDUs that have it; lost: attempts that were heard and not acknowledged. "
    "Of a frame that collided at the sniffer only the repetition is heard.\n"
)
OF_FLOWS = "RTT beyond: from the capture to the receiver of the data and back; load: flight of 1500-byte packets over that time.\n"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of `lasthop analyze`."""
    parser.add_argument(
        "captures",
        metavar="FILE",
        nargs="+",
        help="captures (pcap or pcapng, of the air or of a wire), or output of iperf3 --json, iperf2, netperf, ping, Flent or ss -tin, or qlog; one file or several",
    )
    parser.add_argument(
        "--from",
        dest="begin",
        metavar="TIME",
        type=_arguments.moment_s,
        help="start of the measurement, counted from the first packet; simulated time in a capture of a simulation",
    )
    parser.add_argument(
        "--to", metavar="TIME", type=_arguments.moment_s, help="end of the measurement (default: the last packet)"
    )
    parser.add_argument(
        "--repeats",
        action="store_true",
        help="for files of test tools: treat the tests as repetitions, one run of the result each",
    )
    parser.add_argument("--out", metavar="DIR", help="write result.json, tables and time series (Parquet) to DIR")
    parser.add_argument("--json", metavar="FILE", help="write the result as JSON to FILE, or to standard output with -")
    parser.add_argument(
        "--record",
        metavar="TABLES",
        help=f"tables of a recording to write to --out, separated by commas: {', '.join(TABLES_TOLD)}",
    )
    add_exports(parser)
    parser.add_argument(
        "--interval",
        metavar="TIME",
        type=_arguments.duration_s,
        help="time between rows of the time series in --out (default 1s)",
    )


def execute(arguments: argparse.Namespace) -> int:
    """Reads, writes, shows."""
    if of_testbed(arguments.captures):
        return execute_testbed(arguments)
    if arguments.repeats:
        raise Mistake("--repeats: only for files of test tools; captures given together show one network at one time")
    if arguments.interval is not None and arguments.out is None:
        raise Mistake("--interval: has no effect without --out DIR, which is where the time series goes")
    if arguments.record is not None and arguments.out is None:
        raise Mistake("--record: needs --out DIR, which is where the recording goes")
    try:
        recorded = tables_told(arguments.record)
    except ArgumentError as error:
        raise Mistake(error.on_command_line()) from None
    if arguments.begin is not None and arguments.to is not None and arguments.to <= arguments.begin:
        raise Mistake(f"--to: {arguments.to:g} s is not after --from, {arguments.begin:g} s")
    _arguments.check_file("--json", arguments.json)
    if arguments.out is not None:
        _arguments.check_directory("--out", arguments.out)
    exports = Exports.of(arguments, 1)
    result = _read(arguments, {*recorded, *exports.tables.intersection(TABLES_TOLD)})
    exports.write(result)
    if arguments.out is not None:
        result.save(arguments.out)
    if arguments.json is not None:
        write_data(arguments.json, result.json_pieces())
    show(text_of(result), beside_data=arguments.json == "-")
    for warning in result.warnings:
        note(f"warning: {warning}")
    return 0


def _read(arguments: argparse.Namespace, recorded: Collection[str]) -> Result:
    interval_s = (arguments.interval or 1.0) if arguments.out is not None else None
    with Progress.fitting(Path(arguments.captures[0]).stem, "captures") as progress:
        count = len(arguments.captures)
        try:
            return analyze(
                arguments.captures,
                arguments.begin,
                arguments.to,
                interval_s,
                lambda part: progress.update(part, 0, count),
                sorted(recorded) or None,
            )
        except ValueError as error:
            raise Mistake(str(error)) from None
        except OSError as error:
            raise Mistake(f"{error.filename}: {error.strerror}") from None


def text_of(result: Result) -> str:
    """Returns the frames that the sniffer missed, facts about it, the tables of a run, and the quantities of captures only."""
    (run,) = result.runs
    capture = run["capture"]
    parts = [
        missed_text(capture),
        sniffer_text(capture),
        summary_text(result),
        _links_text(run),
        _flows_text(capture),
        _packets_text(capture),
        _quic_text(capture),
        _echoes_text(capture),
        _multipath_text(capture),
        _left_out_text(capture),
    ]
    return "\n".join(part for part in parts if part)


def missed_text(capture: Mapping[str, Any]) -> str:
    """How much the sniffer of the air missed."""
    missed = capture["missed"]
    if capture["air"] is None:
        return "no capture of the air: nothing is told of the MAC\n"
    if capture["air"]["stamps"]["is_disordered"]:
        return "missed by the sniffer: unknown, as frames are not in the order of the air\n"
    if missed["fraction"] is None:
        return "missed by the sniffer: unknown, as no acknowledged frame was heard\n"
    share, low, high = (100 * missed[name] for name in ("fraction", "fraction_low", "fraction_high"))
    lines = [
        (
            f"missed by the sniffer: {share:.2f} % of frames (95 % interval {low:.2f} to {high:.2f} %): "
            f"{missed['mpdus_acknowledged_unheard']} of {missed['mpdus_acknowledged']} acknowledged MPDUs were not heard"
        ),
        f"never heard at any attempt, in the whole capture: {missed['sequence_numbers_never_heard']} of {missed['sequence_numbers']} sequence numbers",
    ]
    if missed["tcp_bytes_never_seen"] is not None:
        lines.append(_never_seen_text(missed))
    return "".join(f"{line}\n" for line in lines)


def _never_seen_text(missed: Mapping[str, Any]) -> str:
    """The data that TCP acknowledged and no frame held: missed, or sent before the capture."""
    unseen = missed["tcp_bytes_never_seen"]
    if not unseen:
        return "acknowledged by TCP and never seen: 0 bytes"
    is_whole = not missed["mpdus_acknowledged_unheard"] and not missed["sequence_numbers_never_heard"]
    why = "; as no frame was missed, they were sent before the capture began" if is_whole else ""
    return f"acknowledged by TCP and never seen: {unseen} bytes, which goodput includes{why}"


def _links_text(run: Mapping[str, Any]) -> str:
    rows = []
    for link, told in zip(run["links"], run["capture"]["links"], strict=True):
        if told["mpdus"]:
            share, rate = 100 * told["mpdus_retried"] / told["mpdus"], link[LINK.mean_data_rate_bps]
            rows.append(
                [
                    f"{link['node']} → {link['peer']}",
                    str(told["mpdus"]),
                    f"{share:.2f}",
                    _decimal(link[LINK.mpdu_loss_fraction], 2, 100),
                    "-" if rate is None else f"{rate / 1e6:.1f}",
                    _decimal(link[LINK.mpdus_per_ampdu_mean], 1),
                    _decimal(link[LINK.airtime_fraction], 2, 100),
                ]
            )
    heads = ["link", "MPDUs", "Retry bit (%)", "lost (%)", "PHY rate (Mbit/s)", "MPDUs per A-MPDU", "airtime (%)"]
    differ = any(row[2] != row[3] for row in rows)
    return f"{table(heads, rows, left=1)}{OF_LINKS if differ else ''}" if rows else ""


def _flows_text(capture: Mapping[str, Any]) -> str:
    rows = [
        [
            flow["id"],
            _decimal(flow["rtt_beyond_mean_s"], 1, 1e3),
            _decimal(flow["flight_mean_segments"], 1),
            _decimal(flow["load_bps"], 1, 1e-6),
            _decimal(flow["load_over_mac_rate"], 2),
            *(str(flow[name]) for name in ("ack_jumps", "segments_spurious", "segments_out_of_order")),
        ]
        for flow in capture["flows"]
        if "acks" in flow
    ]
    heads = [
        "flow",
        "RTT beyond (ms)",
        "flight (segments)",
        "load (Mbit/s)",
        "load / PHY rate",
        "ACK jumps",
        "spurious",
    ]
    return f"{table([*heads, 'out of order'], rows, left=1)}{OF_FLOWS}" if rows else ""


def _packets_text(capture: Mapping[str, Any]) -> str:
    """Packets of each transport and direction, also of connections without data."""
    rows = [
        [
            f"{name}, {direction}",
            *(str(count[key]) for key in ("packets_seen", "packets_with_data_seen", "bytes_seen")),
            str(count.get("retransmissions_seen", "-")),
        ]
        for name in ("tcp", "udp")
        if capture[name]["connections"]
        for direction in ("up", "down")
        for count in (capture[name][direction],)
    ]
    heads = ["transport", "packets", "with data", "bytes", "retransmissions"]
    return table(heads, rows, left=1) if rows else ""


def _quic_text(capture: Mapping[str, Any]) -> str:
    """Packets of QUIC by kind, and the RTT of its spin bit."""
    rows = [
        [
            flow["id"],
            ", ".join(quic["versions"]) or "-",
            *(str(quic[kind]) for kind in ("initial", "zero_rtt", "handshake", "retry", "short")),
            _decimal(quic["spin_rtt_mean_s"], 1, 1e3),
        ]
        for flow in capture["flows"]
        if (quic := flow.get("quic")) is not None
    ]
    heads = ["QUIC flow", "version", "Initial", "0-RTT", "Handshake", "Retry", "short", "spin RTT (ms)"]
    return table(heads, rows, left=2) if rows else ""


def _echoes_text(capture: Mapping[str, Any]) -> str:
    """Datagrams that come back, and the time until then."""
    rows = [
        [
            flow["id"],
            *(str(echo[key]) for key in ("requests", "answered")),
            *(_decimal(echo[key], 1, 1e3) for key in ("rtt_beyond_mean_s", "rtt_beyond_p95_s")),
        ]
        for flow in capture["flows"]
        if (echo := flow.get("echo")) is not None
    ]
    heads = ["echoes", "requests", "answered", "RTT beyond (ms)", "p95 (ms)"]
    return table(heads, rows, left=1) if rows else ""


def _multipath_text(capture: Mapping[str, Any]) -> str:
    """The subflows of each MPTCP connection, a line each."""
    lines = []
    for number, connection in enumerate(capture["mptcp"], 1):
        version = "" if connection["version"] is None else f" (version {connection['version']})"
        subflows = [
            f"{subflow['station']} to {subflow['server']}"
            + (f" ({', '.join(subflow['flows'])})" if subflow["flows"] else "")
            for subflow in connection["subflows"]
        ]
        lines.append(f"MPTCP connection {number}{version}: {'; '.join(subflows)}\n")
    return "".join(lines)


def _left_out_text(capture: Mapping[str, Any]) -> str:
    """The contents of packets that are neither TCP nor UDP, the most frequent first."""
    counts = Counter[str]()
    for file in capture["files"]:
        counts.update(file["left_out"])
    names = ", ".join(f"{count} {name}" for name, count in counts.most_common())
    return f"neither TCP nor UDP, and left out: {names}\n" if names else ""


def _decimal(value: float | None, decimals: int, scale: float = 1.0) -> str:
    return "-" if value is None else f"{value * scale:.{decimals}f}"
