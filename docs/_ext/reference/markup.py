"""Text of the program as reStructuredText: what help, summaries and messages look like in a page."""

from __future__ import annotations

import re

CODE = re.compile(r"`([^`]+)`")
# Where the program names a page of these docs, the page is linked.
PAGE = re.compile(r"docs/((?:[a-z0-9-]+/)*[a-z0-9-]+)\.md")


def escaped(text: str) -> str:
    """`text` with what reStructuredText would take for markup escaped."""
    return re.sub(r"([\\*_|`<>])", r"\\\1", text)


def inline(text: str) -> str:
    """A sentence of the program: what stands in backticks as code, pages of the docs as links, all else as it is."""
    parts = CODE.split(" ".join(text.split()))
    return "".join(code(part) if number % 2 else _after_code(number, _prose(part)) for number, part in enumerate(parts))


def _after_code(number: int, prose: str) -> str:
    """Prose behind code; a letter there, as in a plural, is set apart by an escaped space, which is not shown."""
    return f"\\ {prose}" if number and prose[:1].isalnum() else prose


def code(text: str) -> str:
    """`text` as code within a line; an empty one as a space, which reStructuredText would refuse."""
    text = text or " "
    if "`" not in text and "\\" not in text:
        return f"``{text}``"
    return ":code:`" + re.sub(r"([\\`])", r"\\\1", text) + "`"


def block(text: str, language: str = "text") -> str:
    """`text` as a block of code."""
    return f".. code-block:: {language}\n\n{indented(text)}\n"


def indented(text: str, by: int = 3) -> str:
    """Each line of `text`, shifted to the right."""
    return "\n".join(" " * by + line if line else line for line in text.splitlines())


def title(text: str, mark: str = "=") -> str:
    """A heading."""
    return f"{text}\n{mark * max(len(text), 4)}\n"


def _prose(text: str) -> str:
    parts = PAGE.split(text)
    return "".join(f":doc:`/{part}`" if number % 2 else escaped(part) for number, part in enumerate(parts))
