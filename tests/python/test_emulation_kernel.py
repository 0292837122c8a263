"""Kernels for virtual time: how they are found and built, and that a guest is the same whatever the host does."""

from __future__ import annotations

import json
import os
import platform
import re
import shutil
import signal
import subprocess
import sys
import tarfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import lasthop
import pytest
from emulator import PYTHON, UPLOADS, busy_loops, kernel_or_skip, some_kernel_or_skip
from lasthop.kernel.emulation import (
    EmulationError,
    GuestJob,
    Kernel,
    Watch,
    boot,
    build,
    build_kernel,
    find_kernel,
    patch,
    recipe,
    source,
)
from lasthop.kernel.emulation import kernel as kernel_module
from lasthop.kernel.emulation.campaign import Emulations
from lasthop.study.scenario import Scenario
from lasthop.study.simulation import Kept

PROBE = Path(__file__).with_name("guest_probe.py")
LIMIT = Watch(limit_s=120)

pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or platform.machine() != "x86_64", reason="needs Linux on x86_64"
)


@pytest.fixture(params=("own", "stock"))
def kernel(request: pytest.FixtureRequest) -> Kernel:
    """Each kind of kernel that there is."""
    return kernel_or_skip(request.param)


@pytest.fixture
def some_kernel() -> Kernel:
    """Any kernel, for what does not depend on it."""
    return some_kernel_or_skip()


def probe(kernel: Kernel, directory: Path, seed: int, program: Path = PROBE) -> dict[str, object]:
    """What a guest saw, by name."""
    directory.mkdir(parents=True)
    modules = [str(path) for path in (kernel.module("drivers/net/tun"),) if path]
    job = GuestJob(
        (PYTHON, "-I", "-S", "-B", str(program), f"{directory}/seen.json", f"{directory}/virtual-time", *modules),
        directory,
    )
    boot(kernel, job, seed, LIMIT)
    return json.loads((directory / "seen.json").read_text())


