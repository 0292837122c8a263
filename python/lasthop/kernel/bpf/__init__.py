"""Mechanisms of papers on this machine's own kernel: programs of `bpf/`, loaded, read and taken out.

A loaded program stays until it is unloaded or the machine restarts: its links and maps are pinned in the BPF file system,
each program in its own folder, which also keeps the host's earlier settings.
"""

from .programs import NAMES, Loaded, load_ack_loss, load_ack_skip, load_split_queue, loaded, unload
from .requirements import HostError, NotHere, why_not

__all__ = (
    "NAMES",
    "HostError",
    "Loaded",
    "NotHere",
    "load_ack_loss",
    "load_ack_skip",
    "load_split_queue",
    "loaded",
    "unload",
    "why_not",
)
