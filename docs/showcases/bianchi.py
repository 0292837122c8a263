"""
Bianchi's model
===============

**Question.** How does the goodput of a cell depend on how many stations contend?

[Bianchi 2000] answers with two equations: each of n stations, which always has something to send, begins in a slot with probability
tau, which follows from the probability p that it collides, and p = 1 - (1 - tau)^(n-1). He lets a counter go on counting over what
others send as if it had been one slot. A real DCF freezes it, and waits EIFS behind what it could not decode, so that who has just sent
is ahead of others. What does the difference come to?
"""

# %%
# The scenario
# ------------
# The ready scenario ``saturation-11a``: saturated uploads of 1500 B at 54 Mbit/s, nothing lost but by collision.
# ``lasthop theory`` prints the closed form of a scenario; from Python its numbers are computed here in a few lines.

import lasthop
import pandas
from showing import claim, lines, per_seed, picture, report

base = lasthop.load("saturation-11a").set("duration", "8 s")
STATIONS = (2, 5, 10, 20, 50)
VARIANTS = {
    "as Bianchi has it": base.set("bss.countdown", "bianchi")
    .set("bss.eifs", False)
    .set("bss.retry_limit", "unlimited"),
    "as the standard has it": base,
}
results = {
    name: {n: lasthop.run(variant.set("station.0.count", n), seeds=5) for n in STATIONS}
    for name, variant in VARIANTS.items()
}


def closed_form(stations: int, cw_min: int = 16, stages: int = 6) -> tuple[float, float]:
    """Goodput in Mbit/s and p of [Bianchi 2000 eqs. 7, 9, 13]; times of 802.11a in µs."""
    slot, sifs, difs, data, ack = 9.0, 16.0, 34.0, 248.0, 28.0
    low, high = 0.0, 1.0
    for _ in range(60):
        p = (low + high) / 2
        tau = 2 / (1 + cw_min + p * cw_min * sum((2 * p) ** stage for stage in range(stages)))
        low, high = (p, high) if 1 - (1 - tau) ** (stations - 1) > p else (low, p)
    idle = (1 - tau) ** stations
    success = stations * tau * (1 - tau) ** (stations - 1)
    exchange = data + sifs + ack + difs
    mean_slot = idle * slot + success * exchange + (1 - idle - success) * (data + difs)
    return success * 1472 * 8 / mean_slot, p


# %%
# What is seen
# ------------

goodput = {name: {n: per_seed(r, "totals.goodput_bps") / 1e6 for n, r in row.items()} for name, row in results.items()}
collisions = {
    name: {n: per_seed(r, "medium.collision_probability") for n, r in row.items()} for name, row in results.items()
}
model = {n: closed_form(n) for n in STATIONS}
exact = {n: pandas.Series([model[n][0]] * 2) for n in STATIONS}
picture(
    lines(
        "Saturated uploads over 802.11a",
        "stations",
        "goodput (Mbit/s)",
        {**goodput, "closed form": exact},
        log_x=True,
    )
)

# %%
picture(
    lines(
        "Attempts that collide",
        "stations",
        "collision probability",
        {
            **collisions,
            "closed form": {n: pandas.Series([p] * 2) for n, (_, p) in model.items()},
        },
        log_x=True,
    ),
    name="collisions",
)

# %%
# With Bianchi's assumptions the simulation lies on the closed form, from two stations to fifty. As the standard has it, goodput is a few
# percent lower: behind each collision all that heard it wait EIFS, 94 µs instead of 34. Collisions are a little fewer. A station
# that defers has a counter of at least one, so that the first slot behind a success belongs to the one that has just sent
# [Bianchi, Tinnirello 2005].

assumed, standard = goodput.values()
for n in STATIONS:
    claim(
        f"With Bianchi's assumptions {n} stations have the goodput of the closed form, within 1.5 %.",
        assumed[n] / model[n][0],
        above=0.985,
        below=1.015,
    )
for n in STATIONS:
    claim(
        f"They collide as it says, within 0.02 of a probability, with {n} stations.",
        collisions["as Bianchi has it"][n] - model[n][1],
        above=-0.02,
        below=0.02,
    )
claim(
    "As the standard has it ten stations have over 3 % less.",
    standard[10] / assumed[10],
    below=0.97,
)

# %%
# The air itself
# --------------
# Ten stations as the standard has it, with their backoffs.

report(base)
