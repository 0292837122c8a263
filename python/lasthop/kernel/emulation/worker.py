"""The emulator's process: `python -I -S worker.py JOB`, with the file of a job that `campaign.py` has written.

It loads the engine by itself, without the package, so that a guest starts in a moment and depends on no module that the
package imports. Its exit status is 0 if the job's directory has a result, or a sentence with the reason for its absence.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import sys
from pathlib import Path
from types import ModuleType


def engine(path: str) -> ModuleType:
    """The engine alone."""
    spec = importlib.util.spec_from_file_location("_core", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def stand_in(core: ModuleType) -> None:
    """The parts of the package `lasthop` that code of a scenario extends, and its loading."""
    package = ModuleType("lasthop")
    package.__path__ = [str(Path(__file__).parents[2])]
    sys.modules |= {"lasthop": package, "lasthop._core": core}
    bases = importlib.import_module("lasthop.study.code.bases")
    for name, base in bases.BASES.items():
        setattr(package, name, base)


def main() -> None:
    """Carries out the job."""
    text = Path(sys.argv[1]).read_text(encoding="utf-8")
    job = json.loads(text)
    core = engine(job["engine"])
    if job["code"]:
        stand_in(core)
    try:
        core.emulate(text)
    except OSError as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
