"""Builds a wheel: of this machine, or for another by zig, which brings the C library of each.

A wheel for others links the C library alone, of the oldest version that its tag promises. So it leaves out what loads programs into
the kernel (`_kernel`): that needs libelf, which no manylinux policy lets a wheel take from the system, and which under its
own licence cannot simply be put inside. `lasthop host` says how to get it. What gives User Mode Linux a virtual clock goes with
x86-64 and glibc alone, as that kernel does.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import published

ROOT = Path(__file__).resolve().parents[1]
TREE = ROOT / "target" / "wheel" / "tree"
MOST_MB = 5.0
PRELOAD = Path("python/lasthop/kernel/emulation/virtual_time.so")
KERNEL = Path("python/lasthop/_kernel.abi3.so")
GLIBC = "2.17"
# Says to the engine that a profile guided it.
GUIDED = "LASTHOP_PROFILE_GUIDED"


class Target(NamedTuple):
    """A machine that wheels are made for."""

    policy: str | None
    """the platform tag that pip goes by; None where maturin finds it, without zig"""
    has_virtual_time: bool = False


TARGETS = {
    "x86_64-unknown-linux-gnu": Target("manylinux_2_17", has_virtual_time=True),
    "aarch64-unknown-linux-gnu": Target("manylinux_2_17"),
    "x86_64-unknown-linux-musl": Target("musllinux_1_2"),
    "aarch64-unknown-linux-musl": Target("musllinux_1_2"),
    "x86_64-apple-darwin": Target(None),
    "aarch64-apple-darwin": Target(None),
}


class Failed(Exception):
    """What a wheel cannot be made without, in a sentence."""


def main() -> int:
    """Makes the wheel and names it; 1 with a sentence where that cannot be."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--target", choices=TARGETS, help="for which machine (default: this one, with all that it has)")
    parser.add_argument(
        "--repository",
        help="address of the sources, to which the README's links then lead, e.g. https://HOST/OWNER/NAME",
    )
    parser.add_argument(
        "--profile", type=Path, help="what `benches/guided.py profile` wrote, for an engine that is guided by it"
    )
    parser.add_argument("--out", type=Path, default=ROOT / "dist")
    arguments = parser.parse_args()
    try:
        stage(arguments.repository)
        binaries(arguments.target)
        wheel = build(arguments.target, arguments.profile, arguments.out.resolve())
        check(wheel, arguments.target)
    except Failed as failure:
        sys.stderr.write(f"lasthop: {failure}\n")
        return 1
    sys.stdout.write(f"{wheel}\n")
    return 0


def stage(repository: str | None) -> None:
    """Copies what git knows of the tree, so that nothing which happens to lie about gets into the wheel."""
    shutil.rmtree(TREE, ignore_errors=True)
    for name in run(["git", "ls-files", "-z"], ROOT).split("\0"):
        if name and (ROOT / name).is_symlink() | (ROOT / name).is_file():
            (TREE / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, TREE / name, follow_symlinks=False)
    if repository is None:
        sys.stderr.write("lasthop: without --repository the README's links lead nowhere outside of the tree\n")
        return
    tag = f"v{version()}"
    for name, written in (("README.md", published.readme), ("pyproject.toml", published.pyproject)):
        text = (TREE / name).read_text(encoding="utf-8")
        (TREE / name).write_text(written(text, repository.rstrip("/"), tag), encoding="utf-8")


def version() -> str:
    """The version of the workspace, which is the package's."""
    return tomllib.loads((ROOT / "Cargo.toml").read_text(encoding="utf-8"))["workspace"]["package"]["version"]


