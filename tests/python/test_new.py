"""`lasthop new` and `lasthop cc header`: what is written works, and nothing is overwritten."""

from __future__ import annotations

import ast
import ctypes
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import lasthop
import pytest
from lasthop.cli import new

STRICT = ["-Wall", "-Wextra", "-Werror"]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty folder, which is the current one."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def needs(program: str) -> None:
    if shutil.which(program) is None:
        pytest.skip(f"there is no {program}")


def test_the_header_is_printed_and_its_folder_told(command):
    folder = Path(command("cc", "header", "--path").stdout.strip())
    header = command("cc", "header").stdout
    assert (folder / "lasthop_cc.h").read_text(encoding="utf-8") == header
    assert "struct lasthop_cc_v1 {" in header


def test_a_new_scenario_runs(command, folder):
    done = command("new", "mine")
    assert (done.returncode, done.stdout) == (0, "")
    assert "next: lasthop run mine.toml" in done.stderr
    done = command("run", "mine.toml", "--seed", 1, "--set", "duration=2 s", "--set", "warmup=1 s")
    assert done.returncode == 0, done.stderr
    assert command("new", "other.toml").returncode == 0 and (folder / "other.toml").exists()


@pytest.mark.parametrize("language", new.FILES)
def test_a_new_controller_stands_beside_cubic(command, folder, language):
    done = command("new", "controller", f"--{language}", "my_cc")
    assert done.returncode == 0, done.stderr
    assert "test: python -m pytest test_my_cc.py" in done.stderr
    text = (folder / "my_cc.toml").read_text(encoding="utf-8")
    own, other = (flow["congestion_control"] for flow in tomllib.loads(text)["flow"])
    assert (own["kind"], other) == (language, "cubic")
    assert not any("@" in file.read_text(encoding="utf-8").replace("@dataclass", "") for file in folder.iterdir())
    # The rest of the scenario is the same for any kind.
    built_in = (
        lasthop.Scenario(text).set("flow.0.congestion_control", "newreno").set("duration", "2 s").set("warmup", "1 s")
    )
    flows = lasthop.run(built_in, seeds=1).flows
    assert sorted(flows["station"]) == ["other", "own"] and (flows["goodput_bps"] > 0).all()
    ast.parse((folder / "test_my_cc.py").read_text(encoding="utf-8"))


@pytest.mark.parametrize(("language", "compiler"), [("python", "python3"), ("c", "cc"), ("bpf", "clang")])
def test_the_test_of_a_new_controller_passes(command, folder, language, compiler):
    needs(compiler)
    command("new", "controller", f"--{language}", "my_cc")
    ran = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "test_my_cc.py"], capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stdout
    assert "1 passed" in ran.stdout


def test_the_test_of_a_new_error_model_passes(command, folder):
    done = command("new", "error_model", "--python", "my_model")
    assert done.returncode == 0, done.stderr
    assert "next: lasthop run my_model.toml --seeds 3" in done.stderr
    ran = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "test_my_model.py"], check=False, capture_output=True, text=True
    )
    assert ran.returncode == 0, ran.stdout
    assert "1 passed" in ran.stdout


def test_a_new_controller_in_c_is_a_library_with_the_table(command, folder):
    needs("cc")
    command("new", "controller", "--c", "my_cc")
    include = command("cc", "header", "--path").stdout.strip()
    flags = ["-std=c11", "-O2", "-ffp-contract=off", "-shared", "-fPIC", *STRICT, f"-I{include}"]
    subprocess.run(["cc", *flags, "my_cc.c", "-o", "my_cc.so"], check=True)
    size, version = (ctypes.c_uint32 * 2).in_dll(ctypes.CDLL(str(folder / "my_cc.so")), "lasthop_cc")
    # two words, name, private_size and ten functions
    assert (size, version) == (8 + 12 * 8, 1)


@pytest.mark.parametrize("compiler", ["g++", "clang++"])
def test_the_header_is_c_plus_plus_too(command, folder, compiler):
    needs(compiler)
    Path("mine.cc").write_text('#include "lasthop_cc.h"\n', encoding="utf-8")
    include = command("cc", "header", "--path").stdout.strip()
    subprocess.run([compiler, "-std=c++17", *STRICT, f"-I{include}", "-fsyntax-only", "mine.cc"], check=True)


OVER_A_FIFO = """
duration = "6 s"
[bss]
standard = "802.11n"
[bss.ap]
queue = { kind = "fifo", limit = "50 packets" }
[[station]]
[[flow]]
station = "sta"
direction = "down"
congestion_control = "newreno"
"""


def test_a_new_controller_for_bpf_is_the_kernels_reno(command, folder):
    """Windows of the templates in Python and C are real numbers, and those of the built-in one whole segments."""
    needs("clang")
    command("new", "controller", "--bpf", "my_cc")
    subprocess.run(["clang", "-O2", "-g", "-target", "bpf", "-c", "my_cc.bpf.c", "-o", "my_cc.bpf.o"], check=True)
    built_in = lasthop.Scenario(OVER_A_FIFO)
    own = built_in.set("flow.0.congestion_control", {"kind": "bpf", "object": "my_cc.bpf.o"})
    theirs, ours = (lasthop.run(one, seeds=2).flows for one in (built_in, own))
    counted = ["goodput_bps", "segments_sent", "segments_retransmitted", "timeouts"]
    assert theirs["segments_retransmitted"].min() > 0
    assert ours[counted].equals(theirs[counted])


def test_a_new_controller_for_bpf_compiles_with_clang_alone(command, folder):
    needs("clang")
    command("new", "controller", "--bpf", "my_cc")
    flags = ["-O2", "-g", "-target", "bpf", *STRICT]
    subprocess.run(["clang", *flags, "-c", "my_cc.bpf.c", "-o", "my_cc.bpf.o"], check=True)
    assert b".struct_ops" in (folder / "my_cc.bpf.o").read_bytes()


def test_a_new_controller_in_python_is_a_class_of_its_name(command, folder):
    command("new", "controller", "--python", "my_cc")
    tree = ast.parse((folder / "my_cc.py").read_text(encoding="utf-8"))
    (found,) = (node for node in tree.body if isinstance(node, ast.ClassDef))
    assert found.name == "MyCc"
    assert (
        tomllib.loads((folder / "my_cc.toml").read_text(encoding="utf-8"))["flow"][0]["congestion_control"]["class"]
        == "MyCc"
    )


@pytest.mark.parametrize("there", ["my_cc.c", "my_cc.toml", "test_my_cc.py"])
def test_nothing_is_overwritten_and_nothing_half_written(command, folder, there):
    (folder / there).write_text("mine", encoding="utf-8")
    done = command("new", "controller", "--c", "my_cc")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert f"{there}: exists already" in done.stderr
    assert [file.name for file in folder.iterdir()] == [there] and (folder / there).read_text(
        encoding="utf-8"
    ) == "mine"


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("controller", "the language and the name are missing"),
        ("mine --c my_cc", "only code has a language"),
        ("error_model", "an error model is code in Python"),
        ("error_model --c mine", "an error model is code in Python"),
        ("a/b", "give a name of letters"),
        ("controller --c Big", "small letters"),
        ("controller --python sixteen_letters_", "15 at most"),
        ("controller --python ../x", "small letters"),
        ("controller --python a --c b", "not allowed with"),
    ],
)
def test_what_cannot_be_written_is_refused_in_a_sentence(command, folder, line, said):
    done = command("new", *line.split())
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert said in done.stderr
    assert not [*folder.iterdir()]
