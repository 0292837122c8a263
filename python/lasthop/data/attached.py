"""Methods of results and scenarios whose functions are on higher floors, which their classes may not import.

`lasthop/__init__.py` has the functions; each is loaded at the first use.
"""

from __future__ import annotations

from types import MethodType

TYPE_CHECKING = False  # the one of `typing`, for which `import lasthop` does not wait
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

#: what loads a function, by class and name of the method
LOADERS: dict[tuple[str, str], Callable[[], Callable[..., Any]]] = {}


class Attached:
    """A method that is loaded at the first use."""

    def __set_name__(self, owner: type, name: str) -> None:
        self._key = owner.__name__, name

    def __get__(self, instance: object, owner: type | None = None) -> Callable[..., Any]:
        function = LOADERS[self._key]()
        return function if instance is None else MethodType(function, instance)
