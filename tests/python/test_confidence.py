"""Student's t interval and differences of means, against textbook values."""

from __future__ import annotations

import json
import math

import pytest
from lasthop.data.confidence import difference, estimate, t_quantile_975


@pytest.mark.parametrize(
    ("freedom", "quantile"),
    # Standard tables of the 97.5 % point.
    [(1, 12.706), (2, 4.303), (3, 3.182), (4, 2.776), (9, 2.262), (10, 2.228), (29, 2.045), (30, 2.042), (120, 1.980)],
)
def test_quantile_is_the_tables(freedom, quantile):
    assert t_quantile_975(freedom) == pytest.approx(quantile, abs=5e-4)


def test_interval_of_three_values():
    # Mean 2, s = 1, half width 4.303 / sqrt(3) = 2.484.
    found = estimate([1.0, 2.0, 3.0])
    assert found.mean == 2
    assert found.half_width == pytest.approx(2.484, abs=1e-3)


def test_one_value_has_no_interval_and_none_has_no_estimate():
    assert estimate([4.0]) == (4.0, None, None, 1)
    assert estimate([]) is None


def test_pairing_removes_the_variation_that_seeds_share():
    a, b = {1: 10.0, 2: 20.0, 3: 30.0}, {1: 11.0, 2: 21.0, 3: 31.0}
    found = difference(a, b)
    assert found.paired
    assert found.estimate == (1.0, 1.0, 1.0, 3)


def test_other_seeds_are_compared_as_independent_means():
    # Welch: s²/n = 1/3 each, 4 degrees of freedom: 2.776 sqrt(2/3) = 2.267.
    found = difference({1: 1.0, 2: 2.0, 3: 3.0}, {4: 2.0, 5: 3.0, 6: 4.0})
    assert not found.paired
    assert found.estimate.mean == 1
    assert found.estimate.half_width == pytest.approx(2.267, abs=1e-3)


def test_seeds_that_both_have_are_paired_and_the_others_left_out():
    # Over seeds 2 and 3 B - A is 1 and 1; seeds 1 and 4 have no partner.
    found = difference({1: 50.0, 2: 2.0, 3: 3.0}, {2: 3.0, 3: 4.0, 4: -50.0})
    assert found.paired
    assert found.estimate == (1.0, 1.0, 1.0, 2)


def test_one_common_seed_makes_no_pairs():
    found = difference({1: 1.0, 2: 2.0, 3: 3.0}, {3: 2.0, 4: 3.0, 5: 4.0})
    assert not found.paired
    assert found.estimate.half_width == pytest.approx(2.267, abs=1e-3)


def test_a_seed_without_a_number_is_in_no_pair():
    found = difference({1: 1.0, 2: 2.0, 3: math.nan}, {1: 2.0, 2: 4.0, 3: 9.0})
    assert found.estimate.n == 2
    assert found.estimate.mean == 1.5


def test_narrowing_is_the_ratio_of_both_intervals():
    # Differences 1, 2, 3: s² = 1, t2 sqrt(1/3) = 4.303 · 0.577 = 2.484. Apart: s² = 100 and 121, nearly 4 degrees of
    # freedom, rounded down to 3: 3.182 sqrt(221/3) = 27.31. 27.31 / 2.484 = 10.99.
    found = difference({1: 10.0, 2: 20.0, 3: 30.0}, {1: 11.0, 2: 22.0, 3: 33.0})
    assert found.narrowing == pytest.approx(10.99, abs=0.01)


def test_differences_without_spread_have_no_ratio():
    assert difference({1: 1.0, 2: 2.0}, {1: 2.0, 2: 3.0}).narrowing is None


def test_interval_after_a_stop_is_wider_by_a_share_of_the_seeds():
    # 1 + 1.5 / 10.
    values = [1.0, 2.0] * 5
    assert estimate(values, stopped=True).half_width == pytest.approx(1.15 * estimate(values).half_width)


LOAD = """
[[flow]]
station = "*"
direction = "down"
transport = "udp"
rate = "1 Mbit/s"
traffic = { kind = "on_off" }
"""


def test_same_seeds_offer_the_same_load_to_both_sides(small, command):
    # On-off sources differ from seed to seed far more than 20 ms of wire change the goodput.
    text = small.read_text()
    load = text[: text.index("[[flow]]")] + LOAD
    for name, delay in (("a.toml", "10 ms"), ("b.toml", "30 ms")):
        small.with_name(name).write_text(load.replace("10 ms", delay).replace('"2 s"', '"6 s"'))
    done = command("compare", "a.toml", "b.toml", "--seeds", 8, "--metric", "totals.goodput_bps", "--json", "-")
    assert done.returncode == 0, done.stderr
    row = json.loads(done.stdout)["rows"][0]
    assert row["difference"]["paired"]
    assert row["difference"]["narrowing"] > 10
    assert "seed by seed" in done.stderr


def test_results_of_unequal_length_are_compared_over_their_common_seeds(small, command):
    command("run", small, "--seeds", 4, "--json", "a.json")
    command("run", small, "--seeds", 3, "--set", "wired.delay=30 ms", "--json", "b.json")
    done = command("compare", "a.json", "b.json", "--json", "-")
    row = json.loads(done.stdout)["rows"][0]
    assert (row["a"]["n"], row["b"]["n"], row["difference"]["n"]) == (4, 3, 3)
    assert "over the 3 seeds that both have" in done.stderr
