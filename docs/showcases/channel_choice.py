"""
Channels for five access points
===============================

**Question.** Five access points stand in a row, 12 m from one another, and there are three channels. Which assignment is best, and what
does a wrong one cost?

An access point hears those within 29 m: two neighbours on each side. Two that hear each other on a channel take turns, and collide; two that do
not have it twice, if each is far enough from the other's station.
"""

# %%
# The scenario
# ------------
# The task ``channels`` of ``python -m lasthop.gym``: a saturated download at each access point, 802.11n, MCS 7, log-distance path loss with an exponent of 3.5. The
# knobs are ``channel:b0.ap`` to ``channel:b4.ap``. The reward is the sum of the logarithms of the goodputs in Mbit/s, so no access point may starve.

import pandas
from lasthop.gym import channels
from showing import bars, claim, picture, report

learned, _ = channels.train(generations=4, population=12)
assigned = {
    "one": (0, 0, 0, 0, 0),
    # In the order of the list, which is not that of the row: 0, 36, 12, 48 and 24 m.
    "in turn": (0, 1, 2, 0, 1),
    "pairs": (0, 0, 1, 1, 2),
    "learned": learned,
}
found = channels.rewards(list(assigned.values()), range(1_000_001, 1_000_005), "700 ms")
scores = {name: pandas.Series(rewards) for name, rewards in zip(assigned, found, strict=True)}

# %%
# What is seen
# ------------
# ``pairs`` gives one channel to the access points at 0 and 36 m, one to those at 12 and 48 m, and the third to the one between them: no two of them
# hear each other. No other of the 41 assignments is better. ``python -m lasthop.gym channels`` tries them all, and its 128 episodes mostly find it; the 48
# episodes here need not.

picture(bars("Channels of five access points", channels.task().unit, {"reward": scores}))

claim("Three channels in turn are better than one.", scores["in turn"] - scores["one"], above=2)
claim("Pairs that do not hear each other are better than that.", scores["pairs"] - scores["in turn"], above=0.5)
claim("The learned assignment is better than one channel, too.", scores["learned"] - scores["one"], above=2)
claim("It is within 2 of the best.", scores["pairs"] - scores["learned"], above=-0.1, below=2)

# %%
# The air itself
# --------------
# The learned channels.

report(channels.with_assignment(learned), warmup="100 ms", duration="300 ms")
