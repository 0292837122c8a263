"""The engines that are measured: the one of this tree, and beside a profile-guided one the plain build of the same sources.

`make fast` keeps the plain build in `target/guided/plain`. It is measured only while it is of the same sources.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
# Benchmarks that came with an installed package lie in its own folder data.
PACKAGE = next(place for place in (ROOT / "python" / "lasthop", ROOT.parent) if (place / "cli").is_dir())
EXTENSION = "_core.abi3.so"
PLAIN = ROOT / "target" / "guided" / "plain"
ASK = "import json; from lasthop import _core; print(json.dumps([_core.source_digest, _core.profile_guided]))"


class Engine(NamedTuple):
    """A build of the engine; `folder` is what Python's path has to begin with for it, None for that of this tree."""

    key: str
    label: str
    folder: Path | None = None

    @property
    def environment(self) -> dict[str, str]:
        """The environment in which `python -m lasthop` takes it."""
        return os.environ | ({"PYTHONPATH": str(self.folder)} if self.folder else {})

    @property
    def extension(self) -> Path:
        """The compiled module."""
        return (self.folder / "lasthop" if self.folder else PACKAGE) / EXTENSION


INSTALLED = Engine("lasthop", "lasthop")
PLAIN_BUILD = Engine("lasthop-plain", "lasthop, plain build", PLAIN)


def engines() -> list[Engine]:
    """The engine of this tree first; then the plain build, where that is another."""
    digest, guided = facts(INSTALLED)
    if guided and facts(PLAIN_BUILD) == (digest, False):
        return [INSTALLED._replace(label="lasthop, profile-guided"), PLAIN_BUILD]
    return [INSTALLED]


def facts(engine: Engine) -> tuple[str, bool] | None:
    """The digest of its sources, and whether it is profile-guided; None where it cannot be asked."""
    if not engine.extension.exists():
        return None
    done = subprocess.run(
        [sys.executable, "-c", ASK], env=engine.environment, capture_output=True, text=True, check=False
    )
    return tuple(json.loads(done.stdout)) if done.returncode == 0 else None


def keep_plain() -> None:
    """Keeps the engine of this tree as the plain build, if it is one: the package again, with this module in it."""
    known = facts(INSTALLED)
    if known is None or known[1]:
        return
    package = PLAIN / "lasthop"
    shutil.rmtree(PLAIN, ignore_errors=True)
    package.mkdir(parents=True)
    for entry in PACKAGE.iterdir():
        if entry.name != EXTENSION:
            (package / entry.name).symlink_to(entry)
    shutil.copy(PACKAGE / EXTENSION, package / EXTENSION)
