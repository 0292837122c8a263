"""`lasthop host`: the programs are those of the sources, load and leave nothing, and do in a kernel what they are for.

What needs root, BTF and the extension skips with the reason where one of them is missing.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
import select
import shutil
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from lasthop import cli
from lasthop.data.quantities import SERIES
from lasthop.kernel import bpf as hosts
from lasthop.kernel.bpf import layout, programs, readings
from lasthop.kernel.bpf import requirements as needs

pytestmark = pytest.mark.alone

REPOSITORY = Path(__file__).parents[2]
NAMES = ("ack_loss", "ack_skip", "split_queue")
# Other compilers choose other instructions for the same source.
CLANG = "14"
LOADS = 100
MAPS_OF_OURS = {"watches", "sockets", "serials", "flows"}
AVAILABLE = Path("/proc/sys/net/ipv4/tcp_available_congestion_control")
SECONDS = 6
# An upload by itself leaves two cores idle for 0.87 of its time, beside one busy process for 0.3: below this, other work ran,
# which `make test` does not start.
IDLE_HOST = 0.7
# Constants of <linux/if_tun.h>.
TUNSETIFF, IFF_TUN, IFF_NO_PI = 0x400454CA, 0x0001, 0x1000


@pytest.fixture
def kernel() -> Iterator[None]:
    """A kernel into which programs may be loaded, without any of ours before and after."""
    if (reason := hosts.why_not()) is not None:
        pytest.skip(reason)
    if hosts.loaded():
        pytest.skip("somebody has loaded programs of lasthop on this machine")
    yield
    for name in {one.name for one in hosts.loaded()}:
        hosts.unload(name)


class Bottleneck:
    """Two network namespaces with a veth of 50 Mbit/s from the first, `a`, to the second."""

    def __init__(self) -> None:
        self.names = tuple(f"lasthop-{os.getpid()}-{end}" for end in "ab")
        self.server: subprocess.Popen[bytes] | None = None
        # The share of the processors that nobody used during the last upload.
        self.idle = 0.0
        a, b = self.names
        for name in self.names:
            run("ip", "netns", "add", name)
        run("ip", "link", "add", "va", "netns", a, "type", "veth", "peer", "name", "vb", "netns", b)
        for name, device, address in ((a, "va", "10.77.0.1/24"), (b, "vb", "10.77.0.2/24")):
            run("ip", "-n", name, "addr", "add", address, "dev", device)
            run(
                "ip",
                "-n",
                name,
                "addr",
                "add",
                address.replace("10.77.0.", "fd77::").replace("/24", "/64"),
                "dev",
                device,
                "nodad",
            )
            run("ip", "-n", name, "link", "set", device, "up")
        run(
            "tc",
            "-n",
            a,
            "qdisc",
            "add",
            "dev",
            "va",
            "root",
            "tbf",
            "rate",
            "50mbit",
            "burst",
            "20kb",
            "latency",
            "50ms",
        )
        self.server = subprocess.Popen(("nsenter", f"--net=/run/netns/{b}", "iperf3", "-s"), stdout=subprocess.DEVNULL)
        time.sleep(0.3)

    def goodput_mbps(
        self, control: str | None, seconds: int = SECONDS, *, to: str = "10.77.0.2", before: str = ""
    ) -> float:
        """What the second receives of an upload by that controller, or by whichever it gets; `before` is a shell's command."""
        chosen = f"-C {control}" if control else ""
        upload = f"{before}exec iperf3 -c {to} -J {chosen} -t {seconds}"
        all_before, idle_before = processor_ticks()
        done = run("nsenter", f"--net=/run/netns/{self.names[0]}", "sh", "-c", upload)
        all_after, idle_after = processor_ticks()
        self.idle = (idle_after - idle_before) / max(1, all_after - all_before)
        return json.loads(done)["end"]["sum_received"]["bits_per_second"] / 1e6

    def lasthop(self, *arguments: str) -> str:
        """Runs the command in the second."""
        inside = ("nsenter", f"--net=/run/netns/{self.names[1]}", sys.executable, "-m", "lasthop")
        done = subprocess.run((*inside, *arguments), capture_output=True, text=True, check=True)
        return done.stdout + done.stderr

    def close(self) -> None:
        if self.server is not None:
            self.server.terminate()
            self.server.wait()
        for name in self.names:
            subprocess.run(("ip", "netns", "del", name), check=False)


