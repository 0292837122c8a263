"""The process of a run whose code is in Python: `python -P inside.py JOB`, a file that `processes.py` has written.

Ctrl-C is for the process that has started it, and where that has gone this one ends too.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sys
import threading
import time
from pathlib import Path
from types import FrameType

# A call of the scenario's code that takes longer than this is reported.
PATIENCE_S = float(os.environ.get("LASTHOP_PATIENCE_S", "10"))
LOOK_S = min(0.5, PATIENCE_S / 4)


def main() -> None:
    """Carries out the job."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    threading.Thread(target=_watch, args=(Path(sys.argv[1]).parent,), daemon=True).start()
    text = Path(sys.argv[1]).read_text(encoding="utf-8")
    sys.path[:] = json.loads(text)["path"]
    from lasthop import _core

    _core.run_job(text)


def _end_with_parent() -> None:
    """The parent holds the other end of standard input, and writes nothing."""
    os.read(0, 1)
    os._exit(1)


def _watch(folder: Path) -> None:
    """Tells in `stuck` of the job's folder where a call of the scenario's code stays that does not return for `PATIENCE_S`."""
    seen, since = None, 0.0
    while True:
        time.sleep(LOOK_S)
        call, line, file = _call_of_code()
        if call is not seen:
            if seen is not None:
                _say(folder, "")
            seen, since = call, time.monotonic()
        elif call is not None and time.monotonic() - since > PATIENCE_S:
            reached = (folder / "virtual-time").read_text().split()[-1:] if (folder / "virtual-time").exists() else []
            at = f", called after {float(reached[0]):.4g} s of simulated time" if reached else ""
            _say(folder, f"{file}:{line}: {call.f_code.co_qualname} has not returned for {PATIENCE_S:g} s{at}")


def _call_of_code() -> tuple[FrameType | None, int, str]:
    """The outermost call of the scenario's code that runs now, the line where that code is, and its file."""
    frame = sys._current_frames().get(threading.main_thread().ident or 0)
    outermost, line, file = None, 0, ""
    while frame is not None:
        if frame.f_globals.get("__name__", "").startswith("lasthop code "):
            line = line or frame.f_lineno
            outermost, file = frame, frame.f_code.co_filename
        frame = frame.f_back
    return outermost, line, file


def _say(folder: Path, text: str) -> None:
    with contextlib.suppress(OSError):  # the run is over
        new = folder / "stuck.new"
        new.write_text(text, encoding="utf-8")
        new.replace(folder / "stuck")


if __name__ == "__main__":
    main()
