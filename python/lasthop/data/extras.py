"""Parts of lasthop whose packages the base install leaves out, and the packages to install for each.

The base runs, sweeps, plots and compares. pyproject.toml has the same layers as extras, by the same names.
"""

from __future__ import annotations

from importlib.util import find_spec

#: The packages of each layer, by their import names in Python.
LAYERS: dict[str, tuple[str, ...]] = {
    "store": ("duckdb",),
    "cluster": ("dask", "distributed"),
    "page": ("starlette", "uvicorn", "duckdb"),
    "xarray": ("xarray",),
}


def lacks(layer: str) -> str | None:
    """Returns the missing packages of an extra, as the end of a sentence with the remedy; None if all are there."""
    absent = [package for package in LAYERS[layer] if find_spec(package) is None]
    if not absent:
        return None
    what = f"the package {absent[0]}" if len(absent) == 1 else f"the packages {', '.join(absent[:-1])} and {absent[-1]}"
    return f"needs {what}: pip install 'lasthop[{layer}]'"
