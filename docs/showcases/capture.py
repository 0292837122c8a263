"""
Capture
=======

**Question.** Five stations stand 3 m from the access point, five others 20 m. All have something to send at all times. Does a
collision hurt them alike?

Not with capture. A receiver that is hit by two frames may still decode the stronger one, if it is strong enough against the other
[Lee et al. 2007]. With the usual path loss indoors a frame from 3 m arrives 25 dB above one from 20 m. So of a collision between near
and far the near frame survives, and only the far station doubles its CW.
"""

# %%
# The scenario
# ------------
# 802.11a at 6 Mbit/s, which arrives from everywhere when it is alone. Capture is off, or on with a threshold of 10 dB.

import lasthop
from showing import bars, claim, each, per_seed, picture, report

SCENARIO = """
duration = "20 s"
warmup = "2 s"

[channel]
path_loss = { kind = "log_distance", exponent = 3.0 }
error_model = "nist"

[bss]
standard = "802.11a"
rate_control = { kind = "fixed", rate = "6 Mbit/s" }

[[station]]
name = "near"
distance = "3 m"
count = 5

[[station]]
name = "far"
distance = "20 m"
count = 5

[[flow]]
station = "*"
direction = "up"
transport = "udp"
rate = "saturated"
"""

scenario = lasthop.Scenario(SCENARIO, "capture.toml")
CAPTURES = {"without capture": "off", "with capture": {"threshold": "10 dB"}}
results = {name: lasthop.run(scenario.set("channel.capture", capture), seeds=8) for name, capture in CAPTURES.items()}

# %%
# What is seen
# ------------

PLACES = ("near", "far")
goodput = {
    name: {place: per_seed(r, f"flows.{place}*.goodput_bps") / 1e6 for place in PLACES} for name, r in results.items()
}
lost = {
    name: {place: each(r, f"nodes.{place}*.collision_probability").mean(axis="columns") for place in PLACES}
    for name, r in results.items()
}
picture(bars("Goodput of five near and five far stations", "goodput (Mbit/s)", goodput))

# %%
picture(bars("Attempts that were lost to collisions", "probability", lost), name="collisions")

# %%
# Without capture the place does not matter. With it the near stations have over twice the goodput of the far ones, though all draw
# their backoff by the same rules. The sum grows, since what survives is not sent again.
#
# The bars of the second picture differ by less than those of the first. A near station still loses to the four beside it, as two
# signals of one strength leave nothing to decode. The rest is the CW: who loses more often waits longer each time.

on, off = goodput["with capture"], goodput["without capture"]
claim(
    "Without capture near and far differ by less than 15 %.",
    off["near"] / off["far"],
    above=0.85,
    below=1.15,
)
claim(
    "With capture the near stations have over twice the goodput of the far ones.",
    on["near"] / on["far"],
    above=2,
)
claim("The far ones lose over a quarter of what they had.", on["far"] / off["far"], below=0.75)
claim(
    "The sum of all grows by over 5 %.",
    (on["near"] + on["far"]) / (off["near"] + off["far"]),
    above=1.05,
)

# %%
# The air itself
# --------------
# Look for two frames that begin in one slot: with capture the near one is acknowledged.

report(*(scenario.set("channel.capture", capture) for capture in CAPTURES.values()))
