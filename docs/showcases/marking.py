"""
Marking: DCTCP and Prague over Wi-Fi
====================================

**Question.** DCTCP and Prague want a shallow queue that marks early, and slow down by the share of what was marked [RFC 8257;
draft-briscoe-iccrg-prague-congestion-control]. How shallow may it be over 802.11n and later?

In a data centre some tens of microseconds are enough. Here packets wait for the medium and for one another, to leave as one A-MPDU.
What looks like a standing queue is how aggregation works. A threshold that is shorter than some A-MPDUs marks all the time, the
window shrinks, A-MPDUs shrink with it, and the rate falls.
"""

# %%
# The scenario
# ------------
# One download over 802.11ac at 150 Mbit/s, a server 5 ms away, FQ-CoDel at the access point with ``ce_threshold``: what waited longer is
# marked. CUBIC with classic ECN has the same queue, and answers each mark as a loss.

import lasthop
from showing import claim, lines, per_seed, picture, report

SCENARIO = """
duration = "15 s"
warmup = "5 s"

[channel]
path_loss = "none"

[bss]
standard = "802.11ac"
channel_width = "40 MHz"
rate_control = { kind = "fixed", mcs = 7 }
ap = { queue = { kind = "fq_codel", ce_threshold = "5 ms" } }

[[station]]
name = "laptop"

[wired]
delay = "5 ms"

[tcp]
ecn = "on"

[[flow]]
station = "laptop"
direction = "down"
"""

scenario = lasthop.Scenario(SCENARIO, "marking.toml")
CONTROLS = {
    "CUBIC": {"congestion_control": "cubic"},
    "DCTCP": {"congestion_control": "dctcp"},
    "DCTCP, paced": {"congestion_control": "dctcp", "pacing": "on"},
    "Prague": {"congestion_control": "prague", "ecn": "accurate"},
}
THRESHOLDS_MS = (1, 2, 5, 10, 20)


def variant(name: str, threshold_ms: int) -> lasthop.Scenario:
    """A download with this congestion control above this threshold."""
    chosen = scenario.set("bss.ap.queue.ce_threshold", f"{threshold_ms} ms")
    for key, value in CONTROLS[name].items():
        chosen = chosen.set(f"tcp.{key}", value)
    return chosen


results = {name: {ms: lasthop.run(variant(name, ms), seeds=4) for ms in THRESHOLDS_MS} for name in CONTROLS}

# %%
# What is seen
# ------------

goodput = {
    name: {ms: per_seed(r, "totals.goodput_bps") / 1e6 for ms, r in row.items()} for name, row in results.items()
}
rtt = {
    name: {ms: 1e3 * per_seed(r, "flows.laptop.down.rtt_p50_s") for ms, r in row.items()}
    for name, row in results.items()
}
picture(lines("One marked download", "threshold (ms)", "goodput (Mbit/s)", goodput, log_x=True))

# %%
picture(
    lines(
        "Its round trip; the wire is 10 ms",
        "threshold (ms)",
        "median RTT (ms)",
        rtt,
        log_x=True,
    ),
    name="rtt",
)

# %%
# At 1 ms DCTCP has a sixth of what it could have, and CUBIC with ECN less. ACKs come in bunches, one A-MPDU at a time, so that data leave
# in bunches too, and the last packets of a bunch wait for the first: they are marked though nothing stands. Prague keeps three
# quarters. It paces, and pacing is all that it takes: DCTCP with a pacer has four times what it has without.
#
# From 10 ms on DCTCP and Prague have the rate of the link with a queue of some 10 ms. That is the price of aggregation, and no
# better marking takes it away. CUBIC still backs off at each mark, and would need 20 ms.

ceiling = goodput["DCTCP"][20]
claim(
    "At 1 ms DCTCP has under a fifth of the goodput that it has at 20 ms.",
    goodput["DCTCP"][1] / ceiling,
    below=0.2,
)
claim(
    "A pacer gives DCTCP over 3.5 times as much.",
    goodput["DCTCP, paced"][1] / goodput["DCTCP"][1],
    above=3.5,
)
claim("Prague has over 65 % of the goodput at 20 ms.", goodput["Prague"][1] / ceiling, above=0.65)
claim("At 10 ms DCTCP has over 95 %.", goodput["DCTCP"][10] / ceiling, above=0.95)
claim(
    "CUBIC that answers marks as losses has under 85 % there.",
    goodput["CUBIC"][10] / ceiling,
    below=0.85,
)
claim(
    "Prague's round trip at 5 ms is under 16 ms, of which the wire is 10.",
    rtt["Prague"][5],
    below=16,
)

# %%
# The air itself
# --------------
# DCTCP at 1 ms above, at 10 ms below. Above, bursts of a window come and go, with the air idle between them.

report(variant("DCTCP", 1), variant("DCTCP", 10))
