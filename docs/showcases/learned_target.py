"""
The delay that CoDel should keep
================================

**Question.** Four downloads share an access point whose CoDel keeps queues at 5 ms. Is that the right target over Wi-Fi, and does an agent
that sees only the queue find a better one?

A higher target lets a window fill longer A-MPDUs, and makes all packets wait. A lower one drops earlier, down to queues too short for
an A-MPDU.
"""

# %%
# The scenario
# ------------
# The task ``aqm`` of ``python -m lasthop.gym``: four CUBIC downloads over 802.11n at 65 Mbit/s, 10 ms of wire, FQ-CoDel. The knob is its
# target, set each 100 ms. The reward is the logarithm of the goodput in Mbit/s, less 20 for each second of the mean RTT.

import pandas
from lasthop.gym.protocol import run
from lasthop.gym.tasks import TASKS
from showing import bars, claim, picture, report

task = TASKS["aqm"]()
outcome = run(task, generations=5, population=8, seeds=7)
scores = {name.removeprefix("constant "): pandas.Series(rewards) for name, rewards in outcome.samples.items()}

# %%
# What is seen
# ------------

picture(bars("CoDel's target at an access point", task.unit, {"reward": scores}))

default, learned = scores[task.default], scores[outcome.LEARNED]
claim("50 ms cost more delay than they bring goodput.", scores["50 ms"] - default, below=-0.4)
claim("2 ms are better than 5 ms.", scores["2 ms"] - default, above=0.01)
claim("The agent is better than 5 ms, too.", learned - default, above=0.01)
claim("It is within 0.03 of 2 ms.", learned - scores["2 ms"], above=-0.03, below=0.03)

# %%
# The air itself
# --------------
# With 5 ms.

report(task.scenario, warmup="2 s", duration="3 s")
