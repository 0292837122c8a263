"""Builds a kernel for virtual time, once for each source and recipe.

Below the kernel's directory in the cache, `work/source` and `work/build` exist as long as the build goes on. One that was
interrupted is resumed. The finished kernel is moved into its place in one step, with its configuration,
and the rest is removed.
"""

from __future__ import annotations

import fcntl
import os
import platform
import re
import shutil
import signal
import subprocess
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple, TextIO

from . import recipe
from .cache import NAME, place_of
from .error import EmulationError
from .patch import NAME as PATCH
from .patch import apply, find_patch
from .source import Source, find_source, root_of_tree

# Number of files that a build compiles of Linux 6.12, including host programs.
COMPILED = 660
# Besides, of cfg80211, mac80211, hwsim and their ciphers.
COMPILED_OF_WIFI = 150
MACHINE = "x86_64"
COMPILES = re.compile(r"^\s+(CC|AS|HOSTCC)\s")
LAST_LINES = 20
# Programs that a build starts, and the packages of Debian that have them.
PROGRAMS = {
    "gcc": "gcc", "ld": "binutils", "make": "make", "flex": "flex", "bison": "bison", "bc": "bc", "perl": "perl",
}  # fmt: skip


class BuildStep(NamedTuple):
    """How far a build is."""

    doing: str
    """`unpacking`, `configuring` or `compiling`"""
    done: int
    """of `total`: bytes of the tarball, or files compiled"""
    total: int
    """an estimate where files are compiled, but never below `done`"""


Progress = Callable[[BuildStep], None]


def build_kernel(
    source: Path | None = None,
    progress: Progress = lambda _step: None,
    *,
    version: str | None = None,
    wifi: bool = False,
    patch: Path | None = None,
) -> Path:
    """The kernel that comes of `source` (a tree, a tarball, or by default the distribution's package), built unless it is there.

    `version`, such as `7.3`, chooses among the distribution's packages. With `wifi` it has a Wi-Fi stack of its own, for `[emulation] wifi_stack = "kernel"`, whose radios `patch` lets hold frames back; without
    one given, that of lasthop's source tree does, if it fits. A tree of Linux is not changed. Raises `EmulationError` if the source or a program is missing, if the source
    refuses a needed option or the given patch, and if the build fails.
    """
    found = find_source(source, version)
    if patch is not None and (found.is_tree or not wifi):
        raise EmulationError("--patch: it changes what a tarball brings, for --wifi; in a tree apply it yourself")
    wanted = find_patch(patch) if wifi and not found.is_tree else None
    for which in (wanted, None) if patch is None else (wanted,):
        place = place_of(found.name, wifi=wifi, patch=which)
        if (place / NAME).exists() and not found.is_tree:
            return place / NAME
        _check_machine()
        with _alone(place) as lock:
            if (place / NAME).exists() and not found.is_tree:
                return place / NAME
            if _build(found, place, lock, progress, wifi=wifi, patch=which):
                return place / NAME
    raise EmulationError(f"--patch: {patch} does not fit the source {found.path}")


def _build(source: Source, place: Path, lock: TextIO, progress: Progress, *, wifi: bool, patch: Path | None) -> bool:
    """Returns whether the patch fits; without one, true."""
    work = place / "work"
    tree = _tree(source, work, progress)
    changed = work / PATCH
    if patch is not None and not changed.exists():
        if not apply(patch, tree):
            shutil.rmtree(place)
            return False
        shutil.copy(patch, changed)
    build = work / "build"
    build.mkdir(parents=True, exist_ok=True)
    make = _Make(tree, build, place / "build.log", lock, COMPILED + COMPILED_OF_WIFI * wifi)
    progress(BuildStep("configuring", 0, 1))
    _configure(make, tree, build, wifi=wifi)
    make.run("linux", progress)
    shutil.copy(build / ".config", place / "config")
    if patch is not None:
        os.replace(changed, place / PATCH)
    os.replace(build / NAME, place / NAME)
    shutil.rmtree(work)
    return True


