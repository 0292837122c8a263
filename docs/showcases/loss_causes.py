"""
A rate control that sees why frames are lost
============================================

**Question.** A lost frame calls for a lower rate if noise took it, and for patience if another station did. The sender sees no difference. How
much goodput does that cost, near the access point and far from it?

AARF goes down after two failures in a row. A simulator knows the cause of each, so an agent may play AARF twice: as it is, and with failures for other
reasons than noise left out.
"""

# %%
# The scenario
# ------------
# The task ``rate-causes`` of ``python -m lasthop.gym``: a station of 802.11n uploads and walks from 3 m to 45 m in ten seconds, two others contend. In place of a learned
# policy ``lasthop.gym.baselines.Aarf`` decides after each attempt, at ``"attempt:walker->ap"``, by the knobs ``rate`` and ``rate.tries``.

import shutil
from pathlib import Path
from tempfile import mkdtemp

import lasthop
import pandas
from lasthop.gym.tasks import TASKS
from showing import claim, lines, per_seed, picture, report

# MCS 0 to 7 of one stream in Mbit/s [802.11-2020 Table 19-27].
RATES = "6.5 13 19.5 26 39 52 58.5 65"
SEEN = ["links.walker.ap.mpdu_loss_fraction", "links.walker.ap.frames_sent"]
task = TASKS["rate-causes"]()
scenario = task.scenario.set("duration", task.evaluation)

folder = Path(mkdtemp())
(folder / "aarf.py").write_text("from lasthop.gym.baselines import Aarf\n", encoding="utf-8")


def agent(seen: list[str]) -> lasthop.Scenario:
    """The scenario with AARF as an agent that sees these quantities."""
    policy = {"kind": "python", "file": str(folder / "aarf.py"), "class": "Aarf", "rates_mbps": RATES}
    control = ["rate:walker->ap", "rate.tries:walker->ap"]
    return scenario.set("agent", [{"policy": policy, "control": control, "observe": seen, "at": "attempt:walker->ap"}])


variants = {
    "AARF": agent(SEEN),
    "AARF that sees causes": agent([*SEEN, "nodes.walker.noise_probability"]),
    "Minstrel-HT": scenario,
}
results = {name: lasthop.run(of.set("name", name), seeds=12, interval_s=0.5) for name, of in variants.items()}
shutil.rmtree(folder)

# %%
# What is seen
# ------------


def between(result: lasthop.Result, from_s: float, to_s: float) -> pandas.Series:
    """The walker's goodput in Mbit/s from one moment to another, by seed."""
    rows = result.timeseries.query(f"metric == 'goodput_bps' and entity == 'walker.up' and {from_s} < time_s <= {to_s}")
    return rows.groupby("seed").value.mean() / 1e6


# 4.2 m of the walk in each second.
places = {second: 3 + 4.2 * second for second in range(1, 10)}
picture(
    lines(
        "An upload while its station walks away",
        "distance from the access point in m",
        "goodput in Mbit/s",
        {name: {at: between(of, s - 0.5, s + 0.5) for s, at in places.items()} for name, of in results.items()},
    )
)

near, far = ({name: between(of, *span) for name, of in results.items()} for span in ((0.5, 4), (7, 10)))
whole = {name: per_seed(of, "flows.walker.up.goodput_bps") for name, of in results.items()}
blind, seeing = "AARF", "AARF that sees causes"
claim("Over the walk the cause is worth half of its goodput to AARF.", whole[seeing] / whole[blind], above=1.5)
claim("Up to 20 m that is Minstrel-HT within a fifth.", near[seeing] / near["Minstrel-HT"], above=0.8, below=1.2)
claim("Beyond 30 m it is a third better.", far[seeing] / far["Minstrel-HT"], above=1.33)
claim("Over the walk it does not lose to Minstrel-HT.", whole[seeing] / whole["Minstrel-HT"], above=0.95)

# %%
# Minstrel-HT does not know the cause either, but its statistics choose the rate with the most throughput, and collisions lower all rates alike. Where frames are lost to
# both, it needs several attempts to notice that a rate has become too high; the agent needs two. The linear policy of the task decides each 50 ms from means over its last step,
# and gains nothing by the same knowledge: 8.70 Mbit/s (8.55 to 8.85) with it, 8.65 (8.52 to 8.77) without.

# %%
# The air itself
# --------------
# With Minstrel-HT, half-way.

report(scenario, warmup="4 s", duration="6 s")
