"""The modules of the package form floors: none imports upward, and none imports another in a circle.

Every import counts: at the head of a file, inside a function, and for types alone (`if TYPE_CHECKING`).

- A name from a package counts for the submodule of that name if there is one, else for the package's `__init__.py`.
- `import_module` counts as an import inside a function. Its name may be known only at run time, so the list below names its targets.
- Imports of other packages do not count. They may be inside functions, so that a command loads only the ones that it needs.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

PACKAGE = Path(__file__).parents[2] / "python" / "lasthop"
# Folders without modules of the package: links to data, and files that `lasthop new` copies.
DATA = ("bundled", "templates")
# Modules that are not written in Python.
EXTENSIONS = ("_core", "_kernel")

# The floor of each part of the package; a part imports from lower floors and from itself.
FLOORS = {
    "_core": 0,
    "_kernel": 0,
    "data": 1,
    "study": 2,
    "foreign": 3,
    "kernel": 3,
    "views/explain": 3,
    "views/export": 3,
    "views/notebook": 3,
    "views/plot": 3,
    "papers": 4,
    "gym": 4,
    "page": 5,
    # What users import; no floor below the commands does.
    "__init__": 6,
    "cli": 7,
    "__main__": 8,
    "demo": 8,
}

# Two modules that load others by name at the first use. Their targets are on higher floors, or many.
LAZY = {
    "lasthop": "names of the package, and methods of `Result`, `Scenario` and `Comparisons` on higher floors",
    "cli._parser": "the table of commands: one command loads one module",
}

# Imports inside functions, each with the reason. At most 15.
DEFERRED = {
    ("cli", "cli._arguments"): "help and completion do not wait for runs and results",
    ("cli._arguments", "foreign.analysis"): "few commands read a capture",
    ("cli._arguments", "foreign.testbed"): "names the program in the message about a foreign file",
    ("cli.report", "cli._page_file"): "needs the layer `page`, which may be missing",
    ("cli.reproduce", "cli._reproduction"): "claims load pandas and DuckDB; `--help` does not wait for them",
    ("cli.serve", "page.serving"): "needs the layer `page`, which may be missing",
    ("kernel.bpf.requirements", "_kernel"): "is built only if libelf and zlib are installed",
    ("kernel.emulation.worker", "study.code.bases"): "loads in the emulator's process, without the package",
    ("study.code.worker", "_core"): "the worker sets its path first",
    ("study.code.worker", "study.code.watching"): "the worker sets its path first",
    ("study.executor.dask", "study.executor.dask"): "runs on a worker, which may lack lasthop",
    ("study.executor.dask", "study.store"): "runs on a worker, which may lack lasthop",
    ("study.sweep", "study.sweep_table"): "extends a class of pandas, and `import lasthop` does not wait for pandas",
    ("views.plot", "views.plot.*"): "one kind of plot loads one module; the folder is the list of kinds",
    (
        "views.plot._chart.drawing",
        "views.plot._chart.shown",
    ): "extends a class of matplotlib; other commands do not wait for it",
}
MOST_DEFERRED = 15
LARGEST_CIRCLE = 3

Module = tuple[str, ...]


class Import(NamedTuple):
    """One import of a module of the package."""

    target: Module
    line: int
    is_deferred: bool


class Package:
    """The modules of a package, and their imports of one another."""

    def __init__(self, root: Path) -> None:
        files = [file for file in sorted(root.rglob("*.py")) if file.relative_to(root).parts[0] not in DATA]
        self.name = root.name
        self.files = {module_of(file.relative_to(root)): file for file in files}
        self.known = {*self.files, *((name,) for name in EXTENSIONS)}
        self.imports = {module: [*self.read(module)] for module in self.files}

    def read(self, module: Module) -> Iterator[Import]:
        """The imports of a file, except those by which a module of `LAZY` loads others."""
        file = self.files[module]
        package = (self.name, *(module if file.name == "__init__.py" else module[:-1]))
        for node, is_deferred in nodes(ast.parse(file.read_text(encoding="utf-8"))):
            for path in paths_of(node, package):
                if path[0] == self.name and not ("*" in path and self.dotted(module) in LAZY):
                    yield Import(self.holder(path[1:]), node.lineno, is_deferred)

    def holder(self, path: Module) -> Module:
        """The module that a path is, else the one that has the name at its end. `*` is known only at run time."""
        return path if path in self.known or "*" in path else path[:-1]

    def dotted(self, module: Module) -> str:
        """The name of a module below the package."""
        return ".".join(module) or self.name

    def upward(self) -> list[str]:
        """Imports from a higher floor, or from another part of the same floor."""
        return [
            f"{self.files[module]}:{each.line}: imports {self.dotted(each.target)}"
            for module, imports in self.imports.items()
            for each in imports
            if not is_below(part_of(each.target), part_of(module))
        ]

    def deferred(self) -> dict[tuple[str, str], str]:
        """The imports inside functions: importer and imported, and the place of one."""
        return {
            (self.dotted(module), self.dotted(each.target)): f"{self.files[module]}:{each.line}"
            for module, imports in self.imports.items()
            for each in imports
            if each.is_deferred
        }

    def circles(self) -> list[list[str]]:
        """The largest groups of two or more modules in which each leads to each other."""
        graph = {
            module: {each.target for each in imports if each.target in self.files} - {module}
            for module, imports in self.imports.items()
        }
        reached = {module: reachable(graph, module) for module in graph}
        found = {tuple(sorted(other for other in reached[module] if module in reached[other])) for module in graph}
        return sorted([self.dotted(module) for module in circle] for circle in found if len(circle) > 1)


def module_of(file: Path) -> Module:
    """The path of the module that a file is."""
    parts = file.with_suffix("").parts
    return parts[:-1] if parts[-1] == "__init__" else parts


def nodes(tree: ast.AST, *, is_deferred: bool = False) -> Iterator[tuple[ast.AST, bool]]:
    """Each node of a tree, and whether it is inside a function."""
    for node in ast.iter_child_nodes(tree):
        yield node, is_deferred
        is_function = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        yield from nodes(node, is_deferred=is_deferred or is_function)


def paths_of(node: ast.AST, package: Module) -> Iterator[Module]:
    """What a node imports, by whole paths; `package` is the one that a relative import starts from."""
    match node:
        case ast.Import(names):
            yield from (tuple(each.name.split(".")) for each in names)
        case ast.ImportFrom(module, names, level):
            start = package[: len(package) + 1 - level] if level else ()
            yield from ((*start, *(module.split(".") if module else ()), each.name) for each in names)
        case ast.Call(ast.Name("import_module") | ast.Attribute(attr="import_module"), [ast.Constant(str(name)), *_]):
            yield absolute(name, package)
        case ast.Call(ast.Name("import_module") | ast.Attribute(attr="import_module")):
            yield (*package, "*")


def absolute(name: str, package: Module) -> Module:
    """The whole path of a name that `import_module` takes, such as `.views.plot`."""
    level = len(name) - len(name.lstrip("."))
    start = package[: len(package) + 1 - level] if level else ()
    return (*start, *name.lstrip(".").split("."))


def part_of(module: Module) -> str:
    """The part of the package that a module belongs to: a key of `FLOORS`."""
    return next((part for part in ("/".join(module[:2]), *module[:1]) if part in FLOORS), "__init__")


def is_below(part: str, other: str) -> bool:
    """Whether `other` may import from `part`."""
    return part == other or FLOORS[part] < FLOORS[other]


def reachable(graph: dict[Module, set[Module]], start: Module) -> set[Module]:
    """What can be reached from a module in one step or more."""
    seen: set[Module] = set()
    waiting = [start]
    while waiting:
        new = graph[waiting.pop()] - seen
        seen |= new
        waiting.extend(new)
    return seen


LASTHOP = Package(PACKAGE)


def test_every_part_has_a_floor():
    parts = {"/".join(module[:2] if module[0] == "views" else module[:1]) for module in LASTHOP.files if module}
    assert parts - {"views"} == FLOORS.keys() - {"__init__", *EXTENSIONS}


def test_no_module_imports_from_a_higher_floor():
    assert LASTHOP.upward() == []


def test_no_circle_is_larger_than_three_modules():
    assert [circle for circle in LASTHOP.circles() if len(circle) > LARGEST_CIRCLE] == []


def test_imports_inside_functions_are_listed():
    found = LASTHOP.deferred()
    assert [place for names, place in found.items() if names not in DEFERRED] == [], (
        "import them at the head of the file"
    )
    assert DEFERRED.keys() - found.keys() == set(), "strike them off the list"
    assert len(DEFERRED) <= MOST_DEFERRED


TOY = {
    "__init__.py": "from .study import run\n",
    "data/__init__.py": "",
    "data/result.py": "import json\nclass Result: pass\n",
    "study/__init__.py": "from .run import run\n",
    "study/run.py": "from ..data.result import Result\ndef run(): import pandas\n",
    "views/__init__.py": "",
    "views/plot/__init__.py": "from ...study.run import run\n",
    "cli/__init__.py": "",
    "cli/_parser.py": "from importlib import import_module\ndef load(name): return import_module(name)\n",
}


def toy(tmp_path: Path, **changed: str) -> Package:
    """A package in order, except for what is changed: `study_run` is `study/run.py`."""
    root = tmp_path / "lasthop"
    for name, text in (TOY | {f"{name.replace('_', '/')}.py": text for name, text in changed.items()}).items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return Package(root)


def test_package_in_order_has_no_findings(tmp_path):
    package = toy(tmp_path)
    assert (package.upward(), package.circles(), package.deferred()) == ([], [], {})


@pytest.mark.parametrize(
    "line",
    [
        "from ..study.run import run",
        "from ..study import run",
        "import lasthop.study.run",
        "def plot():\n    from lasthop.study import run",
        "if TYPE_CHECKING:\n    from ..study.run import Run",
        'def plot(): return import_module("..study.run", __package__)',
    ],
)
def test_an_import_from_a_higher_floor_is_found(tmp_path, line):
    (found,) = toy(tmp_path, data_result=line).upward()
    assert "data/result.py" in found and found.endswith("study.run")


def test_a_view_that_imports_another_is_found(tmp_path):
    package = toy(tmp_path, views_explain="from .plot import draw")
    assert [place.rpartition("/")[2] for place in package.upward()] == ["explain.py:1: imports views.plot"]


@pytest.mark.parametrize(
    "last", ["from .a import A", "def d():\n    from .a import A", "if TYPE_CHECKING:\n    from .a import A"]
)
def test_a_circle_of_four_is_found(tmp_path, last):
    package = toy(tmp_path, data_a="from .b import B", data_b="from . import c", data_c="from .d import D", data_d=last)
    assert package.circles() == [["data.a", "data.b", "data.c", "data.d"]]


def test_imports_inside_functions_are_found(tmp_path):
    text = "def f():\n    from .run import run\n    import numpy\n    return import_module('.' + f, __name__)"
    assert toy(tmp_path, study_axis=text).deferred().keys() == {("study.axis", "study.run"), ("study.axis", "study.*")}
