"""A mistake in a scenario, or a warning about it, as a value; its sentence is made last."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from .. import _core


@dataclass(frozen=True)
class Diagnostic:
    """A mistake or a warning. `str()` is its sentence: place, key, message and remedy."""

    #: the mistake in words, without its place
    message: str
    #: the action that mends it; empty if none is known
    remedy: str = ""
    #: a word for the kind, such as "unknown_key" or "no_effect"
    kind: str = "invalid"
    #: the path of the key, such as "station[0].count"; empty if it is about no key
    key: str = ""
    #: the file
    file: str | None = None
    #: the line in the file, from 1
    line: int | None = None
    #: the column in the line, from 1
    column: int | None = None
    #: first character of the key or value in the file, from 0, and the one behind the last
    span: tuple[int, int] | None = None
    #: path and value of the setting that has the mistake, instead of the file
    setting: tuple[str, str | None] | None = None
    #: the parts of its words, such as the known names
    arguments: Mapping[str, Any] = field(default_factory=dict)
    #: "error" or "warning"
    severity: str = "error"

    def sentence(self, option: Callable[[str], str] = lambda _: "--set") -> str:
        """The sentence; `option` returns the option that has the setting of a path."""
        return _core.sentence(self._place(option), self.key, self.message, self.remedy)

    def _place(self, option: Callable[[str], str]) -> str:
        if self.setting is not None:
            path, value = self.setting
            return f"{option(path)} {path}" + ("" if value is None else f"={value}")
        return (self.file or "") + ("" if self.line is None else f":{self.line}")

    def to_dict(self) -> dict[str, Any]:
        """The fields and the sentence, for JSON."""
        return {"sentence": str(self), **asdict(self)}

    def __str__(self) -> str:
        return self.sentence()


class ScenarioError(ValueError):
    """A scenario, a setting or a name that is wrong.

    `str()` has a sentence for each mistake: where it is, what is wrong and what to do. `diagnostics` has the mistakes as
    values, and the attributes are those of the first: `file`, `line`, `column` and `span` of the mistake, or the `setting`
    (path and value) that has it; the `key`; the `kind`, a word such as "unknown_key"; its `arguments` by name, such as the
    names that are `known`; and the `remedy`.
    """

    __module__ = "lasthop"

    def __init__(self, first: Diagnostic | str, *others: Diagnostic) -> None:
        self.diagnostics = (first if isinstance(first, Diagnostic) else Diagnostic(first), *others)
        super().__init__("\n".join(map(str, self.diagnostics)))

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), self.diagnostics

    @property
    def message(self) -> str:
        """The mistake in words, without place and remedy."""
        return self.diagnostics[0].message

    @property
    def remedy(self) -> str:
        """The action that mends it; empty if none is known."""
        return self.diagnostics[0].remedy

    @property
    def kind(self) -> str:
        """A word for the kind of mistake."""
        return self.diagnostics[0].kind

    @property
    def key(self) -> str:
        """The path of the key, such as "station[0].count"; empty if it is about no key."""
        return self.diagnostics[0].key

    @property
    def file(self) -> str | None:
        """The file that has the mistake."""
        return self.diagnostics[0].file

    @property
    def line(self) -> int | None:
        """The line in the file, from 1."""
        return self.diagnostics[0].line

    @property
    def column(self) -> int | None:
        """The column in the line, from 1."""
        return self.diagnostics[0].column

    @property
    def span(self) -> tuple[int, int] | None:
        """First character of the key or value in the file, from 0, and the one behind the last."""
        return self.diagnostics[0].span

    @property
    def setting(self) -> tuple[str, str | None] | None:
        """Path and value of the setting that has the mistake, instead of a file."""
        return self.diagnostics[0].setting

    @property
    def arguments(self) -> Mapping[str, Any]:
        """The parts of its words, by name."""
        return self.diagnostics[0].arguments


def refused(
    message: str, remedy: str = "", *, kind: str = "file", file: str | None = None, key: str = ""
) -> ScenarioError:
    """The error for a mistake in a file, or of a key."""
    return ScenarioError(Diagnostic(message, remedy, kind=kind, file=file, key=key))
