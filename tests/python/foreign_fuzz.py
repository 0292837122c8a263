"""Mutated files of others: each reader has to answer with a result or with one sentence that names the file.

`test_foreign_fuzz.py` runs some; by hand, or by `make fuzz-python`: `python tests/python/foreign_fuzz.py COUNT [SEED] [READER…]`, which
prints what was found. Each input has a seed of its own, so that one can be repeated: COUNT 1 with its seed.
"""

from __future__ import annotations

import gzip
import json
import random
import re
import signal
import struct
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple

import lasthop
import test_hosts
import test_others_files
import test_qlog
import test_tools
from claim_fuzz import watched
from engine_readers import ENGINE_READERS, EngineReader
from lasthop.cli._output import summary_text
from lasthop.cli._table import table
from lasthop.foreign import recognition, testbed
from lasthop.foreign.twin import twin
from lasthop.page.report import document
from lasthop.page.sides import side_of
from lasthop.study.comparison import compare
from lasthop.study.progress import Progress
from lasthop.study.store import Store
from lasthop.views import plot
from lasthop.views.explain import captured_text, explanation_of, is_captured
from lasthop.views.explain.rerun import has_account
from lasthop.views.explain.text import explanation_text

DATA = Path(__file__).parents[1] / "data"
# A file that is written again and again waits for a disk, far longer than it is read.
MEMORY = "/dev/shm" if Path("/dev/shm").is_dir() else None
LONGEST_S = 5.0
HANGS_S = 20.0
LARGEST_SEED = 6_000
"""bytes of a file to mutate; longer ones are cut to their first lines, as they would be slow"""
NUMBERS = (
    *("0", "-1", "1", "00", "1e999", "-1e308", "nan", "inf", "0x10", "1.2.3", "9" * 30, "9" * 400, "18446744073709551616", "-0.0", "1e-320"),
    *("", "-", ".", "1,5", "٣", "²", "1_000", "+7", "true", "null"),
)  # fmt: skip
VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 1, 2**70, -(2**70), 1e308, -1e308, 5e-324, float("nan"), float("inf"), 0.5, "", "x", "1", "\ud800", "\x1b[31m"),
    *([], [1], [[]], [None], {}, {"x": 1}, [{}], [1, "x", None], {"a": {"b": []}}),
)  # fmt: skip

TOOLS = {
    "netperf": ("STREAM", "RR", "UDP", "OMNI", "KEYVALS", "COMMAS"),
    "iperf2": ("CSV", "SERVER", "TEXT", "ENHANCED", "UDP_TEXT"),
    "ping": ("IPUTILS", "STAMPED", "BUSYBOX", "MACOS", "WINDOWS"),
}
LOGS = (
    test_qlog.contained,
    test_qlog.absolute,
    test_qlog.delta,
    test_qlog.sequence,
    test_qlog.latest,
    test_qlog.of_2020,
)
OF_SWEEPS = ("heat_map", "sweep")
SCENARIO = 'duration = "300 ms"\n[bss]\nstandard = "802.11a"\n[[station]]\nname = "a"\ncount = 2\n[[flow]]\nstation = "*"\ndirection = "both"\n'


SHARES = {
    "capture": 0.25,
    "twin": 0.25,
    "plot": 0.1,
    "compare": 0.1,
    "explain": 0.1,
    "recordings": 0.02,
    "query": 0.01,
    "report": 0.005,
}
"""of the asked number, for formats of which a file takes long"""


class Found(NamedTuple):
    """What came of one input."""

    kind: str
    said: str
    cpu_s: float


class Reader(NamedTuple):
    """A reader with files to mutate, and the errors by which it refuses."""

    seeds: list[tuple[str, bytes]]
    read: Callable[[Path], object]
    beside: Mapping[str, bytes] = {}
    """the other files of its folder"""


# What is read


def _read_tests(file: Path) -> object:
    recognition.refusal(str(file))
    if testbed.kind_of(str(file)) is None:
        return None
    return [result.to_json() for result in testbed.read([file]).values()]


