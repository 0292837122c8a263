"""The base install runs, sweeps, plots, compares, explains and reproduces; a command that needs more says in a sentence what to install."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import lasthop
import pytest
from lasthop.data.extras import LAYERS, lacks
from lasthop.study.store import Memory, Store

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
# The interpreter of an environment with the wheel and its dependencies, and no layer; `make wheel` makes one.
BASE = os.environ.get("LASTHOP_BASE")
MOST_MB = 250
# A command line without the packages of any layer: an import hook hides them from Python.
HIDING = f"""\
import sys
sys.modules.update(dict.fromkeys({sorted({name for names in LAYERS.values() for name in names})!r}))
from lasthop.cli import main
status = main(sys.argv[1:])
print(*sorted({{name.partition('.')[0] for name, module in sys.modules.items() if module}}), file=open('loaded', 'w'))
sys.exit(status)
"""


def run_line(python: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    line = [python, *map(str, arguments)]
    return subprocess.run(line, capture_output=True, text=True, timeout=300, check=False)


@pytest.fixture
def bare(small):
    """`lasthop` without any layer, in the folder of a small scenario."""
    return lambda *arguments: run_line(sys.executable, "-c", HIDING, *arguments)


def names(requirements: list[str]) -> list[str]:
    return [re.match(r"[\w.-]+", one)[0] for one in requirements]


def test_layers_are_the_extras_of_the_package():
    extras = PROJECT["optional-dependencies"]
    assert {layer: tuple(names(extras[layer])) for layer in LAYERS} == LAYERS
    assert extras["dask"] == ["lasthop[cluster]"] and extras["emulate"] == []
    (everything,) = extras["all"]
    assert set(re.fullmatch(r"lasthop\[(.*)\]", everything)[1].split(",")) == {*LAYERS, "emulate"}


def test_no_package_of_a_layer_is_in_the_base():
    assert not {name for packages in LAYERS.values() for name in packages} & set(names(PROJECT["dependencies"]))


def test_the_base_runs_sweeps_compares_and_plots(bare):
    for line in (
        ("run", "small.toml", "--seeds", 2, "--out", "a"),
        ("run", "small.toml", "--seeds", 2, "--set", "tcp.congestion_control=cubic", "--out", "b"),
        ("compare", "a", "b"),
        ("plot", "a", "b", "--kind", "goodput", "--out", "goodput.png"),
        ("sweep", "small.toml", "--over", "station.0.count=1,2", "--seeds", 2, "--csv", "points.csv"),
        ("plot", "points.csv", "--kind", "sweep", "--out", "sweep.svg"),
        ("plot", "a", "--out", "over_time.svg"),
        ("plot", "a", "b", "--kind", "box", "--out", "box.csv"),
        ("plot", "a", "--kind", "combined", "--out", "combined.csv"),
        ("explain", "a"),
        ("explain", "a", "b"),
        ("theory", "saturation-11a"),
        ("reproduce", "heusse2003", "--quick", "--claim", "H-1"),
        ("show", "flow"),
        ("list", "quantity"),
        ("check", "small.toml"),
        ("new", "new.toml"),
        ("self", "completion", "bash"),
        ("self", "doctor"),
    ):
        done = bare(*line)
        assert done.returncode == 0, (line, done.stderr)
        assert "Traceback" not in done.stderr
    assert Path("goodput.png").stat().st_size > 1000 and Path("points.csv").read_text().count("\n") == 5


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (
            ("sweep", "small.toml", "--over", "station.0.count=1,2", "--store", "runs.duckdb"),
            "runs.duckdb: a store @store",
        ),
        (("query", "small.toml"), "small.toml: a store @store"),
        (
            (
                "sweep",
                "small.toml",
                "--over",
                "station.0.count=1,2",
                "--executor",
                "dask",
                "--address",
                "tcp://[::1]:1",
            ),
            "running on Dask @cluster",
        ),
        (("serve",), "the page @page"),
        (("report", "a", "--out", "a.html"), "the page of a run @page"),
    ],
)
def test_a_command_names_the_extra_that_it_needs(bare, line, said):
    done = bare(*line)
    sentence, _, layer = said.partition("@")
    assert done.returncode == 2, done.stderr
    assert sentence in done.stderr and f"pip install 'lasthop[{layer}]'" in done.stderr and done.stderr.count("\n") == 1
    assert all(package in done.stderr for package in LAYERS[layer])


def test_a_run_imports_nothing_that_is_slow_to_load(bare):
    done = bare("run", "small.toml", "--seed", 1, "--json", "result.json")
    assert done.returncode == 0, done.stderr
    base = {"matplotlib", "numpy", "pandas", "pyarrow", "jinja2", "shtab"}
    assert not set(Path("loaded").read_text().split()) & base


def test_a_data_frame_names_the_extra_that_has_it(small, monkeypatch):
    result = lasthop.run(small, seeds=1, interval_s=0.5, explain=True, progress=False)
    monkeypatch.setitem(sys.modules, "pandas", None)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    for read, what in (
        (lambda: result.flows, "a data frame of flows"),
        (lambda: result.timeseries, "a data frame of time series"),
        (lambda: result.explain().frame(), "a data frame of an explanation"),
        (lambda: lasthop.sweep(small, over={"station.0.count": [1]}, seeds=1), "the table of a sweep"),
    ):
        with pytest.raises(ImportError, match=re.escape(f"{what} needs the packages pandas and pyarrow: pip install")):
            read()
    assert result.series.present_metrics() and result.table("flows").column("goodput_bps")


def test_installed_extras_lack_nothing(monkeypatch):
    assert lacks("store") is None
    monkeypatch.setitem(sys.modules, "dask", None)
    monkeypatch.setitem(sys.modules, "distributed", None)
    assert lacks("cluster") == "needs the packages dask and distributed: pip install 'lasthop[cluster]'"


def test_a_sweep_in_memory_gives_the_rows_of_one_in_a_store(small):
    swept = {"over": {"station.0.count": [1, 2]}, "seeds": [1, 2], "progress": False}
    passing, kept = (lasthop.sweep(lasthop.load(small), store=store, **swept) for store in (None, Store.in_memory()))
    assert passing.equals(kept) and len(passing) == 4 and passing.attrs == kept.attrs


def test_runs_in_memory_are_not_repeated(small):
    scenario, memory = lasthop.load(small), Memory()
    jobs = [lasthop.Job(scenario, seed) for seed in (1, 2)]
    assert lasthop.complete(jobs[:1], memory)[:2] == (1, 0)
    assert lasthop.complete(jobs, memory)[:2] == (1, 1)
    assert [run["seed"] for run in memory.each(jobs)] == [1, 2]


@pytest.mark.skipif(
    BASE is None, reason="LASTHOP_BASE names no interpreter; `make wheel` makes an environment of the base alone"
)
def test_the_wheel_with_its_base_alone_works_and_is_small(small):
    for line in (
        ("run", "small.toml", "--seeds", 2, "--out", "a"),
        ("compare", "a", "a"),
        ("plot", "a", "--kind", "goodput", "--out", "goodput.pdf"),
        (
            "sweep",
            "tcp-nup",
            "--over",
            "wired.delay=1 ms",
            "--seeds",
            1,
            "--set",
            "duration=6 s",
            "--set",
            "warmup=5500 ms",
        ),
    ):
        done = run_line(BASE, "-m", "lasthop", *line)
        assert done.returncode == 0, (line, done.stderr)
    done = run_line(
        BASE, "-m", "lasthop", "sweep", "small.toml", "--over", "station.0.count=1,2", "--store", "runs.duckdb"
    )
    assert done.returncode == 2 and "pip install 'lasthop[store]'" in done.stderr
    environment = Path(BASE).parents[1]
    # The initial packages of an environment are not the wheel's, and differ between versions of Python.
    du = ["du", "-skc", "--exclude=pip", "--exclude=setuptools", environment]
    kB = int(subprocess.run(du, capture_output=True, text=True, check=True).stdout.split()[0])
    assert kB / 1024 < MOST_MB, f"{environment} takes {kB / 1024:.0f} MB"
