"""
The RTS threshold
=================

**Question.** All stations hear each other. Is RTS/CTS then a waste of time?

It depends on what a collision costs. Without RTS two whole frames are lost, with RTS two RTS of 20 B. Against that stand an RTS, a CTS
and two SIFS before every frame. The more stations contend and the longer frames last, the more the short collisions are worth
[Bianchi 2000]. So there is no right threshold in bytes: a frame of 1500 B lasts four times as long at 12 Mbit/s as at 54.
"""

# %%
# The scenario
# ------------
# Saturated uploads over 802.11a, the case of Bianchi's model, at two rates and with 2 to 50 stations.

import lasthop
from showing import claim, lines, per_seed, picture, report

SCENARIO = """
duration = "10 s"
warmup = "2 s"

[bss]
standard = "802.11a"
rate_control = { kind = "fixed", rate = "54 Mbit/s" }

[[station]]
count = 10

[[flow]]
station = "*"
direction = "up"
transport = "udp"
rate = "saturated"
"""

scenario = lasthop.Scenario(SCENARIO, "rts-threshold.toml")
RATES = ("54 Mbit/s", "12 Mbit/s")
STATIONS = (2, 5, 10, 20, 50)
THRESHOLDS = {"without RTS": "off", "with RTS": "500 B"}


def variant(rate: str, stations: int, rts: str) -> lasthop.Scenario:
    """Stations at this rate, with RTS or without."""
    fixed = scenario.set("bss.rate_control.rate", rate)
    return fixed.set("station.0.count", stations).set("bss.rts_threshold", THRESHOLDS[rts])


goodput = {
    f"{rate}, {rts}": {
        n: per_seed(lasthop.run(variant(rate, n, rts), seeds=5), "totals.goodput_bps") / 1e6 for n in STATIONS
    }
    for rate in RATES
    for rts in THRESHOLDS
}

# %%
# What is seen
# ------------

picture(lines("Goodput of all uploads", "stations", "goodput (Mbit/s)", goodput, log_x=True))

# %%
# At 54 Mbit/s the curves cross between 20 and 50 stations, at 12 Mbit/s between 2 and 5. RTS and CTS go at a basic rate of 24 and 12
# Mbit/s, and take 88 and 100 µs with their SIFS. A collision of data costs 250 µs at 54 Mbit/s and over 1 ms at 12.
#
# With RTS the goodput hardly depends on how many stations there are. That is the other use of it: nobody has to know.


def gain(rate: str, stations: int):
    """How many times the goodput RTS gives, by seed."""
    return goodput[f"{rate}, with RTS"][stations] / goodput[f"{rate}, without RTS"][stations]


claim("At 54 Mbit/s RTS costs two stations over 10 %.", gain("54 Mbit/s", 2), below=0.9)
claim("It costs ten stations something too.", gain("54 Mbit/s", 10), below=1)
claim("It gives fifty stations over 5 %.", gain("54 Mbit/s", 50), above=1.05)
claim("At 12 Mbit/s it gives five stations something already.", gain("12 Mbit/s", 5), above=1)
claim("There it gives fifty stations over 30 %.", gain("12 Mbit/s", 50), above=1.3)

# %%
# The air itself
# --------------
# Fifty stations at 12 Mbit/s, without RTS and with it.

report(variant("12 Mbit/s", 50, "without RTS"), variant("12 Mbit/s", 50, "with RTS"))
