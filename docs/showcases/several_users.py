"""
Several users in one PPDU
=========================

**Question.** An access point of 802.11ax can send to several stations in one PPDU, and ask several for their data. Do TCP ACKs get up
faster or slower? What do uploads and calls feel? When is OFDMA worth switching off?

An access point sends to thirty stations of an office: four downloads, two uploads, eight calls and sixteen readers of web pages. Without
OFDMA each PPDU is for one station, and each station contends with its answer.
"""

# %%
# The scenario
# ------------
# ``office-11ax`` comes with lasthop, and so does ``office-11ax-ofdma``, which has the keys of the last column.

import lasthop
from showing import bars, claim, per_seed, picture, report

OFF, DOWN, BOTH, HELD = "off", "down", "down and up", "and MU EDCA"
MU_EDCA = {"aifsn": 0, "timer": "106.496 ms"}
OFFICE = lasthop.load("office-11ax").set("duration", "5 s").set("warmup", "1 s")
SCENARIOS = {
    OFF: OFFICE,
    DOWN: OFFICE.set("bss.ap.multi_user", {"kind": "airtime", "uplink": False}),
    BOTH: OFFICE.set("bss.ap.multi_user", "airtime"),
    HELD: OFFICE.set("bss.ap.multi_user", "airtime").set("bss.mu_edca.be", MU_EDCA),
}
runs = {name: lasthop.run(scenario.set("name", name), seeds=6) for name, scenario in SCENARIOS.items()}


def mean(quantity: str, names: list[str]) -> dict:
    """The mean of a quantity over these flows or nodes, by seed, for each scenario."""
    return {
        which: sum(per_seed(result, f"{name}.{quantity}") for name in names) / len(names)
        for which, result in runs.items()
    }


# %%
# What is seen
# ------------
# Goodput first. Data that go to several at once arrive at the same instant, and all their receivers then contend with their TCP ACKs. With
# MU EDCA a station whose data was asked for once does not contend for a tenth of a second: it waits for the next trigger.

down = {
    which: value * 4 / 1e6 for which, value in mean("goodput_bps", [f"flows.bulk{n}.down" for n in range(1, 5)]).items()
}
up = {which: value * 2 / 1e6 for which, value in mean("goodput_bps", [f"flows.upload{n}.up" for n in (1, 2)]).items()}
picture(bars("Goodput in the office", "goodput (Mbit/s)", {"downloads": down, "uploads": up}))
claim(
    "With triggers and MU EDCA there is more than without OFDMA.", down[HELD] + up[HELD] - down[OFF] - up[OFF], above=10
)
claim("Several users down alone bring less than that.", down[DOWN] + up[DOWN] - down[HELD] - up[HELD], below=-20)
claim("Triggers without MU EDCA cost downloads.", down[BOTH] - down[OFF], below=0)

# %%
# TCP ACKs of the downloads, from a station to its server; the wire is 10 ms of it. Downlink alone has a long tail: ACKs collide. Where
# stations wait for a trigger, an ACK is slower in the middle, and there is no tail.

stations = [f"nodes.bulk{n}" for n in range(1, 5)]
median = {which: 1000 * value for which, value in mean("latency_up_p50_s", stations).items()}
tail = {which: 1000 * value for which, value in mean("latency_up_p95_s", stations).items()}
picture(bars("TCP ACKs on their way up", "delay (ms)", {"median": median, "95th percentile": tail}), name="acks")
claim("Triggers with MU EDCA make the median ACK slower by more than 2 ms.", median[HELD] - median[OFF], above=2)
claim("Its tail is less than 15 ms longer than its median.", tail[HELD] - median[HELD], below=15)
claim("Several users down alone make the tail over twice as long.", tail[DOWN] / tail[OFF], above=2)

# %%
# Calls. Down, a call's packet shares a PPDU with other small ones instead of waiting for a turn of its own. Up, it waits for a trigger.

calls = {
    way: {
        which: 1000 * value
        for which, value in mean("delay_p95_s", [f"flows.call{n}.{way}" for n in range(1, 9)]).items()
    }
    for way in ("up", "down")
}
picture(bars("Calls in the office", "95th percentile of the delay (ms)", calls), name="calls")
claim("Calls down are no slower with everything on.", calls["down"][HELD] - calls["down"][OFF], below=2)
claim("Calls up wait for triggers, and arrive within 35 ms.", calls["up"][HELD], below=35)
claim(
    "With several users down alone they are over three times as slow as without.",
    calls["up"][DOWN] / calls["up"][OFF],
    above=3,
)

# %%
# Why
# ---
# PPDUs of several users last as long as their longest user needs, and the others pad. ``lasthop compare office-11ax office-11ax-ofdma
# --explain`` shows the rest: collisions go, backoff goes, padding comes.

padding = {which: 100 * per_seed(runs[which], "nodes.ap.padding_fraction") for which in (DOWN, BOTH, HELD)}
collided = {which: 100 * per_seed(result, "medium.collision_probability") for which, result in runs.items()}
picture(bars("Padding in PPDUs of several users", "of their time (%)", {"padding": padding}), name="padding")
claim("A third or more of the time of such PPDUs is padding.", padding[HELD], above=33)
claim("Without OFDMA over a tenth of the attempts collide.", collided[OFF], above=10)
claim("Stations that wait for triggers hardly collide.", collided[HELD], below=2)

# %%
# The air itself
# --------------
# So: with clients that take part in MU EDCA, OFDMA pays for itself in an office. An access point that has several users only downlink, as
# many products do, is better off without.

report(SCENARIOS[HELD], warmup="1 s", duration="2 s")
