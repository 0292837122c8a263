"""A profile-guided engine: builds it instrumented, runs `training.py` with it, and builds it again with what was seen.

`make fast` puts it into the package of this tree; `make wheel` takes the profile alone, and `release/wheel.py` builds with it. Where it cannot be made (the profiles are read by
an `llvm-profdata` of the LLVM that rustc has), a sentence says what to install, and the plain engine stays.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from zipfile import ZipFile

from child import Failed
from engines import EXTENSION, PACKAGE, ROOT, keep_plain

WORK = ROOT / "target" / "guided"
MARK = "LASTHOP_PROFILE_GUIDED"
PROBE = 'fn main() { println!("{}", std::env::args().count()); }\n'


def main() -> int:
    """Makes the engine, or prints where its profile is; 1 with a sentence where that cannot be."""
    parser = argparse.ArgumentParser()
    parser.add_argument("what", choices=("engine", "profile"))
    arguments = parser.parse_args()
    try:
        profile = _profile()
        if arguments.what == "profile":
            sys.stdout.write(f"{profile}\n")
            return 0
        _say("builds the engine with the profile")
        wheel = _wheel(WORK / "guided", f"-Cprofile-use={profile}", guided=True)
        keep_plain()
        _install(wheel)
    except Failed as failure:
        _say(str(failure))
        return 1
    return 0


def _profile() -> Path:
    """What the training showed, in a file for `-Cprofile-use`."""
    profdata = find_profdata()
    _say(f"profiles are merged by {profdata}")
    raw = WORK / "raw"
    shutil.rmtree(raw, ignore_errors=True)
    _say("builds the engine instrumented")
    stage = _unpacked(_wheel(WORK / "instrumented", f"-Cprofile-generate={raw}", guided=False))
    _say("trains it")
    environment = os.environ | {"PYTHONPATH": str(stage), "LLVM_PROFILE_FILE": str(raw / "%p-%m.profraw")}
    _run([sys.executable, str(ROOT / "benches" / "training.py")], environment)
    profile = WORK / "lasthop.profdata"
    _run([profdata, "merge", "-o", str(profile), *map(str, raw.glob("*.profraw"))])
    return profile


def find_profdata(candidates: Sequence[str] | None = None) -> str:
    """A program that reads what this rustc's code writes, found by trying; raises `Failed` with what to install."""
    with TemporaryDirectory() as directory:
        probe = Path(directory)
        (probe / "probe.rs").write_text(PROBE, encoding="utf-8")
        try:
            _run(["rustc", f"-Cprofile-generate={probe}", "-o", str(probe / "probe"), str(probe / "probe.rs")])
            _run([str(probe / "probe")])
        except Failed as failure:
            raise Failed(f"no profile-guided engine: this rustc makes no instrumented code: {failure}") from None
        raw = [str(file) for file in probe.glob("*.profraw")]
        for program in _candidates() if candidates is None else candidates:
            try:
                _run([program, "merge", "-o", str(probe / "merged"), *raw])
            except Failed:
                continue
            return program
    raise Failed(
        "no profile-guided engine: no llvm-profdata here reads this rustc's profiles; "
        f"install it with `rustup component add llvm-tools`, or the package llvm-{_llvm_major()}"
    )


def _candidates() -> Iterator[str]:
    sysroot = Path(_run(["rustc", "--print", "sysroot"]).strip())
    yield from map(str, sysroot.glob("lib/rustlib/*/bin/llvm-profdata"))
    for name in (f"llvm-profdata-{_llvm_major()}", "llvm-profdata"):
        if program := shutil.which(name):
            yield program


def _llvm_major() -> str:
    version = re.search(r"LLVM version: (\d+)", _run(["rustc", "-vV"]))
    return version[1] if version else ""


def _wheel(out: Path, flag: str, *, guided: bool) -> Path:
    """Builds a wheel with a flag for rustc; with `guided` the engine says that it is one."""
    shutil.rmtree(out, ignore_errors=True)
    environment = os.environ | {"RUSTFLAGS": f"{os.environ.get('RUSTFLAGS', '')} {flag}".strip()}
    environment.pop(MARK, None)
    if guided:
        environment[MARK] = "1"
    host = re.search(r"host: (\S+)", _run(["rustc", "-vV"]))
    # If a target is named, the flag does not apply to build scripts and macros, which run while it compiles.
    target = ["--target", host[1]] if host else []
    maturin = shutil.which("maturin", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}")
    if maturin is None:
        raise Failed("no profile-guided engine: maturin is not installed: `make build` installs it")
    _run([maturin, "build", "--release", *target, "--target-dir", str(WORK / "build"), "--out", str(out)], environment)
    (wheel,) = out.glob("*.whl")
    return wheel


def _unpacked(wheel: Path) -> Path:
    """The folder of a wheel's content, to be put on Python's path."""
    stage = wheel.parent / "unpacked"
    with ZipFile(wheel) as archive:
        archive.extractall(stage)
    return stage


def _install(wheel: Path) -> None:
    """Replaces the extension of this tree in one step, so that a run that has it open keeps it."""
    new = PACKAGE / f"{EXTENSION}.new"
    shutil.copy(_unpacked(wheel) / "lasthop" / EXTENSION, new)
    new.replace(PACKAGE / EXTENSION)


def _say(message: str) -> None:
    sys.stderr.write(f"lasthop: {message}\n")


def _run(command: Sequence[str], environment: dict[str, str] | None = None) -> str:
    """What a command printed; raises `Failed` with its last words."""
    try:
        done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    except OSError as error:
        raise Failed(f"{command[0]}: {error.strerror}") from None
    if done.returncode != 0:
        raise Failed(f"{command[0]}: exit status {done.returncode}: {(done.stderr or done.stdout).strip()[-500:]}")
    return done.stdout


if __name__ == "__main__":
    sys.exit(main())
