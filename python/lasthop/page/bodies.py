"""Bodies of requests, bounded and checked."""

from __future__ import annotations

from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request

from ..data.foreign_text import parsed_json

LARGEST = 2_000_000


async def json_body(request: Request) -> dict[str, Any]:
    """The JSON object in the body of a request. Raises `HTTPException` if it is too large or not an object."""
    content = bytearray()
    async for piece in request.stream():
        content += piece
        if len(content) > LARGEST:
            raise HTTPException(413, f"more than {LARGEST // 1_000_000} MB; a scenario is shorter than that")
    if request.headers.get("content-type", "").partition(";")[0].strip() != "application/json":
        raise HTTPException(415, "the body must be JSON, with Content-Type application/json")
    try:
        value = parsed_json("the body", content.decode())
    except ValueError:
        raise HTTPException(400, "the body is not JSON") from None
    if not isinstance(value, dict):
        raise HTTPException(400, "the body must be a JSON object")
    return value


def text_of(body: dict[str, Any], key: str, default: str | None = None) -> str:
    """A text of a body. Raises `ValueError`."""
    value = body.get(key, default)
    if not isinstance(value, str) or not _is_text(value):
        raise ValueError(f"{key}: a text is needed")
    return value


def _is_text(value: str) -> bool:
    try:
        value.encode()
    except UnicodeEncodeError:  # half of a pair of UTF-16
        return False
    return True


def number_of(body: dict[str, Any], key: str) -> float:
    """A number of a body, at most a billion either way. Raises `ValueError`."""
    value = body.get(key)
    if isinstance(value, bool) or not isinstance(value, int | float) or not -1e9 <= value <= 1e9:
        raise ValueError(f"{key}: a number is needed")
    return float(value)
