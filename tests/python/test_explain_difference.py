"""What is said of two results: nothing that the interval of their difference does not carry."""

from __future__ import annotations

from dataclasses import replace
from math import sqrt

import pytest
from lasthop.data.confidence import MOST_SEEDS, difference, estimate, seeds_to_tell
from lasthop.views.explain import Explanation, FlowTime, difference_of
from lasthop.views.explain.account import LinkRates

SPREAD = 1 / sqrt(2)  # two values at a mean ± this have a standard deviation of 1


def paired(*values: float):
    """B - A of these values, one for each seed."""
    return difference(dict.fromkeys(range(len(values)), 0.0), dict(enumerate(values)))


@pytest.mark.parametrize(
    ("values", "seeds"),
    [
        # t / sqrt(n) of a table of Student's t: 1.0496 for n = 6, 0.9248 for n = 7; the deviation is the mean.
        ((1 - SPREAD, 1 + SPREAD), 7),
        # twice the mean: 0.5142 for n = 17, 0.4973 for n = 18
        ((0.5 - SPREAD, 0.5 + SPREAD), 18),
        # a hundredth of it: 8.98 / 100 with 2
        ((100 - SPREAD, 100 + SPREAD), 2),
    ],
)
def test_how_many_seeds_would_do_is_by_student(values, seeds):
    assert seeds_to_tell(paired(*values)) == seeds


def test_requests_for_more_seeds_are_bounded():
    # t / sqrt(n) falls below 0.1 at n = 387 (1.966 / 19.67).
    assert MOST_SEEDS < 387
    assert seeds_to_tell(paired(0.1 - SPREAD, 0.1 + SPREAD)) is None
    assert seeds_to_tell(paired(-1.0, 1.0)) is None


def test_of_several_that_are_looked_at_each_needs_more():
    # mean 5, deviation 1 of 3 seeds: 5 / (1 / sqrt(3)) = 8.66; t is 4.30 at 95 %, 13.9 at 99.5 % (ten of them).
    found = paired(4.0, 5.0, 6.0)
    assert found.is_told() and not found.is_told(among=10)
    assert not paired(3.0).is_told()


def explanation(*goodputs: float, flows: dict[str, list[float]] | None = None) -> Explanation:
    """With these goodputs in Mbit/s, one for each seed, of all flows and of single ones."""
    by_seed = {seed: 1e6 * goodput for seed, goodput in enumerate(goodputs)}
    of_flows = [
        FlowTime(
            name, name, "up", {}, {}, {}, {}, 1e6 * sum(own) / len(own), 0.0, {s: 1e6 * g for s, g in enumerate(own)}
        )
        for name, own in (flows or {}).items()
    ]
    return Explanation("x", list(by_seed), 1.0, estimate(list(by_seed.values())), of_flows, [], {}, {}, by_seed)


def said(a: Explanation, b: Explanation) -> list[str]:
    return difference_of(a, b).answers()


def test_differences_within_chance_are_not_reported():
    # Differences of 0 and 200 Mbit/s: mean 100, deviation 141.4, so that t / sqrt(n) has to be below 0.7071.
    (line,) = said(explanation(300, 400), explanation(300, 600))
    assert line.startswith("2 seeds cannot tell the goodputs apart: B delivers 450 Mbit/s ± ")
    # 0.7154 for n = 10, 0.6718 for n = 11
    assert line.endswith("; about 11 would.") and "more" not in line


def test_a_significant_difference_is_reported_in_percent():
    (line,) = said(explanation(100, 101, 102), explanation(200, 202, 204))
    assert line.endswith(": 100 % more.") and line.startswith("B delivers 202 Mbit/s ± ")


def test_a_difference_within_chance_is_reported_as_undecided():
    (line,) = said(explanation(100, 200), explanation(201, 100))
    assert line.endswith(f"; more than {MOST_SEEDS} would be needed, if they differ at all.")


def test_one_seed_has_no_interval_and_equal_ones_no_difference():
    assert said(explanation(100), explanation(200)) == [
        "With one seed B delivers 200 Mbit/s, A 100 Mbit/s; one seed does not show how much of that is chance."
    ]
    assert said(explanation(100, 100), explanation(100, 100)) == ["B delivers as much as A: 100 Mbit/s."]


def test_only_flows_with_significant_differences_are_named():
    a = explanation(100, 101, 102, flows={"steady": [10, 11, 12], "wild": [10, 50, 20]})
    b = explanation(200, 202, 204, flows={"steady": [30, 31, 32.1], "wild": [50, 10, 70]})
    assert said(a, b)[1:] == ["Goodput, A → B: steady 11 Mbit/s → 31 Mbit/s."]


def test_sums_of_both_directions_come_before_their_undecided_total():
    def sides(up: list[float], down: list[float]) -> Explanation:
        of = explanation(*(x + y for x, y in zip(up, down, strict=True)))
        ways = {"up": up, "down": down}
        return replace(of, directions={way: {s: 1e6 * v for s, v in enumerate(ways[way])} for way in ways})

    a, b = sides([320, 322, 324], [16, 16.5, 17]), sides([132, 138, 144], [200, 207, 191])
    first, second, *_ = said(a, b)
    assert first == "Sums of goodput, A → B: up 322 Mbit/s → 138 Mbit/s and down 16.5 Mbit/s → 199 Mbit/s."
    assert second.startswith("3 seeds cannot tell the goodputs apart")
    # With one seed chance is unknown, and equal sums differ by nothing.
    assert said(sides([320], [16]), sides([132], [200]))[0].startswith("With one seed")
    assert said(a, a)[0].startswith("B delivers as much as A")


def test_links_whose_aggregates_differ_much_are_named():
    def sized(*sizes: float) -> Explanation:
        links = {
            "ap to a": LinkRates(1e6, {}, dict(enumerate(sizes))),
            "a": LinkRates(1e6, {}, {0: 1.0, 1: 1.0, 2: 1.0}),
        }
        return replace(explanation(10, 10, 10), links=links)

    assert said(sized(4.6, 4.7, 4.8), sized(20, 21, 22))[-1] == "MPDUs per A-MPDU, A → B: ap to a 4.7 → 21."
    assert "MPDU" not in " ".join(said(sized(4.6, 4.7, 4.8), sized(5.6, 5.7, 5.8)))
    assert "MPDU" not in " ".join(said(sized(1, 5, 9), sized(9, 30, 4)))
