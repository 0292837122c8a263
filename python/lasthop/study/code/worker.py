"""The process of a run whose code is in Python: `python -P worker.py JOB`, a file that `processes.py` has written.

Ctrl-C is for the process that has started it; when that has ended, this one ends too.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sys
import threading
from pathlib import Path


def main() -> None:
    """Carries out the job."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    text = Path(sys.argv[1]).read_text(encoding="utf-8")
    sys.path[:] = json.loads(text)["path"]
    from lasthop import _core
    from lasthop.study.code.watching import watch

    folder = Path(sys.argv[1]).parent
    threading.Thread(target=watch, args=(lambda where: _say(folder, where), threading.Event()), daemon=True).start()
    _core.run_job(text)


def _end_with_parent() -> None:
    """The parent holds the other end of standard input, and never writes."""
    os.read(0, 1)
    os._exit(1)


def _say(folder: Path, where: str | None) -> None:
    """Writes to `stuck` of the job's folder the place at which a call of the scenario's code is stuck."""
    with contextlib.suppress(OSError):  # the run is over
        reached = (folder / "virtual-time").read_text().split()[-1:] if (folder / "virtual-time").exists() else []
        at = f", called after {float(reached[0]):.4g} s of simulated time" if reached else ""
        new = folder / "stuck.new"
        new.write_text(f"{where}{at}" if where else "", encoding="utf-8")
        new.replace(folder / "stuck")


if __name__ == "__main__":
    main()
