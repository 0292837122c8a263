"""Congestion controls that a scenario brings as libraries in C and as BPF objects."""

from __future__ import annotations

import ctypes
import json
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import lasthop
import pytest
from lasthop.study.scenario import toml_value
from test_code import READY, REPOSITORY, told
from test_mistakes import refused

C = REPOSITORY / "examples" / "controllers" / "c"
BPF = REPOSITORY / "examples" / "controllers" / "bpf"
ERAS = {
    ("newreno", "NewReno"): {},
    ("newreno", "LinuxNewReno"): {"era": "linux"},
    ("newreno", "OlderLinuxNewReno"): {"era": "linux-2.6"},
    ("cubic", "Cubic"): {},
    ("cubic", "OlderLinuxCubic"): {"era": "linux-2.6", "beta": 819 / 1024},
    ("cubic", "LinuxCubic"): {"era": "linux", "hystart": "classic"},
}


@pytest.fixture(scope="module")
def libraries(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The examples in C, compiled."""
    if shutil.which("cc") is None:
        pytest.skip("there is no cc")
    folder = tmp_path_factory.mktemp("c") / "controllers" / "c"
    shutil.copytree(C, folder)
    include = REPOSITORY / "python" / "lasthop" / "include"
    subprocess.run(["make", "-s", "-C", folder, f"INCLUDE={include}"], check=True)
    return folder


def short(name: str) -> lasthop.Scenario:
    return lasthop.load(REPOSITORY / "scenarios" / f"{name}.toml").set("duration", "8 s").set("warmup", "5 s")


@pytest.mark.parametrize(("name", "built_in", "_file", "class_name"), READY)
def test_the_examples_in_c_are_the_built_in_controllers(libraries, name, built_in, _file, class_name):
    choice = {"kind": "c", "library": str(libraries / f"{built_in}.so"), **ERAS[built_in, class_name]}
    document, series = told(short(name).set("tcp.congestion_control", built_in))
    own_document, own_series = told(short(name).set("tcp.congestion_control", choice))
    assert own_document == document
    assert own_series.equals(series)


@pytest.fixture
def wild(tmp_path):
    """Makes a controller in C whose `cong_avoid` does something, after a second of simulated time."""
    if shutil.which("cc") is None:
        pytest.skip("there is no cc")

    def choice(does: str) -> dict[str, str]:
        (tmp_path / "wild.c").write_text(
            '#include "lasthop_cc.h"\n'
            "#include <stdlib.h>\n"
            "#include <unistd.h>\n"
            "int endless(int n) { volatile char room[4096]; room[0] = n; return endless(n + 1) + room[0]; }\n"
            "static double s(struct lasthop_cc_sock *sk, const struct lasthop_cc_event *e) { (void)sk; (void)e; return 2; }\n"
            f"static void g(struct lasthop_cc_sock *sk, const struct lasthop_cc_ack *a) {{ (void)a; if (sk->now > 1000000000) {does}; }}\n"
            "const struct lasthop_cc_v1 lasthop_cc = { LASTHOP_CC_HEAD, .private_size = 64, .ssthresh = s, .cong_avoid = g };\n"
        )
        include = REPOSITORY / "python" / "lasthop" / "include"
        library = tmp_path / "wild.so"
        subprocess.run(["cc", "-shared", "-fPIC", f"-I{include}", tmp_path / "wild.c", "-o", library], check=True)
        return {"kind": "c", "library": str(library)}

    return choice


@pytest.fixture
def run_with(command, wild):
    """Runs a scenario with such a controller."""

    def run(does: str) -> subprocess.CompletedProcess[str]:
        settings = ("warmup=6 s", "duration=8 s", f"tcp.congestion_control={toml_value(wild(does))}")
        return command("run", "tcp-nup", "--seed", "1", *(word for one in settings for word in ("--set", one)))

    return run


# A simulation in the main thread of Python, as a notebook has it.
IN_MAIN_THREAD = """
import sys, lasthop
scenario = lasthop.load("tcp-nup").set("duration", "8 s").set("warmup", "1 s").set("tcp.congestion_control", {choice!r})
lasthop.open(scenario, seed=1, interval_s=None).run_until("8 s")
"""


def in_main_thread(choice: dict[str, str], then: str = "") -> subprocess.Popen[str]:
    line = [sys.executable, "-c", IN_MAIN_THREAD.format(choice=choice) + then]
    return subprocess.Popen(line, cwd=REPOSITORY, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_a_crash_in_c_names_library_function_and_time(run_with):
    done = run_with("*(volatile int *)8 = 1")
    assert done.returncode == -signal.SIGSEGV
    assert re.search(
        r"lasthop: wild: cong_avoid ended the process with SIGSEGV at 5\.\d{6} s; compile with", done.stderr
    ), done.stderr


def test_endless_recursion_in_c_ends_with_a_sentence(run_with, wild):
    said = r"lasthop: wild: cong_avoid ended the process with SIGSEGV at \d\.\d{6} s; compile with"
    done = run_with("endless(0)")
    assert done.returncode == -signal.SIGSEGV and re.search(said, done.stderr), done.stderr
    process = in_main_thread(wild("endless(0)"))
    error = process.communicate(timeout=120)[1]
    assert process.returncode == -signal.SIGSEGV and re.search(said, error), error


def test_a_signal_that_is_sent_during_a_call_ends_the_process(wild):
    process = in_main_thread(wild('{ if (write(1, "now\\n", 4) == 4) pause(); }'))
    assert process.stdout.readline() == "now\n"
    process.send_signal(signal.SIGSEGV)
    error = process.communicate(timeout=120)[1]
    assert process.returncode == -signal.SIGSEGV
    assert re.search(
        r"lasthop: wild: cong_avoid was running when another process sent SIGSEGV at \d\.\d{6} s; it is not the cause",
        error,
    ), error


def test_a_signal_that_is_sent_after_a_call_ends_the_process(wild):
    then = "import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)\nprint('alive')\n"
    process = in_main_thread(wild("(void)0"), then)
    output, error = process.communicate(timeout=120)
    assert (process.returncode, output) == (-signal.SIGSEGV, ""), error


@pytest.mark.parametrize("status", [0, 7])
def test_a_controller_in_c_that_ends_the_process_has_failed(run_with, status):
    done = run_with(f"exit({status})")
    assert done.returncode == 1
    assert re.search(
        r"lasthop: wild: cong_avoid has ended the process by exit\(\) at 5\.\d{6} s; a controller gives up with",
        done.stderr,
    ), done.stderr


@pytest.mark.parametrize("byte", [-1, 64])
def test_a_store_beside_its_own_bytes_ends_the_run(run_with, byte):
    done = run_with(f"((char *)sk->priv)[{byte}] = 1")
    assert done.returncode == 1 and "cong_avoid wrote just before or behind the bytes of `private_size`" in done.stderr


@pytest.mark.parametrize("name", ["download-11n", "tcp-nup"])
@pytest.mark.parametrize("control", ["newreno", "cubic"])
def test_objects_do_as_the_built_in_controllers_of_linux(name, control):
    document, _ = told(short(name).set("tcp.congestion_control", control))
    own, _ = told(short(name).set("tcp.congestion_control", {"kind": "bpf", "object": str(BPF / f"{control}.bpf.o")}))
    assert own == document


def test_a_table_may_be_at_an_address(libraries):
    library = ctypes.CDLL(str(libraries / "newreno.so"))
    where = ctypes.addressof(ctypes.c_char.in_dll(library, "lasthop_cc"))
    by_file = {"kind": "c", "library": str(libraries / "newreno.so")}
    by_address = {"kind": "c", "library": f"address:{where:#x}"}
    scenario = short("tcp-nup")
    assert (
        told(scenario.set("tcp.congestion_control", by_address))[0]
        == told(scenario.set("tcp.congestion_control", by_file))[0]
    )


def test_an_address_and_code_in_python_do_not_go_together(small):
    scenario = lasthop.load("small.toml").set("tcp.congestion_control", {"kind": "c", "library": "address:4096"})
    both = scenario.set("flow.0.congestion_control", {"kind": "python", "file": "mine.py", "class": "Mine"})
    with pytest.raises(lasthop.ScenarioError, match="name a file"):
        lasthop.run(both, seeds=1)


def test_no_file_names_an_address(small, command):
    choice = '{ kind = "c", library = "address:4096" }'
    small.write_text(small.read_text().replace('congestion_control = "newreno"', f"congestion_control = {choice}"))
    done = command("run", "small.toml", "--seed", 1)
    assert done.returncode == 2 and "small.toml:18: tcp.congestion_control" in done.stderr
    assert "an address is of one process" in done.stderr


@pytest.mark.parametrize(
    ("choice", "said"),
    [
        ({"kind": "c", "library": "mine.so"}, "mine.so"),
        ({"kind": "c", "library": "garbage"}, "is not a shared library"),
        ({"kind": "c", "library": "address:12x"}, "no address follows"),
        ({"kind": "c", "library": "address:0"}, "address"),
        ({"kind": "bpf", "object": "mine.o"}, "mine.o"),
        ({"kind": "bpf", "object": "garbage"}, "garbage"),
        (
            {"kind": "bpf", "object": str(BPF / "cubic.bpf.o"), "gamma": 1},
            'has no whole number `const volatile` called "gamma"',
        ),
        (
            {"kind": "bpf", "object": str(BPF / "cubic.bpf.o"), "hystart": 0.5},
            "a constant of an object is a whole number",
        ),
        ({"kind": "bpf", "object": str(BPF / "cubic.bpf.o"), "ops": "third"}, 'has no controller "third"'),
    ],
)
def test_a_library_that_cannot_be_loaded_is_one_message(small, command, choice, said):
    (small.parent / "garbage").write_bytes(bytes(range(256)) * 8)
    done = command("run", "small.toml", "--seed", 1, "--set", f"tcp.congestion_control={toml_value(choice)}")
    assert done.returncode == 2 and done.stdout == ""
    assert said in done.stderr.splitlines()[-1]
    assert "tcp.congestion_control" in done.stderr.splitlines()[-1]
    assert "Traceback" not in done.stderr


def test_show_describes_an_object(command, small):
    done = command("show", BPF / "cubic.bpf.o")
    assert done.returncode == 0, done.stderr
    for line in ("  reads: ", "tcp_sock.snd_cwnd", "  missing: nothing"):
        assert line in done.stdout
    told = json.loads(command("show", "--json", BPF / "cubic.bpf.o").stdout)
    assert "cong_avoid" in told["hooks"] and told["missing"] == [] and "tcp_sock.snd_ssthresh" in told["writes"]
    refused(command("show", "none.bpf.o"), "none.bpf.o: No such file")
    (small.parent / "garbage.o").write_bytes(b"\x7fELF" + bytes(100))
    refused(command("show", "garbage.o"), "garbage.o: ")


def test_own_controllers_of_every_language_keep_the_promises(command, libraries):
    for choice in (
        {"kind": "c", "library": str(libraries / "newreno.so")},
        {"kind": "bpf", "object": str(BPF / "newreno.bpf.o")},
    ):
        done = command("cc", "check", toml_value(choice))
        assert done.returncode == 0, done.stdout
        assert done.stdout.endswith("0 broken\n")
