"""A validator of JSON against the subset of CDDL [RFC 8610] in which drafts of qlog are written.

It has types with choices, maps with optional keys and `* text => any`, arrays with occurrences, and the controls `.regexp` and `.size`;
`.default` bounds nothing. A map without `* text => any` is closed: a key that it does not name is an error.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

TOKEN = re.compile(
    r'\s+|;[^\n]*|(?P<text>"[^"]*")|(?P<word>[$@A-Za-z_][\w.$-]*)|(?P<number>\d+)|(?P<sign>/=|=>|[={}\[\]():?*+/,])|(?P<control>\.\w+)'
)
UINT_BITS = {"uint": 64, "uint8": 8, "uint16": 16, "uint32": 32, "uint64": 64}


class Entry(NamedTuple):
    """A member of a map."""

    key: str
    is_optional: bool
    type: Any


class Schema:
    """The rules of one or more texts, of which later ones add choices to sockets."""

    def __init__(self, *texts: str) -> None:
        self.rules: dict[str, list[Any]] = {}
        for text in texts:
            self._tokens = list(_tokens(text))
            self._at = 0
            while self._at < len(self._tokens):
                self._rule()

    def errors(self, value: Any, rule: str, path: str = "") -> list[str]:
        """The mistakes of a value, with their places; none if it is of the rule's type."""
        return self._choice(value, self.rules[rule], path or rule)

    # Reading

    def _next(self, kind: str | None = None) -> str:
        found, text = self._tokens[self._at]
        assert kind in (None, found, text), (
            f"{kind} is expected, not {text}: {self._tokens[self._at - 5 : self._at + 5]}"
        )
        self._at += 1
        return text

    def _peek(self, ahead: int = 0) -> str:
        place = self._at + ahead
        return self._tokens[place][1] if place < len(self._tokens) else ""

    def _takes(self, text: str) -> bool:
        if self._peek() != text:
            return False
        self._at += 1
        return True

    def _rule(self) -> None:
        name = self._next("word")
        if self._takes("/="):
            self.rules.setdefault(name, []).extend(self._type())
        else:
            self._next("=")
            self.rules[name] = self._type()

    def _type(self) -> list[Any]:
        choices = [self._one()]
        while self._takes("/"):
            choices.append(self._one())
        return choices

    def _one(self) -> Any:
        if self._takes("{"):
            found: Any = ("map", self._entries("}"))
        elif self._takes("["):
            found = ("array", *self._occurrence(), self._type())
            self._next("]")
        elif self._tokens[self._at][0] == "text":
            found = ("literal", self._next()[1:-1])
        else:
            found = ("name", self._next("word"))
        while self._peek().startswith(".") and self._tokens[self._at][0] == "control":
            control, argument = self._next(), self._next()
            found = ("control", found, control, argument.strip('"'))
        return found

    def _occurrence(self) -> tuple[int, int | None]:
        if self._takes("*"):
            return 0, None
        if self._takes("+"):
            return 1, None
        if self._tokens[self._at][0] == "number" and self._peek(1) == "*":
            least = int(self._next())
            self._next("*")
            return least, int(self._next("number"))
        return 1, 1

    def _entries(self, end: str) -> list[Entry]:
        entries = []
        while not self._takes(end):
            if self._takes("*"):
                self._next("text")
                self._next("=>")
                entries.append(Entry("*", True, self._type()))
            else:
                is_optional = self._takes("?")
                key = self._next("word")
                self._next(":")
                entries.append(Entry(key, is_optional, self._type()))
            self._takes(",")
        return entries

    # Validating

    def _choice(self, value: Any, choices: list[Any], path: str) -> list[str]:
        best: list[str] | None = None
        for one in choices:
            errors = self._of(value, one, path)
            if not errors:
                return []
            best = errors if best is None or len(errors) < len(best) else best
        return best or []

    def _of(self, value: Any, one: Any, path: str) -> list[str]:
        wrong = [f"{path}: {value!r} is not {one!r}"[:300]]
        match one:
            case ("literal", text):
                return [] if value == text else wrong
            case ("name", name) if name in self.rules:
                return self._choice(value, self.rules[name], path)
            case ("name", name) if name.startswith("$"):
                return wrong  # a socket that no text has filled
            case ("name", "any"):
                return []
            case ("name", "text"):
                return [] if isinstance(value, str) else wrong
            case ("name", "bool"):
                return [] if isinstance(value, bool) else wrong
            case ("name", "float32" | "float64"):
                return [] if isinstance(value, int | float) and not isinstance(value, bool) else wrong
            case ("name", name) if name in UINT_BITS:
                is_whole = isinstance(value, int) and not isinstance(value, bool)
                return [] if is_whole and 0 <= value < 2 ** UINT_BITS[name] else wrong
            case ("control", of, ".regexp", pattern):
                errors = self._of(value, of, path)
                return errors or ([] if re.fullmatch(pattern, value) else wrong)
            case ("control", of, ".size", size):
                errors = self._of(value, of, path)
                fits = value < 256 ** int(size) if isinstance(value, int) else len(str(value)) == int(size)
                return errors or ([] if fits else wrong)
            case ("control", of, ".default", _):
                return self._of(value, of, path)
            case ("array", least, most, of):
                if not isinstance(value, list) or len(value) < least or (most is not None and len(value) > most):
                    return wrong
                return [
                    error for place, each in enumerate(value) for error in self._choice(each, of, f"{path}[{place}]")
                ]
            case ("map", entries):
                return self._map(value, entries, path) if isinstance(value, dict) else wrong
        raise ValueError(f"{one}: is no rule of this schema")

    def _map(self, value: dict[str, Any], entries: list[Entry], path: str) -> list[str]:
        named = {entry.key: entry for entry in entries}
        missing = [
            f"{path}.{key}: is missing" for key, entry in named.items() if not entry.is_optional and key not in value
        ]
        errors = list(missing)
        for key, each in value.items():
            entry = named.get(key) or named.get("*")
            errors += (
                [f"{path}.{key}: is unknown"] if entry is None else self._choice(each, entry.type, f"{path}.{key}")
            )
        return errors


def _tokens(text: str) -> Iterator[tuple[str, str]]:
    place = 0
    while place < len(text):
        found = TOKEN.match(text, place)
        assert found, f"no CDDL: {text[place : place + 40]!r}"
        place = found.end()
        if found.lastgroup:
            yield found.lastgroup, found.group()
