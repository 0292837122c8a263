"""
Airtime for calls
=================

**Question.** A slow station carries eight calls, four fast ones download. Is an equal share of the airtime right, and does an agent find a better
one?

Airtime fairness gives each station the same time. A station at 6.5 Mbit/s needs far more of it for the same packets than one at
65 Mbit/s, and calls do not slow down as downloads do: without enough airtime their packets wait.
"""

# %%
# The scenario
# ------------
# The task ``calls`` of ``python -m lasthop.gym``: an access point with ``airtime_fq_codel``, whose weight for one station is the knob. The agent sees the
# 95th percentile of the station's latency and its airtime, and sets the weight each 200 ms. The reward is the logarithm of the goodput of all in
# Mbit/s, less 20 for each second of that latency.

import pandas
from lasthop.gym.protocol import run
from lasthop.gym.tasks import TASKS
from showing import bars, claim, picture, report

task = TASKS["calls"]()
outcome = run(task, generations=6, population=8, seeds=6)
scores = {name: pandas.Series(rewards) for name, rewards in outcome.samples.items()}

# %%
# What is seen
# ------------
# Little weight starves the calls. More than an equal share shortens their wait, and costs the downloads little, as calls take no more than
# they need.

picture(bars("Weights of the station with the calls", task.unit, {"reward": scores}))

equal, learned = scores[task.default], scores[outcome.LEARNED]
claim("A quarter of the weight of the others starves the calls.", equal - scores["constant 64"], above=1)
claim("Four times the weight of the others is better than the same.", scores["constant 1024"] - equal, above=0.02)
claim("The agent gains over equal weights, too.", learned - equal, above=0.02)
claim("It is within 0.05 of the best constant tried.", learned - scores["constant 4096"], above=-0.05)

# %%
# The air itself
# --------------
# With equal weights.

report(task.scenario, warmup="1 s", duration="2 s")
