"""The files and the folders of a crate form layers: no circle of imports except those listed; and modules have one shape.

A file imports another where it names it by a path that begins with `crate`, `super` or `self`, in a `use` or in the code.
These rules say which file is meant.

- A name that a file has from elsewhere (`use`, `pub use`) counts for the file that defines it, however many files hand it on.
  So an import through `mod.rs` is neither hidden nor blamed on `mod.rs`.
- A `mod` line or a `pub use` is no import by itself: it says what a module is made of. What `mod.rs` names of its own parts does
  count (`newreno::Params`), be it by a path, by a name that a `pub use` brought, or by a row of `registry!`.
  So a part cannot import from the `mod.rs` that builds it; what both need stands in a file of its own (`interface.rs`).
- `#[cfg(test)]` parts do not count, nor do comments and strings.
- What a macro makes has no text to be found. A path to it counts for the file in which the macro is called.

A folder imports what its files import. Within each folder its parts, files and folders alike, form layers too; `mod.rs` counts for
the folder, not among its parts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[2]

# Existing circles, each with the reason.
KNOWN_CIRCLES = {
    # The observer stands beside the ids; a record may be a step, and steps and details name ids and the outcomes of records.
    ("observe", "detail.rs", "lib.rs", "record.rs", "step.rs"),
    # A quantity says how its values are put into a report, and a row of a report has them by quantity.
    ("observe", "quantity.rs", "report.rs"),
    # A mistake has its arguments as values, and values, parameters and plug-ins are refused with mistakes.
    ("registry", "error.rs", "fault.rs", "foreign.rs", "parameter.rs", "shape.rs", "value.rs"),
    # A setting names an entry of a document, and a document takes settings.
    ("scenario", "document.rs", "setting.rs"),
    # `params!` has a section check itself where it is declared, and the checks read the section.
    ("scenario", "description/application.rs", "description/flow.rs"),
}

# Existing circles of parts of a folder that are not circles of files (crate, folder, parts), each with the reason.
KNOWN_FOLDER_CIRCLES: set[tuple[str, ...]] = set()

TEXT = re.compile(r'//[^\n]*|/\*.*?\*/|b?r(#*)".*?"\1|b?"(?:\\.|[^"\\])*"|b?\'(?:\\.[^\']*|[^\'\\])\'', re.DOTALL)
TEST_ITEM = re.compile(r"#\[cfg\(test\)\]")
TEST_MODULE = re.compile(r"#\[cfg\(test\)\]\s*(?:pub(?:\([^)]*\))?\s+)?mod (\w+);")
USE = re.compile(r"(?:\b(pub)(?:\([^)]*\))?\s+)?\buse\s+([^;]+);")
VISIBILITY = re.compile(r"\bpub\(in [^)]*\)")
PATH = re.compile(r"(?<![\w:])(?:(?:crate|self|super)(?:::super)*|[a-z]\w*)(?:::\w+)+")
REGISTRY_ROW = re.compile(r"\b(\w+) => \w+\s*:\s*source\b")
FREE_WORD = re.compile(r"(?<![\w:.])[A-Za-z_]\w*")
DEFINITION = re.compile(r"\b(?:struct|enum|union|trait|fn|const|static|type|macro_rules!)\s+(\w+)")

Module = tuple[str, ...]


def without_text(source: str) -> str:
    """Rust without its comments, strings and characters."""
    return TEXT.sub(" ", source)


def without_tests(source: str) -> str:
    """Rust without the items that stand under `#[cfg(test)]`."""
    while found := TEST_ITEM.search(source):
        source = source[: found.start()] + source[end_of_item(source, found.end()) :]
    return source


def end_of_item(source: str, start: int) -> int:
    """Where the item ends that begins at `start`: at its semicolon, or at the brace that closes it."""
    depth = 0
    for at in range(start, len(source)):
        depth += {"{": 1, "}": -1}.get(source[at], 0)
        if depth == 0 and source[at] in ";}":
            return at + 1
    return len(source)


def expanded(tree: str) -> Iterator[tuple[Module, str]]:
    """Each path of a `use` with the name that it gets: `a::{b, c as d}` has `a::b`, called `b`, and `a::c`, called `d`."""
    head, brace, rest = tree.partition("{")
    if brace:
        for branch in branches(rest.rstrip()[:-1]):
            yield from expanded(head + branch)
    else:
        path, _, name = (part.strip() for part in tree.partition(" as "))
        segments = tuple(path.replace(" ", "").split("::"))
        segments = segments[:-1] if segments[-1] == "self" and len(segments) > 1 else segments
        yield segments, name or segments[-1]


def branches(inside: str) -> Iterator[str]:
    """What stands between the commas of a brace, inner braces whole."""
    depth, start = 0, 0
    for at, character in enumerate(inside + ","):
        depth += {"{": 1, "}": -1}.get(character, 0)
        if depth == 0 and character == ",":
            if branch := inside[start:at].strip():
                yield branch
            start = at + 1


def module_of(file: Path, source: Path) -> Module:
    """The path of the module that a file is, below the root of its crate."""
    parts = file.relative_to(source).with_suffix("").parts
    return parts[:-1] if parts[-1] in ("mod", "lib", "main") else parts


class Crate:
    """The modules of a crate, what each defines, hands on and imports."""

    def __init__(self, source: Path) -> None:
        files = {module_of(file, source): file for file in sorted(source.rglob("*.rs"))}
        texts = {module: without_text(file.read_text()) for module, file in files.items()}
        tests = {(*module, name) for module, text in texts.items() for name in TEST_MODULE.findall(text)}
        self.files = {module: str(file.relative_to(source)) for module, file in files.items()}
        self.texts = {
            module: without_tests(text)
            for module, text in texts.items()
            if not any(module[: len(test)] == test for test in tests)
        }
        self.defined = {module: set(DEFINITION.findall(text)) for module, text in self.texts.items()}
        self.handed_on: dict[Module, list[tuple[Module, str]]] = {module: [] for module in self.texts}
        self.named: dict[Module, list[Module]] = {module: [] for module in self.texts}
        for module, text in self.texts.items():
            self.read(module, text)

    def read(self, module: Module, text: str) -> None:
        """Takes down what a file hands on and what it names."""
        for public, tree in USE.findall(text):
            for path, name in expanded(tree):
                target = self.absolute(module, path)
                if target is not None:
                    self.handed_on[module].append((target, name))
                if not public:
                    self.note(module, path)
        self.read_code(module, VISIBILITY.sub(" ", USE.sub(" ", text)))

    def read_code(self, module: Module, code: str) -> None:
        """Takes down what a file names outside its `use` lines."""
        for found in PATH.findall(code):
            self.note(module, tuple(found.split("::")))
        for row in REGISTRY_ROW.findall(code):
            self.note(module, (row, "Params"))
        words = set(FREE_WORD.findall(code))
        self.named[module] += [target for target, name in self.handed_on[module] if name in words]

    def note(self, module: Module, path: Module) -> None:
        """Takes down a path, unless it leads to another crate."""
        target = self.absolute(module, path)
        if target is not None:
            self.named[module].append(target)

    def absolute(self, module: Module, path: Module) -> Module | None:
        """A path from the root of the crate; None if it leads to another crate."""
        if path[0] == "crate":
            return path[1:]
        if path[0] in ("self", "super"):
            rest = tuple(part for part in path if part not in ("self", "super"))
            return module[: len(module) - path.count("super")] + rest
        known = (*module, path[0]) in self.texts or any(name == path[0] for _, name in self.handed_on[module])
        return module + path if known else None

    def holder(self, path: Module) -> Module:
        """The longest part of a path that is a module."""
        return max((path[:n] for n in range(len(path) + 1) if path[:n] in self.texts), key=len)

    def definer(self, path: Module, seen: frozenset[Module] = frozenset()) -> Module | None:
        """The module that defines what a path names, as far as the text of the crate tells."""
        module = self.holder(path)
        if path == module:
            return module
        if path in seen:
            return None
        name, rest = path[len(module)], path[len(module) + 1 :]
        if name in self.defined[module]:
            return module
        for target, called in self.handed_on[module]:
            whole = (*target[:-1], name) if called == "*" else target
            if called in (name, "*") and (found := self.definer(whole + rest, seen | {path})):
                return found
        return None

    def graph(self) -> dict[Module, set[Module]]:
        """For each file those that it imports."""
        return {
            module: {self.definer(path) or self.holder(path) for path in paths} - {module}
            for module, paths in self.named.items()
        }

    def folder_graphs(self) -> Iterator[tuple[Module, dict[Module, set[Module]]]]:
        """For each folder the imports among its parts, each named by its path."""
        graph = self.graph()
        for folder in sorted({module[:depth] for module in graph for depth in range(len(module))}):
            depth = len(folder) + 1
            parts = {
                module[:depth]: set() for module in graph if len(module) >= depth and module[: depth - 1] == folder
            }
            for module, others in graph.items():
                if module[:depth] in parts:
                    parts[module[:depth]] |= {other[:depth] for other in others} & parts.keys() - {module[:depth]}
            yield folder, parts


def circles(graph: dict[Module, set[Module]]) -> list[list[Module]]:
    """The largest groups of two or more files in which each leads to each other."""
    reached = {module: reachable(graph, module) for module in graph}
    found = {tuple(sorted(other for other in reached[module] if module in reached[other])) for module in graph}
    return sorted(list(circle) for circle in found if len(circle) > 1)


def reachable(graph: dict[Module, set[Module]], start: Module) -> set[Module]:
    """What can be reached from a file in one step or more."""
    seen: set[Module] = set()
    waiting = [start]
    while waiting:
        new = graph[waiting.pop()] - seen
        seen |= new
        waiting.extend(new)
    return seen


def drawn(crate: Crate, circle: list[Module]) -> str:
    """A circle as lines, each a file and those of the circle that it imports."""
    graph = crate.graph()
    arrows = {module: sorted(crate.files[other] for other in graph[module] & set(circle)) for module in circle}
    return "\n".join(f"  {crate.files[module]} -> {', '.join(others)}" for module, others in arrows.items())


def drawn_parts(crate: Crate, folder: Module, circle: list[Module]) -> str:
    """A circle of parts of a folder as lines, each an import of one file by another."""
    depth = len(folder) + 1
    arrows = [
        f"  {crate.files[module]} -> {crate.files[other]}"
        for module, others in crate.graph().items()
        for other in sorted(others)
        if module[:depth] != other[:depth] and {module[:depth], other[:depth]} <= set(circle)
    ]
    return "\n".join([f"{len(circle)} parts of {'/'.join(folder) or 'src'}:", *arrows])


CRATES = sorted(path.parent for path in (REPOSITORY / "crates").glob("*/src"))


@pytest.mark.parametrize("path", CRATES, ids=lambda path: path.name)
def test_no_files_import_one_another_in_a_circle(path):
    crate = Crate(path / "src")
    found = {
        (path.name, *sorted(crate.files[module] for module in circle)): circle for circle in circles(crate.graph())
    }
    new = [circle for names, circle in found.items() if names not in KNOWN_CIRCLES]
    assert not new, "\n\n".join(f"{len(circle)} files:\n{drawn(crate, circle)}" for circle in new)
    gone = {names for names in KNOWN_CIRCLES if names[0] == path.name} - found.keys()
    assert not gone, "strike them off the list"


@pytest.mark.parametrize("path", CRATES, ids=lambda path: path.name)
def test_no_parts_of_a_folder_import_one_another_in_a_circle(path):
    crate = Crate(path / "src")
    found = {
        (path.name, "/".join(folder), *(part[-1] for part in circle)): drawn_parts(crate, folder, circle)
        for folder, parts in crate.folder_graphs()
        for circle in circles(parts)
        if not is_circle_of_files(crate, circle)
    }
    new = [drawing for names, drawing in found.items() if names not in KNOWN_FOLDER_CIRCLES]
    assert not new, "\n\n".join(new)
    gone = {names for names in KNOWN_FOLDER_CIRCLES if names[0] == path.name} - found.keys()
    assert not gone, "strike them off the list"


def is_circle_of_files(crate: Crate, circle: list[Module]) -> bool:
    """Whether the files of these names alone form the circle, which `KNOWN_CIRCLES` then lists."""
    files = {module: others for module, others in crate.graph().items() if module in circle}
    return circle in circles({module: files.get(module, set()) & files.keys() for module in circle})


def test_every_integration_test_belongs_to_a_program():
    """Without `autotests` a file that no program names would never run."""
    left_out = []
    for manifest in REPOSITORY.glob("crates/*/Cargo.toml"):
        if "autotests = false" not in (text := manifest.read_text(encoding="utf-8")):
            continue
        programs = set(re.findall(r'^\[\[test\]\]\nname = "(\w+)"', text, re.MULTILINE))
        parts = set(
            re.findall(r"^mod (\w+);", (manifest.parent / "tests/all.rs").read_text(encoding="utf-8"), re.MULTILINE)
        )
        left_out += [file for file in manifest.parent.glob("tests/*.rs") if file.stem not in programs | parts]
    assert left_out == []


def test_a_module_with_parts_is_a_folder_with_mod_rs():
    files = [file for path in CRATES for file in (path / "src").rglob("*.rs")]
    beside = [str(file.relative_to(REPOSITORY)) for file in files if file.with_suffix("").is_dir()]
    assert beside == [], "move each to its folder, as mod.rs"


TOY = {
    "lib.rs": "mod a; mod b; mod c; mod d;",
    "a/mod.rs": "mod leaf; pub use leaf::Word; use crate::b::B; pub struct A(B);",
    "a/leaf.rs": "//! See `crate::d`.\npub struct Word;",
    "b.rs": "pub struct B(crate::c::C);",
    "c.rs": "use crate::d::{self, D as Other, Wrapped};\npub struct C(Other, Wrapped);",
    "d.rs": "use super::a::A;\npub struct D(Option<Box<A>>);\npub struct Wrapped;",
}


def toy(tmp_path: Path, **changed: str) -> Crate:
    """A crate of four files in a circle, save for what is changed."""
    for name, text in (TOY | {f"{name}.rs": text for name, text in changed.items()}).items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    return Crate(tmp_path)


def test_a_circle_of_four_is_found_and_drawn(tmp_path):
    crate = toy(tmp_path)
    [circle] = circles(crate.graph())
    assert drawn(crate, circle) == "  a/mod.rs -> b.rs\n  b.rs -> c.rs\n  c.rs -> d.rs\n  d.rs -> a/mod.rs"


@pytest.mark.parametrize(
    "d",
    [
        "use super::a::Word;\npub struct D(Word);\npub struct Wrapped;",
        "pub struct D;\npub struct Wrapped;\n#[cfg(test)]\nmod tests { use crate::a::A; fn f() -> A { todo!() } }",
        '/* crate::a::A */ pub struct D;\npub struct Wrapped; pub const C: &str = "crate::a::A"; // crate::a::A',
    ],
    ids=["a leaf by way of mod.rs", "a test", "comments and strings"],
)
def test_no_circle_is_seen_where_there_is_none(tmp_path, d):
    assert circles(toy(tmp_path, d=d).graph()) == []


@pytest.mark.parametrize(
    "parent",
    [
        "mod leaf; use leaf::Word; pub struct A(Word);",
        "mod leaf; pub struct A(leaf::Word);",
        "mod leaf; pub use leaf::Word; pub struct A(Word);",
        'pub enum A { leaf => Leaf: source "a paper", status "none"; }',
        "mod leaf; mod other; pub use other::Given; pub struct A(Given);",
    ],
    ids=["a use", "a path", "a pub use", "a row of registry!", "by way of another part"],
)
def test_a_parent_that_names_a_part_which_names_it_is_a_circle(tmp_path, parent):
    files = {
        "d": "pub struct D;\npub struct Wrapped;",
        "a/mod": parent,
        "a/leaf": "pub struct Word(super::A); pub struct Params;",
        "a/other": "use super::leaf::Word; pub struct Given(Word);",
    }
    crate = toy(tmp_path, **files)
    [circle] = circles(crate.graph())
    assert {crate.files[module] for module in circle} >= {"a/leaf.rs", "a/mod.rs"}


@pytest.mark.parametrize(
    "part",
    ["pub struct Word(super::other::Given);", "pub(in crate::a) struct Word;"],
    ids=["what both need stands in a file of its own", "a name may be seen by its parent"],
)
def test_a_part_that_names_a_leaf_makes_no_circle(tmp_path, part):
    parent = "mod leaf; mod other; pub use leaf::Word; pub use other::Given; pub struct A(Word, Given);"
    d = "pub struct D;\npub struct Wrapped;"
    crate = toy(tmp_path, d=d, **{"a/mod": parent, "a/leaf": part, "a/other": "pub struct Given;"})
    assert circles(crate.graph()) == []


def test_folders_in_a_circle_are_found_and_drawn_though_their_files_form_none(tmp_path):
    files = {
        "a/mod": "mod leaf; pub struct A(crate::d::D);",
        "a/leaf": "pub struct Word;",
        "b": "pub struct B;",
        "c": "pub struct C(crate::b::B);",
        "d": "pub struct D(super::a::leaf::Word);",
    }
    crate = toy(tmp_path, **files)
    assert circles(crate.graph()) == []
    [(folder, circle)] = [(folder, circle) for folder, parts in crate.folder_graphs() for circle in circles(parts)]
    assert drawn_parts(crate, folder, circle) == "2 parts of src:\n  a/mod.rs -> d.rs\n  d.rs -> a/leaf.rs"
    assert not is_circle_of_files(crate, circle)