def _read_hosts(file: Path) -> object:
    if recognition.is_capture(file.read_bytes()[:4096]):
        return None
    found = twin([file], "twin")
    text = found.text()
    lasthop.Scenario(text).resolve()
    return text


def _compare(file: Path) -> object:
    result = lasthop.read(file)
    return result.summary, result.to_json(), compare(result, result), summary_text(result)


def _plot(file: Path) -> object:
    """One kind of plot, chosen by the file's size."""
    result = lasthop.read(file)
    kinds = [kind for kind in plot.kinds() if kind not in OF_SWEEPS]
    try:
        return plot.csv_text(plot.chart(kinds[file.stat().st_size % len(kinds)], [result]))
    except LookupError as error:
        if type(error) is not LookupError:
            raise
        raise ValueError(f"{file}: {error}") from None  # a chart names a result by its label


def _explain(file: Path) -> object:
    result = lasthop.read(file)
    if is_captured(result):
        return captured_text(result)
    # Without an account a result is run again, which is no reading.
    return explanation_text(explanation_of(result), table) if has_account(result) else None


def _report(file: Path) -> object:
    result = lasthop.read(file)
    seeds = result.recordings.seeds if result.recordings else []
    if not result.seeds or result.seeds[0] not in seeds:
        return None  # it would be run again
    with ExitStack() as stack, Progress.fitting("report", "runs") as progress:
        side = side_of(result, result.seeds[0], stack, progress, tell=lambda _: None)
        return "".join(document([side], progress))


def _recorded(file: Path) -> object:
    result = lasthop.read(file.parents[2])
    kinds = {"ppdu": ["air"], "window": ["cwnd"], "queue": ["queue"]}.get(file.stem, ["air", "cwnd", "queue"])
    return [plot.csv_text(plot.chart(kind, [result])) for kind in kinds]


def _query(file: Path) -> object:
    store = Store.existing(file, patience_s=0.1)
    return store.query_arrow("SELECT * FROM runs").to_pylist(), store.query_arrow("SELECT * FROM flows").to_pylist()


def _texts(name: str, texts: Iterable[str]) -> list[tuple[str, bytes]]:
    return [(name, text.encode()) for text in texts]


def _of_tool(name: str) -> Reader:
    return Reader(_texts(f"{name}.txt", [getattr(test_tools, each) for each in TOOLS[name]]), _read_tests)


def _of_host(name: str) -> Reader:
    return Reader(_texts(f"{name}.txt", _of_hosts()[name]), _read_hosts)


def _of_hosts() -> dict[str, list[str]]:
    """Texts of hosts by their command; all have a station, without which there is no twin."""
    sessions = [file.read_text() for file in sorted((DATA / "hosts").glob("*.txt"))]
    queues = (
        f"qdisc {each} \n{test_hosts.SENT}"
        for each in (
            "fq_codel 0: dev wlan0 root refcnt 2 limit 10240p flows 1024 quantum 1514 target 5ms interval 100ms memory_limit 32Mb ecn",
            "cake 8001: dev wlan0 root refcnt 2 bandwidth 50Mbit diffserv3 rtt 50ms",
            "red 8001: dev wlan0 root refcnt 2 limit 60000b min 10000b max 30000b ecn",
            "pie 8001: dev wlan0 root refcnt 2 limit 1000p target 15ms tupdate 16ms alpha 2 beta 20 ecn",
        )
    )
    rates = (test_hosts.NEW, test_hosts.OLD, test_hosts.SPREAD, test_hosts.CSV)
    found = {"tc": queues, "survey": [test_hosts.SURVEY.replace("2437", "5180"), test_hosts.SURVEY], "rc_stats": rates}
    return {"iw": sessions, **{name: [test_hosts.STATION + each for each in texts] for name, texts in found.items()}}


def _log() -> str:
    return test_others_files.log_of(
        *((f"170000000{n}.0", 1_000_000 * n, " retrans:0/3 pacing_rate 10.5Mbps unacked:7") for n in range(4))
    )


