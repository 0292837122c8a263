"""
AARF under collisions
=====================

**Question.** Ten stations upload over 802.11b. All are near the access point, and no frame is ever lost to noise. At which rate do
they send?

AARF steps the rate down after two failures in a row [Lacage, Manshaei, Turletti 2004]. It does not know why a frame failed. With
many stations frames collide, so it lowers the rate although the signal is perfect. Slower frames are longer, and no safer from
collisions: the goodput falls, and nothing is won [khademi2011]. CARA asks before it steps down: an RTS that is answered says that
the channel is free of the other's frames, and a loss behind it was noise [Kim, Kim, Choi, Qiao 2006].
"""

# %%
# The scenario
# ------------
# The ready scenario ``khademi2011-uplink-11b``: NewReno uploads with the TCP of ns-2, 11 Mbit/s, all stations 10 m from the access point.
# The number of stations and the rate control are varied.

import lasthop
from showing import claim, lines, per_seed, picture, report

scenario = lasthop.load("khademi2011-uplink-11b").set("duration", "120 s").set("warmup", "40 s")
CONTROLS = {
    "11 Mbit/s fixed": {"kind": "fixed", "rate": "11 Mbit/s"},
    "AARF": "aarf",
    "CARA": "cara",
}
STATIONS = (1, 2, 5, 10)
results = {
    name: {
        count: lasthop.run(scenario.set("bss.rate_control", control).set("station.0.count", count), seeds=8)
        for count in STATIONS
    }
    for name, control in CONTROLS.items()
}

# %%
# What is seen
# ------------

goodput = {
    name: {n: per_seed(result, "totals.goodput_bps") / 1e6 for n, result in row.items()}
    for name, row in results.items()
}
rate = {
    name: {n: per_seed(result, "nodes.sta*.mean_data_rate_bps") / n / 1e6 for n, result in row.items()}
    for name, row in results.items()
}
picture(lines("Uploads over 802.11b, goodput of all", "stations", "goodput (Mbit/s)", goodput))

# %%
picture(
    lines("The rate that stations choose", "stations", "mean PHY rate (Mbit/s)", rate),
    name="rate",
)

# %%
# With one station all three are alike. With ten, every sixth attempt collides. AARF takes that for a bad channel. Its attempts
# are at 7 Mbit/s on the mean, and the goodput is halved, since slow frames take far more than half of the time. CARA pays for an RTS now and then, and stays at 11 Mbit/s.
#
# The result keeps why each attempt failed, which no real card could tell. Noise is not among the reasons.

ten = {name: row[10] for name, row in results.items()}
claim(
    "With one station AARF costs under 5 %.",
    goodput["AARF"][1] / goodput["11 Mbit/s fixed"][1],
    above=0.95,
)
claim(
    "With ten stations AARF costs over 40 %.",
    goodput["AARF"][10] / goodput["11 Mbit/s fixed"][10],
    below=0.6,
)
claim("Its mean rate is then below 8 Mbit/s.", rate["AARF"][10], below=8)
claim(
    "Over 15 % of the attempts collide at the fixed rate.",
    per_seed(ten["11 Mbit/s fixed"], "medium.collision_probability"),
    above=0.15,
)
claim(
    "CARA keeps over 90 % of the goodput of the fixed rate.",
    goodput["CARA"][10] / goodput["11 Mbit/s fixed"][10],
    above=0.9,
)
claim(
    "No attempt in a thousand is lost to noise.",
    per_seed(ten["AARF"], "nodes.sta*.noise_probability"),
    below=0.001,
)

# %%
# The air itself
# --------------
# Ten seconds after their start. A click on a PPDU that was lost says with whom it collided.

report(scenario.set("bss.rate_control", "aarf"), warmup="10 s", duration="12 s")
