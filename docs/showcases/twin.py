"""
A twin of a network
===================

**Question.** There is a capture of a network in which a download makes everything slow. Would another queue at the access point help?
Nobody may touch the access point.

A twin is a scenario that behaves like the captured network: the same modes, losses, delays, queues and flows, as far as they can be
seen, and each line says how it was found. What would become of the network is then asked of the twin. Here the network is itself a
simulation, so that the answer can be checked: the change is made in the original too.
"""

# %%
# The scenario
# ------------
# A download over 802.11a behind a FIFO. The air is captured with radiotap headers, as a monitor interface has it, and the twin is fitted:
# simulated, captured and read as the original was, and corrected where it differs.

from pathlib import Path
from tempfile import TemporaryDirectory

import lasthop
from lasthop.foreign.twin import twin
from showing import bars, claim, per_seed, picture, report

ORIGINAL = """
duration = "12 s"
warmup = "2 s"

[bss]
standard = "802.11a"
rate_control = { kind = "fixed", rate = "54 Mbit/s" }
ap = { queue = { kind = "fifo", limit = "100 packets" } }

[[station]]
name = "sta"

[wired]
rate = "100 Mbit/s"
delay = "5 ms"

[tcp]
profile = "linux-6.12"

[[flow]]
station = "sta"
direction = "down"
"""

original = lasthop.Scenario(ORIGINAL, "original.toml")
with TemporaryDirectory() as folder:
    lasthop.run(original, seeds=[11], pcap=folder)
    found = twin(list(Path(folder).rglob("air.pcapng")), fit=True)
copy = lasthop.Scenario(found.text(), "twin.toml").set("warmup", "2 s").set("name", "twin")
print(found.text())

# %%
# What is seen
# ------------
# Original and twin, each as it is and with FQ-CoDel at its access point.

NETWORKS = {"original": original, "twin": copy}
QUEUES = {"as it is": None, "with FQ-CoDel": "fq_codel"}
results = {
    (name, queue): lasthop.run(network if kind is None else network.set("bss.ap.queue", kind), seeds=8)
    for name, network in NETWORKS.items()
    for queue, kind in QUEUES.items()
}
rtt = {
    name: {queue: 1e3 * per_seed(results[name, queue], "flows.sta.down.rtt_mean_s") for queue in QUEUES}
    for name in NETWORKS
}
goodput = {
    name: {queue: per_seed(results[name, queue], "totals.goodput_bps") / 1e6 for queue in QUEUES} for name in NETWORKS
}
picture(bars("Round trip of the download", "mean RTT (ms)", rtt))

# %%
picture(bars("Its goodput", "goodput (Mbit/s)", goodput), name="goodput")

# %%
# The twin finds the mode, the delay of the wire and the length of a queue that nobody sees, which it tells from how long packets were on
# their way. Lines that it cannot know say *assumed*: above all the server's congestion control. It takes half a percent of the losses
# for noise where the original has none, since a frame that was not answered does not say why.
#
# The answer is the same in both: the queue can go, and the goodput stays.

gain = {name: each["as it is"] - each["with FQ-CoDel"] for name, each in rtt.items()}
claim(
    "The twin has the goodput of the original, within 3 %.",
    goodput["twin"]["as it is"] / goodput["original"]["as it is"],
    above=0.97,
    below=1.03,
)
claim(
    "It has its round trip, within 5 %.",
    rtt["twin"]["as it is"] / rtt["original"]["as it is"],
    above=0.95,
    below=1.05,
)
claim("FQ-CoDel takes over 15 ms from the original's round trip.", gain["original"], above=15)
claim(
    "The twin foretells that, within 15 %.",
    gain["twin"] / gain["original"],
    above=0.85,
    below=1.15,
)

# %%
# The air itself
# --------------
# The original and its twin on one time axis.

report(original, copy)
