"""The browser's files: the one document of all pages, and its modules by name."""

from __future__ import annotations

import base64
import json
from pathlib import Path

from .._core import __version__

STATIC = Path(__file__).parent / "static"


def document(nonce: str) -> str:
    """The page's document; its import map gives the modules names that do not depend on their addresses."""
    text = (STATIC / "index.html").read_text(encoding="utf-8")
    return (
        text.replace("{{nonce}}", nonce)
        .replace("{{version}}", __version__)
        .replace("{{modules}}", json.dumps(module_map()))
    )


def modules() -> list[str]:
    """The page's own modules, by name below `static`."""
    return sorted(file.relative_to(STATIC).as_posix() for file in STATIC.glob("*.js"))


def module_map(addresses: dict[str, str] | None = None) -> dict[str, dict[str, str]]:
    """An import map from `lasthop/air.js` to the module's address, by default below /static."""
    address_of = addresses or {name: f"/static/{name}" for name in modules()}
    return {"imports": {f"lasthop/{name}": address for name, address in address_of.items()}}


def as_data(text: bytes, kind: str) -> str:
    """A `data:` address with the content itself."""
    return f"data:{kind};base64,{base64.b64encode(text).decode()}"
