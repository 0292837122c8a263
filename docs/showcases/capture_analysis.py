"""
Learning from a capture
=======================

**Question.** There is a capture of a network that is slow, and nothing else. Which station is to blame, and can the capture be believed?

A monitor interface hears frames, and neither queues nor collisions nor windows. Still it tells much: who sent for how long, at which
rates, how often again, and how much the sniffer itself missed. ``lasthop analyze`` reads it into the tables of a run. Here the capture
comes from a simulation, so that what was read can be held against what was.
"""

# %%
# The scenario
# ------------
# Three downloads over 802.11a, one at 6 Mbit/s, with one frame in ten of it lost to noise. The air is captured with radiotap headers, for
# each seed into a folder of its own.

import random
import struct
from pathlib import Path
from tempfile import TemporaryDirectory

import lasthop
import pandas
from lasthop.foreign.analysis import analyze
from showing import bars, claim, per_seed, picture, report

SCENARIO = """
duration = "8 s"
warmup = "2 s"

[bss]
standard = "802.11a"
rate_control = { kind = "fixed", rate = "54 Mbit/s" }

[[station]]
name = "fast"
count = 2

[[station]]
name = "slow"
rate_control = { kind = "fixed", rate = "6 Mbit/s" }
frame_error_rate = 0.1

[wired]
delay = "5 ms"

[[flow]]
station = "*"
direction = "down"
"""

scenario = lasthop.Scenario(SCENARIO, "slow-network.toml")


def thinned(capture: Path, share: float, seed: int) -> Path:
    """A copy of a pcapng file that lacks this share of its packets, as a sniffer far away would have it."""
    draw, content, kept, at = random.Random(seed), capture.read_bytes(), [], 0
    while at < len(content):
        kind, length = struct.unpack_from("<II", content, at)
        is_packet = kind == 6  # an Enhanced Packet Block
        if not is_packet or draw.random() >= share:
            kept.append(content[at : at + length])
        at += length
    file = capture.with_name("thinned.pcapng")
    file.write_bytes(b"".join(kept))
    return file


seen, far = {}, {}
with TemporaryDirectory() as folder:
    truth = lasthop.run(scenario, seeds=5, pcap=folder)
    for seed in truth.seeds:
        capture = Path(folder) / f"seed-{seed}" / "air.pcapng"
        seen[seed] = analyze([capture], from_s=2.0, to_s=8.0, interval_s=None)
        far[seed] = analyze([thinned(capture, 0.1, seed)], from_s=2.0, to_s=8.0, interval_s=None)


def told(captures: dict[int, lasthop.Result], metric: str) -> pandas.Series:
    """A metric of the analysed captures, by the seed of the run that was captured."""
    return pandas.Series({seed: per_seed(result, metric).iloc[0] for seed, result in captures.items()})


# %%
# What is seen
# ------------

STATIONS = ("fast1", "fast2", "slow")
airtime = {
    "told by the capture": {s: told(seen, f"links.*{s}*.airtime_fraction") for s in STATIONS},
    "simulated": {s: per_seed(truth, f"links.*{s}*.airtime_fraction") for s in STATIONS},
}
picture(bars("Who has the air", "fraction of the time", airtime))

# %%
# The capture alone names the station: it has two thirds of the air, at 6 Mbit/s, and every sixth of its frames is sent again. Numbers that
# a sniffer can count are those of the run, to within the frames that lie over an edge of the window.
#
# A sniffer that misses one frame in ten tells less goodput and fewer retries. It tells as well how much it missed: of each link-layer
# ACK, there was a frame that it answers, and a capture that has one without the other has a hole.

slow = "links.ap.slow.retry_fraction"
claim(
    "The slow station has over 60 % of the air, says the capture.",
    told(seen, "links.*slow*.airtime_fraction"),
    above=0.6,
)
claim("Over 10 % of the frames to it are retries.", told(seen, slow), above=0.1)
claim(
    "That is the retry fraction of the run, within 1 %.",
    told(seen, slow) / per_seed(truth, slow),
    above=0.99,
    below=1.01,
)
claim(
    "Goodput is that of the run, within 1 %.",
    told(seen, "totals.goodput_bps") / per_seed(truth, "totals.goodput_bps"),
    above=0.99,
    below=1.01,
)
claim(
    "Of the whole capture it says that under 0.1 % was missed.",
    told(seen, "simulator.sniffer_loss"),
    below=0.001,
)
claim(
    "Of the thinned one it says 10 %, within one percent of the frames.",
    told(far, "simulator.sniffer_loss"),
    above=0.09,
    below=0.11,
)

# %%
# The air itself
# --------------
# What the sniffer heard. ``lasthop analyze air.pcapng --record ppdu --out seen && lasthop serve seen`` draws the same of a capture.

report(scenario)