def _files(pattern: str) -> list[tuple[str, bytes]]:
    found = []
    for file in sorted((DATA / "testbed").glob(pattern)):
        data = file.read_bytes()
        data = gzip.decompress(data) if file.suffix == ".gz" else data
        found.append((file.name.removesuffix(".gz"), _shorter(data, file.name)))
    return found


def _shorter(data: bytes, name: str) -> bytes:
    """A file with fewer intervals or lines, in the same form."""
    if len(data) <= LARGEST_SEED:
        return data
    if not data.lstrip().startswith(b"{") or "stream" in name:
        return data[:LARGEST_SEED].rpartition(b"\n")[0] + b"\n"
    document = json.loads(data)
    if "intervals" in document:
        document["intervals"] = document["intervals"][:3]
    elif "x_values" in document:
        document["x_values"] = document["x_values"][:8]
        document["results"] = {key: values[:8] for key, values in document["results"].items()}
        document["raw_values"] = {key: values[:4] for key, values in document["raw_values"].items()}
    return json.dumps(document, indent=1).encode()


def _simulated(**options: Any) -> lasthop.Result:
    return lasthop.run(lasthop.Scenario(SCENARIO), **{"seeds": 2, "interval_s": None, "progress": False} | options)


def _timeless(text: str) -> bytes:
    """A result without the wall time, whose digits would move every later mutation."""
    return re.sub(r'("wall_s": ?)[0-9.e-]+', r"\g<1>0.5", text).encode()


@cache
def results() -> list[tuple[str, bytes]]:
    """A simulated result with an account, and one of a test tool."""
    simulated = _simulated(explain=True)
    (captured,) = testbed.read([DATA / "testbed" / "up.client.json"]).values()
    return [("result.json", _timeless(each.to_json())) for each in (simulated, captured)]


def _with_recording(name: str) -> Reader:
    """A directory of a result with a recording: its document is mutated for a report, its tables for plots."""
    with tempfile.TemporaryDirectory() as folder:
        _simulated(seeds=1, interval_s=0.05, record="all").save(folder)
        files = [
            (str(file.relative_to(folder)), file.read_bytes()) for file in Path(folder).rglob("*") if file.is_file()
        ]
    is_report = name == "report"
    seeds = [each for each in files if (each[0] == "result.json") == is_report and ("seed-" in each[0] or is_report)]
    return Reader(seeds, _report if is_report else _recorded, dict(files))


def _stores() -> list[tuple[str, bytes]]:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "runs.duckdb"
        lasthop.sweep(lasthop.Scenario(SCENARIO), {"station.0.count": ["1", "2"]}, seeds=1, store=file, progress=False)
        return [("runs.duckdb", file.read_bytes())]


def _of_engine(of: EngineReader) -> Reader:
    return Reader(of.seeds(), of.read)


#: each makes its reader when it is asked for, as some simulate
READERS: dict[str, Callable[[], Reader]] = {
    "iperf3": lambda: Reader(_files("*.json"), _read_tests),
    "flent": lambda: Reader(_files("*.flent*"), _read_tests),
    "ss": lambda: Reader([*_files("*.ss.gz"), ("ss.log", _log().encode())], _read_tests),
    "netperf": lambda: _of_tool("netperf"),
    "iperf2": lambda: _of_tool("iperf2"),
    "ping": lambda: _of_tool("ping"),
    "qlog": lambda: Reader(_texts("log.qlog", [write() for write in LOGS]), _read_tests),
    "iw": lambda: _of_host("iw"),
    "tc": lambda: _of_host("tc"),
    "survey": lambda: _of_host("survey"),
    "rc_stats": lambda: _of_host("rc_stats"),
    "compare": lambda: Reader(results(), _compare),
    "plot": lambda: Reader(results(), _plot),
    "explain": lambda: Reader(results(), _explain),
    "report": lambda: _with_recording("report"),
    "recordings": lambda: _with_recording("recordings"),
    "query": lambda: Reader(_stores(), _query),
    **{name: partial(_of_engine, of) for name, of in ENGINE_READERS.items()},
}


