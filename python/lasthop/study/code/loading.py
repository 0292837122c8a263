"""Finds classes in the files of scenarios, and reports each mistake in them in one sentence."""

from __future__ import annotations

import inspect
import os
import sys
import traceback
from difflib import get_close_matches
from pathlib import Path
from types import ModuleType

from .bases import BASES

#: set to anything, it has tracebacks printed
TRACEBACK = "LASTHOP_TRACEBACK"


class CodeError(ValueError):
    """An error in a file, as one sentence."""


def load(content: bytes, file: str | os.PathLike[str], name: str, class_name: str, base_name: str) -> type:
    """Runs `content` of `file`, which the scenario calls `name`, and returns the class of that name in it.

    It is run again for each scenario, so that its module's state belongs to one scenario. Raises `CodeError` if there is no
    such class, or it extends another base, and any exception of the file.
    """
    module = _module_of(content, Path(file), name)
    found = getattr(module, class_name, None)
    base = BASES[base_name]
    if isinstance(found, type) and issubclass(found, base):
        _check_hooks(found, base, name)
        return found
    if found is not None:
        raise CodeError(f"{name}: {class_name} does not extend lasthop.{base_name}, which gives what is asked of it")
    there = [key for key, value in vars(module).items() if isinstance(value, type) and value is not base]
    there = [key for key in there if issubclass(getattr(module, key), base)]
    near = get_close_matches(class_name, there, n=1)
    hint = f"did you mean {near[0]}?" if near else f"there are: {', '.join(there)}" if there else "it has none"
    raise CodeError(f"{name}: has no class {class_name}; {hint}")


def _check_hooks(found: type, base: type, name: str) -> None:
    """Raises `CodeError` for an `on_…` method that is not one of the hooks."""
    hooks = [key for key in vars(base) if key.startswith("on_")]
    for key in (key for class_ in found.__mro__ for key in vars(class_) if key.startswith("on_")):
        if key not in hooks:
            near = get_close_matches(key, hooks, n=1)
            hint = f"did you mean {near[0]}?" if near else f"there are: {', '.join(hooks)}"
            raise CodeError(f"{name}: nothing calls {found.__name__}.{key}; {hint}")


def _module_of(content: bytes, file: Path, name: str) -> ModuleType:
    module = ModuleType(f"lasthop code {file}")
    module.__file__ = str(file)
    # A place where some of the standard library looks for the module of a class.
    sys.modules[module.__name__] = module
    exec(compile(content, name, "exec"), vars(module))  # noqa: S102  the user was told that it is code
    return module


def overrides(class_: type, name: str) -> bool:
    """Whether a class defines `name` itself."""
    base = next(base for base in BASES.values() if issubclass(class_, base))
    return inspect.getattr_static(class_, name) is not inspect.getattr_static(base, name)


def sentence_of(error: BaseException, name: str) -> str:
    """`mine.py:14: ZeroDivisionError: division by zero; in on_ack`: where in the file called `name`, what, in which function."""
    if isinstance(error, CodeError):
        return str(error)
    if os.environ.get(TRACEBACK):
        traceback.print_exception(error)
    text = "".join(each if each.isprintable() else " " for each in str(error))
    what = f"{type(error).__name__}: {text}" if text else type(error).__name__
    if isinstance(error, SyntaxError) and error.filename == name:
        return f"{name}:{error.lineno}: {type(error).__name__}: {error.msg}"
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename == name]
    if not frames:
        return f"{name}: {what}"
    where = "" if frames[-1].name == "<module>" else f"; in {frames[-1].name}"
    return f"{name}:{frames[-1].lineno}: {what}{where}"
