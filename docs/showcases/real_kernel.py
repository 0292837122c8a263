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
# The emulated side needs a kernel, which ``lasthop emulate --build-kernel`` makes once, and takes minutes. So its result is stored
# beside the page. ``python docs/showcases/real_kernel.py --renew`` runs it anew and stores that instead, with the day on which it was made.
# The simulated side runs here, with the same scenario.

import datetime
import json
import subprocess
import sys
from pathlib import Path

import lasthop
from showing import bars, claim, per_seed, picture, report

STORED = Path(__file__).parent / "kernel"
QUEUES = {"FIFO": {"kind": "fifo", "limit": "200 packets"}, "FQ-CoDel": "fq_codel"}
SEEDS = 5
scenario = lasthop.load(STORED / "one-download.toml")


def renew(name: str, queue: str) -> None:
    """Emulates all seeds with this queue and stores the result, without what a reader of the page does not need."""
    file = STORED / f"{name}.json"
    line = ["emulate", STORED / "one-download.toml", "--set", f"bss.ap.queue={queue}", "--seeds", SEEDS, "--json", file]
    subprocess.run([sys.executable, "-m", "lasthop", *map(str, line)], check=True)
    document = json.loads(file.read_text(encoding="utf-8"))
    document["made"] = datetime.date.today().isoformat()
    del document["summary"]  # is computed from the runs when it is read
    file.write_text(json.dumps(document, separators=(",", ":")) + "\n", encoding="utf-8")


variants = {name: scenario.set("bss.ap.queue", queue) for name, queue in QUEUES.items()}
if "--renew" in sys.argv:
    for name, queue in QUEUES.items():
        renew(name.lower(), lasthop.scenario.toml_value(queue) if isinstance(queue, dict) else queue)
real = {name: lasthop.read(STORED / f"{name.lower()}.json") for name in QUEUES}
model = {name: lasthop.run(variant, seeds=SEEDS) for name, variant in variants.items()}
for name in QUEUES:
    made = json.loads((STORED / f"{name.lower()}.json").read_text(encoding="utf-8"))["made"]
    print(f"{name}: Linux {real[name].runs[0]['simulator']['kernel']} in {real[name].runs[0]['simulator']['time']} time, made on {made}")

# %%
# What is seen
# ------------

SIDES = {"kernel": real, "model": model}
goodput = {side: {name: per_seed(r, "flows.laptop.down.goodput_bps") / 1e6 for name, r in rows.items()} for side, rows in SIDES.items()}
rtt = {side: {name: 1e3 * per_seed(r, "flows.laptop.down.rtt_mean_s") for name, r in rows.items()} for side, rows in SIDES.items()}
ping = {side: {name: 1e3 * per_seed(r, "flows.laptop.ping.rtt_p50_s") for name, r in rows.items()} for side, rows in SIDES.items()}
picture(bars("Round trip of the download", "mean RTT (ms)", rtt))
picture(bars("Its goodput", "goodput (Mbit/s)", goodput), name="goodput")
for side in SIDES:
    for name in QUEUES:
        print(side, name, goodput[side][name].round(2).tolist(), rtt[side][name].round(1).tolist(), ping[side][name].round(1).tolist())
