"""Mutated claim files: each is read and rehearsed, and has to come out as a sentence or as a plan.

`test_claim_safety.py` runs some; by hand: `python tests/python/claim_fuzz.py COUNT [SEED]`, which tells what was found.
A hook of Python's audit sees what is opened, started or sent meanwhile.
"""

from __future__ import annotations

import os
import random
import re
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import numpy.ma  # noqa: F401 - loaded by numpy at its first use, which would count as a file that was opened
from lasthop import ScenarioError
from lasthop.papers import PaperError, read_paper
from lasthop.papers.rehearsal import Planner

ROOT = Path(__file__).resolve().parents[2]
# Values of every kind and size in TOML, and others that it lacks.
VALUES = (
    *(
        "0",
        "-1",
        "1",
        "true",
        "1e999",
        "nan",
        "-inf",
        "9223372036854775807",
        "1000000000",
        "0.1",
        '""',
        '"x"',
        "[]",
        "{}",
    ),
    *(
        "[1, [2]]",
        '["a", {}]',
        "1979-05-27",
        '"\\u001b[2J"',
        '"../../../../etc/passwd"',
        '"/dev/zero"',
        "{ a = { b = 1 } }",
    ),
    *("'''\n'''", '"\\u0000"', "9" * 5000, "[" * 2000, '"' + "x" * 5000 + '"'),
)
EXPRESSIONS = (
    *('array([1.0]).tofile("pwned")', 'array([1.0]).dump("pwned")', "array([1]).ctypes.data", '"".__class__', "x.y"),
    *(
        '"a" * 10**10',
        "array(range(10**10))",
        "((9**99)**99)**99",
        "[0] * 10**9",
        "range(10**6)",
        "1 / 0",
        "1 % 0",
        "0.0 ** -1",
    ),
    *("[1 for a in range(1000) for b in range(1000)]", "[[c for c in range(1000)] for b in range(1000)]", "(" * 300),
    *(
        "-" * 3000 + "1",
        "+".join(["1"] * 3000),
        'f"{1}"',
        '"{}".format(1)',
        "lambda: 1",
        "__import__('os')",
        "open('pwned', 'w')",
    ),
    *(
        "round(5, -10**9)",
        "same_slot(10**9, 10**9)",
        "(-1) ** 0.5",
        "1e308 * 10",
        "9" * 400,
        "None",
        "[]",
        "()",
        '"text"',
        "min([])",
    ),
    *(
        "[c for a in [[1, 1]] for a in [[a, a]] for a in [[a, a]]]",
        "x",
        "row",
        "[x]",
        "zip([1], [2])",
        "mean([])",
        "quantile([1], 2)",
    ),
    *(
        'total("abc")',
        "std([1])",
        "log(0)",
        "sqrt(-1)",
        "jain([0])",
        "array([[1]])",
        "array([1, 2])[5]",
        "array([1])[0.5]",
        "1 in 5",
    ),
)
WORDS = (
    "array",
    "range",
    "(",
    ")",
    "[",
    "]",
    "+",
    "*",
    "**",
    "-",
    "/",
    "for",
    "in",
    "if",
    "else",
    "not",
    ",",
    ".",
    "=",
    "0",
    "10**9",
)
# Events that a claim file must not cause; `open` is checked by mode and place.
FORBIDDEN = ("subprocess.", "os.system", "os.exec", "os.posix_spawn", "os.spawn", "os.fork", "socket.", "ctypes.")
FORBIDDEN += (
    "os.remove",
    "os.rename",
    "os.mkdir",
    "os.rmdir",
    "os.link",
    "os.symlink",
    "os.chmod",
    "os.truncate",
    "shutil.",
)
WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND

_watched: list[tuple[Path, list[str], bool]] = []


def _on_audit(event: str, arguments: tuple) -> None:
    if not _watched:
        return
    folder, seen, only_inside = _watched[-1]
    if event.startswith(FORBIDDEN):
        seen.append(f"{event} {arguments}"[:200])
    elif event == "open":
        file, mode, flags = arguments
        writes = bool(flags & WRITING) if isinstance(flags, int) else bool(set(str(mode)) & set("wax+"))
        inside = isinstance(file, str | bytes | os.PathLike) and Path(
            os.path.realpath(os.fsdecode(file))
        ).is_relative_to(folder)
        if (writes or not inside) if only_inside else (writes and not inside):
            seen.append(f"open {file!r} {mode} {flags}")


@contextmanager
def watched(folder: Path, *, inside: bool = True) -> Iterator[list[str]]:
    """Files opened for writing or outside `folder`, and processes and sockets, in this block. Without `inside` files may be read anywhere, and written in `folder`."""
    if not getattr(watched, "is_hooked", False):
        sys.addaudithook(_on_audit)
        watched.is_hooked = True
    seen: list[str] = []
    _watched.append((folder.resolve(), seen, inside))
    try:
        yield seen
    finally:
        _watched.pop()


class Found(NamedTuple):
    """What came of one file."""

    kind: str
    said: str
    seen: list[str]
    cpu_s: float


