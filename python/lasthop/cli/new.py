"""`lasthop new`: files to begin with: a scenario, a congestion control or an error model."""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path

from ..data.ready import scenarios
from ._mistake import Mistake
from ._output import note

TEMPLATES = Path(__file__).parents[1] / "templates"
# A name of a kernel's congestion control has less than 16 characters, and names in Python and C begin with a letter.
CODE_NAME = re.compile(r"[a-z][a-z0-9_]{0,14}")
SCENARIO_NAME = re.compile(r"[A-Za-z0-9][\w.-]*")
# Files written for each language: the template, and the file's ending.
FILES = {
    "python": (("controller.py", ".py"), ("controller_python.toml", ".toml"), ("test_controller_python.py", "")),
    "c": (("controller.c", ".c"), ("controller_c.toml", ".toml"), ("test_controller_c.py", "")),
    "bpf": (("controller.bpf.c", ".bpf.c"), ("controller_bpf.toml", ".toml"), ("test_controller_bpf.py", "")),
}
ERROR_MODEL_FILES = (
    ("error_model.py", ".py"),
    ("error_model_python.toml", ".toml"),
    ("test_error_model_python.py", ""),
)
BUILD = {
    "python": "",
    "c": 'cc -O2 -ffp-contract=off -shared -fPIC -I"$(lasthop cc header --path)" {name}.c -o {name}.so && ',
    "bpf": "clang -O2 -g -target bpf -c {name}.bpf.c -o {name}.bpf.o && ",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of `lasthop new`."""
    parser.add_argument(
        "name",
        metavar="NAME",
        help="name of the scenario, written to NAME.toml; a ready one (`lasthop list scenario`), which is printed; or the word controller or error_model",
    )
    language = parser.add_mutually_exclusive_group()
    for word, what in (
        ("python", "a class in Python"),
        ("c", "a shared library in C"),
        ("bpf", "a struct_ops of BPF, as for Linux"),
    ):
        after = "controller or error_model" if word == "python" else "controller"
        language.add_argument(f"--{word}", metavar="MINE", help=f"after the word {after}: the name of {what}")


def execute(arguments: argparse.Namespace) -> int:
    """Writes the files into the current folder, all or none, and notes the next command."""
    asked = [(language, getattr(arguments, language)) for language in FILES if getattr(arguments, language) is not None]
    if arguments.name == "controller":
        if not asked:
            raise Mistake(
                "controller: the language and the name are missing; e.g. `lasthop new controller --python my_cc`, --c or --bpf"
            )
        language, name = asked[0]
        return _algorithm(FILES[language], name, BUILD[language].format(name=name))
    if arguments.name == "error_model":
        if [language for language, _ in asked] != ["python"]:
            raise Mistake("error_model: an error model is code in Python; e.g. `lasthop new error_model --python mine`")
        return _algorithm(ERROR_MODEL_FILES, arguments.python, "")
    if asked:
        language, name = asked[0]
        raise Mistake(f"{arguments.name}: only code has a language; use `lasthop new controller --{language} {name}`")
    return _scenario(arguments.name)


def _scenario(given: str) -> int:
    if given in scenarios():
        sys.stdout.write(scenarios()[given].read_text(encoding="utf-8"))
        return 0
    name = given.removesuffix(".toml")
    if not SCENARIO_NAME.fullmatch(name):
        raise Mistake(
            f"{given}: give a name of letters, digits, '_', '-' and '.'; the file is written into the current folder"
        )
    _write({f"{name}.toml": "scenario.toml"}, name)
    note(f"next: lasthop run {name}.toml --seeds 3")
    return 0


def _algorithm(templates: tuple[tuple[str, str], ...], name: str, build: str) -> int:
    """Writes code, a scenario and a test from `templates`; `build` is a command that compiles the code."""
    if not CODE_NAME.fullmatch(name):
        raise Mistake(
            f"{name}: give a name of small letters, digits and '_', 15 at most, that begins with a letter; e.g. my_cc"
        )
    _write({f"{name}{end}" if end else f"test_{name}.py": template for template, end in templates}, name)
    note(f"next: {build}lasthop run {name}.toml --seeds 3")
    note(f"test: python -m pytest test_{name}.py")
    return 0


def _write(files: dict[str, str], name: str) -> None:
    """Writes each file from its template with its @name@ and @Class@; refuses to overwrite."""
    there = [file for file in files if Path(file).exists()]
    if there:
        raise Mistake(f"{there[0]}: exists already; choose another name or folder")
    class_name = "".join(part.capitalize() for part in name.split("_"))
    for file, template in files.items():
        text = (TEMPLATES / f"{template}.in").read_text(encoding="utf-8")
        with open(file, "x", encoding="utf-8") as to:
            to.write(text.replace("@name@", name).replace("@Class@", class_name))
        note(f"{file}: written")
