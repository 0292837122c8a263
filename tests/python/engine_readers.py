"""Readers of the engine as commands use them, with small files to mutate: captures, scenarios, traces, scripts, recordings, BPF objects."""

from __future__ import annotations

import gzip
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from lasthop import ScenarioError, _core
from lasthop.cli._mistake import Mistake
from lasthop.cli.show import _object
from lasthop.data import recording
from lasthop.foreign.analysis import TABLES_TOLD, analyze
from lasthop.foreign.twin import twin

ROOT = Path(__file__).parents[2]
DATA = ROOT / "tests/data"
PACKETS = 25
LINES = 40
SHORT = [("duration", "50 ms"), ("warmup", "0 s")]
WIRED = '[bss]\nstandard = "802.11n"\n[[station]]\n[[flow]]\nstation = "*"\ndirection = "down"\n[wired]\nrate = {{ kind = "trace", file = "{}" }}\n'
PACKET_TRACE = (
    '[bss]\nstandard = "802.11n"\n[[station]]\n[[flow]]\nstation = "*"\ntransport = "udp"\n'
    'traffic = {{ kind = "trace", file = "{}" }}\n'
)


class EngineReader(NamedTuple):
    """Files, and what reads them."""

    seeds: Callable[[], list[tuple[str, bytes]]]
    read: Callable[[Path], object]


def _named(file: Path, read: Callable[[], Any]) -> Any:
    """As `lasthop cc` does: what is wrong with a text is said after the name of its file."""
    try:
        return read()
    except ValueError as error:
        raise ValueError(f"{file}: {error}") from None


def _analyze(file: Path) -> object:
    # Stamps of years apart have too many rows, which is a sentence about the setting.
    return analyze([file], interval_s=None).to_json()


def _record(file: Path) -> object:
    """The tables of a recording; the engine writes them next to the capture."""
    asked = recording.Request(TABLES_TOLD).into(file.parent / "recorded")
    return _named(file, lambda: _core.analyze([str(file)], None, None, None, None, asked))


def _twin(file: Path) -> object:
    try:
        return twin([file], "twin").scenario_in(file.parent).resolve()
    except ScenarioError as error:
        raise ValueError(f"{file}: the twin cannot run: {error}") from None


def _resolve(file: Path) -> object:
    resolved = _core.resolve(file.read_text("utf-8", "replace"), str(file), [])
    return resolved.to_json(), resolved.warnings(), resolved.defaults()


def _with(scenario: str) -> Callable[[Path], object]:
    def read(file: Path) -> object:
        text, place = scenario.format(file.name), str(file.with_name("fuzzed.toml"))
        resolved = _named(file, lambda: _core.resolve(text, place, SHORT))
        outcome = _core.Simulation(resolved, 1).finish()
        if outcome.error is not None:
            raise AssertionError(outcome.error)
        return outcome.run

    return read


def _text(file: Path) -> str:
    return file.read_text("utf-8", "replace")


def _cc_trace(file: Path) -> object:
    return _named(file, lambda: _core.replay_cc(_text(file)))


def _recovery(file: Path) -> object:
    return _named(file, lambda: _core.replay_recovery(_text(file)))


def _script(file: Path) -> object:
    return _named(file, lambda: _core.packetdrill(_text(file), []))


def _describe(file: Path) -> object:
    try:
        return _object(str(file))
    except Mistake as error:
        raise ValueError(str(error)) from None


def _captures() -> list[tuple[str, bytes]]:
    """The first packets of each capture."""
    found = []
    for file in sorted((DATA / "captures").glob("*.pcap")):
        data, at = file.read_bytes(), 24
        for _ in range(PACKETS):
            at += 16 + struct.unpack_from("<I", data, at + 8)[0]
        found.append((file.name, data[:at]))
    return found


def _vectors(pattern: str, lines: int | None) -> list[tuple[str, bytes]]:
    """The beginnings of the shortest files; recordings are whole, as they are one document."""
    files = sorted((DATA / "vectors").glob(pattern), key=lambda file: (file.stat().st_size, file.name))[:12]
    texts = (gzip.decompress(file.read_bytes()) for file in files)
    return [("vector", b"".join(text.splitlines(keepends=True)[:lines])) for text in texts]


def _scenarios() -> list[tuple[str, bytes]]:
    return [(file.name, file.read_bytes()) for file in sorted((ROOT / "scenarios").glob("*.toml"))]


def _scripts() -> list[tuple[str, bytes]]:
    return [(file.name, file.read_bytes()) for file in sorted((ROOT / "tests/scripts").glob("*.pkt"))]


def _objects() -> list[tuple[str, bytes]]:
    return [(file.name, file.read_bytes()) for file in sorted((ROOT / "examples").rglob("*.bpf.o"))]


def _wired_traces() -> list[tuple[str, bytes]]:
    return [("x.down", b"0\n1\n1\n3\n7\n12\n"), ("x.down", b"".join(b"%d\n" % at for at in range(1, 60, 3)))]


def _packet_traces() -> list[tuple[str, bytes]]:
    return [
        ("packets.csv", b"time_s,bytes\n0, 100\n\n0.0015;200 # two\n0.02 300\n"),
        ("packets.csv", b"0.001,1500\n0.002,40\n"),
    ]


ENGINE_READERS = {
    "capture": EngineReader(_captures, _analyze),
    "capture_tables": EngineReader(_captures, _record),
    "twin": EngineReader(_captures, _twin),
    "scenario": EngineReader(_scenarios, _resolve),
    "cc_trace": EngineReader(lambda: _vectors("cc/*/*.gz", LINES), _cc_trace),
    "recovery": EngineReader(lambda: _vectors("recovery/*.gz", None), _recovery),
    "packet_script": EngineReader(_scripts, _script),
    "packet_trace": EngineReader(_packet_traces, _with(PACKET_TRACE)),
    "wired_trace": EngineReader(_wired_traces, _with(WIRED)),
    "bpf_object": EngineReader(_objects, _describe),
}
