"""
Hidden nodes
============

**Question.** Two stations send to one access point. They do not hear each other. What does carrier sense still do for them?

Nothing. Each takes the medium to be idle while the other sends, and what overlaps at the access point is lost
[Tobagi, Kleinrock 1975]. An RTS is short, so that it is seldom met by another. The CTS that answers it comes from the access point, which both hear, and
its NAV keeps the other silent for the whole exchange.
"""

# %%
# The scenario
# ------------
# Two saturated uploads over 802.11a at 24 Mbit/s. ``channel.hidden`` names the pair that does not hear each other, whatever the geometry.

import lasthop
from showing import bars, claim, per_seed, picture, report

SCENARIO = """
duration = "20 s"
warmup = "2 s"

[bss]
standard = "802.11a"
rate_control = { kind = "fixed", rate = "24 Mbit/s" }

[[station]]
name = "left"

[[station]]
name = "right"

[[flow]]
station = "*"
direction = "up"
transport = "udp"
rate = "saturated"
"""

scenario = lasthop.Scenario(SCENARIO, "hidden-nodes.toml")
PAIRS = {"both hear each other": "[]", "hidden": '[["left", "right"]]'}
THRESHOLDS = {"without RTS": "off", "with RTS": "500 B"}
results = {
    (pair, rts): lasthop.run(scenario.set("channel.hidden", hidden).set("bss.rts_threshold", threshold), seeds=5)
    for pair, hidden in PAIRS.items()
    for rts, threshold in THRESHOLDS.items()
}

# %%
# What is seen
# ------------

goodput = {
    rts: {pair: per_seed(results[pair, rts], "totals.goodput_bps") / 1e6 for pair in PAIRS} for rts in THRESHOLDS
}
picture(bars("Goodput of both uploads", "goodput (Mbit/s)", goodput))

# %%
# Where both hear each other, RTS and CTS cost 8 %: they take time at a basic rate, and two stations seldom collide. Where they do not,
# nearly every second attempt is lost, and RTS brings most of it back. It brings not all of it: two RTS still meet, as often as two
# stations begin within the 44 µs that an RTS and the SIFS behind it last at 24 Mbit/s, and each loss doubles CW.
#
# A result tells the two apart. ``collision_probability`` counts what carrier sense should have prevented, ``interference_probability``
# what hidden nodes did.

plain, lost = results["hidden", "without RTS"], "nodes.left.interference_probability"
claim(
    "Two hidden stations lose over 35 % of their goodput.",
    goodput["without RTS"]["hidden"] / goodput["without RTS"]["both hear each other"],
    below=0.65,
)
claim("Over 40 % of the attempts are lost to the hidden one.", per_seed(plain, lost), above=0.4)
claim(
    "Under 2 % are lost to what carrier sense should prevent.",
    per_seed(plain, "nodes.left.collision_probability"),
    below=0.02,
)
claim(
    "RTS gives hidden stations over 35 % more.",
    goodput["with RTS"]["hidden"] / goodput["without RTS"]["hidden"],
    above=1.35,
)
claim(
    "It costs over 5 % where nobody is hidden.",
    goodput["with RTS"]["both hear each other"] / goodput["without RTS"]["both hear each other"],
    below=0.95,
)

# %%
# The air itself
# --------------
# The hidden pair without RTS and with it. On the left frames lie over one another; on the right only RTS do.

hidden = scenario.set("channel.hidden", PAIRS["hidden"])
report(hidden, hidden.set("bss.rts_threshold", "500 B"))
