"""
Several BSSs
============

**Question.** Two flats, an access point in each, one download in each. They have 80 MHz of spectrum. Should both use all of it, or each
its half?

On one channel each defers to the other. Two access points that share 80 MHz have half of the time each, and collide now and then. With
40 MHz each they have all of the time at half of the rate. And halving the width halves the noise, so that a higher MCS holds. Far
enough apart the question goes away: signals that arrive below the CCA threshold stop nobody, and both use all of it at once.
"""

# %%
# The scenario
# ------------
# 802.11ax with Minstrel-HT, stations 5 m from their access points, log-distance path loss with an exponent of 3.5. The distance between
# the flats and the channels are varied.

import lasthop
from showing import claim, lines, per_seed, picture, report

SCENARIO = """
duration = "4 s"
warmup = "1 s"

[channel]
path_loss = { kind = "log_distance", exponent = 3.5 }
capture = { threshold = "10 dB" }

[[bss]]
name = "left"
standard = "802.11ax"
channel_width = "80 MHz"
channel = 36

[[bss]]
name = "right"
standard = "802.11ax"
channel_width = "80 MHz"
channel = 36

[[station]]
name = "a"
bss = "left"
position = ["0 m", "5 m"]

[[station]]
name = "b"
bss = "right"
position = ["15 m", "5 m"]

[[flow]]
station = "*"
direction = "down"
"""

scenario = lasthop.Scenario(SCENARIO, "several-bss.toml")
DISTANCES_M = (10, 20, 30, 40, 60)


def variant(distance_m: int, is_shared: bool) -> lasthop.Scenario:
    """Two flats at this distance; on the same 80 MHz, or each on 40 MHz of them."""
    apart = scenario.set("bss.1.ap.position", [f"{distance_m} m", "0 m"]).set(
        "station.1.position", [f"{distance_m} m", "5 m"]
    )
    if is_shared:
        return apart
    return apart.set("bss.0.channel_width", "40 MHz").set("bss.1.channel_width", "40 MHz").set("bss.1.channel", 44)


PLANS = {"both on 80 MHz": True, "40 MHz each": False}
results = {
    name: {m: lasthop.run(variant(m, is_shared), seeds=4) for m in DISTANCES_M} for name, is_shared in PLANS.items()
}

# %%
# What is seen
# ------------

goodput = {name: {m: per_seed(r, "totals.goodput_bps") / 1e6 for m, r in row.items()} for name, row in results.items()}
picture(
    lines(
        "Two downloads in two flats",
        "distance of the access points (m)",
        "goodput of both (Mbit/s)",
        goodput,
    )
)

# %%
# Up to 20 m both access points decode each other and take turns. The halves win there: 40 MHz are more than half of 80, as less noise
# comes in, and nobody has to wait for the other, or collides with it.
#
# From 30 m on the signals are too weak to stop anybody, and all of the spectrum is used twice. At 30 m that is not free. The two talk
# over each other, a part of the A-MPDUs is lost to the neighbour, and Minstrel-HT goes down to rates that bear it. At 60 m nothing is
# left of that.

whole, half = goodput.values()
middle, far = (results["both on 80 MHz"][m] for m in (30, 60))
RATE = "links.left.ap.a.mean_data_rate_bps"
lost = "nodes.left.ap.interference_probability"
claim("At 10 m halves give over 15 % more.", half[10] / whole[10], above=1.15)
claim("At 60 m the whole for both gives over 70 % more.", whole[60] / half[60], above=1.7)
claim("At 30 m it does already, by over 25 %.", whole[30] / half[30], above=1.25)
claim(
    "There over 4 % of the attempts are lost to the neighbour.",
    per_seed(middle, lost),
    above=0.04,
)
claim(
    "Rates are then over 15 % below those at 60 m.",
    per_seed(middle, RATE) / per_seed(far, RATE),
    below=0.85,
)

# %%
# The air itself
# --------------
# Two flats 10 m from each other on one channel, and 30 m from each other.

report(variant(10, True), variant(30, True), warmup="500 ms", duration="1 s")
