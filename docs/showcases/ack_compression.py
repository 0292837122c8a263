"""
ACK compression
===============

**Question.** TCP is clocked by its ACKs: each that comes lets go as much as has arrived. How does that clock tick when ACKs come over
802.11n?

ACKs that wait in a queue come out of it back to back, however far apart the data were that they acknowledge. [Zhang, Shenker, Clark 1991]
called that ACK compression, and saw it where ACKs wait behind data of the other direction. Over 802.11n it happens all the time.
Data reach the station in one A-MPDU, their ACKs leave in the next one, and the sender has all of them within microseconds. It
answers with a burst of the same length.
"""

# %%
# The scenario
# ------------
# One CUBIC download over 802.11n at 144 Mbit/s, FQ-CoDel at the access point, a server 10 ms away. First without aggregation and with a
# TXOP limit of 0, so that each frame needs a turn of its own; then with A-MPDUs; then with A-MPDUs and a sender that is paced. The segments of
# the server are recorded.

import lasthop
import numpy
import pandas
from showing import bars, claim, per_seed, picture, report

SCENARIO = """
duration = "8 s"
warmup = "3 s"

[channel]
path_loss = "none"

[bss]
standard = "802.11n"
spatial_streams = 2
rate_control = { kind = "fixed", mcs = 15 }
ap = { queue = "fq_codel" }

[[station]]
name = "laptop"

[wired]
delay = "10 ms"

[[flow]]
station = "laptop"
direction = "down"
"""

scenario = lasthop.Scenario(SCENARIO, "ack-compression.toml")
variants = {
    "single frames": scenario.set("bss.aggregation", "off").set("bss.edca", {"be": {"txop_limit": "0 us"}}),
    "A-MPDUs": scenario,
    "A-MPDUs, paced": scenario.set("tcp.pacing", "on"),
}
results = {
    name: lasthop.run(variant, seeds=5, record="segment", record_from_s=3.0, interval_s=None)
    for name, variant in variants.items()
}


def at_server(result: lasthop.Result, seed: int, is_sent: bool) -> numpy.ndarray:
    """When segments of the download leave the server, or its ACKs arrive there, in s."""
    rows = result.recording("segment", seed).to_pandas()
    chosen = rows[(rows.flow == "laptop.down") & (rows.host == "server") & (rows.sent == is_sent)]
    return chosen.t_ns.to_numpy() / 1e9


def back_to_back(result: lasthop.Result) -> pandas.Series:
    """The share of ACKs that come within 50 µs of the one before, by seed."""
    return pandas.Series({seed: (numpy.diff(at_server(result, seed, False)) < 50e-6).mean() for seed in result.seeds})


def burst(result: lasthop.Result) -> pandas.Series:
    """The mean number of segments in a burst: what leaves the server without a gap of 0.1 ms, by seed."""
    times = {seed: at_server(result, seed, True) for seed in result.seeds}
    return pandas.Series({seed: len(sent) / (1 + (numpy.diff(sent) > 0.1e-3).sum()) for seed, sent in times.items()})


# %%
# What is seen
# ------------

close = {name: 100 * back_to_back(result) for name, result in results.items()}
bursts = {name: burst(result) for name, result in results.items()}
picture(bars("ACKs that come within 50 µs of the one before", "share of ACKs (%)", {"ACKs": close}))

# %%
picture(
    bars("What the server then sends in one go", "segments in a burst", {"segments": bursts}),
    name="bursts",
)

# %%
# With single frames no two ACKs come within 50 µs: each has a turn at the medium of its own. With A-MPDUs nearly all do, and the server
# sends forty segments in one go where it sent two or three. The bursts lie in front of the access point then, which needs a queue for
# them.
#
# A paced sender has the same compressed ACKs, and spreads what they let go over the round trip. Its bursts are a quarter as long. That the
# access point puts them together again is no harm: its queue is where A-MPDUs are made.

queue = {name: per_seed(result, "nodes.ap.queue_max_packets") for name, result in results.items()}
claim(
    "Of single frames, under 1 % of the ACKs come back to back.",
    close["single frames"],
    below=1,
)
claim("With A-MPDUs over 90 % do.", close["A-MPDUs"], above=90)
claim(
    "Bursts are then over ten times as long.",
    bursts["A-MPDUs"] / bursts["single frames"],
    above=10,
)
claim(
    "A pacer makes them under a third of that, with the same ACKs.",
    bursts["A-MPDUs, paced"] / bursts["A-MPDUs"],
    below=1 / 3,
)
claim(
    "The longest queue of the access point falls.",
    queue["A-MPDUs, paced"] / queue["A-MPDUs"],
    below=1,
)

# %%
# The air itself
# --------------
# Follow one A-MPDU of data to the A-MPDU of ACKs that answers it, and in the sequence chart to the burst that the server sends.

report(variants["A-MPDUs"], duration="1500 ms")
