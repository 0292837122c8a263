"""Saturated uplinks, from the scenario file on, against a slot-level Monte-Carlo of the DCF and Bianchi's closed form.

`tests/data/theory/dcf_montecarlo.csv`: frozen counters (`std`), seven attempts, payload 1500 B; a collision costs
T_data + DIFS in one column and T_data + SIFS + T_ack + DIFS in the other. `dcf_saturation.csv`: Bianchi's model.
"""

import csv
from pathlib import Path

import lasthop
import pytest

DATA = Path(__file__).parents[1] / "data" / "theory"
SCENARIO = Path(__file__).parents[2] / "scenarios" / "saturation-11a.toml"
CASES = [(phy, n) for phy in ("11b_long_ack1", "11a_54") for n in (1, 2, 5, 10, 20, 50)]


def row(file: str, **wanted: object) -> dict[str, float]:
    with (DATA / file).open(newline="", encoding="utf-8") as lines:
        found = next(r for r in csv.DictReader(lines) if all(r[key] == str(value) for key, value in wanted.items()))
    return {key: float(value) for key, value in found.items() if key not in ("phy", "rule", "access", "max_attempts")}


def simulate(phy: str, n: int, **bss: object) -> tuple[float, float]:
    """Throughput of IP packets in Mbit/s and collision probability."""
    scenario = lasthop.load(SCENARIO).set("station.0.count", n).set("duration", "60 s")
    if phy.startswith("11b"):
        scenario = scenario.set("bss.standard", "802.11b").set("bss.basic_rates", ["1 Mbit/s"]).set("duration", "200 s")
        scenario = scenario.set("bss.rate_control.rate", "11 Mbit/s")
    for key, value in bss.items():
        scenario = scenario.set(f"bss.{key}", value)
    summary = lasthop.run(scenario, seeds=4, interval_s=None).summary
    p = summary.get("medium.collision_probability", {"mean": 0.0})["mean"]
    return summary["totals.goodput_bps"]["mean"] * 1500 / 1472 / 1e6, p


@pytest.mark.parametrize(("phy", "n"), CASES)
def test_frozen_counters_give_the_monte_carlo_with_difs_after_collisions(phy: str, n: int) -> None:
    throughput, p = simulate(phy, n, eifs=False, retry_limit=6)
    reference = row("dcf_montecarlo.csv", phy=phy, rule="std", n=n)
    # The table is a short run at 50 stations of 802.11a; an independent simulator over a longer one agrees with ours.
    tolerance = 0.006 if (phy, n) == ("11a_54", 50) else 0.005
    assert throughput == pytest.approx(reference["thr_Mbps_Tc_bianchi"], rel=tolerance)
    assert p == pytest.approx(reference["p_collision"], abs=0.01)


@pytest.mark.parametrize(("phy", "n"), [case for case in CASES if case[1] <= 20])
def test_with_eifs_they_give_the_monte_carlo_with_eifs_after_collisions(phy: str, n: int) -> None:
    # At 50 stations ours is 1 to 2 % higher: colliders start after their ACK timeout, before the bystanders' EIFS ends.
    throughput, p = simulate(phy, n, retry_limit=6)
    reference = row("dcf_montecarlo.csv", phy=phy, rule="std", n=n)
    assert throughput == pytest.approx(reference["thr_Mbps_Tc_eifs"], rel=0.006)
    assert p == pytest.approx(reference["p_collision"], abs=0.01)


@pytest.mark.parametrize(("phy", "n"), CASES)
def test_bianchis_countdown_gives_the_closed_form(phy: str, n: int) -> None:
    throughput, p = simulate(phy, n, eifs=False, countdown="bianchi", retry_limit="unlimited")
    reference = row("dcf_saturation.csv", phy=phy, access="basic", max_attempts="inf", n=n)
    # The closed form assumes independent stations, which short slots and endless retries make less true.
    tolerance = 0.006 if phy == "11a_54" and n >= 20 else 0.005
    assert throughput == pytest.approx(reference["thr_Mbps_Tc_bianchi"], rel=tolerance)
    assert p == pytest.approx(reference["p"], abs=0.01)
