"""
Airtime fairness
================

**Question.** Two stations download at 144 Mbit/s, one at 7 Mbit/s, all over TCP and with A-MPDUs. Is a queue for each flow enough to keep
the slow one from slowing the others?

No. FQ-CoDel gives each flow its turn in *bytes*, and bytes to the slow station take twenty times as long. It ends the bufferbloat, and
leaves the anomaly. mac80211's scheduler gives turns in *microseconds*: each station has a deficit of airtime, and what it uses, down
and up, is taken from it [Høiland-Jørgensen 2017].
"""

# %%
# The scenario
# ------------
# The ready scenario ``anomaly-3-stations``, after the testbed of that paper, with its three queues at the access point.

import lasthop
from showing import bars, claim, per_seed, picture, report

scenario = lasthop.load("anomaly-3-stations").set("duration", "20 s")
QUEUES = {
    "FIFO": {"kind": "fifo", "limit": "1000 packets"},
    "FQ-CoDel": "fq_codel",
    "airtime-fair": "airtime_fq_codel",
}
variants = {name: scenario.set("name", name).set("bss.ap.queue", queue) for name, queue in QUEUES.items()}
variants["slow one weighs twice"] = variants["airtime-fair"].set("station.1.airtime_weight", 512)
results = {name: lasthop.run(variant, seeds=8) for name, variant in variants.items()}

# %%
# What is seen
# ------------

STATIONS = ("fast1", "fast2", "slow")


def share(result: lasthop.Result, station: str):
    """The airtime of a station, down and up, as a share of that of all, by seed."""
    return per_seed(result, f"links.*{station}*.airtime_fraction") / per_seed(result, "links.*.airtime_fraction")


air = {name: {station: share(result, station) for station in STATIONS} for name, result in results.items()}
goodput = {
    name: {station: per_seed(r, f"flows.{station}.down.goodput_bps") / 1e6 for station in STATIONS}
    for name, r in results.items()
}
rtt = {name: 1e3 * per_seed(result, "flows.fast1.down.rtt_p50_s") for name, result in results.items()}
total = {name: per_seed(result, "totals.goodput_bps") for name, result in results.items()}
picture(bars("Who has the air", "share of the airtime", air))

# %%
picture(bars("What TCP makes of it", "goodput (Mbit/s)", goodput), name="goodput")

# %%
# FIFO and FQ-CoDel give the slow station most of the air. The intervals of the FIFO are wide: three windows share one queue, and who
# loses in slow start is behind for long. FQ-CoDel takes the waiting away, from half a second to 25 ms, and nothing else.
#
# With turns by airtime each has a third. The slow station loses three fifths of its goodput by it, and the two fast ones win more than
# three times theirs. A weight moves shares where one wants them: with twice the weight of the others the slow one has two
# quarters, they have one each.

fair, flows, fifo = "airtime-fair", "FQ-CoDel", "FIFO"
claim("Under FQ-CoDel the slow station has over 70 % of the air.", air[flows]["slow"], above=0.7)
claim(
    "FQ-CoDel brings the round trip of a fast one below 15 % of the FIFO's.",
    rtt[flows] / rtt[fifo],
    below=0.15,
)
claim(
    "Turns by airtime give the slow one a third of the air, within 5 %.",
    air[fair]["slow"],
    above=0.95 / 3,
    below=1.05 / 3,
)
claim(
    "The goodput of all is over 2.5 times that of FQ-CoDel.",
    total[fair] / total[flows],
    above=2.5,
)
claim(
    "With twice the weight the slow one has half of the air, within 5 %.",
    air["slow one weighs twice"]["slow"],
    above=0.475,
    below=0.525,
)

# %%
# The air itself
# --------------
# FQ-CoDel above, airtime fairness below: A-MPDUs to ``slow`` are long in both, and rare in the second.

report(variants[flows], variants[fair])
