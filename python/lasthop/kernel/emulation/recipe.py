"""The recipe of a kernel for virtual time: its options, its tick, and a reproducible build.

The options are in `kernel.config` (the build must have each of them), `algorithms.config` (taken if the
source has them) and, for a kernel whose Wi-Fi stack shall run, `wifi.config` (each of them). Two properties are no options:

- **The tick.** User Mode Linux has 100 Hz without a choice, so retransmission timers would count 10 ms. The root of the
  configuration gets a default of 1000 Hz in front, which the profile `linux` has too.
- **Names of a build.** The kernel mixes its version string into its random pool, and that string has a date, a user
  and a host. All three are fixed.
"""

from __future__ import annotations

import hashlib
import os
import re
from pathlib import Path

HZ = 1000
TICK = f"config HZ\n\tint\n\tdefault {HZ}\n"
HERE = Path(__file__).parent
NEEDED = HERE / "kernel.config"
WELCOME = HERE / "algorithms.config"
WIFI = HERE / "wifi.config"
# Options that a later Linux has under another name; 7.3 has sysctls whether or not /proc shows them.
LATER = {"CONFIG_PROC_SYSCTL": "CONFIG_SYSCTL"}
OPTION = re.compile(r"^(CONFIG_\w+)=(.*)$", re.MULTILINE)
BUILD_NAMES = {
    "KBUILD_BUILD_TIMESTAMP": "Thu Jan  1 00:00:00 UTC 1970",
    "KBUILD_BUILD_USER": "lasthop",
    "KBUILD_BUILD_HOST": "lasthop",
    "KBUILD_BUILD_VERSION": "1",
}


def digest(source_name: str, *, wifi: bool = False, patch: Path | None = None) -> str:
    """Names a kernel that is built in this way from that source, changed by that patch."""
    added = ((WIFI.read_text(),) if wifi else ()) + ((patch.read_text(encoding="utf-8"),) if patch else ())
    parts = (source_name, NEEDED.read_text(), WELCOME.read_text(), *added, TICK, repr(sorted(BUILD_NAMES.items())))
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:12]


def environment() -> dict[str, str]:
    """The environment of a build; from the user's it has only PATH and HOME."""
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "TMPDIR") if name in os.environ}
    return kept | BUILD_NAMES | {"LC_ALL": "C", "ARCH": "um"}


def options(*, wifi: bool = False) -> str:
    """The lists as one file, from which everything else is switched off."""
    parts = NEEDED.read_text(), WELCOME.read_text(), WIFI.read_text() if wifi else ""
    return "".join(parts) + "".join(f"{later}=y\n" for later in LATER.values())


def root_of_configuration(kconfig: str) -> str:
    """The text of a source's `Kconfig` with our tick in front; of several defaults, the first one counts."""
    head, line, rest = kconfig.partition('source "scripts/Kconfig.include"\n')
    return f"{head}{line}\n{TICK}{rest}" if line else f"{TICK}{kconfig}"


def refused(config: str, *, wifi: bool = False) -> list[str]:
    """The needed options that a finished `.config` does not have, and the tick if it is another."""
    got = dict(OPTION.findall(config))
    needed = NEEDED.read_text() + (WIFI.read_text() if wifi else "")
    wanted = [*OPTION.findall(needed), ("CONFIG_HZ", str(HZ))]
    return [f"{name}={value}" for name, value in wanted if value not in (got.get(name), got.get(LATER.get(name, "")))]


def absent(config: str) -> list[str]:
    """The algorithms that the source does not have."""
    got = dict(OPTION.findall(config))
    return [name for name, value in OPTION.findall(WELCOME.read_text()) if got.get(name) != value]
