"""Has a guest in virtual time carry out an order, and keeps nothing of it but the answer."""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path

from lasthop.kernel.emulation import GuestJob, Kernel, Watch, boot
from order import Order

# Parts of a kernel that may be modules: devices, and the queues of a path. Those of a discipline come with its name.
MODULES = ("drivers/net/veth", "net/sched/sch_tbf", "net/sched/sch_netem")
PROGRAM = Path(__file__).with_name("router.py")
LIMIT_S = 600.0


@contextmanager
def carried_out(order: Order, kernel: Kernel, seed: int = 1) -> Iterator[Path]:
    """A directory with what the guest has recorded. Raises `EmulationError` where it fails."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "order.json").write_text(json.dumps(asdict(order)))
        own = [f"net/sched/sch_{order.discipline.split()[0]}", f"net/ipv4/tcp_{order.congestion_control}"]
        modules = kernel.modules([*MODULES, *own])
        (folder / "modules.json").write_text(json.dumps([str(module) for module in modules]))
        job = GuestJob((sys.executable, "-I", "-S", str(PROGRAM), str(folder)), folder)
        boot(kernel, job, seed, Watch(limit_s=LIMIT_S))
        if not (folder / "queue.txt").exists():
            raise RuntimeError(f"the guest has not done what it was told:\n{job.console.read_text(errors='replace')}")
        yield folder
