"""
Skipping ACKs
=============

**Question.** An upload's data and its own ACKs contend for the same air. What if the receiver sends fewer of them?

Each ACK is 40 B of IP, and costs a preamble, a backoff and a link-layer ACK like any other frame. Worse, data and ACKs collide with each
other: station and access point send at the same instant, and neither hears the other [gopal2005]. A receiver that acknowledges only
each second, third or fourth segment frees the air. The price is paid by senders whose window grows by one for each ACK.
"""

# %%
# The scenario
# ------------
# The ready scenario ``gopal2005-ack-skipping``: one station uploads files of 6 MB over 802.11b at 11 Mbit/s, with the TCP of Linux 2.6, for
# which each ACK counts once. ``skip`` is how many segments are passed over before one is acknowledged.

import lasthop
from showing import claim, lines, per_seed, picture, report

scenario = (
    lasthop.load("gopal2005-ack-skipping").set("duration", "60 s").set("station.0.count", 1).set("flow.0.repeat", 1000)
)
long_files = scenario.set("duration", "90 s").set("tcp.ack.skip", 0)
short_files = scenario.set("flow.0.size", "50 kB").set("wired.delay", "20 ms")
FILES = {
    "6 MB": long_files,
    "50 kB, 20 ms away": short_files,
    "50 kB, 20 ms away, growth by bytes": short_files.set("tcp.growth", "per_byte"),
}
SKIPS = (0, 1, 2, 3)
results = {
    name: {skip: lasthop.run(files.set("tcp.ack.skip", skip), seeds=5) for skip in SKIPS}
    for name, files in FILES.items()
}

# %%
# What is seen
# ------------

times = {
    name: {skip: per_seed(r, "flows.sta1.up.completion_time_s") for skip, r in row.items()}
    for name, row in results.items()
}
relative = {name: {skip: time / row[0] for skip, time in row.items()} for name, row in times.items()}
collisions = {skip: 100 * per_seed(r, "medium.collision_probability") for skip, r in results["6 MB"].items()}
picture(lines("Time to upload a file", "ACKs skipped", "times that without skipping", relative))

# %%
picture(
    lines(
        "Data and ACKs that collide, files of 6 MB",
        "ACKs skipped",
        "attempts that collide (%)",
        {"6 MB": collisions},
    ),
    name="collisions",
)

# %%
# Of a long file the gain is a sixth with the first ACK that is skipped, and less with each further one, as there is less left to save.
# Fewer ACKs also collide less with data: 3 % of the attempts instead of 6 %.
#
# A short file over a longer way lives in slow start. There a window that grows by one for each ACK grows more slowly, the sender
# idles for want of window, and skipping three costs a tenth. A window that grows by the bytes that are acknowledged [RFC 3465] loses
# little. Today's stacks count so, which is why thinned ACKs are safe with them.

long, short, by_bytes = relative.values()
claim("One ACK for two segments makes a long upload over 12 % shorter.", long[1], below=0.88)
claim("One for four makes it over 20 % shorter.", long[3], below=0.80)
claim("Collisions of data with ACKs fall below 60 %.", collisions[3] / collisions[0], below=0.60)
claim(
    "A short file takes over 8 % longer where windows grow with each ACK.",
    short[3],
    above=1.08,
)
claim("It takes under 4 % longer where they grow by bytes.", by_bytes[3], below=1.04)

# %%
# The air itself
# --------------
# A long file without skipping, and with three ACKs skipped.

report(long_files, long_files.set("tcp.ack.skip", 3))