def _tree(source: Source, work: Path, progress: Progress) -> Path:
    """The source as a tree; a tarball is unpacked under another name, so that a half is never taken for the whole."""
    if source.is_tree:
        return source.path
    unpacked, partial = work / "source", work / "source.partial"
    if not unpacked.exists():
        shutil.rmtree(partial, ignore_errors=True)
        partial.mkdir(parents=True)
        source.unpack(partial, lambda done, total: progress(BuildStep("unpacking", done, total)))
        partial.rename(unpacked)
    return root_of_tree(unpacked, source.path)


def _configure(make: _Make, tree: Path, build: Path, *, wifi: bool) -> None:
    """Writes `.config`, unless the interrupted build has the same one, and checks the configuration that results."""
    wanted = build / "wanted.config"
    if not (build / ".config").exists():
        wanted.write_text(recipe.options(wifi=wifi))
        make.kconfig.write_text(recipe.root_of_configuration((tree / "Kconfig").read_text()))
        make.run("allnoconfig", variables=(f"KCONFIG_ALLCONFIG={wanted}",))
    refused = recipe.refused((build / ".config").read_text(), wifi=wifi)
    if refused:
        (build / ".config").unlink()
        raise EmulationError(
            f"{tree} does not give a kernel for virtual time: it refuses {', '.join(refused)}; take a later source"
        )


class _Make:
    """Calls of `make` for one build; all of them write to one log."""

    def __init__(self, tree: Path, build: Path, log: Path, lock: TextIO, files: int) -> None:
        self.tree, self.build, self.log, self.lock, self.files = tree, build, log, lock, files
        self.kconfig = build / "Kconfig.lasthop"

    def run(self, target: str, progress: Progress | None = None, variables: tuple[str, ...] = ()) -> None:
        """Makes `target`; raises `EmulationError` with the last lines if that fails."""
        command = ("make", "-C", str(self.tree), f"O={self.build}", f"KBUILD_KCONFIG={self.kconfig}", *variables)
        last: deque[str] = deque(maxlen=LAST_LINES)
        done = sum(1 for _ in self.build.rglob(".*.o.cmd"))
        with self.log.open("a") as log, self._started((*command, f"-j{os.cpu_count() or 1}", target)) as process:
            try:
                for line in _counted(process, progress, done, self.files):
                    log.write(line)
                    last.append(line)
            except BaseException:
                os.killpg(process.pid, signal.SIGTERM)
                raise
        if process.returncode != 0:
            raise EmulationError(
                f"`make {target}` failed in {self.build}; its output is in {self.log}", "".join(last).rstrip()
            )

    def _started(self, command: tuple[str, ...]) -> subprocess.Popen[str]:
        # The lock goes along: if this process is killed and make lives on, no second build gets in its way.
        return subprocess.Popen(
            command, env=recipe.environment(), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            text=True, errors="replace", process_group=0, pass_fds=(self.lock.fileno(),),
        )  # fmt: skip


def _counted(process: subprocess.Popen[str], progress: Progress | None, done: int, files: int) -> Iterator[str]:
    """The lines of a build of about that many files, as they come; each that is compiled counts, after those compiled before."""
    assert process.stdout is not None
    for line in process.stdout:
        yield line
        if progress and COMPILES.match(line):
            done += 1
            progress(BuildStep("compiling", done, max(files, done)))


@contextmanager
def _alone(place: Path) -> Iterator[TextIO]:
    """Holds the lock of a kernel's directory, which it makes."""
    try:
        place.mkdir(parents=True, exist_ok=True)
        with (place / "lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            yield lock
    except BlockingIOError as error:
        raise EmulationError(f"{place}: this kernel is being built already; wait for that to end") from error
    except OSError as error:
        raise EmulationError(
            f"{place}: no kernel can be built here: {error.strerror}; set XDG_CACHE_HOME to choose another place"
        ) from error


def _check_machine() -> None:
    if platform.machine() != MACHINE:
        raise EmulationError(
            f"User Mode Linux runs on {MACHINE} alone, and this is {platform.machine()}: use `--time real`"
        )
    missing = {program: package for program, package in PROGRAMS.items() if shutil.which(program) is None}
    if missing:
        raise EmulationError(
            f"a kernel cannot be built without {', '.join(missing)}: `apt install {' '.join(missing.values())}` as root, or the like"
        )