def mutated(text: str, chance: random.Random) -> str:
    """`text` with one to three changes."""
    for _ in range(chance.choice((1, 1, 1, 2, 3))):
        text = chance.choice((_expression, _expression, _token, _value, _value, _line, _characters))(text, chance)
    return text


def _replaced(pattern: str, text: str, new: str, chance: random.Random) -> str:
    found = list(re.finditer(pattern, text, re.MULTILINE))
    if not found:
        return text
    match = chance.choice(found)
    return text[: match.start(1)] + new + text[match.end(1) :]


def _expression(text: str, chance: random.Random) -> str:
    new = chance.choice(EXPRESSIONS).replace("'", '"')
    return _replaced(r"(?:measure|y|x|rows) = '([^'\n]*)'", text, new, chance)


def _token(text: str, chance: random.Random) -> str:
    found = list(re.finditer(r"(?:measure|y|x|rows) = '([^'\n]*)'", text))
    if not found:
        return text
    match = chance.choice(found)
    parts = re.findall(r"\w+|\W", match[1])
    place = chance.randrange(len(parts) + 1)
    changed = "".join([*parts[:place], chance.choice(WORDS), *parts[place + chance.randrange(3) :]])
    return text[: match.start(1)] + changed + text[match.end(1) :]


def _value(text: str, chance: random.Random) -> str:
    return _replaced(r"^\s*[\w.\"-]+ = (.*)$", text, chance.choice(VALUES), chance)


def _line(text: str, chance: random.Random) -> str:
    lines = text.splitlines(keepends=True)
    place = chance.randrange(len(lines))
    if chance.random() < 0.5:
        del lines[place : place + chance.randrange(1, 4)]
    else:
        lines.insert(place, chance.choice(lines))
    return "".join(lines)


def _characters(text: str, chance: random.Random) -> str:
    place = chance.randrange(len(text))
    return (
        text[:place]
        + "".join(chr(chance.randrange(1, 0x250)) for _ in range(chance.randrange(3)))
        + text[place + chance.randrange(5) :]
    )


def outcome(file: Path, *, simulate: bool) -> Found:
    """Reads and rehearses a claim file; `simulate` also checks the names of metrics, by a short run of each case."""
    begun = time.process_time()
    with watched(file.parents[1]) as seen:
        try:
            planner = Planner(read_paper(file, quick=True))
            if not simulate:
                planner._vocabulary = lambda _case: None
            planner.check()
            kind, said = "plan", ""
        except (PaperError, ScenarioError) as error:
            kind, said = "sentence", str(error)
        except Exception as error:  # noqa: BLE001  whatever else comes is what is looked for
            kind, said = type(error).__name__, str(error)
    return Found(kind, said, seen, time.process_time() - begun)


def laid_out(folder: Path) -> list[str]:
    """A place for claim files, with the scenarios that they name; gives the texts to mutate."""
    shutil.copytree(ROOT / "scenarios", folder / "scenarios")
    (folder / "papers").mkdir()
    files = sorted((ROOT / "papers").glob("*.toml"))
    outcome(_written(folder, files[0].read_text(encoding="utf-8")), simulate=True)  # so that all modules are there
    return [file.read_text(encoding="utf-8") for file in files]


def _written(folder: Path, text: str) -> Path:
    file = folder / "papers" / "mutated.toml"
    file.write_text(text, encoding="utf-8", errors="replace")
    return file


def outcomes(
    folder: Path, texts: list[str], count: int, seed: int, simulate_each: int = 0
) -> Iterator[tuple[int, Found]]:
    """What comes of `count` mutated files; each has a seed of its own, so that one can be repeated."""
    for number in range(seed, seed + count):
        chance = random.Random(number)
        file = _written(folder, mutated(chance.choice(texts), chance))
        yield number, outcome(file, simulate=bool(simulate_each) and number % simulate_each == 0)


def is_wrong(found: Found) -> bool:
    """Whether this is what must not be: another exception, no sentence, something done, or too long."""
    one_line = found.kind == "plan" or (found.kind == "sentence" and found.said and "\n" not in found.said.strip())
    return not one_line or bool(found.seen) or found.cpu_s > 5


def main() -> None:
    count, seed = int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 1
    wrong = 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        texts, kinds, longest, begun = laid_out(folder), Counter(), (0.0, 0), time.perf_counter()
        for number, found in outcomes(folder, texts, count, seed, simulate_each=20):
            kinds[found.kind] += 1
            longest = max(longest, (found.cpu_s, number))
            if is_wrong(found):
                wrong += 1
                print(f"seed {number}: {found.kind} {found.said[:300]!r} {found.seen} {found.cpu_s:.1f} s")
        left = {str(file.relative_to(folder)) for file in folder.rglob("*") if file.is_file()}
        extra = left - {"papers/mutated.toml"} - {f"scenarios/{file.name}" for file in (ROOT / "scenarios").iterdir()}
        print(
            f"{count} files in {time.perf_counter() - begun:.0f} s, the longest {longest}: {dict(kinds)}; files made: {extra or 'none'}"
        )
    sys.exit(wrong > 0)


if __name__ == "__main__":
    main()
