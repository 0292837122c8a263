"""
A rate for a station that walks away
====================================

**Question.** A station uploads and walks from 3 m to 45 m while two others contend. How does an agent that sets its rate compare with
Minstrel-HT and AARF?

A lost frame calls for a lower rate if noise took it, and for patience if another station did. The sender sees no difference.
"""

# %%
# The scenario
# ------------
# The task ``rate`` of ``python -m lasthop.gym``: one stream of 802.11n. The knob is the rate of the walker's frames, set each 50 ms; the agent sees the
# share of its MPDUs that are lost, and their mean rate. The reward is the walker's goodput. In the task ``rate-causes`` it also sees which losses are noise.

import pandas
from lasthop.gym.protocol import run
from lasthop.gym.tasks import TASKS
from showing import bars, claim, picture, report

task = TASKS["rate"]()
outcome = run(task, generations=8, population=16, seeds=8)
scores = {name.removeprefix("constant "): pandas.Series(rewards) for name, rewards in outcome.samples.items()}

# %%
# What is seen
# ------------
# Minstrel-HT gains near the access point and loses far from it. A linear policy of two numbers settles for the best constant rate.

picture(bars("A station that walks away", task.unit, {"goodput": scores}))

minstrel, learned, middle = scores["Minstrel-HT"], scores[outcome.LEARNED], scores["39 Mbit/s"]
claim("AARF takes collisions for noise, and loses over a fifth to Minstrel-HT.", scores["AARF"] / minstrel, below=0.8)
claim("39 Mbit/s are better than 13.", middle / scores["13 Mbit/s"], above=2)
claim("They are better than 65, too.", middle - scores["65 Mbit/s"], above=0.2)
claim("The agent does as well as with 39 Mbit/s.", learned - middle, above=-0.2, below=0.2)
claim("That is Minstrel-HT within a sixth.", learned / minstrel, above=5 / 6, below=7 / 6)

# %%
# The air itself
# --------------
# With Minstrel-HT, half-way.

report(task.scenario, warmup="4 s", duration="6 s")
