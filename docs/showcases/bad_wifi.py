"""
QUIC while Wi-Fi is suspended
=============================

**Question.** A station that scans other channels is deaf for a quarter of a second. What does that cost a transfer over QUIC, and does it cost here what
it costs in picoquic?

picoquic's tests have three such links, with the time in which 3 MB have to arrive for each congestion control [picoquic wifitest]: one suspension of
250 ms, six with 5 ms between them, and one at a receiver behind a long path. Its links have a rate and a delay; here the air is that of 802.11n, and
the stack is ``quinn-proto``. A burst that all nodes sense keeps both directions silent.
"""

# %%
# The scenario
# ------------
# The air carries about 10 Mbit/s at MCS 1, as picoquic's link does. Behind the long path the wire has that rate and the air more, so that packets
# wait at the access point while the receiver is deaf. The queues hold 260 ms, and among six suspensions all packets.

import tempfile
from pathlib import Path

import lasthop
import pandas
from showing import bars, claim, per_seed, picture, report

SCENARIO = """
duration = "6 s"
warmup = "0 s"

[channel]
path_loss = "log_distance"
error_model = "nist"

[bss]
standard = "802.11n"
channel = 36
spatial_streams = 1
rate_control = { kind = "fixed", mcs = 1 }

[bss.ap]
queue = { kind = "fifo", limit = "220 packets" }

[[station]]
distance = "3 m"

[wired]
delay = "3 ms"

[[flow]]
transport = "quic"
direction = "down"
size = "3 MB"
"""
SUSPENDED = """
[[interferer]]
kind = "trace"
file = "{file}"
power = "20 dBm"
"""
LONG = {
    "bss.rate_control": {"kind": "fixed", "mcs": 7},
    "wired.delay": "50 ms",
    "wired.rate": "10 Mbit/s",
    "wired.queue": {"kind": "fifo", "limit": "220 packets"},
}
# Suspensions with start and length in seconds; settings; and the time that picoquic allows NewReno and CUBIC, in seconds.
PRESETS = {
    "one": ([(1.0, 0.25)], {}, (2.80, 2.87)),
    "six": ([(1.0 + 0.255 * n, 0.25) for n in range(6)], {"bss.ap.queue.limit": "10000 packets"}, (4.25, 4.70)),
    "long path": ([(1.0, 0.25)], LONG, (3.00, 3.10)),
}
CONTROLS = ("newreno", "cubic")
SEEDS = 12
folder = Path(tempfile.mkdtemp())


def preset(name, *, suspended=True):
    bursts, settings, _ = PRESETS[name]
    trace = folder / f"{name}.txt"
    trace.write_text("".join(f"{start}, {length}\n" for start, length in bursts), encoding="utf-8")
    text = SCENARIO + SUSPENDED.format(file=trace) if suspended else SCENARIO
    scenario = lasthop.Scenario(text, "bad-wifi.toml")
    for path, value in settings.items():
        scenario = scenario.set(path, value)
    return scenario


def run(scenario, control):
    result = lasthop.run(scenario.set("quic.congestion_control", control), seeds=SEEDS, interval_s=None)
    return per_seed(result, "flows.*.completion_time_s")


suspended = {name: {control: run(preset(name), control) for control in CONTROLS} for name in PRESETS}
alone = {name: run(preset(name, suspended=False), "cubic") for name in ("one", "long path")}

# %%
# What is seen
# ------------

shown = {}
for place, control in enumerate(CONTROLS):
    shown[control] = {name: of[control] for name, of in suspended.items()}
    shown[f"{control} in picoquic, at most"] = {
        name: pandas.Series([limits[place]] * 2) for name, (_, _, limits) in PRESETS.items()
    }
picture(bars("Time until 3 MB have arrived", "s", shown))

# %%
# A suspension of the bottleneck costs its length, and each of six does, whatever the congestion control. Behind the long path it costs nothing: the
# packets of that time wait at the access point, and cross the faster air at once. picoquic's limits are bounds: the times of its
# own transfers are not published.

for name, (_, _, limits) in PRESETS.items():
    for control, limit in zip(CONTROLS, limits, strict=True):
        if (name, control) != ("one", "newreno"):
            claim(
                f"{name}, {control}: within the {limit:g} s of picoquic's test.", suspended[name][control], below=limit
            )
# The air carries 9.6 Mbit/s of data beside the acknowledgements of QUIC, the link there about 9.7.
claim("one, newreno: at picoquic's limit of 2.8 s, within 1 %.", suspended["one"]["newreno"], above=2.772, below=2.828)
claim("One suspension costs 0.25 s, within 0.03 s.", suspended["one"]["cubic"] - alone["one"], above=0.22, below=0.28)
claim(
    "Six cost six times as much, within 0.1 s.",
    suspended["six"]["cubic"] - alone["one"],
    above=1.4,
    below=1.6,
)
claim(
    "Behind a long path with a slow wire it costs less than 0.03 s.",
    suspended["long path"]["cubic"] - alone["long path"],
    above=-0.03,
    below=0.03,
)

# %%
# The air itself
# --------------
# A suspension, and what follows it.

again = '[[interferer]]\npower = "20 dBm"\non = "250 ms"\noff = "500 ms"\n'
report(lasthop.Scenario(SCENARIO + again, "bad-wifi.toml"), warmup="1 s", duration="1.7 s")
