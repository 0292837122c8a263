"""Long runs, large networks, many runs and a long-lived page: time, memory and equal bytes, as a table that docs/validation.md shows.

`make large` runs all cases, or those of CASES, and writes their rows; `python tests/validation/large.py CASE` runs one and prints its row as
JSON. Each case has a process of its own, whose greatest resident memory counts, that of its children included.
"""

from __future__ import annotations

import concurrent.futures
import hashlib
import json
import random
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import lasthop
from lasthop import _core

ROOT = Path(__file__).resolve().parents[2]
TABLE = ROOT / "docs/recorded/large.tsv"
HEAD = "case\tsize\ttime\tmemory\twhat held"
Row = tuple[str, str]
"""size, and what held"""

MANY_STATIONS = """
name = "many"
duration = "2 s"
warmup = "0 s"
[bss]
standard = "802.11ax"
channel_width = "80 MHz"
rate_control = { kind = "fixed", mcs = 7 }
[[station]]
count = 5000
[[flow]]
station = "*"
direction = "up"
transport = "udp"
rate = "20 kbit/s"
packet_size = "200 B"
"""
SHORT = """
name = "short"
duration = "20 ms"
warmup = "0 s"
[bss]
standard = "802.11n"
[[station]]
[[flow]]
station = "*"
direction = "up"
"""


def a_long_run() -> Row:
    """10,000 simulated seconds of TCP."""
    tcp_nup = lasthop.load(ROOT / "scenarios/tcp-nup.toml")
    short, long = (
        lasthop.run(tcp_nup.set("duration", f"{s} s"), seeds=1, interval_s=None).runs[0] for s in (110, 10_000)
    )
    ratio = long["totals"]["goodput_bps"] / short["totals"]["goodput_bps"]
    assert abs(ratio - 1) < 0.02, ratio
    return f"10,000 s, {long['simulator']['events'] / 1e6:,.0f} million events", "goodput as in 110 s, within 2 %"


def many_stations() -> Row:
    """5,000 stations in one BSS."""
    (run,) = lasthop.run(lasthop.Scenario(MANY_STATIONS, "many.toml"), seeds=1, interval_s=None).runs
    heard = sum(flow["bytes_delivered"] > 0 for flow in run["flows"])
    assert heard > 0
    return (
        f"5,000 stations, 2 s, {run['simulator']['events'] / 1e6:.1f} million events",
        f"{heard:,} stations delivered",
    )


def many_bsss() -> Row:
    """50 BSSs of five saturated stations, 30 m apart on one channel."""
    sys.path.insert(0, str(ROOT / "benches"))
    from several_bss import text

    (run,) = lasthop.run(lasthop.Scenario(text("bss-50", 50, 30), "bss-50.toml"), seeds=1, interval_s=None).runs
    assert sum(flow["bytes_delivered"] > 0 for flow in run["flows"]) > 200
    return f"50 BSSs, 250 stations, 10 s, {run['simulator']['events'] / 1e6:.1f} million events", "each BSS delivered"


def many_runs() -> Row:
    """A sweep of 100,000 runs into a store."""
    with TemporaryDirectory() as folder:
        file, store = Path(folder) / "short.toml", Path(folder) / "runs.duckdb"
        file.write_text(SHORT)
        delays = ",".join(f"{delay} ms" for delay in range(1, 101))
        line = ["sweep", file, "--over", f"wired.delay={delays}", "--seeds", "1000", "--store", store, "--no-pager"]
        _command(*line)
        rows = _command("query", store, "SELECT count(*) AS n, count(DISTINCT seed) AS seeds FROM runs", "--csv", "-")
        assert rows.split()[-1] == "100000,1000", rows
        return f"100,000 runs, {store.stat().st_size / 1e6:,.0f} MB of store", "each run is in it once"


def equal_bytes() -> Row:
    """The same campaign on one thread, two threads, in processes and on two Dask workers."""
    with TemporaryDirectory() as folder:
        ways = {}
        over = ("tcp-nup", "--set", "duration=12 s", "--over", "wired.delay=1 ms,5 ms,20 ms")
        for jobs in ("1", "2"):
            ways[jobs] = _command("sweep", *over, "--seeds", "8", "--jobs", jobs, "--csv", "-")
        alone = [_command("sweep", *over, "--seed", str(seed), "--jobs", "1", "--csv", "-") for seed in range(1, 9)]
        ways["processes"] = _merged(alone)
        sys.path.insert(0, str(ROOT / "benches"))
        from on_dask import cluster

        with cluster(folder) as address:
            ways["dask"] = _command(
                "sweep", *over, "--seeds", "8", "--executor", "dask", "--address", address, "--csv", "-"
            )
    digests = {way: _digest(text) for way, text in ways.items()}
    assert len(set(digests.values())) == 1, digests
    return "24 runs, four ways", "same bytes for 1 and 2 threads, a process a seed, and 2 Dask workers"


