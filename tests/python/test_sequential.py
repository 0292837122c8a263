"""Seeds are added until an interval is narrow enough: its coverage by simulation, its edges, and the commands."""

from __future__ import annotations

import json
import math
import random

import lasthop
import pytest
from lasthop.data import confidence
from lasthop.data.confidence import estimate
from lasthop.data.metric import UnknownMetric
from lasthop.study.sequential import FEWEST, GOODPUT, Until, next_look

SEEDS = range(1, 10_000)


def stopped(until, *draws):
    """The values of each metric when the rule is satisfied, one drawn for each seed and metric."""
    metrics = {name: {} for name in until.metrics}
    n, standing = 0, until.standing([], metrics)
    while standing.state == "more":
        for seed in SEEDS[n : standing.seeds]:
            for name, draw in zip(until.metrics, draws, strict=True):
                metrics[name][seed] = draw()
        n = standing.seeds
        standing = until.standing(SEEDS[:n], metrics)
    return [list(metrics[name].values()) for name in until.metrics]


def coverage(until, replications, means, make):
    """How often the interval of each metric holds its true mean; `make(generator)` gives what draws them."""
    held = [0] * len(means)
    for replication in range(replications):
        samples = stopped(until, *make(random.Random(replication)))
        for metric, (mean, sample) in enumerate(zip(means, samples, strict=True)):
            found = estimate(sample, stopped=True)
            held[metric] += found.ci95_low <= mean <= found.ci95_high
    return [count / replications for count in held]


def normal(deviation):
    return lambda generator: [lambda: generator.gauss(1, deviation)]


def two_sigma_below_95(replications):
    return 0.95 - 2 * math.sqrt(0.95 * 0.05 / replications)


def needing(seeds):
    """The deviation of a mean of 1 that is known to ± 2 % after so many, were it known: n = (1.96 s / 0.02)²."""
    return 0.02 * math.sqrt(seeds) / 1.96


@pytest.mark.parametrize(("needed", "replications"), [(6, 3000), (17, 3000), (40, 1500)])
def test_interval_covers_a_normal_mean_in_95_of_100(needed, replications):
    assert coverage(Until(0.02), replications, [1.0], normal(needing(needed)))[0] >= two_sigma_below_95(replications)


def test_without_its_widening_it_would_cover_less(monkeypatch):
    # 93.4 ± 0.4 %.
    monkeypatch.setattr(confidence, "STOPPED", 0)
    assert coverage(Until(0.02), 3000, [1.0], normal(needing(17)))[0] < two_sigma_below_95(3000)


def test_each_of_two_metrics_is_covered():
    def make(generator):
        return [lambda: generator.gauss(1, 0.03), lambda: generator.gauss(5, 0.25)]

    for share in coverage(Until(0.02, ("a", "b")), 1500, [1.0, 5.0], make):
        assert share >= two_sigma_below_95(1500)


@pytest.mark.parametrize(
    ("draw", "mean", "target", "least", "most"),
    # Results of docs/statistics.md for distributions that are not normal, ± 2 sigma of 800 replications.
    [
        (lambda g: g.expovariate(1), 1.0, 0.25, 0.91, 0.96),
        (lambda g: math.exp(g.gauss(0, 0.5)), math.exp(0.125), 0.15, 0.91, 0.96),
        (lambda g: 0.5 if g.random() < 0.5 else 1.0, 0.75, 0.1, 0.91, 0.96),
        # A rare mode, which ten seeds miss in a third of the cases: no rule based on the data can find it.
        (lambda g: g.gauss(0.5 if g.random() < 0.1 else 1.0, 0.01), 0.95, 0.05, 0.58, 0.71),
    ],
)
def test_coverage_of_skewed_and_bimodal_values_is_as_documented(draw, mean, target, least, most):
    share = coverage(Until(target, most=1000), 800, [mean], lambda generator: [lambda: draw(generator)])[0]
    assert least <= share <= most


def test_interval_is_as_narrow_as_was_asked():
    generator = random.Random(3)
    sample = stopped(Until(0.02), lambda: generator.gauss(1, 0.06))[0]
    assert estimate(sample, stopped=True).half_width <= 0.02 * estimate(sample).mean
    # The look before was not.
    before = [n for n in looks() if n < len(sample)][-1]
    assert estimate(sample[:before], stopped=True).half_width > 0.02 * estimate(sample[:before]).mean


def looks():
    n = FEWEST
    while n < 1000:
        yield n
        n = next_look(n)


def test_looks_grow_by_a_quarter():
    assert list(looks())[:6] == [10, 13, 17, 22, 28, 35]


def values(sample):
    return {GOODPUT: dict(zip(SEEDS, sample, strict=False))}


def test_decision_does_not_depend_on_how_many_are_there():
    generator = random.Random(4)
    sample = [generator.gauss(1, 0.05) for _ in range(200)]
    at_once = Until(0.02).standing(SEEDS[:200], values(sample))
    by_steps = stopped(Until(0.02), iter(sample).__next__)[0]
    assert at_once.state == "reached"
    assert at_once.seeds == len(by_steps)


def test_the_most_ends_it():
    generator = random.Random(5)
    standing = Until(0.001, most=30).standing(SEEDS[:30], values([generator.gauss(1, 0.5) for _ in range(30)]))
    assert (standing.state, standing.seeds) == ("given up", 30)


def test_constant_is_known_at_the_first_look_even_at_zero():
    for constant in (7.0, 0.0, 0.1):
        standing = Until(0.02).standing(SEEDS[:10], values([constant] * 10))
        assert (standing.state, standing.half_widths[GOODPUT]) == ("reached", 0.0)


