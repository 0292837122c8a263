"""HTML of results, scenarios and comparisons, for notebooks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import TYPE_CHECKING

from ..study.comparison import comparison_table, how_compared
from ..study.overview import flow_table, heading, headline_table

if TYPE_CHECKING:
    from ..data.result import Result
    from ..study.comparison import Comparisons
    from ..study.scenario import Scenario


def result_html(result: Result) -> str:
    """Headline numbers, the first flows and the warnings."""
    flows = flow_table(result)
    parts = [f"<h4>{escape(heading(result))}</h4>", table_html(*headline_table(result))]
    if flows is not None:
        parts.append(table_html(flows.heads, flows.rows, left=2))
        parts.extend([f"<p>{escape(flows.more_text)}</p>"] if flows.more else [])
    return "".join([*parts, *_notes(result.warnings)])


def scenario_html(scenario: Scenario) -> str:
    """The file, with the user's settings above it."""
    return f"<h4>{escape(scenario.file_name)}</h4><pre>{escape(scenario.file_text())}</pre>"


def comparisons_html(rows: Comparisons) -> str:
    """The numbers of two results, A and B, their difference, and the warnings."""
    return "".join([table_html(*comparison_table(rows)), *_notes([how_compared(rows), *rows.warnings])])


def table_html(heads: Sequence[str], rows: Iterable[Sequence[str]], *, left: int = 1) -> str:
    """A table whose first `left` columns are words."""

    def line(cells: Sequence[str], tag: str) -> str:
        sides = ("left" if column < left else "right" for column in range(len(cells)))
        return "".join(
            f'<{tag} style="text-align: {side}">{escape(cell)}</{tag}>' for cell, side in zip(cells, sides, strict=True)
        )

    body = "".join(f"<tr>{line(row, 'td')}</tr>" for row in rows)
    return f"<table><thead><tr>{line(heads, 'th')}</tr></thead><tbody>{body}</tbody></table>"


def _notes(sentences: Iterable[str]) -> list[str]:
    return [f"<p>{escape(sentence)}</p>" for sentence in sentences]
