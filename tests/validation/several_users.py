"""PPDUs of several users beside ns-3.44: the cells of `ns3/several_users.py`, from `tests/data/ns3.csv`, and the same in lasthop."""

from __future__ import annotations

from dataclasses import dataclass

import lasthop
from contention import table

# ns-3's TCP is CUBIC with ACKs of every second segment or after 200 ms and an RTO of 1 s at least, without probes and small queues;
# its server is the access point.
CELL = """
duration = "2.5 s"
warmup = "0.5 s"
[bss]
standard = "802.11ax"
channel_width = "80 MHz"
guard_interval = "3.2 us"
rate_control = {{ kind = "fixed", mcs = 5 }}
compat = "ns3"
retry_limit = 6
aggregation = {{ max_mpdus = 64, max_bytes = "65535 B" }}
{mu_edca}
[bss.ap]
queue = {{ kind = "fifo", limit = "500 packets" }}
multi_user = {multi_user}
[[station]]
count = {stations}
distance = "1 m"
queue = {{ kind = "fifo", limit = "500 packets" }}
[wired]
rate = "1000 Gbit/s"
delay = "0 ms"
[tcp]
receive_window = "131072 B"
congestion_control = "cubic"
delayed_ack = "fixed"
delayed_ack_timeout = "200 ms"
quick_acks = 0
min_rto = "1 s"
small_queue = "off"
tail_loss_probe = false
[[flow]]
station = "*"
direction = "{way}"
{load}
"""
OFFERED_MBPS = 244
SETTINGS = {
    "downlink": "uplink = false",
    "downlink, bar": 'uplink = false, acknowledge = "bar"',
    "downlink, aggregated": 'uplink = false, acknowledge = "aggregated"',
    "uplink": "bsrp = false",
    "BSRP": "",
    "MU EDCA": "",
}
TIMERS = "[bss.mu_edca]\n" + "".join(
    f'{of} = {{ aifsn = 0, timer = "106.496 ms" }}\n' for of in ("vo", "vi", "be", "bk")
)
WITHIN = {"UDP": 0.03, "TCP": 0.07}


@dataclass(frozen=True)
class Cell:
    """A cell by what its name says: `TCP up, 4 stations, BSRP`."""

    name: str

    @property
    def transport(self) -> str:
        return self.name[:3]

    def text(self) -> str:
        """The scenario file."""
        flows, stations, column = self.name.split(", ", 2)
        way, number = flows[4:], stations.removesuffix(" stations")
        asked = '"10 ms"' if way == "up" else '"off"'
        keys = ["max_users = 4", f"access_request = {asked}", *filter(None, [SETTINGS.get(column)])]
        multi_user = '"off"' if column == "off" else f'{{ kind = "ns3_rr", {", ".join(keys)} }}'
        rate = f'transport = "udp"\nrate = "{OFFERED_MBPS / int(number):g} Mbit/s"\npacket_size = "1476 B"'
        load = rate if self.transport == "UDP" else ""
        mu_edca = TIMERS if column == "MU EDCA" else ""
        return CELL.format(mu_edca=mu_edca, multi_user=multi_user, stations=number, way=way, load=load)

    @property
    def theirs(self) -> float:
        """Mean goodput in ns-3.44, Mbit/s."""
        return table()[self.name]["goodput_mbps"].mean

    def measure(self, seeds: int) -> float:
        """Mean goodput in lasthop, Mbit/s."""
        scenario = lasthop.Scenario(self.text(), f"{self.name}.toml")
        return lasthop.run(scenario, seeds=seeds, interval_s=None).summary["totals.goodput_bps"]["mean"] / 1e6


CELLS = [Cell(name) for name in table() if name.startswith(("UDP ", "TCP ")) and " stations, " in name]
# After the ACKs of its uploads have gone down, ns-3's access point asks for lengths of queues alone, and no station may send until the timer
# ends. Between such silences stations send less in ns-3, and here eight stations have none: only the collapse of four is held.
# TCP downloads of `BulkSendApplication` are some 6 % faster in ns-3, without OFDMA too; two of eight stations are 8 to 9 % apart.
APART = [
    Cell(f"TCP {name}")
    for name in (
        "down, 8 stations, uplink",
        "down, 8 stations, BSRP",
        "up, 4 stations, MU EDCA",
        "up, 8 stations, MU EDCA",
    )
]
HELD = [cell for cell in CELLS if cell not in APART]
