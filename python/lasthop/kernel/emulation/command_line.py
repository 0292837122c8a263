"""The command line of a guest's kernel: arguments and environment, the same for each job.

The kernel mixes its command line into its random pool. So it has nothing that differs from job to job, except for
the seed, with a fixed number of digits: the guest's directory is the current one, and the program is named by a script
in it.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from .error import EmulationError
from .job import GuestJob
from .kernel import Kernel
from .memory import memory_directory
from .paths import PROGRAMS_PATH

# The name of a guest among the guests of its directory, which has only one.
NAME = "uml"
PRELOAD = Path(__file__).with_name("virtual_time.so")
# Work that a kernel without time travel must avoid at boot: waiting for alarms in a loop without a system call
# (calibrating delays, choosing a RAID 6 algorithm), and reading the host's random device.
NO_LOOPS = ("lpj=1000000", "initcall_blacklist=raid6_select_algo,rng_init")


def arguments(kernel: Kernel, job: GuestJob, seed: int) -> Iterator[str]:
    """The kernel's arguments."""
    yield f"mem={job.memory_mib}M"
    if kernel.time_travel:
        yield from ("time-travel=inf-cpu", f"time-travel-start={job.start_s * 1_000_000_000}")
        # Without it User Mode Linux asks for a block device, which kernels before 6.6 insist on and `kernel.config` leaves out.
        yield "root=none"
    else:
        yield from NO_LOOPS
    yield from ("rootfstype=hostfs", "rootflags=/", "rw", "norandmaps", f"init=/proc/self/cwd/{job.launcher.name}")
    # The console goes to a file that is not read meanwhile: the host may not interrupt the guest.
    yield from ("con=null", "con0=null,fd:1", "ssl=null", "uml_dir=.", f"umid={NAME}", "quiet")
    yield f"lasthop.seed={seed:016x}"


def environment(kernel: Kernel, job: GuestJob) -> Iterator[str]:
    """All of the kernel's environment, as `NAME=VALUE`."""
    yield f"PATH={PROGRAMS_PATH}"
    yield "HOME=/"
    yield f"TMPDIR={memory_directory()}"
    if not kernel.time_travel:
        if not PRELOAD.exists():
            raise EmulationError(
                f"{kernel.path} needs {PRELOAD}, which is not there: `make build` makes it; or use `--kernel own`"
            )
        yield f"LD_PRELOAD={PRELOAD}"
        yield f"LASTHOP_START_S={job.start_s}"
