"""
Congestion control that sees lost ACKs
======================================

**Question.** An access point drops the ACKs of uploads, and nobody slows down for it. What if the sender took a lost ACK for what it
is, a sign of congestion?

TCP reacts to data that are lost. ACKs are cumulative, so that a sender does not even notice when most of them are gone, and uploads fill
the access point's queue with ACKs until downloads starve. [hashimoto2008] has the sender count the ACKs that are missing, and
halve its window when more than a threshold of them are. Only the sender changes.
"""

# %%
# The scenario
# ------------
# The ready scenario ``hashimoto2008-updown-11a``: eight uploads and eight downloads over 802.11a at 54 Mbit/s, 100 ms of wire, NewReno, and
# a FIFO of 100 packets at the access point.

import lasthop
from showing import bars, claim, per_seed, picture, report

scenario = lasthop.load("hashimoto2008-updown-11a").set("duration", "80 s").set("warmup", "30 s")
variants = {
    "NewReno": scenario.set("name", "NewReno"),
    "reaction to lost ACKs": scenario.set("name", "reaction to lost ACKs").set("tcp.ack_loss", {"threshold": 1}),
}
results = {name: lasthop.run(variant, seeds=8) for name, variant in variants.items()}
plain, reacting = results.values()

# %%
# What is seen
# ------------

WAYS = {"eight uploads": "up", "eight downloads": "down"}
goodput = {
    name: {label: per_seed(r, f"totals.goodput_{way}_bps") / 1e6 for label, way in WAYS.items()}
    for name, r in results.items()
}
picture(bars("Goodput by direction", "goodput (Mbit/s)", goodput))

# %%
picture(
    "queue",
    *results.values(),
    node="ap",
    title="Queue of the access point, seed 1",
    name="queue",
)

# %%
# With NewReno the queue is full from the start to the end, and three of four packets that come to it are dropped. They are ACKs. The
# uploads' windows grow all the same, to some hundred segments each, while the downloads do not deliver 10 kbit/s together.
#
# With the reaction the queue breathes. Uploads back off when their ACKs are lost, and downloads find room. The sum is lower, by a
# sixth: ACKs that are dropped before the air take none of it, and now nearly all are sent. The paper has all totals within a tenth of
# one another, which does not hold here, nor in ns-2.35.

drops = {name: per_seed(result, "nodes.ap.queue_drops_tcp_ack") for name, result in results.items()}
down = "eight downloads"
claim(
    "With NewReno eight downloads have under 0.1 Mbit/s together.",
    goodput["NewReno"][down],
    below=0.1,
)
claim(
    "With the reaction they have over 5 Mbit/s.",
    goodput["reaction to lost ACKs"][down],
    above=5,
)
claim(
    "The access point drops under 5 % of the ACKs that it dropped.",
    drops["reaction to lost ACKs"] / drops["NewReno"],
    below=0.05,
)
claim(
    "Jain's index over all sixteen flows rises by over 0.4.",
    per_seed(reacting, "totals.jain_index") - per_seed(plain, "totals.jain_index"),
    above=0.4,
)
claim(
    "It costs over 10 % of the goodput in all.",
    per_seed(reacting, "totals.goodput_bps") / per_seed(plain, "totals.goodput_bps"),
    below=0.9,
)

# %%
# The air itself
# --------------
# Both from their start. The curves of the uploads' windows part when the queue fills for the first time.

report(*variants.values())