@pytest.fixture
def path(kernel: None) -> Iterator[Bottleneck]:
    for program in ("ip", "tc", "iperf3", "nsenter"):
        if shutil.which(program) is None:
            pytest.skip(f"{program} is not installed")
    made = Bottleneck()
    yield made
    made.close()


def on_a_busy_host(path: Bottleneck) -> bool:
    """Skips the test where other work had the processors: then a receiver acknowledges in fits, which looks like loss."""
    if path.idle < IDLE_HOST:
        pytest.skip(
            f"the processors were idle for {path.idle:.0%} of the upload: a receiver that waits for them shows no ACK ratio"
        )
    return False


def processor_ticks() -> tuple[int, int]:
    """Ticks of all processors since the start of the machine, and those of them in which nothing ran: proc(5)."""
    ticks = [int(each) for each in Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:9]]
    return sum(ticks), ticks[3]


def run(*command: str) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize("name", NAMES)
def test_an_object_has_the_instructions_of_its_source(name: str, tmp_path: Path) -> None:
    for tool in ("clang", "llvm-objdump"):
        if shutil.which(tool) is None:
            pytest.skip(f"{tool} is not installed")
    if not (version := re.search(r"version (\d+)", run("clang", "--version"))) or version[1] != CLANG:
        pytest.skip(f"the objects are of clang {CLANG}")
    if not (source := REPOSITORY / "bpf" / f"{name}.bpf.c").exists():
        pytest.skip("no source tree")
    flags = ("-target", "bpf", "-mcpu=v3", "-O2", "-g", "-Wno-unused-function")
    run("clang", *flags, "-c", str(source), "-o", str(tmp_path / "new.o"))

    def instructions(file: Path) -> str:
        return run("llvm-objdump", "-d", "--no-show-raw-insn", str(file)).partition("Disassembly")[2]

    assert instructions(tmp_path / "new.o") == instructions(needs.OBJECTS / f"{name}.bpf.o")


def test_without_the_extension_one_sentence_names_the_packages_to_install(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "lasthop._kernel", None)
    assert cli.main(["host", "load", "ack_loss"]) == 77
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    if sys.platform == "linux":
        assert "libelf-dev" in said and "`make build`" in said


@pytest.mark.parametrize(
    "arguments",
    [
        ("load", "ack_skip"),
        ("load", "ack_loss", "--base", "bbr"),
        ("load", "ack_loss", "--threshold", "-1"),
        ("unload", "cubic"),
    ],
)
def test_a_wrong_command_line_is_refused_before_anything_is_loaded(arguments: tuple[str, ...]) -> None:
    assert cli.main(["host", *arguments]) == 2


def test_a_hundred_loads_and_unloads_leave_nothing(kernel: None) -> None:
    before = AVAILABLE.read_text()
    for _ in range(LOADS):
        hosts.load_ack_loss("reno")
        hosts.load_ack_skip("lo")
        assert [one.name for one in hosts.loaded()] == ["ack_loss", "ack_skip"]
        hosts.unload("ack_skip")
        hosts.unload("ack_loss")
    assert not needs.PINS.exists()
    eventually(lambda: AVAILABLE.read_text() == before)
    if shutil.which("bpftool") is not None:
        eventually(
            lambda: not MAPS_OF_OURS & {each.get("name") for each in json.loads(run("bpftool", "-j", "map", "show"))}
        )


def eventually(holds: Callable[[], bool]) -> None:
    """The kernel frees what nobody holds a moment later."""
    ends = time.monotonic() + 10
    while not holds():
        assert time.monotonic() < ends
        time.sleep(0.1)


