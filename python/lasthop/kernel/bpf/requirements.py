"""The requirements for loading programs, and the place of their pins."""

from __future__ import annotations

import importlib
import os
import shutil
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from types import ModuleType

OBJECTS = Path(__file__).parent
BTF = Path("/sys/kernel/btf/vmlinux")
FILE_SYSTEM = Path("/sys/fs/bpf")
PINS = FILE_SYSTEM / "lasthop"
# Links of traffic control (tcx) came with 6.6, links of congestion controls before.
LEAST_KERNEL = (6, 6)


class HostError(Exception):
    """Something that cannot be done to this host: one sentence."""


class NotHere(HostError):
    """This machine cannot load programs at all: one sentence, with what would help."""


def extension() -> ModuleType:
    """`lasthop._kernel`, which is built only where libelf and zlib are."""
    try:
        return importlib.import_module("lasthop._kernel")
    except ImportError:
        raise NotHere(
            "this build of lasthop cannot load programs: install the headers of libelf and zlib (Debian: `apt install "
            "libelf-dev zlib1g-dev`; Fedora: `dnf install elfutils-libelf-devel zlib-devel`), then `make build` takes it in"
        ) from None


def why_not() -> str | None:
    """The reason why this machine cannot load programs; None if it can."""
    if sys.platform != "linux":
        return "programs for the Linux kernel need Linux"
    try:
        extension()
    except NotHere as missing:
        return str(missing)
    release = os.uname().release
    if tuple(int(part) for part in release.split("-")[0].split(".")[:2]) < LEAST_KERNEL:
        return f"Linux {release} is too old: links of traffic control came with 6.6"
    if not BTF.exists():
        return f"{BTF} is missing: the kernel was built without CONFIG_DEBUG_INFO_BTF"
    if os.geteuid() != 0:
        return "programs are loaded and read by root alone: run it with sudo"
    return None


def ready() -> ModuleType:
    """The extension, on a machine where it works, with the BPF file system mounted.

    Raises `NotHere` with the reason.
    """
    if (reason := why_not()) is not None:
        raise NotHere(reason)
    if not os.path.ismount(FILE_SYSTEM):
        if _has_mounts_of_its_own():
            raise HostError(
                f"{FILE_SYSTEM} is not mounted in this mount namespace, as under `ip netns exec`, and pins would end with "
                "this command; enter the network alone: `nsenter --net=/run/netns/NAME lasthop host …`"
            )
        run("mount", "-t", "bpf", "bpf", str(FILE_SYSTEM))
    return extension()


def _has_mounts_of_its_own() -> bool:
    own = os.readlink("/proc/self/ns/mnt")
    for other in (1, os.getppid()):
        with suppress(OSError):
            if os.readlink(f"/proc/{other}/ns/mnt") != own:
                return True
    return False


def run(*command: str) -> None:
    """Runs a program of the system; raises `HostError` with its output if it fails."""
    if shutil.which(command[0]) is None:
        raise HostError(f"`{command[0]}` is not installed, and `{' '.join(command)}` is needed")
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        said = done.stderr.strip().splitlines()
        raise HostError(f"`{' '.join(command)}` failed: {said[-1] if said else f'status {done.returncode}'}")
