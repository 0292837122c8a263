"""The source of the kernel that is built: the distribution's package, a tarball, or a tree."""

from __future__ import annotations

import hashlib
import os
import re
import tarfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from .error import EmulationError

PACKAGES = Path("/usr/src")
TARBALL = re.compile(r"linux-(source-)?[\d.]+[\w.-]*\.tar(\.\w+)?")
ENDING = re.compile(r"\.tar(\.\w+)?$")
# Large parts of which a build for User Mode Linux reads the rules only.
RULES_ALONE = re.compile(
    r"(arch/(?!um/|x86/)|drivers/(gpu|media|staging|infiniband|scsi|iio|accel)/|drivers/net/ethernet/"
    r"|drivers/net/wireless/(?!virtual/|mac80211_hwsim\.)|sound/"
    r"|tools/(testing|perf)/|Documentation/)"
)
RULES = re.compile(r"Kconfig[\w.-]*|Makefile[\w.-]*|Kbuild[\w.-]*")


@dataclass(frozen=True)
class Source:
    """A tree, or a tarball that becomes one."""

    name: str
    path: Path

    @property
    def is_tree(self) -> bool:
        """Whether it is there already; a tree is read, never written."""
        return self.path.is_dir()

    def unpack(self, into: Path, progress: Callable[[int, int], None]) -> Path:
        """The root of the tree below `into`. `progress` receives the bytes read of the tarball, and their total."""
        total = self.path.stat().st_size
        try:
            with self.path.open("rb") as compressed, tarfile.open(fileobj=compressed) as archive:
                # Files stay inside `into`, and have no owners; Python can do that since 3.11.4.
                archive.extraction_filter = getattr(tarfile, "data_filter", lambda member, _path: member)
                for number, member in enumerate(_wanted(archive)):
                    archive.extract(member, into)
                    if number % 500 == 0:
                        progress(compressed.tell(), total)
        except (OSError, tarfile.TarError) as error:
            raise EmulationError(f"{self.path} cannot be unpacked into {into}: {error}") from error
        return root_of_tree(into, self.path)


def find_source(given: Path | None, version: str | None = None) -> Source:
    """Returns the given source, or the distribution's package of that version (`7.3`), or its newest.

    Raises `EmulationError` if there is none.
    """
    if given is None:
        return _package(version)
    if given.is_dir():
        if not (given / "arch/um/Kconfig").exists():
            raise EmulationError(f"{given} is not a source tree of Linux: it has no arch/um/Kconfig")
        if (given / ".config").exists():
            raise EmulationError(
                f"{given} has been built in place: run `make mrproper` there, which deletes its .config, or give another"
            )
        return Source(_name_of_tree(given.resolve()), given.resolve())
    if given.is_file():
        return Source(ENDING.sub("", given.name), given.resolve())
    raise EmulationError(f"{given} does not exist: give a source tree of Linux or its tarball")


def root_of_tree(directory: Path, source: Path) -> Path:
    """The directory in a tarball that has the tree."""
    found = sorted(directory.glob("*/arch/um/Kconfig"))
    if not found:
        raise EmulationError(f"{source} holds no source tree of Linux: it has no arch/um/Kconfig")
    return found[0].parents[2]


def _name_of_tree(tree: Path) -> str:
    """The path distinguishes two trees of one name."""
    return f"{tree.name}-at-{hashlib.sha256(os.fsencode(tree)).hexdigest()[:6]}"


def _package(version: str | None) -> Source:
    found = (
        [path for path in PACKAGES.rglob("linux-*.tar*") if TARBALL.fullmatch(path.name)] if PACKAGES.is_dir() else []
    )
    if version is not None:
        found = [path for path in found if re.match(rf"linux-(source-)?{re.escape(version)}\b", path.name)]
    if not found and version is not None:
        raise EmulationError(
            f"no source of Linux {version} lies below {PACKAGES}: `apt install linux-source-{version}` as root brings it where "
            f"the distribution has it; `dpkg-deb -x` unpacks the package of a newer suite, whose tarball --source takes"
        )
    if not found:
        raise EmulationError(
            f"no source of Linux lies below {PACKAGES}: `apt install linux-source` as root brings one; or give a tree or a tarball"
        )
    newest = max(found, key=lambda path: [int(number) for number in re.findall(r"\d+", path.name)])
    return Source(ENDING.sub("", newest.name), newest)


def _wanted(archive: tarfile.TarFile) -> Iterator[tarfile.TarInfo]:
    for member in archive:
        _top, _, inside = member.name.partition("/")
        if not RULES_ALONE.match(inside) or member.isdir() or RULES.fullmatch(Path(inside).name):
            yield member