def test_mean_of_zero_is_never_known_to_a_share_of_itself():
    standing = Until(0.02).standing(SEEDS[:10], values([-1.0, 1.0] * 5))
    assert (standing.state, standing.half_widths[GOODPUT]) == ("more", math.inf)
    assert standing.to_dict(0.02, 10)["half_widths"] == {GOODPUT: None}


def test_seeds_without_a_value_do_not_count():
    # 13 seeds, 4 of which failed or gave NaN: 9 values, one too few to judge.
    sample = values([1.0] * 13)[GOODPUT]
    for seed in (2, 3):
        del sample[seed]
    sample[4] = sample[5] = math.nan
    assert Until(0.02).standing(SEEDS[:13], {GOODPUT: sample}).half_widths[GOODPUT] is None
    assert Until(0.02).standing(SEEDS[:13], {GOODPUT: sample}).seeds == 17


def test_metric_of_which_no_seed_has_a_value_ends_it_at_the_first_look():
    standing = Until(0.02, ("flows.sta1.up.completion_time_s",)).standing(SEEDS[:10], values([1.0] * 10))
    assert (standing.state, standing.seeds) == ("given up", 10)


def test_unknown_names_are_answered_with_near_ones():
    names = ["totals.goodput_bps", "medium.busy_fraction", "flows.sta1.up.goodput_bps"]
    Until(0.02, ("flows.*.goodput_bps", "medium.busy_fraction")).check(names)
    with pytest.raises(UnknownMetric, match=r"totals.goodput: .*did you mean totals.goodput_bps"):
        Until(0.02, ("totals.goodput",)).check(names)
    with pytest.raises(UnknownMetric, match=r"links.\*: no run has such a metric; `lasthop list quantity` names them$"):
        Until(0.02, ("links.*",)).check(names)


@pytest.mark.parametrize(("target", "most"), [(0, 200), (1, 200), (-0.02, 200), (math.nan, 200), (0.02, 9)])
def test_impossible_targets_are_refused(target, most):
    with pytest.raises(ValueError, match="until"):
        Until(target, most=most)


def test_run_adds_seeds_and_reports_the_end(small, command):
    done = command("run", small, "--until", "5 %", "--json", "-")
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    until = document["until"]
    assert until["reached"]
    assert until["n"] == len(document["runs"]) in looks()
    assert until["half_widths"][GOODPUT] <= 0.05
    # The interval in the result is the one that was judged.
    summary = document["summary"][GOODPUT]
    assert (summary["ci95_high"] - summary["mean"]) / summary["mean"] == pytest.approx(until["half_widths"][GOODPUT])
    assert "within ± 5 %" in done.stderr


def test_threads_do_not_change_the_number_of_seeds(small, command, without_wall_clock):
    texts = [command("run", small, "--until", "4%", "--json", "-", "--jobs", jobs).stdout for jobs in (1, 3)]
    assert without_wall_clock(texts[0]) == without_wall_clock(texts[1])


def test_python_equals_the_command(small, command, without_wall_clock):
    text = command("run", small, "--until", "4%", "--json", "-").stdout
    result = lasthop.run(lasthop.load(small), until=0.04, interval_s=None, progress=False)
    assert without_wall_clock(result.to_json())["until"] == without_wall_clock(text)["until"]
    assert result.seeds == list(range(1, result.until["n"] + 1))


def test_an_unreached_target_is_kept_and_reported(small, command):
    done = command("run", small, "--until", "0.01%", "--seeds", 12, "--json", "-")
    assert done.returncode == 0
    assert json.loads(done.stdout)["until"]["reached"] is False
    assert "after 12 seeds: not within ± 0.01 %" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--until", "2"], "write e.g. 2%"),
        (["--until", "0%"], "between 0 and 100 %"),
        (["--until", "2%", "--seed", "3"], "--seed cannot be given"),
        (["--until", "2%", "--seeds", "9"], "needs at least 10 seeds"),
        (["--until", "2%", "--metric", "totals.jain"], "did you mean totals.jain_index"),
    ],
)
def test_wrong_use_is_one_sentence(small, command, arguments, sentence):
    done = command("run", small, *arguments)
    assert done.returncode == 2
    assert sentence in done.stderr
    assert "Traceback" not in done.stderr


def test_unknown_metric_in_python_is_a_value_error(small):
    with pytest.raises(UnknownMetric, match="totals.goodput_bps"):
        lasthop.run(lasthop.load(small), until=0.02, metrics=["totals.goodput_bsp"], progress=False)


def test_compare_adds_seeds_until_the_difference_is_known(small, command):
    other = small.with_name("other.toml")
    other.write_text(small.read_text().replace('delay = "10 ms"', 'delay = "30 ms"'))
    done = command("compare", small, other, "--until", "6%", "--json", "-")
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    row = document["rows"][0]
    assert document["until"]["reached"]
    assert row["difference"]["paired"]
    assert row["difference"]["n"] == row["a"]["n"] == row["b"]["n"] == document["until"]["n"]
    half_width = row["difference"]["ci95_high"] - row["difference"]["mean"]
    assert half_width / row["a"]["mean"] == pytest.approx(document["until"]["half_widths"][GOODPUT])


def test_compare_adds_no_seeds_to_a_result(small, command):
    command("run", small, "--seeds", 2, "--json", "r.json")
    done = command("compare", "r.json", small, "--until", "5%")
    assert done.returncode == 2
    assert "a result cannot get more" in done.stderr
