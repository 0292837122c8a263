"""
QUIC or TCP over a busy access point
====================================

**Question.** Somebody reads web pages and somebody else is on a call, while a third station downloads. What changes if the pages come over
QUIC?

A page over TCP opens six connections, each with a handshake and a window of ten segments, and each of them has one object at a time. Over
QUIC all objects come at once, over one connection with one window. Behind the queue of a busy access point every round trip that is saved
counts, and so does the number of windows. QUIC is ``quinn-proto`` here, a stack in use, with the CUBIC of this project.
"""

# %%
# The scenario
# ------------
# 802.11n with two streams at 78 Mbit/s, a server 15 ms away, CUBIC. A page has 41 objects and 0.8 MB; the reader takes a second for each.

import lasthop
from showing import bars, claim, per_seed, picture, report

SCENARIO = """
duration = "14 s"
warmup = "4 s"

[channel]
path_loss = "none"

[bss]
standard = "802.11n"
spatial_streams = 2
rate_control = { kind = "fixed", mcs = 12 }

[[station]]
name = "reader"

[[station]]
name = "caller"

[[station]]
name = "bulk"

[wired]
delay = "15 ms"

[[flow]]
station = "reader"
direction = "down"
traffic = { kind = "web", page = "fixed", main_size = "18 kB", objects = 40, object_size = "20 kB", think_time = "1 s" }

[[flow]]
station = "caller"
direction = "both"
traffic = "voip"
dscp = "EF"

[[flow]]
station = "bulk"
direction = "down"
"""

pages = lasthop.Scenario(SCENARIO, "quic-or-tcp.toml")
queues = {"FIFO": {"kind": "fifo", "limit": "300 packets"}, "FQ-CoDel": "fq_codel"}


def run(scenario):
    return lasthop.run(scenario, seeds=4, interval_s=None)


over = {
    name: {
        queue: run(pages.set("bss.ap.queue", discipline).set("flow.reader.transport", transport))
        for queue, discipline in queues.items()
    }
    for name, transport in {"TCP": "tcp", "QUIC": "quic"}.items()
}

# %%
# Then two downloads alone, one over each: behind FQ-CoDel, and with a receiver of QUIC that acknowledges every tenth packet.

FAIR = (
    SCENARIO[: SCENARIO.index("[[flow]]")].replace('"14 s"', '"9 s"')
    + """
[[flow]]
station = "reader"
direction = "down"
transport = "quic"

[[flow]]
station = "bulk"
direction = "down"
"""
)
downloads = lasthop.Scenario(FAIR, "quic-and-tcp.toml").set("bss.ap.queue", "fq_codel")
both = run(downloads)
rare = run(downloads.set("flow.reader.ack_every", 10))

# %%
# What is seen
# ------------

load = {
    name: {queue: per_seed(result, "flows.reader.down.page_load_time_mean_s") for queue, result in of.items()}
    for name, of in over.items()
}
mos = {name: per_seed(of["FIFO"], "flows.caller.down.mos") for name, of in over.items()}
picture(bars("From the start of a page to its last byte", "page load time (s)", load))

# %%
acks = {
    "TCP": per_seed(both, "links.bulk.ap.airtime_fraction"),
    "QUIC": per_seed(both, "links.reader.ap.airtime_fraction"),
    "QUIC, every tenth": per_seed(rare, "links.reader.ap.airtime_fraction"),
}
picture(
    bars("Two downloads", "airtime of the acknowledgements (%)", {"uplink": {k: 100 * v for k, v in acks.items()}}),
    name="acks",
)

# %%
# Behind the FIFO a round trip takes long, and a page over QUIC needs fewer of them. Behind FQ-CoDel it does not: six connections of TCP are
# six of its queues, and QUIC's one has one turn for their six. The call has an access category of its own, and neither disturbs it.
#
# One download over each shares the rate in equal parts where the queue is fair. The acknowledgements of QUIC are as large as TCP's with accurate ECN, and no
# access point can filter them; a receiver that sends fewer saves more airtime than that.

claim(
    "Behind the FIFO a page over QUIC takes less time than over TCP.",
    load["QUIC"]["FIFO"] / load["TCP"]["FIFO"],
    below=1,
)
claim("Behind FQ-CoDel it takes longer than over TCP.", load["QUIC"]["FQ-CoDel"] / load["TCP"]["FQ-CoDel"], above=1)
claim("The call's MOS is the same within 0.01.", mos["QUIC"] - mos["TCP"], above=-0.01, below=0.01)
quic, tcp = (per_seed(both, f"flows.{name}.down.goodput_bps") for name in ("reader", "bulk"))
claim("FQ-CoDel gives QUIC between 47 and 53 % of what two downloads get.", quic / (quic + tcp), above=0.47, below=0.53)
claim(
    "The acknowledgements of QUIC take as much airtime a byte as TCP's, within 3 %.",
    acks["QUIC"] / quic / (acks["TCP"] / tcp),
    above=0.97,
    below=1.03,
)
claim(
    "With one for every tenth packet they take less than TCP's.",
    acks["QUIC, every tenth"] / per_seed(rare, "links.bulk.ap.airtime_fraction"),
    below=1,
)

# %%
# The air itself
# --------------
# The first page over QUIC behind the FIFO.

report(pages.set("bss.ap.queue", queues["FIFO"]).set("flow.reader.transport", "quic"), warmup="3 s", duration="4 s")
