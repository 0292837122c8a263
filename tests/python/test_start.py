"""What a process loads before it does its work: `lasthop --help`, `import lasthop` and a run wait for no package that they do not need."""

from __future__ import annotations

import subprocess
import sys

import lasthop
import pytest
from lasthop.data.attached import LOADERS

# Of the base and of the extras, and modules of Python that take long to load.
HEAVY = {
    *("numpy", "pandas", "pyarrow", "matplotlib", "duckdb", "rich", "jinja2", "shtab", "dask", "distributed"),
    *("starlette", "uvicorn", "xarray", "IPython", "ipywidgets"),
    *(
        "subprocess",
        "multiprocessing",
        "asyncio",
        "logging",
        "concurrent",
        "random",
        "statistics",
        "uuid",
        "platform",
        "difflib",
    ),
}
# Also modules of Python that only a run needs.
MORE = {"dataclasses", "inspect", "json", "hashlib", "tomllib", "gzip", "pathlib", "tempfile"}
LIST = """
import sys
{}
print("loaded:", *sys.modules, file=sys.stderr)
"""
COMMAND = "from lasthop.cli import main; main({!r})"


def loaded(code: str) -> tuple[set[str], list[str]]:
    """The packages that are loaded by some code, and the modules of lasthop among them."""
    done = subprocess.run([sys.executable, "-c", LIST.format(code)], capture_output=True, text=True, check=True)
    modules = done.stderr.rpartition("loaded:")[2].split()
    return {name.partition(".")[0] for name in modules}, [name for name in modules if name.startswith("lasthop")]


@pytest.mark.parametrize(
    ("code", "without", "most"),
    [
        # The package with `data` and `data.attached`.
        ("import lasthop", HEAVY | MORE | {"typing", "argparse"}, 3),
        (COMMAND.format(["--help"]), HEAVY | MORE, 12),
        (COMMAND.format(["--version"]), HEAVY | MORE, 12),
        (COMMAND.format(["run", "small.toml", "--seed", "1"]), HEAVY, 80),
    ],
)
def test_a_process_loads_what_it_needs(small, code, without, most):
    packages, own = loaded(code)
    assert packages & without == set()
    assert len(own) <= most, own


def test_every_name_of_the_package_is_loaded_at_its_first_use():
    for name in lasthop.__all__:
        assert name in dir(lasthop)
        assert getattr(lasthop, name) is getattr(lasthop, name)
    assert lasthop.Result.__module__ == "lasthop.data.result"
    assert lasthop.Comparisons.__module__ == "lasthop.study.comparison"
    with pytest.raises(AttributeError, match="no attribute 'reed'"):
        _ = lasthop.reed
    _, own = loaded("from lasthop import *; assert run and Store")
    assert "lasthop.study.store" in own


def test_every_attached_method_has_a_function():
    for class_, name in LOADERS:
        assert callable(getattr(getattr(lasthop, class_), name)), (class_, name)
    # Also where only the class is imported.
    _, own = loaded("from lasthop.data.result import Result; Result.plot")
    assert "lasthop.views.plot" in own