# Changes


def mutated(data: bytes, others: list[tuple[str, bytes]], chance: random.Random) -> bytes:
    """`data` with one to four changes."""
    is_json, is_binary = data[:1] in (b"{", b"["), b"\0" in data[:100]
    for _ in range(chance.choice((1, 1, 1, 2, 2, 3, 4))):
        changes = OF_BYTES if is_binary else OF_TEXT
        change = _value if is_json and chance.random() < 0.6 else chance.choice(changes)
        data = change(data, others, chance)
    return data


def _value(data: bytes, _: list[tuple[str, bytes]], chance: random.Random) -> bytes:
    """Another value somewhere in a JSON document."""
    try:
        document = json.loads(data)
    except (ValueError, RecursionError):
        return data
    if not isinstance(document, dict | list):
        return data
    change_somewhere(document, chance)
    return json.dumps(document).encode("utf-8", "surrogatepass")


def change_somewhere(document: Any, chance: random.Random, values: Sequence[Any] = VALUES) -> None:
    """Changes, renames or removes one value in a document of JSON."""
    place: Any = document
    for _depth in range(chance.randrange(1, 9)):
        keys = list(place) if isinstance(place, dict) else list(range(len(place)))
        if not keys:
            break
        key = chance.choice(keys)
        if isinstance(place[key], dict | list) and place[key] and chance.random() < 0.85:
            place = place[key]
            continue
        _change(place, key, chance, values)
        break


def _change(place: Any, key: Any, chance: random.Random, values: Sequence[Any]) -> None:
    if chance.random() < 0.25:
        del place[key]
    elif isinstance(place, dict) and chance.random() < 0.1:
        place[f"{key}_"] = place.pop(key)
    else:
        place[key] = chance.choice(values)


def _number(data: bytes, _: list[tuple[str, bytes]], chance: random.Random) -> bytes:
    start = chance.randrange(len(data) + 1)
    match = re.compile(rb"-?\d+(?:\.\d+)?").search(data, start)
    return data if match is None else data[: match.start()] + chance.choice(NUMBERS).encode() + data[match.end() :]


def _word(data: bytes, _: list[tuple[str, bytes]], chance: random.Random) -> bytes:
    """A word in the place of another one of the file."""
    words = list(re.compile(rb"\S+").finditer(data[:4000]))
    if len(words) < 2:
        return data
    old, new = chance.choice(words), chance.choice(words)
    return data[: old.start()] + new[0] + data[old.end() :]


def _line(data: bytes, _: list[tuple[str, bytes]], chance: random.Random) -> bytes:
    lines = data.splitlines(keepends=True) or [b""]
    place = chance.randrange(len(lines))
    if chance.random() < 0.5:
        del lines[place : place + chance.randrange(1, 4)]
    else:
        lines.insert(place, chance.choice(lines))
    return b"".join(lines)


def _bytes(data: bytes, _: list[tuple[str, bytes]], chance: random.Random) -> bytes:
    place = chance.randrange(len(data) + 1)
    return data[:place] + chance.randbytes(chance.randrange(4)) + data[place + chance.randrange(5) :]


def _cut(data: bytes, _: list[tuple[str, bytes]], chance: random.Random) -> bytes:
    return data[: chance.randrange(len(data) + 1)] if chance.random() < 0.3 else data


def _splice(data: bytes, others: list[tuple[str, bytes]], chance: random.Random) -> bytes:
    """The beginning of a file and the end of another."""
    other = chance.choice(others)[1]
    return data[: chance.randrange(len(data) + 1)] + other[chance.randrange(len(other) + 1) :]


