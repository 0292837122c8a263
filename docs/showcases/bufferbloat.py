"""
Bufferbloat and FQ-CoDel
========================

**Question.** A laptop downloads four files, and pings a server meanwhile. How long should the queue at the access point be?

A loss-based congestion control fills whatever queue it finds. Everybody who shares the queue waits for all of it, a ping too. A
short queue is no remedy over 802.11n: the access point needs some A-MPDUs of packets at once, or it sends short ones, and pays the
same preamble, backoff and BlockAck for less. CoDel looks at how long packets have waited instead of how many there are [RFC 8289],
and FQ-CoDel gives each flow a queue of its own [RFC 8290].
"""

# %%
# The scenario
# ------------
# Flent's ``tcp_ndown``, which is ready under the name ``tcp-ndown``: 802.11n with two streams at 144 Mbit/s, A-MPDUs of up to 32 frames,
# a server 10 ms away, CUBIC, and a ping every 200 ms. ``lasthop new tcp-ndown`` prints it. Four queues for the access point stand
# against each other.

import lasthop
from showing import bars, claim, per_seed, picture, report

scenario = lasthop.load("tcp-ndown").set("duration", "25 s")
QUEUES = {
    "FIFO, 1000 packets": {"kind": "fifo", "limit": "1000 packets"},
    "FIFO, 50 packets": {"kind": "fifo", "limit": "50 packets"},
    "CoDel": "codel",
    "FQ-CoDel": "fq_codel",
}
variants = {name: scenario.set("name", name).set("bss.ap.queue", queue) for name, queue in QUEUES.items()}
results = {name: lasthop.run(variant, seeds=8) for name, variant in variants.items()}

# %%
# What is seen
# ------------

picture(
    "latency_cdf",
    *results.values(),
    traffic="ping",
    title="Round trips of the ping",
    log_x=True,
)
goodput = {name: per_seed(result, "totals.goodput_down_bps") / 1e6 for name, result in results.items()}
ping = {name: 1e3 * per_seed(result, "flows.laptop.up.rtt_p50_s") for name, result in results.items()}
picture(
    bars("Goodput of the four downloads", "goodput (Mbit/s)", {"downloads": goodput}),
    name="goodput",
)

# %%
# The wired way there and back takes 20 ms. A thousand packets of 1500 B at the 100 Mbit/s that arrive are another 120 ms, and the ping
# sees nearly all of them. Fifty packets add 3 ms, and cost nearly half of the goodput, since two A-MPDUs of 32 frames do not fit.
#
# CoDel lets the queue grow for a burst and drops when it *stays* above 5 ms. It keeps the goodput, and the ping waits in what is left
# of the queue. Under FQ-CoDel the ping is a flow of its own, and sparse, so that it goes first: what it still waits for are the A-MPDUs
# that the radio already has.

claim(
    "A FIFO of 1000 packets makes the median ping over 100 ms, with 20 ms of wire.",
    ping["FIFO, 1000 packets"],
    above=100,
)
claim(
    "A FIFO of 50 packets costs over 40 % of the goodput.",
    goodput["FIFO, 50 packets"] / goodput["FIFO, 1000 packets"],
    below=0.6,
)
claim(
    "FQ-CoDel keeps over 95 % of the goodput.",
    goodput["FQ-CoDel"] / goodput["FIFO, 1000 packets"],
    above=0.95,
)
claim("Its median ping is under 30 ms.", ping["FQ-CoDel"], below=30)
claim(
    "Queues of flows save the ping over 5 ms against CoDel alone.",
    ping["CoDel"] - ping["FQ-CoDel"],
    above=5,
)

# %%
# The air itself
# --------------
# The first seconds under the long FIFO and under FQ-CoDel on one time axis; the curve of the queue is the one to look at.

report(*(variants[name].set("flow.0.start", "0 s") for name in ("FIFO, 1000 packets", "FQ-CoDel")))