def random_scenarios() -> Row:
    """500 random scenarios, on the engine with overflow checks and debug assertions if that is installed."""
    refused = 0
    for number in range(500):
        try:
            scenario = _drawn(random.Random(number))
            runs = lasthop.run(scenario, seeds=2, interval_s=None, jobs=1).runs
            again = lasthop.run(scenario, seeds=2, interval_s=None, jobs=2).runs
        except lasthop.ScenarioError:
            refused += 1
            continue
        assert list(map(_without_time, runs)) == list(map(_without_time, again)), number
    assert refused < 50
    kind = "with" if any((ROOT / ".venv").glob(".engine-dev")) else "without"
    return (
        f"500 scenarios, {500 - refused} of them valid, two seeds",
        f"no panic, {kind} debug assertions; same for 1 and 2 threads",
    )


def served() -> Row:
    """10^5 requests to a page by 50 clients: its memory before and after."""
    with TemporaryDirectory() as folder:
        _command("run", "tcp-nup", "--set", "duration=12 s", "--seeds", "2", "--out", f"{folder}/out")
        line = [sys.executable, "-m", "lasthop", "serve", folder, "--port", "0"]
        with subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
            address = process.stdout.readline().strip().rstrip("/")
            try:
                _asked(address, 5_000)
                before = _resident_kb(process.pid)
                began = time.monotonic()
                wrong = _asked(address, 100_000)
                took = time.monotonic() - began
                after = _resident_kb(process.pid)
            finally:
                process.terminate()
        assert wrong == 0
        assert after < before * 1.1, (before, after)
        return (
            f"100,000 requests, 50 clients, {100_000 / took:,.0f} a second",
            f"resident memory {before / 1024:.0f} MB before, {after / 1024:.0f} MB after",
        )


CASES: dict[str, Callable[[], Row]] = {
    case.__name__: case
    for case in (a_long_run, many_stations, many_bsss, many_runs, equal_bytes, random_scenarios, served)
}


