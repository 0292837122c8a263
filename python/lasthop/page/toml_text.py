"""The position of each key and value in the text of a TOML file, and edits that change one without touching the rest.

The text is valid: `tomllib` has read it, so no position is checked again.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

Path = tuple[str | int, ...]

# Sections that may occur once or several times; a single one counts as the first.
ONE_OR_MANY = ("bss", "station", "flow", "wall")
BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
STEP = re.compile(r"\[(\d+)\]|\"((?:[^\"\\]|\\.)*)\"|([^.\[\]]+)")
BLANK = re.compile(r"[ \t]*")
BLANK_LINES = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
SCALAR = re.compile(r"[^,\]}#\r\n]*")
STRINGS = (
    re.compile(r'"""(?:[^\\]|\\.)*?"{3,5}', re.DOTALL),
    re.compile(r"'''.*?'{3,5}", re.DOTALL),
    re.compile(r'"(?:[^"\\\n]|\\.)*"'),
    re.compile(r"'[^'\n]*'"),
)


class Span(NamedTuple):
    """From a character to before another, counted from 0."""

    begin: int
    end: int


class Edit(NamedTuple):
    """Replaces a span by `text`."""

    begin: int
    end: int
    text: str


class TomlText:
    """The positions in a TOML text. Paths are tuples such as `("station", 0, "position", 1)`."""

    def __init__(self, text: str) -> None:
        self.text = text
        # The last word of each key; its value; both from the first word of the key on.
        self.keys: dict[Path, Span] = {}
        self.values: dict[Path, Span] = {}
        self.statements: dict[Path, Span] = {}
        self.headers: dict[Path, Span] = {}
        # The end of each table, for a further line.
        self._ends: dict[Path, int] = {(): 0}
        self._inline: set[Path] = set()
        self._counts: dict[Path, int] = {}
        self._scan()

    def found(self, path: Path, *, key: bool = False) -> Span | None:
        """The position of a value, or of its `key`; for a missing key, the position of the table it belongs in."""
        path = canonical(path)
        if key and path in self.keys:
            return self.keys[path]
        while path:
            span = self.values.get(path) or self.headers.get(path) or self.keys.get(path)
            if span is not None:
                return span
            path = path[:-1]
        return None

    def setting(self, path: Path, value: str, instead_of: Path | None = None) -> Edit:
        """The edit that sets `path` to `value`, a TOML value; it may replace the key `instead_of`."""
        path = canonical(path)
        if path in self.values:
            return Edit(*self.values[path], value)
        other = self.statements.get(canonical(instead_of)) if instead_of else None
        if other is not None:
            return Edit(*other, f"{_key(path[-1:])} = {value}")
        return self._further(path, value)

    def sections(self, word: str) -> list[Span]:
        """The spans of the sections whose name begins with a word, such as all of `[[station]]`."""
        paths = [path for path in self.headers if path[0] == word]
        return [Span(self.headers[path].begin, self._ends[path]) for path in paths]

    def _further(self, path: Path, value: str) -> Edit:
        """Adds a missing key to the nearest existing table."""
        for length in range(len(path) - 1, -1, -1):
            table = path[:length]
            line = f"{_key(path[length:])} = {value}"
            if table in self._inline:
                inside = self.text[self.values[table].begin + 1 : self.values[table].end - 1]
                at = self.values[table].begin + 1 + len(inside.rstrip())
                return Edit(at, at, f", {line}" if inside.strip() else f" {line}")
            if table in self._ends:
                return self._line(self._ends[table], line, first=not table)
        raise AssertionError("the whole file is a table")

    def _line(self, at: int, line: str, *, first: bool) -> Edit:
        if first and at == 0:
            return Edit(0, 0, f"{line}\n")
        return Edit(at, at, f"\n{line}")

    def _scan(self) -> None:
        table: Path = ()
        at = self._after(BLANK_LINES, 0)
        while at < len(self.text):
            if self.text[at] == "[":
                table, at = self._header(at)
            else:
                at = self._statement(at, table)
            at = self._line_end(at)
            self._ends[table] = at
            at = self._after(BLANK_LINES, at)

    def _after(self, pattern: re.Pattern[str], at: int) -> int:
        match = pattern.match(self.text, at)
        assert match is not None, "the text is valid TOML"
        return match.end()

    def _line_end(self, at: int) -> int:
        end = self.text.find("\n", at)
        end = len(self.text) if end < 0 else end
        return end - 1 if self.text[end - 1 : end] == "\r" else end

    def _header(self, begin: int) -> tuple[Path, int]:
        several = self.text.startswith("[[", begin)
        words, at = self._words(begin + (2 if several else 1))
        path = self._of_last([word for word, _ in words[:-1]])
        path += (words[-1][0],)
        if several:
            count = self._counts[path] = self._counts.get(path, 0) + 1
            path += (count - 1,)
        path = canonical(path)
        if path[:-1] and path[-1] == 0 and not several:
            self._counts.setdefault(path[:-1], 1)
        end = at + (2 if several else 1)
        self.headers[path] = Span(begin, end)
        return path, end

    def _of_last(self, words: Iterable[str]) -> Path:
        """A path in which a list of tables means its last one."""
        path: Path = ()
        for word in words:
            path += (word,)
            if path in self._counts:
                path += (self._counts[path] - 1,)
        return path

    def _words(self, at: int) -> tuple[list[tuple[str, Span]], int]:
        """The words of a dotted key, and the position behind them."""
        words = []
        while True:
            at = self._after(BLANK, at)
            end = self._string_end(at) or self._after(BARE_KEY, at)
            word = self.text[at:end]
            words.append((word[1:-1] if word[0] in "\"'" else word, Span(at, end)))
            at = self._after(BLANK, end)
            if self.text[at : at + 1] != ".":
                return words, at
            at += 1

    def _statement(self, begin: int, table: Path) -> int:
        words, at = self._words(begin)
        path = canonical((*table, *(word for word, _ in words)))
        at = self._after(BLANK, at + 1)
        end = self._value(at, path)
        self.keys[path] = words[-1][1]
        self.statements[path] = Span(begin, end)
        return end

    def _value(self, at: int, path: Path) -> int:
        if self.text[at] == "[":
            end = self._list(at, path)
        elif self.text[at] == "{":
            end = self._inline_table(at, path)
        else:
            end = self._string_end(at) or self._scalar_end(at)
        self.values[path] = Span(at, end)
        return end

    def _scalar_end(self, at: int) -> int:
        return at + len(self.text[at : self._after(SCALAR, at)].rstrip())

    def _string_end(self, at: int) -> int | None:
        if self.text[at] not in "\"'":
            return None
        kinds = [kind for kind in STRINGS if (match := kind.match(self.text, at)) and match.end() > at + 2] or STRINGS[
            2:
        ]
        return next(match.end() for kind in kinds if (match := kind.match(self.text, at)))

    def _list(self, at: int, path: Path) -> int:
        at = self._after(BLANK_LINES, at + 1)
        count = 0
        while self.text[at] != "]":
            at = self._value(at, (*path, count))
            count += 1
            at = self._after(BLANK_LINES, at)
            if self.text[at] == ",":
                at = self._after(BLANK_LINES, at + 1)
        return at + 1

    def _inline_table(self, at: int, path: Path) -> int:
        self._inline.add(path)
        at = self._after(BLANK_LINES, at + 1)
        while self.text[at] != "}":
            at = self._after(BLANK_LINES, self._statement(at, path))
            if self.text[at] == ",":
                at = self._after(BLANK_LINES, at + 1)
        return at + 1


def canonical(path: Path) -> Path:
    """A path in which a single BSS is the first."""
    if path and path[0] in ONE_OR_MANY and (len(path) < 2 or not isinstance(path[1], int)):
        return (path[0], 0, *path[1:])
    return path


def path_of(text: str) -> Path:
    """The path written as `station[0].queue.limit` or `station.0.queue.limit`."""
    steps = []
    for index, quoted, word in STEP.findall(text):
        steps.append(int(index) if index else int(word) if word.isdecimal() else word or quoted)
    return tuple(steps)


def applied(text: str, edits: Iterable[Edit]) -> str:
    """`text` with edits that do not overlap."""
    for edit in sorted(edits, reverse=True):
        text = text[: edit.begin] + edit.text + text[edit.end :]
    return text


def _key(words: Path) -> str:
    return ".".join(str(word) if BARE_KEY.fullmatch(str(word)) else f'"{word}"' for word in words)
