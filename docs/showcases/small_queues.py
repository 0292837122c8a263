"""
Small queues
============

**Question.** A laptop uploads over four connections. How much of that should wait below TCP, in the laptop's own Wi-Fi?

With an old driver all that the windows allow: the queue above the radio has a thousand packets, TCP fills it, and the laptop's own pings
wait behind. Linux has two remedies. TCP small queues lets each connection have about 8 ms of its data below TCP when the device is a
Wi-Fi one. Back-pressure goes further: mac80211 asks for packets when it can send, and until then they stay in the socket, where
they are not yet in anybody's way.
"""

# %%
# The scenario
# ------------
# Flent's ``tcp_nup``, ready as ``tcp-nup``: four CUBIC uploads and a ping from one laptop at 144 Mbit/s. Nothing is changed but the
# laptop's own queue.

import lasthop
from showing import bars, claim, per_seed, picture, report

scenario = lasthop.load("tcp-nup").set("duration", "25 s")
variants = {
    "all that windows allow": scenario.set("tcp.small_queue", "off"),
    "TCP small queues": scenario.set("tcp.small_queue", "on"),
    "back-pressure": scenario.set("tcp.small_queue", "on").set("station.0.queue", "backpressure"),
}
variants = {name: variant.set("name", name) for name, variant in variants.items()}
results = {name: lasthop.run(variant, seeds=8) for name, variant in variants.items()}

# %%
# What is seen
# ------------

goodput = {name: per_seed(result, "totals.goodput_up_bps") / 1e6 for name, result in results.items()}
ping = {name: 1e3 * per_seed(result, "flows.laptop.up.5.rtt_p50_s") for name, result in results.items()}
picture(
    "latency_cdf",
    *results.values(),
    traffic="ping",
    title="Round trips of the laptop's own ping",
    log_x=True,
)

# %%
picture(
    bars("Goodput of the four uploads", "goodput (Mbit/s)", {"uploads": goodput}),
    name="goodput",
)

# %%
# The uploads are as fast: the radio always has the next A-MPDU. The ping took 120 ms, 20 of them on the wire. Small queues
# leave a quarter of the waiting: each connection still has some 8 ms of data at its own rate in the queue, and what the radio holds comes
# on top. With back-pressure only that is left.

old, small, asked = variants
claim("Without a bound the median ping is over 100 ms, with 20 ms of wire.", ping[old], above=100)
claim("Small queues bring it below 50 ms.", ping[small], below=50)
claim("Back-pressure brings it below 30 ms.", ping[asked], below=30)
claim("The goodput stays, within 2 %.", goodput[asked] / goodput[old], above=0.98, below=1.02)

# %%
# The air itself
# --------------
# The first seconds without a bound and with back-pressure. Look at the queue of ``laptop``.

report(*(variants[name].set("flow.0.start", "0 s") for name in (old, asked)))