def _command(*words: object) -> str:
    line = [sys.executable, "-m", "lasthop", *map(str, words)]
    done = subprocess.run(line, capture_output=True, text=True, cwd=ROOT, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


def _merged(tables: Iterable[str]) -> str:
    """Tables of single seeds as one."""
    lines = [table.splitlines() for table in tables]
    return "\n".join([lines[0][0], *(line for table in lines for line in table[1:])])


def _digest(table: str) -> str:
    """Of the rows in any order, without the columns of the machine's time."""
    head, *rows = [line.split(",") for line in table.splitlines()]
    kept = [place for place, name in enumerate(head) if not name.startswith("simulator")]
    return hashlib.sha256(
        "\n".join(sorted(",".join(row[place] for place in kept) for row in rows)).encode()
    ).hexdigest()


def _without_time(run: dict) -> dict:
    return {key: value for key, value in run.items() if key != "simulator"}


@cache
def _names(kind: str) -> list[str]:
    """The names of a registry, except for user code."""
    listed = json.loads(_core.list_json(kind))
    return [entry["name"] for entry in listed if entry["name"] not in ("python", "c", "bpf")]


def _drawn(of: random.Random) -> lasthop.Scenario:
    """A scenario with drawn values for what networks differ by; some combinations are refused."""
    standard = of.choice(["802.11b", "802.11g", "802.11a", "802.11n", "802.11ac", "802.11ax"])
    queues, controls = _names("queue_discipline"), _names("congestion_control")
    spread = of.choice([2, 20, 60])
    bss = [f'standard = "{standard}"', f"retry_limit = {of.choice([0, 1, 7, 16])}"]
    if of.random() < 0.3:
        bss.append(f'rts_threshold = "{of.choice([0, 500, 1500])} B"')
    if of.random() < 0.5:
        bss.append(f'rate_control = "{of.choice(["minstrel_ht", "minstrel", "aarf", "ideal"])}"')
    lines = [
        'name = "drawn"',
        f'duration = "{of.choice([300, 700, 1500])} ms"',
        'warmup = "0 s"',
        "[channel]",
        'path_loss = "log_distance"',
        "[bss]",
        *bss,
        "[bss.ap]",
        f'queue = {{ kind = "{of.choice(queues)}" }}',
    ]
    for number in range(of.randint(1, 6)):
        lines += ["[[station]]", f'name = "s{number}"']
        if of.random() < 0.3:
            lines += ["count = 3", f'distance = "{of.uniform(1, spread):.1f} m"']
        else:
            x, y = of.uniform(-spread, spread), of.uniform(-spread, spread)
            lines.append(f'position = ["{x:.1f} m", "{y:.1f} m"]')
    lines += [
        "[wired]",
        f'rate = "{of.choice(["5 Mbit/s", "100 Mbit/s", "1 Gbit/s"])}"',
        f'delay = "{of.choice([0, 1, 20, 150])} ms"',
    ]
    lines += [
        "[tcp]",
        f'congestion_control = "{of.choice(controls)}"',
        f'profile = "{of.choice(["linux", "linux-2.6", "ns2", "linux-3.13"])}"',
    ]
    for _ in range(of.randint(1, 3)):
        lines += ["[[flow]]", 'station = "*"', f'direction = "{of.choice(["up", "down"])}"']
        if of.random() < 0.3:
            lines += [
                'transport = "udp"',
                f'rate = "{of.choice(["saturated", "1 Mbit/s", "64 kbit/s"])}"',
                'packet_size = "1000 B"',
            ]
        elif of.random() < 0.4:
            lines += ['size = "50 kB"', f"repeat = {of.choice([1, 3, 50])}"]
    return lasthop.Scenario("\n".join(lines), "drawn.toml")


def _asked(address: str, requests: int, clients: int = 50) -> int:
    """Asks a page so many times, by so many clients at once; how many answers were none."""
    import http.client

    host = address.removeprefix("http://")
    paths = ["/", "/api/entries", "/api/registry", "/api/papers"]

    def client(number: int) -> int:
        connection, wrong = http.client.HTTPConnection(host, timeout=60), 0
        for place in range(requests // clients):
            connection.request("GET", paths[(number + place) % len(paths)])
            answer = connection.getresponse()
            answer.read()
            wrong += answer.status >= 500
        connection.close()
        return wrong

    with concurrent.futures.ThreadPoolExecutor(clients) as pool:
        return sum(pool.map(client, range(clients)))


def _resident_kb(process: int) -> int:
    status = Path(f"/proc/{process}/status").read_text()
    return int(status.split("VmRSS:")[1].split()[0])


def measured(name: str) -> dict[str, str]:
    """The row of one case, in this process."""
    began = time.monotonic()
    size, held = CASES[name]()
    took = time.monotonic() - began
    most_kb = max(resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return {"size": size, "time": f"{took:,.1f} s", "memory": f"{most_kb / 1024:,.0f} MB", "held": held}


def title_of(name: str) -> str:
    """A case as its row names it."""
    return (CASES[name].__doc__ or name).rstrip(".").split(":")[0]


def row_of(name: str, row: dict[str, str] | None) -> str:
    """A row of the table; None for a case that failed."""
    if row is None:
        return f"{title_of(name)}\t\t\t\t**failed**"
    return "\t".join([title_of(name), row["size"], row["time"], row["memory"], row["held"]])


def written(rows: dict[str, str]) -> None:
    """Puts rows by case into the table; rows of other cases stay."""
    lines = TABLE.read_text(encoding="utf-8").splitlines()
    there = {name: line for name in CASES for line in lines if line.startswith(f"{title_of(name)}\t")}
    lines = [line for name in CASES if (line := {**there, **rows}.get(name))]
    TABLE.write_text("\n".join([HEAD, *lines]) + "\n", encoding="utf-8")


def main(*names: str) -> int:
    """Prints the row of one case as JSON, or runs those that are named before `--write`, all by default, and writes the table."""
    if len(names) == 1:
        print(json.dumps(measured(*names)))
        return 0
    rows: dict[str, str] = {}
    for name in names[:-1] or CASES:
        print(f"{title_of(name)} …", file=sys.stderr, flush=True)
        done = subprocess.run([sys.executable, __file__, name], stdout=subprocess.PIPE, text=True, check=False)
        rows[name] = row_of(name, None if done.returncode else json.loads(done.stdout))
    written(rows)
    return int(any("**failed**" in row for row in rows.values()))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
