"""A page of the Python package: what `lasthop` exports, each with its docstring."""

from __future__ import annotations

import inspect
from collections.abc import Iterator

import lasthop

from .markup import title

FIRST = ("load", "run", "sweep", "compare", "read", "open", "complete")


def pages() -> Iterator[tuple[str, str]]:
    """One page."""
    names = [*FIRST, *(name for name in lasthop.__all__ if name not in FIRST and not name.startswith("_"))]
    functions = [name for name in names if inspect.isfunction(getattr(lasthop, name))]
    classes = [name for name in names if inspect.isclass(getattr(lasthop, name))]
    errors = [name for name in classes if issubclass(getattr(lasthop, name), BaseException)]
    others = [name for name in classes if name not in errors]
    parts = [title("Python"), "``import lasthop`` gives what follows. :doc:`/start/python` begins with an example.\n"]
    parts += [title("Functions", "-"), *(f".. autofunction:: lasthop.{name}\n" for name in functions)]
    parts += [title("Classes", "-"), *(f".. autoclass:: lasthop.{name}\n   :members:\n" for name in others)]
    parts += [title("Exceptions", "-"), *(f".. autoexception:: lasthop.{name}\n" for name in errors)]
    yield "index", "\n".join(parts)