def processes_in(directory: Path) -> list[int]:
    """The processes whose current directory it is: all of a guest, for its own."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if os.readlink(process / "cwd").startswith(str(directory)):
                found.append(int(process.name))
        except OSError:
            continue
    return found


def test_a_guest_depends_on_the_seed_alone(kernel, tmp_path, monkeypatch):
    first = probe(kernel, tmp_path / "a", seed=1)
    with busy_loops(2):
        loaded = probe(kernel, tmp_path / "b", seed=1)
    monkeypatch.setenv("SOMETHING_NEW", "x" * 5000)
    monkeypatch.setenv("PYTHONHASHSEED", "7")
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    longer = tmp_path / "longer.py"
    longer.write_text(PROBE.read_text() + "# A file of another size and time.\n" * 500)
    elsewhere = probe(
        kernel,
        tmp_path / ("a directory whose name is longer than that of the others, by far" * 2) / "c",
        seed=1,
        program=longer,
    )
    again = probe(kernel, tmp_path / "d", seed=1)
    assert first == loaded
    assert first == elsewhere
    assert first == again


def test_another_seed_gives_other_ports_sequence_numbers_and_random_bytes(kernel, tmp_path):
    one, two = probe(kernel, tmp_path / "one", seed=1), probe(kernel, tmp_path / "two", seed=2)
    for what in ("random", "initial sequence number", "source port", "digest"):
        assert one[what] != two[what], what
    # Values without randomness are equal.
    for what in ("started at, ns", "memory, KiB"):
        assert one[what] == two[what], what
    # To the readings of the clock, of which a kernel may need one more or less.
    assert one["slept, s"] == pytest.approx(two["slept, s"], abs=1e-6)


def test_a_guest_starts_at_its_date_and_sleeps_a_thousand_seconds_at_once(kernel, tmp_path):
    began = time.monotonic()
    seen = probe(kernel, tmp_path / "guest", seed=3)
    # 2026-01-01 is 1767225600 s after 1970; a kernel and an interpreter start in less than a virtual second.
    assert 1_767_225_600 <= seen["started at, ns"] / 1e9 < 1_767_225_601
    # A timer may be 50 us late, the slack of an ordinary process, and reading the clock costs a little.
    assert 1000 <= seen["slept, s"] < 1000.001
    assert time.monotonic() - began < 100


def test_a_tcp_transfer_takes_the_time_of_its_round_trips(kernel, tmp_path):
    seen = probe(kernel, tmp_path / "guest", seed=4)
    # 300 kB with an initial window of ten segments and 20 ms there and back: 1 for the handshake, then windows of 10, 20,
    # 40, 80 and 60 segments of 1460 bytes. So six round trips and some, 120 ms, and none of the host's time.
    took = (seen["ended at, ns"] - seen["started at, ns"]) / 1e9 - seen["slept, s"]
    assert 0.1 < took < 0.2


def test_the_patch_of_hwsim_has_its_licence_and_fits_the_source_once(tmp_path):
    ours = patch.find_patch(None)
    if ours is None:
        pytest.skip("not in a source tree")
    assert ours.read_text().startswith("SPDX-License-Identifier: GPL-2.0-only\n")
    assert "Version 2, June 1991" in (ours.parents[2] / "LICENSES/GPL-2.0-only.txt").read_text()
    try:
        tarball = source.find_source(None)
    except EmulationError as error:
        pytest.skip(error.sentence)
    if "6.12" not in tarball.name or shutil.which("patch") is None:
        pytest.skip("it was made for Linux 6.12, and patch applies it")
    file = "drivers/net/wireless/virtual/mac80211_hwsim.c"
    with tarfile.open(tarball.path) as archive:
        member = next(each for each in archive if each.name.endswith(file))
        archive.extract(member, tmp_path, filter="data")
    tree = tmp_path / member.name.removesuffix(file)
    before = (tree / file).read_text()
    assert patch.apply(ours, tree)
    after = (tree / file).read_text()
    assert "module_param(hw_queue, int, 0644);" in after and before != after
    # A second time, or where it does not fit, the source stays as it was.
    assert not patch.apply(ours, tree)
    assert (tree / file).read_text() == after


def test_a_patch_that_is_none_is_refused(tmp_path):
    with pytest.raises(EmulationError, match="cannot be read"):
        patch.find_patch(tmp_path / "absent")
    (tmp_path / "other.patch").write_text("--- a/x\n+++ b/x\n")
    with pytest.raises(EmulationError, match="gives radios of mac80211_hwsim no parameter hw_queue"):
        build_kernel(patch=tmp_path / "other.patch", wifi=True)
    with pytest.raises(EmulationError, match="for --wifi"):
        build_kernel(patch=tmp_path / "other.patch")


def test_the_watch_names_a_process_that_spins(some_kernel, tmp_path):
    program = tmp_path / "spin.py"
    program.write_text(
        "import ctypes, os, time\n"
        "ctypes.CDLL(None).mount(b'proc', b'/proc', b'proc', 0, None)\n"
        f"times = open({str(tmp_path / 'virtual-time')!r}, 'w')\n"
        "time.sleep(0.5); print(time.monotonic(), file=times, flush=True)\n"
        "if os.fork() == 0:\n"
        "    open('/proc/self/comm', 'w').write('spinner')\n"
        "    while True: pass\n"
        "time.sleep(1)\n"
    )
    job = GuestJob((PYTHON, "-I", "-S", "-B", str(program)), tmp_path)
    with pytest.raises(
        EmulationError, match=r"stood still at \d+\.\d+ s for 2 s: process \d+ \(spinner\) runs"
    ) as raised:
        boot(some_kernel, job, 1, Watch(still_s=2, limit_s=60))
    assert "\n" not in raised.value.sentence
    assert processes_in(tmp_path) == []


def test_a_program_that_ends_is_an_error_that_shows_the_console(some_kernel, tmp_path):
    job = GuestJob(("/bin/echo", "this is what it had to say"), tmp_path)
    with pytest.raises(EmulationError, match="ended without switching the guest off") as raised:
        boot(some_kernel, job, 1, LIMIT)
    assert "this is what it had to say" in raised.value.log


def test_a_guest_that_takes_too_long_is_ended(some_kernel, tmp_path):
    job = GuestJob(("/bin/sh", "-c", "while :; do :; done"), tmp_path)
    with pytest.raises(EmulationError, match="ended after 1 s, before it reported its virtual time"):
        boot(some_kernel, job, 1, Watch(limit_s=1))
    assert processes_in(tmp_path) == []


def test_a_guest_is_ended_from_another_thread(some_kernel, tmp_path):
    watch = Watch(limit_s=60)
    threading.Timer(0.5, watch.stop).start()
    with pytest.raises(EmulationError, match="ended before it was done"):
        boot(some_kernel, GuestJob(("/bin/sh", "-c", "while :; do :; done"), tmp_path), 1, watch)
    assert processes_in(tmp_path) == []


STARTS_A_GUEST = """\
import sys, types
package = types.ModuleType("lasthop"); package.__path__ = [sys.argv[1]]; sys.modules["lasthop"] = package
from pathlib import Path
from lasthop.kernel.emulation import GuestJob, Watch, boot, find_kernel
boot(find_kernel(sys.argv[2]), GuestJob(("/bin/sh", "-c", "while :; do :; done"), Path(sys.argv[3])), 1)
"""


@pytest.mark.parametrize("user", (None, 65534), ids=("this user", "nobody"))
def test_a_killed_caller_leaves_no_process(some_kernel, user):
    if user is not None and os.geteuid() != 0:
        pytest.skip("only root can become nobody")
    had: list[int] = []
    for delay_s in (0.1, 0.3, 0.6, 1.0):
        with directory_of(user) as directory:
            package, path = brought_along(some_kernel, directory)
            caller = subprocess.Popen(
                (PYTHON, "-I", "-S", "-B", "-c", STARTS_A_GUEST, package, path, directory), user=user, group=user
            )
            time.sleep(delay_s)
            had = processes_in(directory)
            assert caller.poll() is None
            caller.send_signal(signal.SIGKILL)
            caller.wait()
            assert nothing_is_left(directory), f"after {delay_s} s, of {had}"
    assert had, "no guest ran within a second, so nothing was tested"


def brought_along(kernel: Kernel, directory: Path) -> tuple[Path, Path]:
    """The package and the kernel where any user may read them."""
    package, ours = directory / "lasthop", Path(lasthop.__file__).parent
    shutil.copytree(ours / "kernel" / "emulation", package / "kernel" / "emulation")
    shutil.copy(ours / "kernel" / "__init__.py", package / "kernel")
    return package, Path(shutil.copy(kernel.path, directory / "kernel"))


@contextmanager
def directory_of(user: int | None) -> Iterator[Path]:
    """A directory that belongs to the user, below one that all may read."""
    made = Path(subprocess.run(("mktemp", "-d"), capture_output=True, text=True, check=True).stdout.strip())
    try:
        if user is not None:
            os.chown(made, user, user)
        yield made
    finally:
        shutil.rmtree(made)


def nothing_is_left(directory: Path) -> bool:
    """Whether all processes are gone soon; the kernel takes a moment to end a namespace."""
    for _ in range(50):
        if not processes_in(directory):
            return True
        time.sleep(0.1)
    return False


def test_a_file_that_is_no_kernel_is_refused():
    with pytest.raises(EmulationError, match="/bin/true is not a User Mode Linux kernel"):
        find_kernel("/bin/true")
    with pytest.raises(EmulationError, match="/nonexistent cannot be run as a kernel: No such file"):
        find_kernel("/nonexistent")


def test_modules_come_after_those_that_they_depend_on(tmp_path, monkeypatch):
    monkeypatch.setattr(kernel_module, "STOCK_MODULES", tmp_path)
    net = tmp_path / "6.1/kernel/net/ipv4"
    net.mkdir(parents=True)
    names = ("tcp_yeah", "tcp_vegas", "base", "tcp_diag")
    files = {name: net / f"{name}.ko" for name in names}
    for file in files.values():
        file.touch()
    # depmod lists the module to be loaded first at the end.
    needs = {"tcp_yeah": ["tcp_vegas", "base"], "tcp_vegas": ["base"], "base": [], "tcp_diag": []}
    lines = (
        f"kernel/net/ipv4/{name}.ko:{''.join(f' kernel/net/ipv4/{of}.ko' for of in needs[name])}\n" for name in names
    )
    (tmp_path / "6.1/modules.dep").write_text("".join(lines))
    kernel = Kernel(Path("linux"), "6.1", "stock", True, "exact", 100)
    wanted = ["net/ipv4/tcp_diag", "drivers/net/none", "net/ipv4/tcp_yeah", "net/ipv4/tcp_vegas"]
    assert kernel.modules(wanted) == [files[name] for name in ("tcp_diag", "base", "tcp_vegas", "tcp_yeah")]
    (tmp_path / "6.1/modules.dep").unlink()
    assert kernel.modules(["net/ipv4/tcp_yeah"]) == [files["tcp_yeah"]]


def test_stock_kernel_loads_a_control_that_needs_another(command, tmp_path):
    kernel_or_skip("stock")
    cell = '[bss]\nstandard = "802.11n"\n[[station]]\nname = "sta"\n[[flow]]\nstation = "sta"\ndirection = "up"\n'
    scenario = tmp_path / "yeah.toml"
    scenario.write_text(f'duration = "1 s"\nwarmup = "0 s"\n[tcp]\ncongestion_control = "yeah"\n{cell}')
    done = command("emulate", scenario, "--kernel", "stock", "--time", "virtual", "--seeds", "1")
    assert done.returncode == 0, done.stderr
    assert "seed 1 is valid" in done.stderr + done.stdout


def test_without_a_built_kernel_there_is_a_remedy(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with pytest.raises(EmulationError, match="--build-kernel"):
        find_kernel("own")


# A source whose build takes no time. `make linux` fails once if a file `fail` lies beside it.
MAKEFILE = """\
allnoconfig:
	@cp $(KCONFIG_ALLCONFIG) $(O)/.config && grep -q 'default 1000' $(KBUILD_KCONFIG) && echo CONFIG_HZ=1000 >> $(O)/.config
	@sed -i '/REFUSED_HERE/d' $(O)/.config
