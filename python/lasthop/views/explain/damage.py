"""Results of others: a part with a value of another kind than a run writes is refused with one sentence."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from ...data.diagnostic import ScenarioError, refused
from ...data.result import Result


@contextmanager
def whole(result: Result, part: str, remedy: str) -> Iterator[None]:
    """Raises `ScenarioError` for what reading a damaged part of `result` raises in this block."""
    try:
        yield
    except ScenarioError:
        raise
    except (TypeError, AttributeError, LookupError, ValueError, ArithmeticError) as error:
        source = None if result.source is None else str(result.source)
        raise refused(f"its {part} is damaged", remedy, file=source) from error
