"""Records every scenario of scenarios.json on this machine, replays it, and writes into docs/kernel.md where they differ."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

from recorder import why_not

from page import put

HERE = Path(__file__).parent
HEADING = "The endpoint beside this machine's kernel"
HEAD = """\
Written by `make kernel`, which needs root and `/dev/net/tun`. The kernel sends over a TUN device in an empty network
namespace; `tests/kernel/recorder.py` is the peer, the receiver and the path. Each scenario is recorded three times.
The `linux` profile then plays the same scenario in closed loop (`lasthop cc recovery`): same path, same receiver,
the host's own lateness taken from the recording. A row is a segment that left, an ACK that came in, or `tcp_info`
after it. `tests/kernel/chance.py` draws scenarios by chance in the same way.

Recorded from Linux {kernel}.

| scenario | what happens | kernel's runs alike | the `linux` profile |
|---|---|---|---|
"""


def record(folder: Path, names: list[str], runs: int) -> None:
    """Records scenarios in a process of its own, which has the namespace."""
    subprocess.run(
        [sys.executable, HERE / "recorder.py", *names, "--runs", str(runs), "--out", folder],
        check=True,
        stdout=subprocess.DEVNULL,
    )


def main() -> int:
    """Writes the page."""
    if reason := why_not():
        sys.stderr.write(f"kernel: {reason}\n")
        return 77
    from lasthop import _core

    with tempfile.TemporaryDirectory() as folder:
        names = list(json.loads((HERE / "scenarios.json").read_text()))
        record(Path(folder), names, runs=3)
        rows = []
        for name in names:
            text = (Path(folder) / f"{name}.json").read_text()
            document = json.loads(text)
            line = _core.replay_recovery(text)[1].replace("|", "/")
            rows.append(f"| {name} | {document['scenario']['desc']} | {document['identical_runs']} | {line} |\n")
    section = HEAD.format(kernel=document["kernel"]) + "".join(rows)
    put(HEADING, section)
    sys.stdout.write(section)
    return 0


if __name__ == "__main__":
    sys.exit(main())