def binaries(target: str | None) -> None:
    """Brings into the tree what maturin does not build: for this machine what make has built, for others what may go along."""
    if target is None:
        for file in (PRELOAD, KERNEL):
            if (ROOT / file).is_file():
                shutil.copy2(ROOT / file, TREE / file)
    elif TARGETS[target].has_virtual_time:
        settings = [
            "--release",
            "--package",
            "lasthop-virtual-time",
            "--target-dir",
            str(ROOT / "target"),
            "--config",
            'profile.release.strip="symbols"',
        ]
        run(["cargo", "zigbuild", "--target", f"{target}.{GLIBC}", *settings], TREE)
        shutil.copy2(ROOT / "target" / target / "release" / "liblasthop_virtual_time.so", TREE / PRELOAD)


def command(target: str | None, out: Path) -> list[str]:
    """The command line that builds the wheel of the tree."""
    line = [
        "maturin",
        "build",
        "--release",
        "--strip",
        "--locked",
        "--target-dir",
        str(ROOT / "target"),
        "--out",
        str(out),
    ]
    if target is None:
        # The target is named so that functions keep their names from training, under which the profile has them.
        return [*line, "--target", host()]
    policy = TARGETS[target].policy
    return [*line, "--target", target, *(["--zig", "--compatibility", policy] if policy else [])]


def host() -> str:
    """The machine that this rustc compiles for by itself."""
    return re.search(r"^host: (\S+)$", run(["rustc", "-vV"], ROOT), re.MULTILINE)[1]


def build(target: str | None, profile: Path | None, out: Path) -> Path:
    """Builds the wheel of the tree into `out`, and returns its file."""
    environment = {name: value for name, value in os.environ.items() if name != GUIDED}
    if profile is not None:
        if not profile.is_file():
            raise Failed(f"{profile}: there is no such profile; `python benches/guided.py profile` makes one")
        environment["RUSTFLAGS"] = f"{environment.get('RUSTFLAGS', '')} -Cprofile-use={profile.resolve()}".strip()
        environment[GUIDED] = "1"
    before = {file: file.stat().st_mtime_ns for file in out.glob("*.whl")}
    run(command(target, out), TREE, environment)
    made = [file for file in out.glob("*.whl") if file.stat().st_mtime_ns != before.get(file)]
    if len(made) != 1:
        raise Failed(f"{out}: one new wheel was expected there, not {len(made)}")
    return made[0]


def check(wheel: Path, target: str | None) -> None:
    """Refuses a wheel that was not stripped, or holds what only this Python or, if it is for others, this machine can load."""
    with zipfile.ZipFile(wheel) as archive:
        code = {name: archive.read(name) for name in archive.namelist() if name.endswith((".so", ".pyd"))}
    engine = next((content for name, content in code.items() if name.startswith("lasthop/_core.")), None)
    if engine is None:
        raise Failed(f"{wheel}: has no engine")
    for name, content in code.items():
        # With their ends, which only names of sections have: the engine reads line tables itself, for its own traces.
        if b"\0.debug_line\0" in content:
            raise Failed(f"{wheel}: {name} has its line tables still: it was not stripped")
        if b"libpython" in content:
            raise Failed(f"{wheel}: {name} is linked with libpython, and goes with one version of it alone")
    if target is not None and KERNEL.name in {Path(name).name for name in code}:
        raise Failed(f"{wheel}: has {KERNEL.name}, which needs this machine's libelf")
    if len(engine) > MOST_MB * 1e6:
        sys.stderr.write(
            f"lasthop: {wheel}: the engine takes {len(engine) / 1e6:.1f} MB, more than the {MOST_MB} MB that are aimed at\n"
        )


def run(line: Sequence[str], directory: Path, environment: dict[str, str] | None = None) -> str:
    """What a command printed; its words go through where it fails."""
    try:
        done = subprocess.run(line, cwd=directory, env=environment, stdout=subprocess.PIPE, text=True, check=False)
    except OSError as error:
        raise Failed(f"{line[0]}: {error.strerror}; CONTRIBUTING.md says what is needed") from None
    if done.returncode != 0:
        raise Failed(f"{' '.join(line[:3])}: exit status {done.returncode}")
    return done.stdout


if __name__ == "__main__":
    sys.exit(main())
