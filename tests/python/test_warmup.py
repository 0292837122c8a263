"""Too short a warm-up is found, in numbers made up and in real runs; steady runs are left alone."""

from __future__ import annotations

import random
from math import exp

import lasthop
import pytest
from lasthop.study.warmup import PARTS, transient, warmup_warning

FLAT = [1.0] * PARTS


def steady(generator, correlation=0.0, deviation=0.1):
    """Parts of a stationary first-order autoregression about 1."""
    x, parts = generator.gauss(0, 1), []
    for _ in range(PARTS):
        x = correlation * x + (1 - correlation**2) ** 0.5 * generator.gauss(0, 1)
        parts.append(1 + deviation * x)
    return parts


@pytest.mark.parametrize("correlation", [0.0, 0.5, 0.9])
@pytest.mark.parametrize("seeds", [3, 5, 20])
def test_steady_runs_give_no_warning_in_97_of_100_results(correlation, seeds):
    # Nominally 2 % of results, by Bonferroni at most 2.5 %; of 400 at most 10 + 2 sigma (2 sqrt(400 · 0.025)) = 16.
    generator = random.Random(correlation + seeds)
    found = sum(
        transient([steady(generator, correlation, 0.2) for _ in range(seeds)], [0.0] * seeds, 100.0) is not None
        for _ in range(400)
    )
    assert found <= 16


@pytest.mark.parametrize(
    ("shape", "way"),
    [
        (lambda i: 0.2 if i < 2 else 1.0, 1),  # slow start
        (lambda i: 0.6 if i < 20 else 1.0, 1),  # a flow that starts late
        (lambda i: 0.4 + 0.6 * exp(-i / 6), -1),  # a rate control that falls
    ],
)
def test_a_transient_of_all_seeds_is_found(shape, way):
    generator = random.Random(1)
    parts = [[y * shape(i) for i, y in enumerate(steady(generator, 0.5))] for _ in range(5)]
    found = transient(parts, [0.0] * 5, 64.0)
    assert found is not None
    assert found.change * way > 0


def test_length_is_where_the_step_is():
    # 4 of 32 parts at half: 8 of 64 s; without them 1 instead of (4 · 0.5 + 28) / 32 = 0.9375: 6.7 % more.
    generator = random.Random(2)
    parts = [[y * (0.5 if i < 4 else 1.0) for i, y in enumerate(steady(generator, 0.0, 0.01))] for _ in range(5)]
    found = transient(parts, [0.0] * 5, 64.0)
    assert found.lasts_s == 8
    assert found.change == pytest.approx(0.067, abs=0.005)


def test_one_run_speaks_for_itself_and_two_must_agree():
    rising, falling = [0.5] * 4 + [1.0] * 28, [1.5] * 4 + [1.0] * 28
    assert transient([rising], [8.0], 64.0).lasts_s == 8
    assert transient([rising], [0.0], 64.0) is None
    assert transient([rising, FLAT], [8.0, 0.0], 64.0) is None
    assert transient([rising, falling], [8.0, 8.0], 64.0) is None
    assert transient([rising, rising], [8.0, 6.0], 64.0).lasts_s == 7


def test_a_small_change_of_goodput_is_no_transient():
    # One part of 32 lower by a fifth: 0.2 / 32 = 0.6 %, the same with every seed.
    assert transient([[0.8, *FLAT[1:]]] * 5, [0.0] * 5, 64.0) is None


def test_silence_and_nothing_are_no_transient():
    assert transient([], [], 64.0) is None
    assert transient([[0.0] * PARTS] * 5, [0.0] * 5, 64.0) is None


def test_transfers_that_end_are_not_judged():
    runs = [{"totals": {"goodput_parts_bps": [1.0] * 8 + [0.0] * 24, "unsettled_s": 8.0}}] * 5
    scenario = {"warmup": "0 s", "duration": "32 s", "flow": [{"station": "*"}]}
    assert "fell" in warmup_warning(scenario, runs)
    assert warmup_warning({**scenario, "flow": [{"station": "*", "size": "6 MB"}]}, runs) is None


