"""The User Mode Linux kernels of this machine: our own, the distribution's, or one at a path."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from .cache import built_kernels, patch_of
from .error import EmulationError
from .paths import PROGRAMS_PATH

STOCK = "linux.uml"
STOCK_MODULES = Path("/usr/lib/uml/modules")
WIFI = "CONFIG_MAC80211_HWSIM=y"
BUILD_WITH_WIFI = "`lasthop emulate --build-kernel --wifi` builds one in some minutes"
TIME_TRAVEL = "CONFIG_UML_TIME_TRAVEL_SUPPORT=y"
# By name of a function, an initialisation can be left out; that needs the names.
NAMES = "CONFIG_KALLSYMS=y"
SERIES = re.compile(r"\d+\.\d+")
VERSION = re.compile(r"\d+\.\d+\S*")
TICKS = re.compile(r"^CONFIG_HZ=(\d+)$", re.MULTILINE)
# The default of User Mode Linux.
USUAL_HZ = 100
TIMEOUT_S = 10.0
# Access points and stations of a Wi-Fi stack of a kernel.
DAEMONS = {"hostapd": "hostapd", "wpa_supplicant": "wpasupplicant"}


@dataclass(frozen=True)
class Kernel:
    """A kernel that a guest can be booted with."""

    path: Path
    version: str
    kind: Literal["own", "stock", "path"]
    time_travel: bool
    """whether its virtual time is its own (`time-travel=inf-cpu`); otherwise it comes of a library that is preloaded"""
    virtual: Literal["exact", "approximate"]
    """whether the same seed gives the same run to the bit"""
    hz: int
    """ticks of its clock in a second, by which timers of TCP count"""
    wifi: bool = False
    """whether it has a Wi-Fi stack with radios of mac80211_hwsim"""
    holds_back: bool = False
    """whether they leave frames in the queues of mac80211, as those of `kernel/patches` do; of a kernel at a path it is not known"""

    def module(self, place: str) -> Path | None:
        """The file of a module such as `drivers/net/tun`; None if the kernel lacks it."""
        path = STOCK_MODULES / self.version / "kernel" / f"{place}.ko"
        return path if path.exists() else None

    def modules(self, places: Iterable[str]) -> list[Path]:
        """The files of those modules that the kernel has, each after the modules that it depends on."""
        directory = STOCK_MODULES / self.version
        needs = _dependencies(directory / "modules.dep")
        wanted = [path for place in places if (path := self.module(place)) is not None]
        ordered = [file for path in wanted for file in (*(directory / need for need in needs.get(path, ())), path)]
        return list(dict.fromkeys(ordered))


def _dependencies(table: Path) -> dict[Path, list[str]]:
    """By module: the modules that it needs, in the order of loading. The table of depmod has them in reverse."""
    lines = table.read_text(encoding="utf-8").splitlines() if table.exists() else []
    pairs = (line.partition(":") for line in lines)
    return {table.parent / name: needs.split()[::-1] for name, _, needs in pairs}


def find_kernel(choice: str | Path, *, wifi: bool = False) -> Kernel:
    """The kernel called `own` or `stock`, the newest built of a version such as `6.12`, or the one at a path.

    Raises `EmulationError` with a remedy if it is missing.

    With `wifi` it has a Wi-Fi stack of its own, which the stock one lacks.
    """
    if choice == "own":
        return _own_with_wifi() if wifi else _own()
    if isinstance(choice, str) and SERIES.fullmatch(choice):
        return _of_version(choice, wifi=wifi)
    kernel = _stock() if choice == "stock" else _at(Path(choice), "path")
    if wifi and not kernel.wifi:
        raise EmulationError(f"{kernel.path} has no radios of mac80211_hwsim: {BUILD_WITH_WIFI}")
    return kernel


def _of_version(version: str, *, wifi: bool) -> Kernel:
    built = _built(wifi=wifi)
    found = [kernel for kernel in built if re.match(rf"{re.escape(version)}(?!\d)", kernel.version)]
    if not found:
        there = ", ".join(sorted({kernel.version for kernel in built})) or "none"
        raise EmulationError(
            f"no kernel of version {version}{' with a Wi-Fi stack' * wifi} has been built (built: {there}): "
            f"`lasthop emulate --build-kernel --version {version}{' --wifi' * wifi}` does so in a few minutes"
        )
    return _best(found)


def _built(*, wifi: bool) -> list[Kernel]:
    return [_at(path, "own") for path in built_kernels(wifi=wifi)]


def _best(kernels: Iterable[Kernel]) -> Kernel:
    """The newest of those whose radios hold frames back, if there are such, else of all."""
    return max(kernels, key=lambda kernel: (kernel.holds_back, _order(kernel.version)))


def _own() -> Kernel:
    built = _built(wifi=False)
    if not built:
        raise EmulationError(
            "no kernel for virtual time has been built: `lasthop emulate --build-kernel` does so in a few minutes, "
            "and `--kernel stock` takes the distribution's"
        )
    return _best(built)


def _own_with_wifi() -> Kernel:
    built = _built(wifi=True)
    if not built:
        raise EmulationError(f"no kernel with a Wi-Fi stack has been built: {BUILD_WITH_WIFI}")
    return _best(built)


def missing_daemons() -> dict[str, str]:
    """The programs that a Wi-Fi stack of a kernel needs and this machine lacks, with their packages of Debian."""
    return {name: package for name, package in DAEMONS.items() if shutil.which(name, path=PROGRAMS_PATH) is None}


def _stock() -> Kernel:
    found = shutil.which(STOCK)
    if found is None:
        raise EmulationError(f"{STOCK} is not installed: `apt install user-mode-linux` as root, or `--kernel own`")
    return _at(Path(found), "stock")


def _at(path: Path, kind: Literal["own", "stock", "path"]) -> Kernel:
    """Raises `EmulationError` where `path` is not a kernel that starts."""
    version = VERSION.fullmatch(_says(path, "--version").strip())
    if version is None:
        raise EmulationError(f"{path} is not a User Mode Linux kernel: it prints no version with --version")
    config = _says(path, "--showconfig")
    options = set(config.splitlines())
    ticks = TICKS.search(config)
    virtual: Literal["exact", "approximate"] = "exact" if options & {TIME_TRAVEL, NAMES} else "approximate"
    return Kernel(
        path.resolve(),
        version[0],
        kind,
        TIME_TRAVEL in options,
        virtual,
        int(ticks[1]) if ticks else USUAL_HZ,
        WIFI in options,
        kind == "own" and patch_of(path) is not None,
    )


def _says(path: Path, question: str) -> str:
    try:
        asked = subprocess.run(
            (path.resolve(), question),
            env={},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=TIMEOUT_S,
            check=False,
        )
    except OSError as error:
        raise EmulationError(f"{path} cannot be run as a kernel: {error.strerror}") from error
    except subprocess.TimeoutExpired as error:
        raise EmulationError(f"{path} is not a User Mode Linux kernel: it does not answer to {question}") from error
    return asked.stdout


def _order(version: str) -> tuple[int, ...]:
    return tuple(int(number) for number in re.findall(r"\d+", version))
