"""
The window that an agent finds
==============================

**Question.** Stations that always have a frame to send draw their backoffs from a window. How large should it be, and does an agent
that sees only the medium find it?

A small window makes frames collide, a large one leaves the air idle. 802.11 starts at 15 slots and doubles after each collision, so
it learns the load anew with every frame. Bianchi's model has a best constant window for each number of stations [Bianchi 2000].
"""

# %%
# The scenario
# ------------
# The ready scenario ``saturation-11a`` in the case of the closed form: counters go on in busy slots, all wait DIFS after a collision, and no
# frame is given up. ``[[change]]`` sets CWmin and CWmax of all stations at the start.

import json

import lasthop
import numpy as np
import pandas
from lasthop import _core
from lasthop.gym.protocol import run
from lasthop.gym.tasks import TASKS
from showing import claim, lines, per_seed, picture, report

task = TASKS["cw"]()
scenario = task.scenario.set("duration", "6 s")
WINDOWS = (15, 31, 63, 127, 255, 511, 1023)
STATIONS = (5, 20)


def held(count, window):
    """The scenario with this many stations, and this window from the start."""
    change = [{"at": "0 s", "set": {"edca.cw_min:sta*": window, "edca.cw_max:sta*": window}}]
    return scenario.set("station.0.count", count).set("change", change)


constant = {n: {w: lasthop.run(held(n, w), seeds=5, interval_s=None) for w in WINDOWS} for n in STATIONS}
doubling = {n: lasthop.run(scenario.set("station.0.count", n), seeds=5, interval_s=None) for n in STATIONS}

# %%
# What is seen
# ------------

goodput = {n: {w: per_seed(one, "totals.goodput_bps") / 1e6 for w, one in row.items()} for n, row in constant.items()}
standard = {n: per_seed(one, "totals.goodput_bps") / 1e6 for n, one in doubling.items()}
curves = {f"{n} stations": {float(np.log2(w + 1)): one for w, one in row.items()} for n, row in goodput.items()}
picture(lines("Goodput at a constant window", "log2(CW + 1)", "goodput (Mbit/s)", curves))

# %%
# Five stations want a smaller window than twenty. The agent of ``python -m lasthop.gym cw`` sees the number of contending
# stations, the time in collisions and the idle time, and sets the window each 100 ms. Six generations of twelve episodes are enough.


def best(count):
    """The goodput at the best window of the closed form in Mbit/s."""
    rows = json.loads(_core.theory_json(scenario.set("station.0.count", count).resolve()))["rows"]
    start = f"Bianchi: goodput at the best CW, {count} stations, DIFS"
    return next(row["closed_form"] for row in rows if row["quantity"].startswith(start)) / 1e6


outcome = run(task, generations=6, population=12, seeds=5, seed=1)
claim(
    "A window of 15 costs twenty stations over 60 % of the goodput at 127.",
    goodput[20][15] / goodput[20][127],
    below=0.4,
)
claim("A window of 1023 costs five stations over half.", goodput[5][1023] / goodput[5][31], below=0.5)
claim(
    "A window of 127 gives twenty stations the optimum within 3 %.", goodput[20][127] / best(20), above=0.97, below=1.03
)
claim("Five stations are better off with 31 than with 127.", goodput[5][31] / goodput[5][127], above=1)
claim("With twenty stations 802.11 is over 10 % below the optimum.", standard[20] / best(20), below=0.9)
claim(
    "The agent reaches 97 % of the optimum with seeds that training never drew.",
    pandas.Series(outcome.samples[outcome.LEARNED]) / best(20),
    above=0.97,
)

# %%
# The air itself
# --------------
# Twenty stations with a window of 127 from the start.

report(held(20, 127), warmup="1 s", duration="2 s")
