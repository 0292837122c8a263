"""
The performance anomaly
=======================

**Question.** Three stations download over one access point. Two are near, with 54 Mbit/s. One is far, with 6 Mbit/s. What does
the far one cost the others?

DCF gives each station the same number of turns at the medium, and not the same time. A frame at 6 Mbit/s takes 2.1 ms, one at
54 Mbit/s takes 0.3 ms. So the slow station has most of the air, and everybody has the goodput of the slow one
[Heusse 2003]. The remedy is to give turns by airtime, as mac80211 does [Høiland-Jørgensen 2017].
"""

# %%
# The scenario
# ------------
# 802.11a, so that nothing is aggregated. Each station is offered more than it can take, so that the access point always has a packet
# for it.

import lasthop
from showing import bars, claim, per_seed, picture, report

SCENARIO = """
duration = "20 s"
warmup = "5 s"

[bss]
standard = "802.11a"
rate_control = { kind = "fixed", rate = "54 Mbit/s" }

[[station]]
name = "fast"
count = 2

[[station]]
name = "slow"
rate_control = { kind = "fixed", rate = "6 Mbit/s" }

[[flow]]
station = "*"
direction = "down"
transport = "udp"
traffic = "poisson"
rate = "50 Mbit/s"
"""

STATIONS = ("fast1", "fast2", "slow")
scenario = lasthop.Scenario(SCENARIO, "anomaly.toml")
by_packets = scenario.set("name", "FIFO")
by_airtime = scenario.set("name", "airtime fairness").set("bss.ap.queue", "airtime_fq_codel")
fifo, airtime = (lasthop.run(each, seeds=5) for each in (by_packets, by_airtime))
alone = lasthop.run(scenario.set("flow.0.station", "fast1"), seeds=5)

# %%
# What is seen
# ------------


def goodput(result: lasthop.Result, station: str):
    """Mbit/s of a station's download, by seed."""
    return per_seed(result, f"flows.{station}.down.goodput_bps") / 1e6


def share(result: lasthop.Result, station: str):
    """The frames to a station and its ACKs, as a share of the airtime of all, by seed."""
    return per_seed(result, f"links.*{station}*.airtime_fraction") / per_seed(result, "links.*.airtime_fraction")


RESULTS = (fifo, airtime)
picture(
    bars(
        "Goodput of three downloads",
        "goodput (Mbit/s)",
        {r.name: {s: goodput(r, s) for s in STATIONS} for r in RESULTS},
    )
)

# %%
picture(
    bars(
        "Who has the air",
        "share of the airtime",
        {r.name: {s: share(r, s) for s in STATIONS} for r in RESULTS},
    ),
    name="air",
)

# %%
# Under the FIFO the three bars of goodput are equal, although two stations could take nine times what the third can. The picture of
# airtime says why: equal packets are unequal times. With turns by airtime each station has a third of the air, and nobody's rate is
# anybody else's business.
#
# Both can be worked out. A frame with 1472 B of payload, its SIFS and its ACK take 292 µs at 54 Mbit/s and 2132 µs at 6 Mbit/s. DIFS
# and a mean backoff add 101.5 µs. A round of one packet each lasts 3.02 ms, and gives each station 3.90 Mbit/s. Turns by airtime are
# 2132 / 292 = 7.3 fast frames for a slow one. A round of 7.3, 7.3 and 1 lasts 7.98 ms, and gives a fast station 10.8 Mbit/s. That is
# more than a third of the 30 Mbit/s that it has alone, since DIFS and backoff are nobody's airtime.

claim(
    "Under a FIFO a fast station gets what the slow one gets, within 3 %.",
    goodput(fifo, "fast1") / goodput(fifo, "slow"),
    above=0.97,
    below=1.03,
)
claim(
    "The slow station then has between 78 and 82 % of the air.",
    share(fifo, "slow"),
    above=0.78,
    below=0.82,
)
claim(
    "Turns by airtime give a fast station 10.8 Mbit/s, within 1 %.",
    goodput(airtime, "fast1"),
    above=0.99 * 10.77,
    below=1.01 * 10.77,
)
claim(
    "That is more than a third of what it has alone.",
    goodput(airtime, "fast1") / goodput(alone, "fast1"),
    above=1 / 3,
)

# %%
# The air itself
# --------------
# Both runs on one time axis. Zoom in until single frames are seen: a long one to ``slow`` stands where ten short ones would fit.

report(by_packets, by_airtime)
