"""
What L4S brings behind an access point
======================================

**Question.** An L4S queue marks a packet that waited longer than a millisecond. Behind an access point packets leave in bursts: an A-MPDU
at a time, between the turns of other stations. How much delay and rate does a Prague download get there, and which of its marks say
that a queue stands?

Three queues are compared: FQ-CoDel that marks above ``ce_threshold``, the queues of mac80211 with a step for each station, and the same with
a dual queue for each station [RFC 9332].
"""

# %%
# The scenario
# ------------
# One Prague download over 802.11ax at 86 Mbit/s, a server 5 ms away. The longest A-MPDU and the step vary.

import lasthop
from showing import bars, claim, lines, per_seed, picture, report

SCENARIO = """
duration = "3 s"
warmup = "1 s"

[channel]
path_loss = "none"

[bss]
standard = "802.11ax"
rate_control = { kind = "fixed", mcs = 7 }
aggregation = { max_duration = "2 ms" }
ap = { queue = "airtime_fq_codel" }

[[station]]
name = "laptop"

[wired]
delay = "5 ms"

[[flow]]
station = "laptop"
direction = "down"
congestion_control = "prague"
ecn = "accurate"
"""

# The same beside a CUBIC download to a second station.
BESIDE = """
[[station]]
name = "phone"

[[flow]]
station = "phone"
direction = "down"
congestion_control = "cubic"
"""

alone = lasthop.Scenario(SCENARIO, "l4s.toml")
beside = lasthop.Scenario(SCENARIO + BESIDE, "l4s-beside.toml")
AMPDUS_MS = (0.5, 1, 2, 5.4)
STEPS_MS = (1, 2, 5)


def queue(kind: str, step_ms: float) -> dict[str, object]:
    """The access point's queue with this step."""
    step = f"{step_ms} ms"
    if kind == "FQ-CoDel":
        return {"kind": "fq_codel", "ce_threshold": step}
    return {"kind": "airtime_fq_codel", "l4s": {"kind": kind, "step": step}}


def variant(base: lasthop.Scenario, kind: str, step_ms: float, ampdu_ms: float) -> lasthop.Scenario:
    """A scenario with this queue and this longest A-MPDU."""
    shorter = base.set("bss.aggregation.max_duration", f"{ampdu_ms} ms")
    return shorter.set("bss.ap.queue", queue(kind, step_ms))


KINDS = ("FQ-CoDel", "step", "dual")
results = {
    (kind, step, ampdu): lasthop.run(variant(alone, kind, step, ampdu), seeds=3)
    for kind in KINDS
    for step in STEPS_MS
    for ampdu in AMPDUS_MS
}
unmarked = {
    ampdu: lasthop.run(alone.set("bss.aggregation.max_duration", f"{ampdu} ms"), seeds=3) for ampdu in AMPDUS_MS
}

# %%
# What is seen
# ------------
# The rate is a share of the rate without marks and with the same A-MPDUs. The delay is the round trip less the 10 ms of the wire.

share = {
    key: per_seed(result, "totals.goodput_bps") / per_seed(unmarked[key[2]], "totals.goodput_bps")
    for key, result in results.items()
}
delay_ms = {key: 1e3 * per_seed(result, "flows.laptop.down.rtt_p95_s") - 10 for key, result in results.items()}
of_step = {f"step, {step} ms": {ampdu: 100 * share["step", step, ampdu] for ampdu in AMPDUS_MS} for step in STEPS_MS}
picture(
    lines("A Prague download alone", "longest A-MPDU (ms)", "rate, of the rate without marks (%)", of_step, log_x=True)
)

# %%
of_kind = {kind: {step: delay_ms[kind, step, 2] for step in STEPS_MS} for kind in KINDS}
picture(
    lines("Its delay behind the wire, A-MPDUs of 2 ms", "step (ms)", "95th percentile (ms)", of_kind, log_x=True),
    name="delay",
)

# %%
# Alone, a step of 1 ms costs some 30 to 45 % of the rate. With 5 ms it is 7 % with A-MPDUs of 0.5 ms, and 10 to 20 % with longer ones. The three queues hardly differ: one flow has nothing to couple with, and no other flow to be kept apart from.
#
# The delay grows with the step, from some 5 to 7 ms at 1 ms: an A-MPDU, its answer and the ACKs take their time whatever the queue holds.

claim("Alone, a step of 1 ms leaves under 80 % of the rate with A-MPDUs of 2 ms.", share["step", 1, 2], below=0.8)
claim("A step of 5 ms leaves over 90 % with A-MPDUs of 0.5 ms.", share["step", 5, 0.5], above=0.9)
claim(
    "At 1 ms and A-MPDUs of 0.5 ms the 95th percentile behind the wire is under 7 ms.",
    delay_ms["step", 1, 0.5],
    below=7,
)
claim("At 5 ms it is over 8 ms.", delay_ms["step", 5, 0.5], above=8)
claim(
    "FQ-CoDel with ce_threshold is within 10 % of the step at 1 ms.",
    share["FQ-CoDel", 1, 2] / share["step", 1, 2],
    above=0.9,
    below=1.1,
)

# %%
# Beside another station
# ----------------------
# Now a second station downloads by CUBIC. A packet waits for the turn of the other station, which has the medium for up to 2.5 ms, the TXOP limit.

shared = {
    (kind, step): lasthop.run(variant(beside, kind, step, 2), seeds=4) for kind in ("step", "dual") for step in STEPS_MS
}
of_bursts = {
    key: per_seed(result, "queues.ap.queue_marks_of_bursts") / per_seed(result, "queues.ap.queue_marks_l4s")
    for key, result in shared.items()
}
ratio = {
    key: per_seed(result, "flows.laptop.down.goodput_bps") / per_seed(result, "flows.phone.down.goodput_bps")
    for key, result in shared.items()
}
bars_of = {kind: {f"{step} ms": 100 * of_bursts[kind, step] for step in STEPS_MS} for kind in ("step", "dual")}
picture(bars("Marks from bursts of service, beside CUBIC", "share of the L4S marks (%)", bars_of), name="bursts")

# %%
# At 1 and 2 ms every mark comes from a burst: the packet left with the first A-MPDU for its station after it came. No queue stood, yet Prague
# backs off, and CUBIC takes the rest. Prague has under a tenth of CUBIC's rate, and a dual queue does not help, since the marks are its own and
# not the coupled ones. At 5 ms, twice a turn, most marks are of a standing queue, and Prague has about four fifths.

for kind in ("step", "dual"):
    claim(f"With {kind} at 1 ms over 98 % of the marks are of bursts.", of_bursts[kind, 1], above=0.98)
    claim(f"There Prague has under a tenth of CUBIC's rate ({kind}).", ratio[kind, 1], below=0.1)
    claim(f"With {kind} at 5 ms under a half are.", of_bursts[kind, 5], below=0.5)
    claim(f"There it has over 65 % ({kind}).", ratio[kind, 5], above=0.65)

# %%
# The air itself
# --------------
# Beside CUBIC, 1 ms above and 5 ms below: in the first the laptop's A-MPDUs are short and far apart.

report(variant(beside, "step", 1, 2), variant(beside, "step", 5, 2))
