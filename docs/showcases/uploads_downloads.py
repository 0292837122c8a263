"""
Uploads against downloads
=========================

**Question.** Four stations upload, four others download. All are near and equal. What does each direction get?

DCF gives each station one share of the medium, and the access point is one of nine. It sends the data of all downloads and the ACKs of
all uploads through one queue. When that overflows, both lose, but not alike: a lost data segment halves a window, while a lost ACK
is replaced by the next one, since ACKs are cumulative. So uploads grow until the access point drops nearly nothing but their ACKs,
and downloads starve [Pilosof, Ramjee, Raz, Shavitt, Sinha 2003].
"""

# %%
# The scenario
# ------------
# 802.11g at 54 Mbit/s, CUBIC, a server 10 ms away, and a FIFO of 100 packets at the access point. Three remedies stand against it: the
# access point begins a slot earlier (PIFS), its queue keeps only the newest ACK of each connection (RFC 3449 calls it ACK filtering), or
# both.

import lasthop
from showing import bars, claim, per_seed, picture, report

SCENARIO = """
duration = "30 s"
warmup = "10 s"

[bss]
standard = "802.11g"
rate_control = { kind = "fixed", rate = "54 Mbit/s" }
ap = { queue = { kind = "fifo", limit = "100 packets" } }

[[station]]
name = "up"
count = 4

[[station]]
name = "down"
count = 4

[wired]
delay = "10 ms"

[[flow]]
station = "up*"
direction = "up"

[[flow]]
station = "down*"
direction = "down"
"""

scenario = lasthop.Scenario(SCENARIO, "uploads-downloads.toml")
filtered = scenario.set("bss.ap.queue.kind", "ack_filter")
variants = {
    "FIFO": scenario,
    "PIFS": scenario.set("bss.ap.access", "pifs"),
    "ACK filter": filtered,
    "both": filtered.set("bss.ap.access", "pifs"),
}
results = {name: lasthop.run(variant, seeds=8) for name, variant in variants.items()}

# %%
# What is seen
# ------------

WAYS = {"four uploads": "up", "four downloads": "down"}
goodput = {
    label: {name: per_seed(r, f"totals.goodput_{way}_bps") / 1e6 for name, r in results.items()}
    for label, way in WAYS.items()
}
picture(bars("Who gets what of one access point", "goodput (Mbit/s)", goodput))

# %%
# Behind the FIFO the downloads have a few tens of kbit/s between them. Nearly every second ACK of the uploads is dropped, and nobody
# slows down for it. A turn that comes a slot earlier gives the access point more of the air, and most of it goes to ACKs. The filter
# takes the ACKs out of the way instead: a newer one says what the older ones said. Then data have room, and the downloads live. Both
# together give them half of what uploads have.

fifo = results["FIFO"]
up, down = goodput["four uploads"], goodput["four downloads"]
of_acks = per_seed(fifo, "nodes.ap.queue_drops_tcp_ack") / per_seed(fifo, "nodes.ap.queue_drops")
claim(
    "Behind the FIFO downloads have under 1 % of what uploads have.",
    down["FIFO"] / up["FIFO"],
    below=0.01,
)
claim("Over 95 % of what it drops are ACKs.", of_acks, above=0.95)
claim(
    "PIFS alone leaves the downloads under a tenth of the uploads.",
    down["PIFS"] / up["PIFS"],
    below=0.1,
)
claim("The filter gives them over a fifth.", down["ACK filter"] / up["ACK filter"], above=0.2)
claim("Both give them over 40 %.", down["both"] / up["both"], above=0.4)
claim(
    "Nothing of that costs goodput in all.",
    (up["both"] + down["both"]) / (up["FIFO"] + down["FIFO"]),
    above=1,
)

# %%
# The air itself
# --------------
# The first seconds behind the FIFO: the queue fills, and a click on a frame of the access point shows ACKs.

report(variants["FIFO"])
