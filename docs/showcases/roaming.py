"""
A walk past two access points
=============================

**Question.** How long is a download silent while its station changes from one access point to another, and what does 802.11r save?

In a simulation a station stays with its access point. ``lasthop emulate`` with ``wifi_stack = "kernel"`` lets Linux decide: hostapd at two
access points of one SSID, wpa_supplicant at a station that walks from one to the other, mac80211 in between, and the model's air below.
"""

# %%
# The scenario
# ------------
# The ready scenario ``roam``: 802.11n, a channel for both, WPA2, and a download of 4 Mbit/s. wpa_supplicant looks around each 2 s while
# beacons are below -70 dBm, which is half way. The two variants differ in ``emulation.fast_transition``.
#
# A kernel is needed, so the results are stored beside the page; ``kernel/renew.py`` makes them again.

import json
from pathlib import Path

import lasthop
import pandas
import showing
from showing import bars, claim, picture, report

STORED = Path(showing.__file__).parents[1] / "kernel"
VARIANTS = {"WPA2": "roam-wpa2", "WPA2 with 802.11r": "roam-fast"}
runs = {}
for name, file in VARIANTS.items():
    stored = json.loads((STORED / f"{file}.json").read_text(encoding="utf-8"))
    runs[name] = stored["runs"]
    print(f"{name}: made on {stored['made']} with lasthop {stored['lasthop']}")


def of_roam(variant: str, value: str) -> pandas.Series:
    """A value of the only roam, by seed."""
    roams = {run["seed"]: run["simulator"]["roams"] for run in runs[variant]}
    assert all(len(of_run) == 1 for of_run in roams.values()), roams
    return pandas.Series({seed: float(of_run[0][value]) for seed, of_run in roams.items()})


def of_download(variant: str, value: str) -> pandas.Series:
    """A value of the walker's download, by seed."""
    (first, *_), flow = runs[variant], "walker.down"
    assert any(row["id"] == flow for row in first["flows"])
    rows = {run["seed"]: next(row for row in run["flows"] if row["id"] == flow) for run in runs[variant]}
    return pandas.Series({seed: float(row[value]) for seed, row in rows.items()})


# %%
# What is seen
# ------------
# The gap is from the last data frame over the one access point to the first over the other. A segment leaves each 3 ms.

gap = {name: 1e3 * of_roam(name, "gap_s") for name in VARIANTS}
picture(bars("Time without data while roaming", "gap (ms)", {"gap": gap}))

# %%
# Few segments are lost: those that the first access point still sends to a station that has left. TCP sends them again, in eight of
# ten runs without a timeout.

for name in VARIANTS:
    claim(f"{name}: the gap is shorter than 30 ms.", gap[name], below=30)
    claim(
        f"{name}: the download has its rate over the whole walk, within 6 %.",
        of_download(name, "goodput_bps") / 4e6,
        above=0.94,
        below=1.06,
    )
    claim(f"{name}: fewer than 10 segments are sent again.", of_download(name, "segments_retransmitted"), below=10)
waited = [of_download(name, "timeouts") > 0 for name in VARIANTS]
assert pandas.concat(waited).sum() == 2
assert all(of_roam("WPA2 with 802.11r", "fast_transition") == 1)
assert all(of_roam("WPA2", "fast_transition") == 0)
claim(
    "802.11r saves less than 10 ms here.",
    gap["WPA2"] - gap["WPA2 with 802.11r"],
    above=-10,
    below=10,
)

# %%
# Without 802.11r four more frames pass, each a fraction of a millisecond long. Computing costs no virtual time, and both access points have
# the passphrase: no server at a distance is asked for keys, which takes real networks most of the time that 802.11r saves. Roams with a scan
# of many channels are longer too. QUIC is not part of the page, as flows over QUIC are not emulated.

# %%
# The air itself
# --------------
# That of a simulation, in which the walker stays with the first access point.

report(lasthop.load("roam"))
