"""
BBR at an access point
======================

**Question.** BBR paces at the rate that the path delivers, and wants no queue [Cardwell et al. 2017]. The last hop is 802.11, where
ACKs come in bunches, one A-MPDU at a time. Does BBR keep the queue short there, and how does it share with CUBIC?

BBR holds up to twice the product of rate and least RTT in flight, and some more for ACKs that come in bunches. So over 802.11 it does
build a queue, of more than one RTT, while a loss-based control fills whatever there is. Beside each other both rules meet in one
queue, and its length decides who wins.
"""

# %%
# The scenario
# ------------
# One laptop at 144 Mbit/s over 802.11n, a server 10 ms away, a ping, and a download with CUBIC, one with BBR, or both. Each runs over two
# FIFOs and over mac80211's airtime-fair queues.

import lasthop
from showing import bars, claim, per_seed, picture, report

SCENARIO = """
duration = "25 s"
warmup = "10 s"

[channel]
path_loss = "none"

[bss]
standard = "802.11n"
spatial_streams = 2
aggregation = { max_mpdus = 32, max_duration = "4 ms" }
rate_control = { kind = "fixed", mcs = 15 }

[[station]]
name = "laptop"

[wired]
delay = "10 ms"

[[flow]]
station = "laptop"
name = "ping"
traffic = "ping"
"""

DOWNLOAD = """
[[flow]]
station = "laptop"
name = "{0}"
direction = "down"
congestion_control = "{0}"
start_jitter = "100 ms"
"""

QUEUES = {
    "FIFO, 1000 packets": {"kind": "fifo", "limit": "1000 packets"},
    "FIFO, 100 packets": {"kind": "fifo", "limit": "100 packets"},
    "airtime-fair FQ-CoDel": "airtime_fq_codel",
}


def scenario(queue: str, *controls: str) -> lasthop.Scenario:
    """Downloads with these congestion controls behind this queue."""
    text = SCENARIO + "".join(DOWNLOAD.format(control) for control in controls)
    return lasthop.Scenario(text, "bbr.toml").set("bss.ap.queue", QUEUES[queue])


CONTROLS = ("cubic", "bbr")
LONG, SHORT, FAIR = QUEUES
alone = {
    control: {queue: lasthop.run(scenario(queue, control), seeds=5) for queue in (LONG, FAIR)} for control in CONTROLS
}
together = {queue: lasthop.run(scenario(queue, *CONTROLS), seeds=8) for queue in QUEUES}

# %%
# What is seen
# ------------

rtt = {
    c.upper(): {q: 1e3 * per_seed(r, f"flows.laptop.{c}.rtt_mean_s") for q, r in row.items()}
    for c, row in alone.items()
}
goodput = {
    c.upper(): {q: per_seed(r, f"flows.laptop.{c}.goodput_bps") / 1e6 for q, r in row.items()}
    for c, row in alone.items()
}
shared = {
    c.upper(): {q: per_seed(r, f"flows.laptop.{c}.goodput_bps") / 1e6 for q, r in together.items()} for c in CONTROLS
}
picture(bars("Alone: the round trip, of which the wire is 20 ms", "mean RTT (ms)", rtt))

# %%
picture(bars("Both at once", "goodput (Mbit/s)", shared), name="both")

# %%
# Alone, BBR's round trip over the long FIFO is half of CUBIC's. It is not the 20 ms of the wire: twice the product of rate
# and least RTT is 40 ms of data, and the allowance for bunches of ACKs comes on top. CoDel does not change it, as BBR does not slow down for
# single losses; CUBIC's round trip falls to under a half.
#
# Together over a long FIFO CUBIC fills the queue that BBR will not, and has most of the goodput; BBR takes some of it back in the
# minute that follows, as CUBIC alone answers drops. Over a short one CUBIC backs off at each
# drop, and BBR does not. Only queues of flows take the decision from them: each has a half.

claim(
    "Alone over the long FIFO, BBR's RTT is under 65 % of CUBIC's.",
    rtt["BBR"][LONG] / rtt["CUBIC"][LONG],
    below=0.65,
)
claim("It is over twice the 20 ms of the wire all the same.", rtt["BBR"][LONG], above=40)
claim(
    "BBR has over 95 % of CUBIC's goodput there.",
    goodput["BBR"][LONG] / goodput["CUBIC"][LONG],
    above=0.95,
)
share = shared["CUBIC"][LONG] / (shared["CUBIC"][LONG] + shared["BBR"][LONG])
claim(
    "Beside each other over the long FIFO, CUBIC has over 70 % in the first 25 s.",
    share,
    above=0.7,
)
claim(
    "BBR has over five times CUBIC's over the short one.",
    shared["BBR"][SHORT] / shared["CUBIC"][SHORT],
    above=5,
)
claim(
    "Over queues of flows they differ by less than 10 %.",
    shared["BBR"][FAIR] / shared["CUBIC"][FAIR],
    above=0.9,
    below=1.1,
)

# %%
# The air itself
# --------------
# Both downloads over the long FIFO, from their start. The curves of the windows show who fills the queue.

report(scenario(LONG, *CONTROLS))
