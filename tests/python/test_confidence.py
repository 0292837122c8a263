"""Student's t interval and differences of means, against textbook values."""

from __future__ import annotations

import pytest

from lasthop.confidence import difference, estimate, t_quantile_975


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


def test_pairing_takes_out_what_the_seeds_share():
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
