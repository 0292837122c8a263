"""
How many share a PPDU
=====================

**Question.** An access point of 802.11ax has three downloads, and small packets for twelve stations. How many of them should share a PPDU?

More users in a PPDU mean less contention for the small packets, and units too narrow for the downloads: a PPDU lasts as long as its longest
user needs.
"""

# %%
# The scenario
# ------------
# The task ``ofdma`` of ``python -m lasthop.gym``: 80 MHz, MCS 7, the scheduler ``airtime``. The knob is the most users of a PPDU, set each 100 ms. The
# reward is the logarithm of the goodput in Mbit/s, less 100 for each second of the stations' 95th percentile of latency.

from dataclasses import replace

import pandas
from lasthop.gym.protocol import run
from lasthop.gym.tasks import TASKS
from showing import bars, claim, picture, report

task = replace(TASKS["ofdma"](), evaluation="3 s", training="2 s")
outcome = run(task, generations=3, population=6, seeds=4)
shown = {name.removeprefix("constant "): pandas.Series(rewards) for name, rewards in outcome.samples.items()}

# %%
# What is seen
# ------------

order = ("2", "4", "eight users", "16", "learned")
picture(
    bars(
        "The most users of a PPDU",
        "gain over one (log Mbit/s - 100 latency/s)",
        {"gain": {name: shown[name] - shown["one user"] for name in order}},
    )
)

claim("Two users are better than one.", shown["2"] - shown["one user"], above=0)
claim("Eight are better than two.", shown["eight users"] - shown["2"], above=0)
claim(
    "Sixteen bring nothing more: the scheduler takes only as many as pay.",
    shown["16"] - shown["eight users"],
    above=-0.06,
    below=0.06,
)
claim("The agent is with those.", shown["learned"] - shown["eight users"], above=-0.06, below=0.06)

# %%
# The air itself
# --------------

report(task.scenario, warmup="1 s", duration="1500 ms")
