"""`lasthop showcase`: runs one of the showcases, scripts that answer a question and check each claim of the answer."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path

from ..data.extras import lacks
from ..data.ready import showcase_question, showcase_title, showcases
from ._mistake import Mistake
from ._output import note, put
from ._parser import did_you_mean

# Named by docs/showcases/showing/places.py.
VARIABLE = "LASTHOP_SHOWCASES"
# Data frames, and the report of the air.
NEEDED = ("frames", "page")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of `lasthop showcase`."""
    parser.add_argument("name", metavar="NAME", help="name of a showcase (`lasthop list showcase`)")
    parser.add_argument(
        "--out",
        metavar="DIR",
        type=Path,
        default=Path("out") / "showcases",
        help="folder for the pictures and the report of the air (default: %(default)s)",
    )
    parser.add_argument("--print", action="store_true", help="print the script instead of running it")


def execute(arguments: argparse.Namespace) -> int:
    """Prints the question and each claim with its interval; status 1 if a claim does not hold."""
    script = _script(arguments.name)
    if arguments.print:
        put(script.read_text(encoding="utf-8"))
        return 0
    for layer in NEEDED:
        if reason := lacks(layer):
            raise Mistake(f"showcase {arguments.name}: {reason}")
    put(f"{showcase_title(script)}\n\n{showcase_question(script)}\n\n")
    sys.stdout.flush()
    arguments.out.mkdir(parents=True, exist_ok=True)
    # A process of its own: a showcase changes matplotlib and is stopped by itself.
    environment = {**os.environ, VARIABLE: str(arguments.out.resolve())}
    environment["PYTHONPATH"] = os.pathsep.join([str(Path(__file__).resolve().parents[2]), *_inherited()])
    done = subprocess.run(
        [sys.executable, str(script)], env=environment, check=False, stderr=subprocess.PIPE, text=True
    )
    if done.returncode:
        note(f"showcase {arguments.name}: {_last_line(done.stderr)}")
        return 1
    for file in sorted(arguments.out.glob(f"{arguments.name}*")):
        if file.stem == arguments.name or file.stem.startswith(f"{arguments.name}-"):
            note(f"{file}: written")
    return 0


def _script(name: str) -> Path:
    known = showcases()
    if name not in known:
        raise Mistake(f"{name}: unknown showcase{did_you_mean(name, known)}; `lasthop list showcase` names them")
    return known[name]


def _inherited() -> list[str]:
    before = os.environ.get("PYTHONPATH")
    return [before] if before else []


def _last_line(text: str) -> str:
    """The error of a script: the last line of its traceback, without the name of the exception."""
    lines = text.strip().splitlines()
    return lines[-1].removeprefix("AssertionError: ") if lines else "the script ended without a word"
