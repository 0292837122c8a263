"""What a guest is told to send over its bottleneck."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Order:
    """A path, and what goes over it."""

    discipline: str
    """the queue of the bottleneck, as tc(8) has it"""
    rate_bps: int
    burst_bytes: int = 2000
    """of the token bucket: a full frame and a little"""
    delay_ms: float = 20
    """for which ACKs are held at the receiver"""
    duration_s: float = 20
    flows: int = 4
    stagger_s: float = 0.25
    """by which a flow begins after the one before"""
    congestion_control: str = "cubic"
    datagrams_hz: float = 0
    datagram_bytes: int = 172
    """of payload"""
    segments_at_once: int = 1
    """that a device is handed: 1 as by a TUN, more with segmentation offload"""
    paced: bool = False
    """whether the sender's TCP paces by itself"""
    sender_discipline: str = ""
    """the queue of the sender's own interface"""
    own_shaper: bool = False
    """whether the discipline shapes by itself, in place of the token bucket"""
    tos: list[int] = field(default_factory=list)
    """of each flow: the byte with the DSCP; 0 without"""
    hosts: list[int] = field(default_factory=list)
    """of each flow: its receiver's number among the addresses of the receiving host; 0 without"""
    settings: dict[str, object] = field(default_factory=dict)
    """sysctls of both hosts"""
