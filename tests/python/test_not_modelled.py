"""What is not modelled is refused as such, with its place, and not taken for a slip of the pen."""

from __future__ import annotations

import re
from pathlib import Path

import lasthop
import pytest

README = Path(__file__).parents[2] / "README.md"
# Words that a user may write, and the features that are not modelled. Each item of README's list is here.
ASKED = [
    ("bss.standard", "802.11be", "802.11be"),
    ("bss.standard", "802.11ad", "this standard"),
    ("bss.channel_width", "320 MHz", "802.11be"),
    ("bss.mlo", True, "802.11be"),
    ("bss.twt", "on", "target wake time"),
    ("bss.mu_mimo", True, "MU-MIMO"),
    ("bss.beamforming", True, "beamforming"),
    ("bss.channel_width", "80+80 MHz", "two segments"),
    ("bss.channel_width", "160+160 MHz", "two segments"),
    ("bss.band", "6 GHz", "6 GHz"),
    ("bss.spatial_reuse", True, "spatial reuse"),
    ("bss.obss_pd", "-72 dBm", "spatial reuse"),
    ("bss.bss_color", 3, "spatial reuse"),
    ("station.0.roaming", True, "roaming"),
    ("association", True, "association and scanning"),
    ("station.0.scanning", True, "association and scanning"),
    ("station.0.power_save", True, "power save"),
    ("flow.0.multicast", True, "multicast"),
    ("bss.fragmentation_threshold", "1000 B", "fragmentation"),
    ("bss.admission_control", True, "admission control"),
    ("bss.hcca", True, "polled access"),
    ("bss.mesh", True, "without an access point"),
    ("station.0.antenna_gain", "3 dB", "isotropic"),
    ("tcp.mptcp", True, "MPTCP"),
    ("flow.0.transport", "mptcp", "MPTCP"),
    ("tcp.fast_open", True, "Fast Open"),
    ("flow.0.tcp_fastopen", True, "Fast Open"),
    ("tcp.lro", True, "large receive offload"),
    ("tcp.mtu_probing", True, "path-MTU"),
    ("station.0.ipv6", True, "IPv6"),
    ("ip_version", 6, "IPv6"),
    ("flow.0.transport", "sctp", "other than TCP, UDP and QUIC"),
]


@pytest.mark.parametrize(("path", "value", "what"), ASKED)
def test_it_is_refused_as_not_modelled(small, path, value, what):
    scenario = lasthop.load(small).set(path, value)
    with pytest.raises(lasthop.ScenarioError) as caught:
        scenario.resolve()
    message = str(caught.value)
    assert message.startswith(f"--set {path}="), message
    assert what in message and "not modelled" in message, message
    assert "unknown" not in message and "did you mean" not in message, message


def test_a_slip_of_the_pen_is_still_one(small):
    with pytest.raises(lasthop.ScenarioError, match="did you mean"):
        lasthop.load(small).set("tcp.congestion_control", "cubik").resolve()


def test_every_item_of_the_list_in_the_readme_is_refused(small):
    text = README.read_text()
    section = text[text.index("## What is not modelled") : text.index("## How fast")]
    items = re.split(r"[,;.]\s|\band\b", " ".join(re.findall(r"^(?:- |  )(.*)$", section, re.MULTILINE)))
    # Items that are not words of a scenario: absent for everybody, or with an answer of their own.
    apart = (
        "ARP",
        "channels that overlap",
        "Antennas",
        "Propagation",
        "Packet captures",
    )
    told = " ".join(what.lower() for _, _, what in ASKED) + " scanning roaming 80+80 160+160 path-mtu"
    for item in filter(None, (item.strip(" .").lower() for item in items)):
        if any(item.startswith(word.lower()) for word in apart):
            continue
        words = [
            word for word in re.findall(r"[a-z0-9+.-]+", item) if word not in ("with", "its", "the", "of", "at", "mhz")
        ]
        assert any(word.rstrip("s") in told for word in words), item
