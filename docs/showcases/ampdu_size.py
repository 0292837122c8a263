"""
A-MPDU size against latency
===========================

**Question.** Aggregation makes 802.11 fast, since many frames share one preamble, one backoff and one BlockAck. How long should an
A-MPDU be?

As long as others can wait. While one station sends, all others are silent, and who has a single small packet waits for several such
A-MPDUs before its own turn comes. The overhead of a PPDU is fixed, so that each doubling of its length wins less goodput than the
one before, and costs the same share of latency.
"""

# %%
# The scenario
# ------------
# 802.11ac at 150 Mbit/s. Four stations upload without end, a fifth one pings a server every 200 ms. The TXOP limit is 0, so that a turn
# at the medium is one A-MPDU. The longest duration of a PPDU is varied.

import lasthop
from showing import claim, lines, per_seed, picture, report

SCENARIO = """
duration = "20 s"
warmup = "2 s"

[channel]
path_loss = "none"

[bss]
standard = "802.11ac"
channel_width = "40 MHz"
rate_control = { kind = "fixed", mcs = 7 }
edca = { be = { txop_limit = "0 us" } }

[[station]]
name = "up"
count = 4

[[station]]
name = "caller"

[[flow]]
station = "up*"
direction = "up"
transport = "udp"
rate = "saturated"

[[flow]]
station = "caller"
direction = "up"
traffic = "ping"
"""

scenario = lasthop.Scenario(SCENARIO, "ampdu-size.toml")
DURATIONS_MS = (0.25, 0.5, 1.0, 2.0, 4.0, 5.4)
variants = {ms: scenario.set("bss.aggregation", {"max_duration": f"{ms} ms"}) for ms in DURATIONS_MS}
results = {ms: lasthop.run(variant, seeds=8) for ms, variant in variants.items()}

# %%
# What is seen
# ------------

goodput = {ms: per_seed(result, "totals.goodput_bps") / 1e6 for ms, result in results.items()}
ping = {ms: 1e3 * per_seed(result, "flows.caller.up.rtt_p50_s") for ms, result in results.items()}
picture(
    lines(
        "Goodput of four uploads",
        "longest A-MPDU (ms)",
        "goodput (Mbit/s)",
        {"uploads": goodput},
        log_x=True,
    )
)

# %%
picture(
    lines(
        "Round trip of a ping beside them",
        "longest A-MPDU (ms)",
        "median RTT (ms)",
        {"ping": ping},
        log_x=True,
    ),
    name="ping",
)

# %%
# The first picture bends and the second does not. From 0.25 to 1 ms the goodput gains a half, from 1 ms to the longest that the
# standard allows a tenth. The ping pays for both alike. Linux therefore limits A-MPDUs to about 4 ms of air in some drivers, and mac80211
# lets a station have at most 12 ms of airtime below its queues (AQL).

claim(
    "From 0.25 to 1 ms the goodput grows by over 50 %.",
    goodput[1.0] / goodput[0.25],
    above=1.5,
)
claim("From 1 ms to 5.4 ms it grows by under 15 %.", goodput[5.4] / goodput[1.0], below=1.15)
claim("From 1 ms to 5.4 ms the median ping more than trebles.", ping[5.4] / ping[1.0], above=3)

# %%
# The air itself
# --------------
# A-MPDUs of a millisecond above those of 5.4 ms, on one time axis.

report(variants[1.0], variants[5.4])
