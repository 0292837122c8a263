"""
A link that remembers
=====================

**Question.** Somebody passes between a laptop and its access point, a door moves, and the signal fades for a while. What do a rate control,
two congestion controls and a call experience on such a link? Does it matter how long a fade lasts?

Many simulators have block fading: the gain of a link is drawn anew every 50 ms, say, and each draw knows nothing of the last. Real links have
memory. A fade of 10 dB lasts for 22 ms where everything moves with a Doppler shift of 6 Hz, and for 130 ms at 1 Hz, as in a quiet room
[Clarke 1968; TGn 2004]. The mean power and the share of time in a fade are equal in all three.
"""

# %%
# The scenario
# ------------
# A laptop 20 m from its access point, 802.11n with Minstrel-HT, some 25 dB above the noise on average. It has a call and a download. The
# same link with UDP that always has something to send shows the rate control alone, beside an oracle that knows each signal.

import lasthop
from showing import bars, claim, per_seed, picture, report

SCENARIO = """
duration = "12 s"
warmup = "2 s"

[bss]
standard = "802.11n"

[bss.ap]
queue = "fq_codel"

[[station]]
name = "laptop"
distance = "20 m"

[wired]
delay = "10 ms"
"""

CALL = """
[[flow]]
station = "laptop"
name = "call"
direction = "down"
traffic = "voip"

[[flow]]
station = "laptop"
name = "download"
direction = "down"
"""

SATURATED = """
[[flow]]
station = "laptop"
direction = "down"
transport = "udp"
rate = "saturated"
"""

STEADY, BLOCKS, FAST, SLOW = "steady", "blocks of 50 ms", "Doppler 6 Hz", "Doppler 1 Hz"
FADING = {
    STEADY: "none",
    BLOCKS: {"kind": "rayleigh", "coherence_time": "50 ms"},
    FAST: {"kind": "jakes", "doppler": "6 Hz"},
    SLOW: {"kind": "jakes", "doppler": "1 Hz"},
}


def scenario(flows: str, fading: str, key: str, value: str) -> lasthop.Scenario:
    """These flows over a link that fades so, with one more setting."""
    named = lasthop.Scenario(SCENARIO + flows, "fading.toml").set("name", f"{value}, {fading}")
    return named.set("channel.fading", FADING[fading]).set(key, value)


links = {
    (control, fading): lasthop.run(
        scenario(SATURATED, fading, "bss.rate_control", control).set("duration", "8 s"), seeds=4
    )
    for control in ("ideal", "minstrel_ht")
    for fading in (BLOCKS, FAST, SLOW)
}
downloads = {
    (control, fading): lasthop.run(scenario(CALL, fading, "tcp.congestion_control", control), seeds=12)
    for control in ("cubic", "bbr")
    for fading in (STEADY, BLOCKS, SLOW)
}

# %%
# What is seen
# ------------
# The rate control first. Minstrel-HT judges modes by statistics of 50 ms and more. Where a fade is over by then, it sends with the best
# mode on average; where a fade lasts, it follows in part.

share = {
    fading: per_seed(links["minstrel_ht", fading], "totals.goodput_bps")
    / per_seed(links["ideal", fading], "totals.goodput_bps")
    for fading in (BLOCKS, FAST, SLOW)
}
picture(
    bars(
        "Minstrel-HT on a link that fades",
        "share of the goodput of an oracle (%)",
        {"Minstrel-HT": {name: 100 * values for name, values in share.items()}},
    ),
)
claim("Minstrel-HT has under four fifths of the oracle over blocks.", share[BLOCKS], below=0.8)
claim("It has no more where a Doppler shift of 6 Hz gives the link memory.", share[FAST], below=0.8)
claim("At 1 Hz it follows, and has more.", share[SLOW] - share[FAST], above=0.02)

# %%
# The download. A frame that was sent eight times in vain is given up, and a fade takes many frames. CUBIC takes each loss for congestion.
# BBR keeps to the rate that its packets are delivered at.

goodput = {which: per_seed(result, "flows.laptop.download.goodput_bps") / 1e6 for which, result in downloads.items()}
picture(
    bars(
        "A download over a link that fades",
        "goodput (Mbit/s)",
        {
            control.upper(): {fading: goodput[control, fading] for fading in (STEADY, BLOCKS, SLOW)}
            for control in ("cubic", "bbr")
        },
    ),
    name="download",
)
claim("On the steady link CUBIC has over 35 Mbit/s.", goodput["cubic", STEADY], above=35)
claim("Blocks leave CUBIC under a fifth of that.", goodput["cubic", BLOCKS] / goodput["cubic", STEADY], below=0.2)
claim("They leave BBR over two fifths.", goodput["bbr", BLOCKS] / goodput["bbr", STEADY], above=0.4)
claim(
    "Fades with memory come less often, and CUBIC has more.", goodput["cubic", SLOW] - goodput["cubic", BLOCKS], above=0
)
claim("BBR still has over 1.5 times as much.", goodput["bbr", SLOW] / goodput["cubic", SLOW], above=1.5)

# %%
# The call. The same share of its packets is lost in blocks and in slow fades, but over blocks the losses are spread, and a slow fade
# silences the call. A model without memory is kind to calls.

mos = {which: per_seed(result, "flows.laptop.call.mos") for which, result in downloads.items()}
lost = {which: per_seed(result, "flows.laptop.call.loss_fraction") for which, result in downloads.items()}
silence = {which: 1000 * per_seed(result, "flows.laptop.call.starved_s") for which, result in downloads.items()}
picture(
    bars(
        "A call beside a download",
        "MOS",
        {
            control.upper(): {fading: mos[control, fading] for fading in (STEADY, BLOCKS, SLOW)}
            for control in ("cubic", "bbr")
        },
    ),
    name="call",
)
claim("On the steady link the call has a MOS over 4.2.", mos["cubic", STEADY], above=4.2)
claim(
    "Slow fades lose less than twice as many of its packets as blocks.",
    lost["cubic", SLOW] / lost["cubic", BLOCKS],
    below=2,
)
claim("Their longest silence is over 1.2 times as long.", silence["cubic", SLOW] / silence["cubic", BLOCKS], above=1.2)
both = {fading: (mos["cubic", fading] + mos["bbr", fading]) / 2 for fading in (BLOCKS, SLOW)}
claim("The MOS, beside either download, is lower.", both[BLOCKS] - both[SLOW], above=0)

# %%
# The air itself
# --------------
# Two seconds of the call and the download at 1 Hz: the rate of each PPDU, the retries, and the gaps.

report(scenario(CALL, SLOW, "tcp.congestion_control", "cubic"), warmup="2 s", duration="4 s")
