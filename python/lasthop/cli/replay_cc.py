"""`lasthop replay-cc`: recorded traces of congestion controllers, replayed against those of the engine."""

from __future__ import annotations

import argparse
import gzip
import sys
import zlib
from pathlib import Path

from .. import _core
from ._mistake import Mistake

SUMMARY = "recorded traces of congestion controllers against the controllers here"
SKIPPED = 77


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What `lasthop replay-cc` accepts."""
    parser.add_argument("files", metavar="FILE", nargs="+", help="a trace as CSV, gzipped or not")


def execute(arguments: argparse.Namespace) -> int:
    """One line a file; 1 if one is out of tolerance, 77 if none is but one is skipped."""
    verdicts = []
    for file in arguments.files:
        try:
            line, verdict = _core.replay_cc(_read(Path(file)))
        except (ValueError, gzip.BadGzipFile, EOFError, zlib.error) as error:
            raise Mistake(f"{file}: {error}") from None
        sys.stdout.write(f"{file}: {line}\n")
        verdicts.append(verdict)
    if "fail" in verdicts:
        return 1
    return SKIPPED if "skip" in verdicts else 0


def _read(path: Path) -> str:
    data = path.read_bytes()
    return (gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data).decode()
