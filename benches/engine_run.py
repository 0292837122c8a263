"""Runs a scenario on a compiled module and nothing else, for valgrind: `engine_run.py MODULE FILE [--account] [path=value]...`"""

from __future__ import annotations

import sys
import time
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

POLL_S = 0.2


def main(module: str, file: str, *words: str) -> None:
    """Prints the result of seed 1."""
    spec = spec_from_file_location("_core", module)
    core = module_from_spec(spec)
    spec.loader.exec_module(core)
    settings = [tuple(word.split("=", 1)) for word in words if word != "--account"]
    resolved = core.resolve(Path(file).read_text(encoding="utf-8"), file, settings)
    campaign = core.Campaign(resolved, [1], 1, None, "--account" in words)
    while not campaign.is_done():
        time.sleep(POLL_S)
    (outcome,) = campaign.take_finished()
    print(outcome.run.json())


if __name__ == "__main__":
    main(*sys.argv[1:])