def test_loading_twice_and_unloading_nothing_are_errors(kernel: None) -> None:
    hosts.load_ack_loss()
    with pytest.raises(hosts.HostError, match="is loaded already"):
        hosts.load_ack_loss()
    with pytest.raises(hosts.HostError, match="no such network device"):
        hosts.load_ack_skip("nosuch0")
    with pytest.raises(hosts.HostError, match="ack_skip is not loaded"):
        hosts.unload("ack_skip")
    with pytest.raises(hosts.HostError, match="cgroup"):
        hosts.load_ack_loss(cgroup="/proc")
    assert len(readings.sockets()) <= 1024
    assert len(needs.extension().values(str(needs.PINS / "ack_loss" / "sockets"))[0]) == layout.SOCKET.size


def test_the_default_is_set_in_a_network_of_its_own_and_set_back(path: Bottleneck) -> None:
    show = ("nsenter", f"--net=/run/netns/{path.names[1]}", "cat", str(programs.DEFAULT))
    before, outside = run(*show), programs.DEFAULT.read_text()
    path.lasthop("host", "load", "ack_loss", "--default")
    assert run(*show) == "ack_loss\n"
    assert programs.DEFAULT.read_text() == outside
    with pytest.raises(hosts.HostError, match="another network namespace"):
        hosts.unload("ack_loss")
    path.lasthop("host", "unload", "ack_loss")
    assert run(*show) == before


def test_without_lost_acks_it_hardly_halves_and_keeps_the_goodput(path: Bottleneck) -> None:
    # A veth passes segments on as merged: the effect of GRO on ACKs is its own.
    hosts.load_ack_loss()
    assert path.goodput_mbps("ack_loss", 2 * SECONDS) >= 43
    (socket,) = (one for one in readings.sockets() if one.acks > 100)
    # Under one in a minute, so none in 12 s but by chance.
    assert socket.halvings <= 1 or on_a_busy_host(path)
    assert socket.normal_jump_segments >= 1


def test_three_of_four_acks_are_left_out_and_cubic_hardly_minds(path: Bottleneck) -> None:
    path.lasthop("host", "load", "ack_skip", "--device", "vb", "--skip", "3")
    assert path.goodput_mbps("cubic") >= 40
    (one,) = hosts.loaded()
    pure, left_out = readings.counts(one.place)
    # Each fourth passes, and so do the first ten, duplicates and those after a pause.
    assert pure > 1000
    assert 0.7 <= left_out / pure <= 0.75


def test_acks_over_ipv6_are_left_out_alike(path: Bottleneck) -> None:
    path.lasthop("host", "load", "ack_skip", "--device", "vb", "--skip", "3")
    assert path.goodput_mbps("cubic", to="fd77::2") >= 40
    (one,) = hosts.loaded()
    pure, left_out = readings.counts(one.place)
    assert pure > 1000
    assert 0.7 <= left_out / pure <= 0.75


@contextmanager
def tunnel(names: tuple[str, ...]) -> Iterator[None]:
    """TUNs `ta` and `tb`, which have no Ethernet header, in two namespaces; what goes into one comes out of the other."""
    if not os.access("/dev/net/tun", os.R_OK | os.W_OK):
        pytest.skip("/dev/net/tun cannot be opened")
    ends = []
    for name, device, address in ((names[0], "ta", "10.78.0.1/24"), (names[1], "tb", "10.78.0.2/24")):
        end = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
        fcntl.ioctl(
            end, TUNSETIFF, struct.pack("16sH22x", f"{device}{os.getpid() % 10**8}".encode(), IFF_TUN | IFF_NO_PI)
        )
        run("ip", "link", "set", f"{device}{os.getpid() % 10**8}", "name", device, "netns", name)
        run("ip", "-n", name, "addr", "add", address, "dev", device)
        run("ip", "-n", name, "link", "set", device, "up")
        ends.append(end)
    goes_on = threading.Event()
    goes_on.set()

    def carry() -> None:
        while goes_on.is_set():
            for end in select.select(ends, [], [], 0.1)[0]:
                with suppress(BlockingIOError):
                    os.write(ends[1 - ends.index(end)], os.read(end, 65_536))

    carrier = threading.Thread(target=carry)
    carrier.start()
    try:
        yield
    finally:
        goes_on.clear()
        carrier.join()
        for end in ends:
            os.close(end)