@pytest.mark.parametrize(
    ("control", "said"),
    [({"kind": "bbr", "min_rtt_window": "10 s"}, "BBR's probes, one each 10 s"), ({"kind": "cubic"}, None)],
)
def test_a_warning_mentions_recurring_probes(control, said):
    parts = [[0.8, *[1.0 + 0.001 * seed] * 31] for seed in range(5)]
    runs = [{"totals": {"goodput_parts_bps": row, "unsettled_s": 0.5}} for row in parts]
    scenario = {"warmup": "1 s", "duration": "17 s", "flow": [{"congestion_control": control}]}
    warning = warmup_warning(scenario, runs)
    assert "goodput rose" in warning
    assert said in warning if said else "BBR" not in warning


def test_runs_of_an_older_version_are_not_judged():
    assert warmup_warning({"warmup": "0 s", "duration": "9 s", "flow": []}, [{"totals": {"goodput_bps": 1.0}}]) is None


def of_warmup(warnings):
    """Those that are not about where stations stand."""
    return [warning for warning in warnings if "distance" not in warning]


LATE = """
[[flow]]
station = "sta1"
direction = "down"
start = "4 s"
"""


@pytest.mark.parametrize("seeds", [1, 4])
def test_a_flow_that_starts_after_the_warm_up_is_a_warning(small, command, seeds):
    # Each flow is held by its window; the second starts 3.5 s after the warm-up.
    text = small.read_text().replace('"2 s"', '"16 s"').replace('"up"', '"down"').replace('"*"', '"sta2"')
    small.write_text(text + LATE)
    settings = ('bss.standard="802.11a"', "bss.rate_control.rate=24 Mbit/s", "tcp.receive_window=16 KiB")
    options = [word for setting in settings for word in ("--set", setting)]
    done = command("run", "small.toml", "--seeds", seeds, *options, "--json", "r.json")
    assert done.returncode == 0, done.stderr
    warnings = of_warmup(lasthop.data.result.read("r.json").warnings)
    assert len(warnings) == 1, warnings
    assert "warmup: 500 ms is too short: goodput rose" in warnings[0]
    assert warnings[0] in done.stderr


def test_a_long_enough_warm_up_is_none(small, command):
    done = command(
        "run", "small.toml", "--seeds", 5, "--set", "duration=40 s", "--set", "warmup=10 s", "--json", "r.json"
    )
    assert done.returncode == 0, done.stderr
    assert of_warmup(lasthop.data.result.read("r.json").warnings) == []


def test_parts_are_the_goodput(small):
    run = lasthop.run(lasthop.load(small), seeds=1, progress=False).runs[0]
    parts = run["totals"]["goodput_parts_bps"]
    assert len(parts) == PARTS
    assert sum(parts) / PARTS == pytest.approx(run["totals"]["goodput_bps"], rel=1e-9)


def test_a_warning_of_a_sweep_names_its_point(small, command):
    text = small.read_text().replace('"2 s"', '"16 s"').replace('"up"', '"down"').replace('"*"', '"sta2"')
    small.write_text(text + LATE)
    settings = ('bss.standard="802.11a"', "bss.rate_control.rate=24 Mbit/s", "tcp.receive_window=16 KiB")
    options = [word for setting in settings for word in ("--set", setting)]
    done = command("sweep", "small.toml", "--over", "warmup=500 ms,6 s", "--seeds", 3, *options)
    assert done.returncode == 0, done.stderr
    warnings = of_warmup(line for line in done.stderr.splitlines() if "warning" in line)
    assert len(warnings) == 1, warnings
    assert warnings[0].startswith("lasthop: warning: warmup=500 ms: warmup: 500 ms is too short")
