"""The mechanisms that `lasthop host` loads, and its exit status if this machine cannot load them."""

from __future__ import annotations

from collections.abc import Callable

from ...kernel.bpf import HostError, NotHere
from .._mistake import Mistake
from .._output import note
from .._status import SKIPPED

PROGRAMS = {
    "ack_loss": "halves the window when ACKs are missing, around the kernel's CUBIC or Reno [hashimoto2008]",
    "ack_skip": "leaves out pure ACKs that leave a device [gopal2005]",
    "split_queue": "queues data and pure ACKs apart before a device [hashimoto2008]",
}


def on_this_host(work: Callable[[], None]) -> int:
    """Does `work`. Returns 0, or 77 with the reason if this machine cannot load programs."""
    try:
        work()
    except NotHere as missing:
        note(f"host: {missing}")
        return SKIPPED
    except HostError as error:
        raise Mistake(f"host: {error}") from None
    return 0
