"""
A window that an agent holds
============================

**Question.** One download among three of CUBIC, over an access point with FQ-CoDel. Which window serves it best, and how do CUBIC, BBR, Prague and an agent
that sees only its round-trip times compare?

FQ-CoDel gives each flow its turn, so no flow can take another's share; it can only make its own queue long or leave it empty. Then the
best window is the path's product of rate and delay, and a controller's search around it costs delay.
"""

# %%
# The scenario
# ------------
# The task ``window`` of ``python -m lasthop.gym``: four downloads over 802.11n at 65 Mbit/s with 10 ms of wire. The knob is the window of the first, set each 100 ms.
# The reward is the logarithm of its goodput in Mbit/s, less 20 for each second of its mean RTT.

import pandas
from lasthop.gym.protocol import run
from lasthop.gym.tasks import TASKS
from showing import bars, claim, picture, report

task = TASKS["window"]()
outcome = run(task, generations=5, population=8, seeds=6)
scores = {name: pandas.Series(rewards) for name, rewards in outcome.samples.items()}

# %%
# What is seen
# ------------

picture(bars("One download among three of CUBIC", task.unit, {"reward": scores}))

cubic, learned = scores["CUBIC"], scores[outcome.LEARNED]
claim("A window of 160 segments only makes the flow's own queue long.", scores["constant 160"] - cubic, below=-1)
claim("CUBIC does better than BBR here.", cubic - scores["BBR"], above=0.2)
claim(
    "CUBIC does better than Prague, which no L4S queue tells when to slow down.", cubic - scores["Prague"], above=0.05
)
claim("A constant window of 40 segments does as well as CUBIC, within 0.1.", scores["constant 40"] - cubic, above=-0.1)
claim("The agent is within 0.1 of that.", learned - scores["constant 40"], above=-0.1)

# %%
# The air itself
# --------------

report(task.scenario, warmup="2 s", duration="3 s")