def _field(data: bytes, _: list[tuple[str, bytes]], chance: random.Random) -> bytes:
    """Another number in a place where a format may have one, of 1 to 8 bytes."""
    width, order = chance.choice((1, 1, 2, 2, 4, 4, 8)), chance.choice("<>")
    place = chance.randrange(max(1, len(data) - width + 1))
    code = {1: "B", 2: "H", 4: "I", 8: "Q"}[width]
    most = (1 << 8 * width) - 1
    here = int.from_bytes(data[place : place + width], "little" if order == "<" else "big")
    new = chance.choice(
        (0, 1, most, most >> 1, (most >> 1) + 1, here ^ (1 << chance.randrange(8 * width)), here + 1, here - 1)
    )
    return data[:place] + struct.pack(order + code, new & most) + data[place + width :]


OF_TEXT = (_number, _number, _line, _line, _bytes, _word, _cut, _splice)
OF_BYTES = (_field, _field, _field, _field, _bytes, _bytes, _cut, _splice)


# Outcomes


def outcome(reader: Reader, file: Path) -> Found:
    """Reads a file."""
    begun = time.process_time()
    seen: list[str] = []
    signal.setitimer(signal.ITIMER_VIRTUAL, HANGS_S)
    try:
        with watched(file.parent, inside=False) as seen:
            reader.read(file)
        kind, said = "result", ""
    except (ValueError, LookupError) as error:
        # A sentence of a reader names its file, or the directory of a result; Python's own errors do not.
        names = (str(file), str(file.parents[2] if file.parent.name.startswith("seed-") else file))
        is_sentence = type(error) not in (KeyError, IndexError) and any(name in str(error) for name in names)
        kind, said = ("sentence" if is_sentence else type(error).__name__), str(error)
        said += "" if kind == "sentence" else f" {traceback.format_exc()[-600:]}"
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001  whatever else comes is looked for; a panic of the engine is no Exception
        kind, said = type(error).__name__, f"{error} {traceback.format_exc()[-600:]}"
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    if seen:
        kind, said = "write", str(seen[:3])
    return Found(kind, said, time.process_time() - begun)


def _on_timer(*_: object) -> None:
    raise TimeoutError(f"more than {HANGS_S:g} s")


def outcomes(folder: Path, reader: Reader, count: int, seed: int) -> Iterator[tuple[int, Found]]:
    """What comes of `count` mutated files."""
    signal.signal(signal.SIGVTALRM, _on_timer)
    for name, data in reader.beside.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
    outcome(reader, folder / reader.seeds[0][0]) if reader.beside else None  # loads modules and caches
    for number in range(seed, seed + count):
        chance = random.Random(number)
        name, data = chance.choice(reader.seeds)
        file = folder / name
        file.write_bytes(mutated(data, reader.seeds, chance))
        yield number, outcome(reader, file)
        if name in reader.beside:
            file.write_bytes(reader.beside[name])


def count_of(name: str, count: int) -> int:
    """How many files of a format are tried where `count` are asked for."""
    return max(1, round(count * SHARES.get(name, 1.0)))


def is_wrong(found: Found) -> bool:
    """Whether this must not be: another exception, no sentence or several lines, or too long."""
    one_line = found.kind == "result" or (found.kind == "sentence" and found.said and "\n" not in found.said.strip())
    return not one_line or found.cpu_s > LONGEST_S


def main() -> None:
    """Runs every reader, or those that are named."""
    asked, seed = int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 1
    wrong = 0
    with tempfile.TemporaryDirectory(dir=MEMORY) as folder:
        for name in sys.argv[3:] or READERS:
            kinds: Counter[str] = Counter()
            count = count_of(name, asked)
            longest, begun = (0.0, 0), time.process_time()
            for number, found in outcomes(Path(folder), READERS[name](), count, seed):
                kinds[found.kind] += 1
                longest = max(longest, (found.cpu_s, number))
                if is_wrong(found):
                    wrong += 1
                    print(f"{name}, seed {number}: {found.kind} {found.said[:900]} {found.cpu_s:.1f} s", flush=True)
            rate = count / max(1e-6, time.process_time() - begun)
            print(
                f"{name}: {count} files, {rate:.0f} a second of CPU, the longest {longest[0]:.2f} s (seed {longest[1]}): {dict(kinds)}",
                flush=True,
            )
    sys.exit(wrong > 0)


if __name__ == "__main__":
    main()
