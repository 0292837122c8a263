"""
Less airtime for a slow station
===============================

**Question.** Three fast stations and a slow one download. Is an equal share of the airtime proportionally fair, and does an agent find the
best share?

With shares ``a`` of the airtime and rates ``r`` alone, the sum of ``log(r a)`` is greatest at equal shares, whatever the rates. If a
download's first megabit counts no more than the last, as in ``log(1 + r a)``, the best shares are those of water-filling,
``a = m - 1 / r`` [Boyd, Vandenberghe 2004]: a slow station has less.
"""

# %%
# The scenario
# ------------
# The task ``weights`` of ``python -m lasthop.gym``: MCS 7 and MCS 0 of 802.11n, an access point with ``airtime_fq_codel``. The knob is the weight of
# the slow station, set each 200 ms, of 256 for each other. The reward is the sum of ``log(1 + x)`` over goodputs ``x`` in Mbit/s.

from dataclasses import replace

import lasthop
import numpy as np
import pandas
from lasthop.gym.protocol import evaluate, run
from lasthop.gym.tasks import TASKS
from showing import claim, lines, per_seed, picture, report

task = replace(TASKS["weights"](), constants=())
scenario = task.scenario.set("duration", "3 s")
SEEDS, WEIGHTS = 6, (16, 64, 128, 256, 1024)


def alone(station):
    """The goodput of a station that has the medium to itself, in Mbit/s."""
    result = lasthop.run(scenario.set("flow.0.station", station), seeds=3, interval_s=None)
    return float((per_seed(result, f"flows.{station}.down.goodput_bps") / 1e6).mean())


def constant(weight):
    """The rewards of a constant weight."""
    return pandas.Series(evaluate(task, lambda env, _: np.full(env.num_envs, float(weight)), seeds=SEEDS))


# Shares a = m - 1 / r, which add up to 1.
fast, slow = alone("fast1"), alone("slow")
level = (1 + 3 / fast + 1 / slow) / 4
best_weight = round(256 * (level - 1 / slow) / (level - 1 / fast))
outcome = run(task, generations=6, population=8, seeds=SEEDS)
print(f"water-filling: {best_weight} for the slow station, 256 for each fast one")

# %%
# What is seen
# ------------

curve = {float(weight): constant(weight) for weight in WEIGHTS}
equal, learned = curve[256.0], pandas.Series(outcome.samples[outcome.LEARNED])
filled = constant(best_weight)
gains = {float(np.log2(weight)): one - equal for weight, one in (curve | {float(best_weight): filled}).items()}
gains = dict(sorted(gains.items()))
picture(lines("The weight of a slow station", "log2(weight)", "gain over 256 (log Mbit/s)", {"constant weight": gains}))
claim("The weight of water-filling is better than equal weights.", filled - equal, above=0.05)
claim("So is the agent's.", learned - equal, above=0.05)
claim("The agent is within 0.05 of water-filling.", learned - filled, above=-0.05, below=0.05)
claim("Four times the airtime costs more than either gains.", equal - curve[1024.0], above=0.5)

# %%
# The air itself
# --------------
# With equal weights.

report(scenario, warmup="1 s", duration="2 s")
