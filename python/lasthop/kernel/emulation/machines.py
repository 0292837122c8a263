"""Where emulators run: on this machine in real time, or in guests in virtual time."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
from collections.abc import Iterable
from typing import Any, Protocol

from .boot import boot
from .error import EmulationError
from .job import GuestJob
from .kernel import Kernel
from .watch import Watch, last_lines

# In real time, the emulator stops sleeping this long before a deadline and watches the clock instead.
SPIN_S = 60e-6
# Time that an emulator may take to end after a signal.
GRACE_S = 5.0


# Parts of a kernel that may be modules and that an emulator needs: devices, and diagnosis of sockets.
MODULES = ("drivers/net/tun", "net/ipv4/inet_diag", "net/ipv4/tcp_diag")


class Running(Protocol):
    """An emulator that has been started."""

    def poll(self) -> int | None:
        """Its exit status, once it has ended. Raises `EmulationError` if it cannot have a result."""

    def end(self) -> None:
        """Ends it and everything in it."""

    def last_words(self) -> str:
        """The end of its output."""


class Place(Protocol):
    """Where emulators run."""

    #: Maximum number of simultaneous runs.
    at_once: int
    #: The kernel, on which results depend.
    name: str

    def told(self) -> dict[str, Any]:
        """The job's description of this place."""

    def start(self, job: GuestJob, seed: int) -> Running:
        """Starts the program of a job there."""


class Host:
    """This machine, in real time: one emulator at a time, as several would make each other late."""

    at_once = 1

    def __init__(self, *, terminal: bool = False) -> None:
        self._terminal = terminal
        self.name = f"this machine's, Linux {os.uname().release}"

    def told(self) -> dict[str, Any]:
        """The job's description of this place."""
        return {"place": "host", "spin_s": SPIN_S, "terminal": self._terminal}

    def start(self, job: GuestJob, seed: int) -> OnHost:
        """Starts the emulator, which makes namespaces for itself."""
        return OnHost(job, self._terminal)


class OnHost:
    """An emulator on this machine."""

    def __init__(self, job: GuestJob, terminal: bool) -> None:
        self._log = job.console
        out = None if terminal else self._log.open("wb")
        given = None if terminal else subprocess.DEVNULL
        # Ctrl-C is for the command, which ends it.
        self._process = subprocess.Popen(
            job.program, stdin=given, stdout=out, stderr=out, process_group=0 if not terminal else None
        )

    def poll(self) -> int | None:
        """Its exit status, once it has ended."""
        return self._process.poll()

    def end(self) -> None:
        """Ends it; its namespaces go with it."""
        self._process.send_signal(signal.SIGTERM)
        try:
            self._process.wait(GRACE_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def last_words(self) -> str:
        """The end of its output."""
        return last_lines(self._log)


class Guests:
    """Guests of a kernel, in virtual time: each has a thread that watches it."""

    def __init__(self, kernel: Kernel, at_once: int, controls: Iterable[str] = ()) -> None:
        """`controls`: the congestion controls in use, by the kernel's names; those that are modules are loaded."""
        self.kernel = kernel
        self.at_once = at_once
        self.name = f"{kernel.path}, Linux {kernel.version}"
        names = [*MODULES, *(f"net/ipv4/tcp_{control}" for control in sorted(set(controls)))]
        self._modules = [str(module) for module in kernel.modules(names)]

    def told(self) -> dict[str, Any]:
        """The job's description of this place."""
        return {"place": "guest", "modules": self._modules}

    def start(self, job: GuestJob, seed: int) -> InGuest:
        """Boots a guest whose first process is the emulator."""
        return InGuest(self.kernel, job, seed)


class InGuest:
    """An emulator in a guest."""

    def __init__(self, kernel: Kernel, job: GuestJob, seed: int) -> None:
        self._log = job.console
        self._watch = Watch()
        self._error: EmulationError | None = None
        self._thread = threading.Thread(
            target=self._boot, args=(kernel, job, seed), name=f"guest of seed {seed}", daemon=True
        )
        self._thread.start()

    def _boot(self, kernel: Kernel, job: GuestJob, seed: int) -> None:
        try:
            boot(kernel, job, seed, self._watch)
        except EmulationError as error:
            self._error = error

    def poll(self) -> int | None:
        """0, once the guest has switched itself off. Raises `EmulationError` if it ended otherwise."""
        if self._thread.is_alive():
            return None
        if self._error is not None:
            raise self._error
        return 0

    def end(self) -> None:
        """Ends the guest."""
        self._watch.stop()
        self._thread.join()

    def last_words(self) -> str:
        """The end of what its kernel and the emulator have printed."""
        return last_lines(self._log)
