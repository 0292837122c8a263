"""
Web pages beside downloads
==========================

**Question.** Somebody reads web pages while two others in the house download. How long does a page take?

A page is 70 objects over a handful of connections. Each starts with a handshake and a window of ten segments, and each round trip of it
costs whatever the queue at the access point holds. So a page does not need much rate, but it needs short round trips.
"""

# %%
# The scenario
# ------------
# 802.11n with two streams at 78 Mbit/s, a server 15 ms away, CUBIC. The pages have the median size of [Almanac 2024], 2.7 MB. The reader
# takes two seconds for each.

import lasthop
from showing import bars, claim, per_seed, picture, report

SCENARIO = """
duration = "45 s"
warmup = "5 s"

[channel]
path_loss = "none"

[bss]
standard = "802.11n"
spatial_streams = 2
rate_control = { kind = "fixed", mcs = 12 }

[[station]]
name = "reader"

[[station]]
name = "bulk"
count = 2

[wired]
delay = "15 ms"

[[flow]]
station = "reader"
direction = "down"
traffic = { kind = "web", page = "fixed", main_size = "18 kB", objects = 70, object_size = "38 kB", think_time = "2 s" }

[[flow]]
station = "bulk*"
direction = "down"
"""

scenario = lasthop.Scenario(SCENARIO, "web-pages.toml")
variants = {
    "alone": scenario.set("flow.1.start", "44 s"),
    "FIFO": scenario.set("bss.ap.queue", {"kind": "fifo", "limit": "1000 packets"}),
    "CoDel": scenario.set("bss.ap.queue", "codel"),
    "FQ-CoDel": scenario.set("bss.ap.queue", "fq_codel"),
    "airtime-fair": scenario.set("bss.ap.queue", "airtime_fq_codel"),
}
results = {name: lasthop.run(variant, seeds=6) for name, variant in variants.items()}

# %%
# What is seen
# ------------

load = {name: per_seed(result, "flows.reader.down.page_load_time_mean_s") for name, result in results.items()}
bulk = {name: per_seed(result, "flows.bulk*.goodput_bps") / 1e6 for name, result in results.items()}
picture(bars("From the first SYN of a page to its last byte", "page load time (s)", {"pages": load}))

# %%
picture(
    bars(
        "The two downloads meanwhile",
        "goodput (Mbit/s)",
        {"downloads": {k: v for k, v in bulk.items() if k != "alone"}},
    ),
    name="bulk",
)

# %%
# Behind the FIFO each round trip takes a quarter of a second, and a page six times what it takes alone. Any CoDel ends that.
#
# Queues of flows are not the best of the three here, which may surprise. They are for sparse flows, and a page is not sparse: its
# connections have queues of their own that stand, while the two other stations have their turns. Behind one CoDel the downloads feel the
# page's bursts as well, and give way. They pay for it.

rtt = {name: 1e3 * per_seed(result, "flows.reader.down.rtt_p50_s") for name, result in results.items()}
claim(
    "Behind the FIFO a page takes over five times what it takes alone.",
    load["FIFO"] / load["alone"],
    above=5,
)
claim("FQ-CoDel brings it below 40 % of that.", load["FQ-CoDel"] / load["FIFO"], below=0.4)
claim(
    "One queue with CoDel is faster still, by over 20 %.",
    load["CoDel"] / load["FQ-CoDel"],
    below=0.8,
)
claim("The reader's round trips are shorter there, too.", rtt["CoDel"] - rtt["FQ-CoDel"], below=0)
claim(
    "The downloads lose over 5 % to it against FQ-CoDel.",
    bulk["CoDel"] / bulk["FQ-CoDel"],
    below=0.95,
)

# %%
# The air itself
# --------------
# The first pages behind the FIFO.

report(variants["FIFO"], warmup="3 s", duration="4 s")
