"""Parts of lasthop whose packages the base install leaves out, and the packages to install for each.

The base runs, sweeps, plots, compares and explains. pyproject.toml has the same layers as extras, by the same names.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Any

#: The packages of each layer, by their import names in Python.
LAYERS: dict[str, tuple[str, ...]] = {
    "frames": ("pandas", "pyarrow"),
    "store": ("duckdb", "pyarrow"),
    "cluster": ("dask", "distributed", "pyarrow"),
    "page": ("starlette", "uvicorn", "duckdb", "pyarrow"),
    "xarray": ("xarray", "pyarrow"),
    "gym": ("gymnasium", "pettingzoo"),
    "onnx": ("onnxruntime",),
}


class MissingExtra(ImportError):
    """A package that the base install leaves out; the message names the extra that has it."""


def lacks(layer: str) -> str | None:
    """Returns the missing packages of an extra, as the end of a sentence with the remedy; None if all are there."""
    absent = [package for package in LAYERS[layer] if find_spec(package) is None]
    if not absent:
        return None
    what = f"the package {absent[0]}" if len(absent) == 1 else f"the packages {', '.join(absent[:-1])} and {absent[-1]}"
    return f"needs {what}: pip install 'lasthop[{layer}]'"


def pandas_for(what: str) -> Any:
    """Returns pandas; raises `MissingExtra` for `what` if it is not installed."""
    with _needed_for(what):
        import pandas
    return pandas


def pyarrow_for(what: str) -> Any:
    """Returns pyarrow with its Parquet files; raises `MissingExtra` for `what` if it is not installed."""
    with _needed_for(what):
        import pyarrow.parquet
    return pyarrow


@contextmanager
def _needed_for(what: str) -> Iterator[None]:
    try:
        yield
    except ImportError:
        if reason := lacks("frames"):
            raise MissingExtra(f"{what} {reason}") from None
        raise
