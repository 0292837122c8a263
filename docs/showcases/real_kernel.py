"""
The TCP of a real kernel
========================

**Question.** Everything on these pages is said of a model of Linux' TCP. What does Linux itself do over the same air?

``lasthop emulate`` puts the TCP of a real kernel into the model's 802.11: stations and servers are network namespaces, and their packets
contend, collide, are aggregated and wait in the model's queues. In virtual time the kernels run in a guest whose clock stands still
while anything computes, so that a seed gives the same bytes on any machine.
"""

# %%
# The scenario
# ------------
# ``kernel/one-download.toml``: a CUBIC download over 802.11n at 72 Mbit/s and a ping, behind a FIFO of 200 packets or behind FQ-CoDel.
#
# The emulated side needs a kernel, which ``lasthop emulate --build-kernel`` makes once, and some minutes. So its results are stored beside
# the page: ``kernel/renew.py`` made them, and makes them again. The simulated side runs here, with the same file and the same seeds.

import json
from pathlib import Path

import lasthop
import showing
from showing import bars, claim, per_seed, picture, report

STORED = Path(showing.__file__).parents[1] / "kernel"
QUEUES = {"FIFO": {"kind": "fifo", "limit": "200 packets"}, "FQ-CoDel": "fq_codel"}
# The kernel's host pinged from the start, by an exact clock.
scenario = (
    lasthop.load(STORED / "one-download.toml").set("flow.ping.phase", "0 s").set("flow.ping.clock_error", "0 ppm")
)
variants = {name: scenario.set("bss.ap.queue", queue) for name, queue in QUEUES.items()}
kernel, model = {}, {}
for name, variant in variants.items():
    file = STORED / f"{name.lower()}.json"
    kernel[name] = lasthop.read(file)
    model[name] = lasthop.run(variant, seeds=kernel[name].seeds)
    made, ran = (
        json.loads(file.read_text(encoding="utf-8"))["made"],
        kernel[name].runs[0]["simulator"],
    )
    print(f"{name}: Linux {ran['kernel']} in {ran['time']} time, made on {made} with lasthop {kernel[name].made_by}")

# %%
# What is seen
# ------------

SIDES = {"kernel": kernel, "model": model}


def of_both(metric: str, scale: float) -> dict:
    """A metric of the laptop's flows on both sides, for each queue, by seed."""
    return {
        side: {name: scale * per_seed(result, f"flows.laptop.{metric}") for name, result in row.items()}
        for side, row in SIDES.items()
    }


goodput, rtt, ping = (
    of_both("down.goodput_bps", 1e-6),
    of_both("down.rtt_mean_s", 1e3),
    of_both("ping.rtt_p50_s", 1e3),
)
picture(bars("Round trip of the download", "mean RTT (ms)", rtt))

# %%
picture(bars("Its goodput", "goodput (Mbit/s)", goodput), name="goodput")

# %%
# The bars stand side by side, and their intervals meet. Seed by seed they are not equal: once one segment leaves at another moment, all
# later backoffs fall on other frames.
#
# The claim that matters is the last one: a change of the queue that is tried in the model does to Linux what it does to the model.

gain = {side: row["FIFO"] - row["FQ-CoDel"] for side, row in rtt.items()}
for queue in QUEUES:
    claim(
        f"{queue}: the model has the kernel's goodput, within 3 %.",
        goodput["model"][queue] / goodput["kernel"][queue],
        above=0.97,
        below=1.03,
    )
    claim(
        f"{queue}: it has its round trip, within 8 %.",
        rtt["model"][queue] / rtt["kernel"][queue],
        above=0.92,
        below=1.08,
    )
claim("FQ-CoDel takes over 20 ms from the kernel's round trip.", gain["kernel"], above=20)
claim(
    "It takes as much from the model's, within 15 %.",
    gain["model"] / gain["kernel"],
    above=0.85,
    below=1.15,
)

# %%
# The air itself
# --------------
# The simulated side, behind the FIFO and behind FQ-CoDel.

report(*variants.values())