def test_acks_that_leave_by_a_tun_are_left_out_alike(path: Bottleneck) -> None:
    with tunnel(path.names):
        path.lasthop("host", "load", "ack_skip", "--device", "tb", "--skip", "3")
        path.goodput_mbps("cubic", 3, to="10.78.0.2")
        (one,) = hosts.loaded()
        pure, left_out = readings.counts(one.place)
        path.lasthop("host", "unload", "ack_skip")
    # A TUN read by a program loses data, and duplicate ACKs all pass.
    assert pure > 1000
    assert 0.5 <= left_out / pure <= 0.75


@pytest.fixture
def group(tmp_path: Path) -> Iterator[Path]:
    """A cgroup of version 2, in a mount of its own."""
    place = tmp_path / "cgroups"
    place.mkdir()
    if subprocess.run(("mount", "-t", "cgroup2", "none", str(place)), capture_output=True, check=False).returncode:
        pytest.skip("cgroups of version 2 cannot be mounted")
    made = place / f"lasthop-{os.getpid()}"
    made.mkdir()
    yield made
    made.rmdir()
    run("umount", str(place))


def test_sockets_of_a_cgroup_get_it_around_reno_and_carry_data(path: Bottleneck, group: Path) -> None:
    hosts.load_ack_loss("reno", cgroup=str(group))
    assert path.goodput_mbps(None, before=f"echo $$ > {group}/cgroup.procs; ") >= 40
    (socket,) = (one for one in readings.sockets() if one.acks > 100)
    assert socket.local.startswith("10.77.0.1:")
    assert socket.halvings <= 1 or on_a_busy_host(path)
    # A socket outside of the cgroup has the machine's controller.
    path.goodput_mbps(None, 1)
    assert sum(one.acks > 100 for one in readings.sockets()) == 1
    hosts.unload("ack_loss")


def test_both_on_one_host_are_warned_of(path: Bottleneck) -> None:
    hosts.load_ack_loss()
    assert "warning: ack_loss and ack_skip are both on this host" in path.lasthop(
        "host", "load", "ack_skip", "--device", "vb"
    )


def test_split_queue_puts_acks_into_a_class_of_their_own_and_takes_it_down(path: Bottleneck) -> None:
    path.lasthop("host", "load", "split_queue", "--device", "vb")
    path.goodput_mbps("cubic", 2)
    classes = run("tc", "-n", path.names[1], "-s", "class", "show", "dev", "vb")
    packets = {
        name: int(count) for name, count in re.findall(r"class htb (\S+) .*\n Sent \d+ bytes (\d+) pkt", classes)
    }
    assert packets["1ac0:3"] > 1000 > packets["1ac0:2"]
    path.lasthop("host", "unload", "split_queue")
    assert "htb" not in run("tc", "-n", path.names[1], "qdisc", "show", "dev", "vb")


def test_records_become_a_result_that_is_drawn_and_compared(path: Bottleneck, tmp_path: Path) -> None:
    import pandas

    hosts.load_ack_loss()
    path.goodput_mbps("ack_loss", 2)
    assert readings.write_result(tmp_path, list(readings.records(0.5))) > 10
    assert cli.main(["plot", str(tmp_path), "--kind", "cwnd", "--out", str(tmp_path / "cwnd.csv")]) == 0
    assert cli.main(["compare", str(tmp_path), str(tmp_path)]) == 0
    table = pandas.read_parquet(tmp_path / "timeseries.parquet")
    assert list(table.columns) == ["seed", "time_s", "entity", "metric", "value"]
    assert {SERIES.cwnd_segments, SERIES.rtt_s} <= set(table.metric)
