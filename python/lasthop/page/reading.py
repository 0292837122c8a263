"""What a run holds, piece by piece."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.routing import Route

if TYPE_CHECKING:
    from .app import Desk


def routes(desk: Desk) -> list[Route]:
    """What this part of the page answers."""
    return []
