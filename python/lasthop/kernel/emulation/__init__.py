"""Kernels for emulated runs in virtual time: how they are found, built and booted."""

from .boot import Ended, boot
from .build import build_kernel
from .error import EmulationError
from .job import GuestJob
from .kernel import Kernel, find_kernel, missing_daemons
from .watch import Watch

__all__ = (
    "EmulationError",
    "Ended",
    "GuestJob",
    "Kernel",
    "Watch",
    "boot",
    "build_kernel",
    "find_kernel",
    "missing_daemons",
)
