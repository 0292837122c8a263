"""`lasthop self doctor`: installed parts and whether they work, a line each."""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from ... import _core
from ...data.extras import LAYERS, lacks
from ...data.files import check_writable
from ...kernel import bpf as hosts
from ...kernel.emulation import EmulationError, find_kernel, missing_daemons
from ...kernel.emulation.command_line import PRELOAD
from ...study.simulation import core_count

PACKAGES = ("numpy", "matplotlib", "rich")
PEERS = {"ns-2": "ns", "ns-3": "ns3"}
TUN = Path("/dev/net/tun")
# Each is tried in a separate process, whose status is the answer.
IN_USER_NAMESPACE = "import ctypes, sys; sys.exit(ctypes.CDLL(None).unshare(0x10000000) != 0)"
WITH_REALTIME_PRIORITY = "import os; os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))"
KERNELS = ("own", "stock")
HWSIM_LACKS = (
    "mac80211_hwsim takes every frame at once, so FQ-CoDel, airtime fairness and AQL of mac80211 hold no queue, and minstrel_ht hears of no "
    "A-MPDU: `lasthop emulate --build-kernel --wifi` in a source tree, or with --patch, makes one that does"
)


class Finding(NamedTuple):
    """One line: `ok`, `--` for something optional that is absent, or `!!` for what must be mended."""

    mark: str
    text: str


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds no arguments."""


def execute(_arguments: argparse.Namespace) -> int:
    """Prints the findings; 1 if one must be mended."""
    findings = list(_findings())
    for finding in findings:
        sys.stdout.write(f"{finding.mark}  {finding.text}\n")
    return 1 if any(finding.mark == "!!" for finding in findings) else 0


def _findings() -> Iterator[Finding]:
    yield Finding("ok", f"lasthop {_core.__version__} in {Path(__file__).parents[2]}")
    yield Finding("ok", f"Python {platform.python_version()} on {platform.platform()}")
    yield Finding("ok", f"engine {_core.__file__}, {len(json.loads(_core.list_json()))} things to choose by name")
    yield _engine_build()
    yield _versions_agree()
    yield Finding("ok", f"{core_count()} cores for runs in parallel")
    for package in PACKAGES:
        yield _package(package)
    for layer in LAYERS:
        yield _layer(layer)
    yield _writable(Path.cwd())
    for peer, command in PEERS.items():
        yield _peer(peer, command)
    if sys.platform == "linux":
        yield from _emulation()


def _emulation() -> Iterator[Finding]:
    yield _tun()
    yield _user_namespaces()
    yield _realtime()
    for kernel in KERNELS:
        yield _kernel(kernel)
    yield from _wifi_stack()
    yield _bpf()


def _engine_build() -> Finding:
    if _core.profile_guided:
        return Finding("ok", "engine compiled with a profile of its own runs")
    return Finding("--", "engine compiled without a profile: `make fast` makes one that takes less time")


def _installed(name: str) -> str | None:
    """The version of an installed package."""
    from importlib import metadata

    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def _versions_agree() -> Finding:
    installed = _installed("lasthop")
    if installed is None:
        return Finding("--", "not installed as a package; running from its source")
    if installed != _core.__version__:
        return Finding("!!", f"package {installed} beside engine {_core.__version__}: install again, e.g. `make build`")
    return Finding("ok", f"package {installed} fits the engine")


def _package(name: str) -> Finding:
    if (installed := _installed(name)) is None:
        return Finding("!!", f"{name} is not installed: `pip install {name}`")
    return Finding("ok", f"{name} {installed}")


def _layer(name: str) -> Finding:
    if reason := lacks(name):
        return Finding("--", f"lasthop[{name}] {reason}")
    return Finding("ok", f"lasthop[{name}]: {', '.join(f'{one} {_installed(one)}' for one in LAYERS[name])}")


def _writable(directory: Path) -> Finding:
    try:
        check_writable(directory / "lasthop")
    except OSError as error:
        return Finding("!!", f"{directory} cannot be written to: {error.strerror}")
    return Finding("ok", f"{directory} can be written to")


def _peer(name: str, command: str) -> Finding:
    path = shutil.which(command)
    if path is None:
        return Finding("--", f"{name} (`{command}`) is not installed; only comparing speed with it needs it")
    return Finding("ok", f"{name} at {path}")


def _tun() -> Finding:
    if not TUN.exists():
        return Finding("--", f"{TUN} does not exist; `emulate --time real` needs it: `modprobe tun` as root")
    if not os.access(TUN, os.R_OK | os.W_OK):
        return Finding(
            "--", f"{TUN} cannot be opened by this user; `emulate --time real` needs it: `chmod 0666 {TUN}` as root"
        )
    return Finding("ok", f"{TUN} can be opened: emulation in real time")


def _user_namespaces() -> Finding:
    if os.geteuid() == 0:
        return Finding("ok", "root needs no user namespaces for emulation")
    if _succeeds(IN_USER_NAMESPACE):
        return Finding("ok", "user namespaces can be made: emulation without root")
    return Finding(
        "--",
        "user namespaces cannot be made; `emulate` needs them unless it runs as root: `sysctl user.max_user_namespaces=10000`, "
        "and where they exist `kernel.unprivileged_userns_clone=1` and `kernel.apparmor_restrict_unprivileged_userns=0`, as root",
    )


def _realtime() -> Finding:
    if _succeeds(WITH_REALTIME_PRIORITY):
        return Finding("ok", "SCHED_FIFO may be asked for: emulation in real time is less late")
    return Finding(
        "--",
        "SCHED_FIFO is refused; without it `emulate --time real` is later: a line `NAME - rtprio 50` in "
        "/etc/security/limits.conf, or CAP_SYS_NICE",
    )


def _kernel(choice: str) -> Finding:
    try:
        kernel = find_kernel(choice)
    except EmulationError as error:
        return Finding("--", error.sentence)
    if not kernel.time_travel and not PRELOAD.exists():
        return Finding("--", f"kernel for virtual time, {choice}: {kernel.path} needs {PRELOAD}; `make build` makes it")
    return Finding("ok", f"kernel for virtual time, {choice}: Linux {kernel.version} in {kernel.path}")


def _wifi_stack() -> Iterator[Finding]:
    """The parts for `[emulation] wifi_stack = "kernel"`, and the limits of radios of hwsim."""
    try:
        kernel = find_kernel("own", wifi=True)
    except EmulationError as error:
        yield Finding("--", error.sentence)
    else:
        yield Finding("ok", f"kernel with a Wi-Fi stack of its own: Linux {kernel.version} in {kernel.path}")
        if not kernel.holds_back:
            yield Finding("--", HWSIM_LACKS)
    if missing := missing_daemons():
        yield Finding(
            "--",
            f"{' and '.join(missing)} not found; a kernel's Wi-Fi stack needs them: `apt install {' '.join(missing.values())}` as root",
        )
    else:
        yield Finding("ok", "hostapd and wpa_supplicant: access points and stations of a kernel's Wi-Fi stack")


def _bpf() -> Finding:
    if (reason := hosts.why_not()) is not None:
        return Finding("--", f"`lasthop host`: {reason}")
    return Finding("ok", "programs can be loaded into this kernel: `lasthop host list`")


def _succeeds(program: str) -> bool:
    command = (sys.executable, "-I", "-S", "-c", program)
    return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False).returncode == 0