linux:
	@echo '  CC      one.o' && echo '  CC      two.o'
	@if [ -e FAIL ]; then rm FAIL; echo 'two.c: no'; exit 1; fi
	@echo '#!/bin/sh' > $(O)/linux && echo 'echo 6.99.1' >> $(O)/linux && chmod +x $(O)/linux
"""


@pytest.fixture
def tree(tmp_path, monkeypatch) -> Path:
    """A tree of that source, and an empty cache."""
    if shutil.which("make") is None:
        pytest.skip("make is not installed")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(build, "PROGRAMS", {"make": "make"})
    root = tmp_path / "linux-6.99"
    (root / "arch/um").mkdir(parents=True)
    (root / "arch/um/Kconfig").touch()
    (root / "Kconfig").write_text('mainmenu "x"\nsource "scripts/Kconfig.include"\nsource "init/Kconfig"\n')
    (root / "Makefile").write_text(MAKEFILE.replace("FAIL", str(tmp_path / "fail")))
    return root


def packed(tree: Path) -> Path:
    """The tree as a tarball."""
    tarball = tree.with_name("linux-6.99.tar.xz")
    with tarfile.open(tarball, "w:xz") as archive:
        archive.add(tree, tree.name)
    return tarball


def test_a_kernel_is_built_once_and_found(tree):
    tarball, steps = packed(tree), []
    path = build_kernel(tarball, steps.append)
    assert [step.doing for step in steps] == ["unpacking", "configuring", "compiling", "compiling"]
    assert (steps[-1].done, steps[-1].total) == (2, build.COMPILED)
    kernel = find_kernel("own")
    assert (kernel.path, kernel.version, kernel.kind) == (path, "6.99.1", "own")
    assert sorted(file.name for file in path.parent.iterdir()) == ["build.log", "config", "linux", "lock"]
    built = path.stat().st_mtime_ns
    assert build_kernel(tarball) == path
    assert path.stat().st_mtime_ns == built


def test_an_interrupted_build_goes_on_where_it_stopped(tree, tmp_path):
    tarball = packed(tree)
    (tmp_path / "fail").touch()
    with pytest.raises(EmulationError, match="`make linux` failed") as raised:
        build_kernel(tarball)
    assert "two.c: no" in raised.value.log
    steps = []
    build_kernel(tarball, steps.append)
    assert "unpacking" not in {step.doing for step in steps}


def test_an_option_that_the_source_refuses_is_named(tree):
    makefile = tree / "Makefile"
    makefile.write_text(makefile.read_text().replace("REFUSED_HERE", "CONFIG_TUN=y"))
    with pytest.raises(EmulationError, match="refuses CONFIG_TUN=y; take a later"):
        build_kernel(tree)


def test_a_source_that_lacks_an_algorithm_is_taken(tree):
    makefile = tree / "Makefile"
    makefile.write_text(makefile.read_text().replace("REFUSED_HERE", "CONFIG_TCP_CONG_BBR=y"))
    path = build_kernel(tree)
    assert recipe.absent((path.parent / "config").read_text()) == ["CONFIG_TCP_CONG_BBR"]


def test_sysctls_are_there_under_their_later_name(tree):
    makefile = tree / "Makefile"
    without = makefile.read_text().replace("REFUSED_HERE", "CONFIG_PROC_SYSCTL=y")
    makefile.write_text(without)
    assert build_kernel(tree).exists()
    makefile.write_text(without.replace("/d'", "/d;/CONFIG_SYSCTL=y/d'"))
    with pytest.raises(EmulationError, match="refuses CONFIG_PROC_SYSCTL=y; take a later"):
        build_kernel(tree)


def test_a_version_names_the_package_to_build_and_the_kernel_that_was_built(tree, tmp_path, monkeypatch):
    tarball = packed(tree)
    monkeypatch.setattr(source, "PACKAGES", tmp_path / "packages")
    source.PACKAGES.mkdir()
    for name in ("linux-source-6.9.tar.xz", "linux-source-6.99.tar.xz", "linux-source-7.0.tar.xz"):
        shutil.copy(tarball, source.PACKAGES / name)
    assert source.find_source(None).name == "linux-source-7.0"
    assert source.find_source(None, "6.9").name == "linux-source-6.9"
    with pytest.raises(EmulationError, match="no source of Linux 6.98 .*`apt install linux-source-6.98` as root"):
        build_kernel(version="6.98")
    path = build_kernel(version="6.99")
    assert find_kernel("6.99").path == path
    with pytest.raises(
        EmulationError, match=r"no kernel of version 6.9 has been built \(built: 6.99.1\): .*--version 6.9`"
    ):
        find_kernel("6.9")
    with pytest.raises(EmulationError, match=r"version 6.99 with a Wi-Fi stack .*--version 6.99 --wifi`"):
        find_kernel("6.99", wifi=True)


def test_two_builds_of_a_kernel_do_not_meet(tree):
    place = build.place_of(source.find_source(tree).name)
    with build._alone(place), pytest.raises(EmulationError, match="is being built already"):
        build_kernel(tree)


def test_missing_programs_and_sources_have_a_remedy(tree, tmp_path, monkeypatch):
    monkeypatch.setattr(build, "PROGRAMS", {"no-such-program": "its-package"})
    with pytest.raises(EmulationError, match="without no-such-program: `apt install its-package`"):
        build_kernel(tree)
    monkeypatch.setattr(source, "PACKAGES", tmp_path / "nothing")
    with pytest.raises(EmulationError, match="`apt install linux-source` as root"):
        build_kernel()
    with pytest.raises(EmulationError, match="is not a source tree of Linux"):
        build_kernel(tmp_path)


def test_every_option_is_listed_once():
    names = re.findall(r"^(CONFIG_\w+)=", recipe.options(), re.MULTILINE)
    assert len(names) == len(set(names))


def test_doctor_lists_the_requirements_of_emulation(command):
    told = command("self", "doctor").stdout
    for subject in ("/dev/net/tun", "user namespaces", "SCHED_FIFO", "virtual time"):
        assert subject in told, subject


class Gone:
    """A guest that has switched itself off after its emulator died."""

    at_once, name = 1, "none"

    def told(self):
        return {}

    def start(self, job, seed):
        return self

    def poll(self):
        return 0

    def last_words(self):
        return "assertion failed: !ptr.is_null()"


def test_an_emulator_that_dies_leaves_its_last_words():
    gone = Emulations(Scenario(UPLOADS, "cell.toml"), 1.0, [7], Gone(), Kept())
    try:
        assert not gone.is_done()
        (outcome,) = gone.take_finished()
        assert re.search(r"seed 7: the emulator .* without a result\nassertion failed: !ptr", outcome.error), (
            outcome.error
        )
    finally:
        gone.close()
