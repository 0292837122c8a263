"""
Voice under EDCA
================

**Question.** Four calls share an access point with eight uploads. What do they sound like, and does marking them help?

A call is a packet of 200 B every 20 ms each way. In best effort each such packet contends with A-MPDUs of the uploads, and waits in
line behind the ACKs that the access point has for them. Code point EF puts it into AC_VO [RFC 8325]: a shorter AIFS, a CW from 3 to 7
slots, and a queue of its own. The E-model turns delay and loss into a MOS between 1 and 4.4 [G.107].
"""

# %%
# The scenario
# ------------
# 802.11n with two streams at 78 Mbit/s, CUBIC uploads, calls with G.711 both ways.

import lasthop
from showing import bars, claim, each, per_seed, picture, report

SCENARIO = """
duration = "20 s"
warmup = "5 s"

[channel]
path_loss = "none"

[bss]
standard = "802.11n"
spatial_streams = 2
rate_control = { kind = "fixed", mcs = 12 }

[[station]]
name = "bulk"
count = 8

[[station]]
name = "call"
count = 4

[wired]
delay = "10 ms"

[[flow]]
station = "bulk*"
direction = "up"

[[flow]]
station = "call*"
direction = "both"
traffic = "voip"
dscp = "CS0"
"""

scenario = lasthop.Scenario(SCENARIO, "edca-voice.toml")
variants = {
    name: scenario.set("flow.1.dscp", dscp).set("name", name)
    for name, dscp in (("best effort", "CS0"), ("voice", "EF"))
}
results = {name: lasthop.run(variant, seeds=8) for name, variant in variants.items()}

# %%
# What is seen
# ------------


def of_calls(metric: str, direction: str) -> dict:
    """The mean over four calls, by seed, for each way of marking."""
    return {
        name: each(result, f"flows.call*.{direction}.{metric}").mean(axis="columns") for name, result in results.items()
    }


WAYS = {"to the server": "up", "to the station": "down"}
mos = {name: {way: of_calls("mos", direction)[name] for way, direction in WAYS.items()} for name in results}
picture(bars("How calls sound", "MOS", mos))

# %%
picture(
    "latency_cdf",
    *results.values(),
    traffic="voip",
    title="Delay of voice packets",
    log_x=True,
    name="delay",
)

# %%
# In best effort a caller is hardly understood. The upload side is the worse one: a station must win the medium against eight others for
# each packet, with a CW that grows to 1023 slots when it collides. As voice the same calls are near the best that G.711 can have.
#
# The price is small but not nothing. Four calls with a CW of 3 slots collide more, with each other and with what they go before.

up = of_calls("delay_p95_s", "up")
loads = {name: per_seed(result, "totals.goodput_up_bps") for name, result in results.items()}
collisions = {name: per_seed(result, "medium.collision_probability") for name, result in results.items()}
claim(
    "In best effort the MOS to the server is below 3.1, under which G.107 has nearly all users dissatisfied.",
    mos["best effort"]["to the server"],
    below=3.1,
)
claim(
    "As voice it is above 4.3 both ways.",
    (mos["voice"]["to the server"] + mos["voice"]["to the station"]) / 2,
    above=4.3,
)
claim(
    "The 95th percentile of the delay to the server falls below a fifth.",
    up["voice"] / up["best effort"],
    below=0.2,
)
claim(
    "The uploads pay over 5 % of their goodput.",
    loads["voice"] / loads["best effort"],
    below=0.95,
)
claim("Collisions rise.", collisions["voice"] - collisions["best effort"], above=0)

# %%
# The air itself
# --------------
# Calls in best effort and as voice; the backoffs beside each PPDU show the two categories.

report(*variants.values())
