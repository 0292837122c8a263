"""Access control: for the browser on this machine that has the address, and for clients with the token.

A page of another site has no access. It would have to send a foreign `Origin`, or a `Host` that its own name server had
pointed here (DNS rebinding). Both are refused before any lookup.
"""

from __future__ import annotations

import hmac
import secrets
from contextlib import suppress
from http.cookies import CookieError, SimpleCookie
from ipaddress import ip_address
from urllib.parse import parse_qs

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse, RedirectResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

COOKIE = "lasthop-token"
LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
# The browser loads no content from elsewhere and runs no foreign code; a nonce marks the code in the page itself.
POLICY = (
    "default-src 'self'; script-src 'self' 'nonce-{nonce}'; style-src 'self' 'nonce-{nonce}'; img-src 'self' data: blob:; "
    "object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}


class Guard:
    """Passes requests of the page itself to `app`.

    `hosts` are the page's names with port. None allows any name: the page listens at all addresses, whose names it does
    not know, and requests must carry the `token`.
    """

    def __init__(self, app: ASGIApp, hosts: frozenset[str] | None, token: str | None) -> None:
        self._app = app
        self._hosts = hosts
        self._token = token

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers one request, or refuses it with a sentence."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        refusal = self._refusal(headers) or self._unproved(scope, headers)
        if refusal is not None:
            await refusal(scope, receive, send)
            return
        nonce = scope.setdefault("state", {})["nonce"] = secrets.token_urlsafe(16)

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                response_headers = MutableHeaders(scope=message)
                response_headers["Content-Security-Policy"] = POLICY.format(nonce=nonce)
                response_headers.update(HEADERS)
            await send(message)

        await self._app(scope, receive, with_headers)

    def _refusal(self, headers: Headers) -> PlainTextResponse | None:
        host = headers.get("host", "").lower()
        if self._hosts is not None and host not in self._hosts:
            return PlainTextResponse(
                "this address is not one of the page's own; use the one that `lasthop serve` printed\n", 403
            )
        origin = headers.get("origin")
        if origin is not None and origin.lower().partition("://")[2] not in (self._hosts or {host}):
            return PlainTextResponse("requests from pages of other sites are refused\n", 403)
        if headers.get("sec-fetch-site", "none") not in ("none", "same-origin"):
            return PlainTextResponse("requests from pages of other sites are refused\n", 403)
        return None

    def _unproved(self, scope: Scope, headers: Headers) -> PlainTextResponse | RedirectResponse | None:
        """Returns the refusal if the token is missing; a token in an address becomes a cookie and is removed from the
        address.
        """
        if self._token is None or self._is_token(_bearer(headers)) or self._is_token(_cookie(headers)):
            return None
        token = parse_qs(scope["query_string"].decode("latin-1")).get("token", [""])[0]
        if scope["method"] == "GET" and self._is_token(token):
            answer = RedirectResponse(scope["path"], 303)
            answer.set_cookie(COOKIE, token, httponly=True, samesite="strict")
            return answer
        return PlainTextResponse("the token is missing or wrong; open the address that `lasthop serve` printed\n", 401)

    def _is_token(self, text: str) -> bool:
        return hmac.compare_digest(text.encode(), (self._token or "").encode())


def own_names(host: str, port: int) -> frozenset[str] | None:
    """The names of a page at `host` and `port`, as browsers write them; None if `host` means all addresses."""
    with suppress(ValueError):
        address = ip_address(host)
        if address.is_unspecified:
            return None
        host = f"[{address.compressed}]" if address.version == 6 else address.compressed
    names = (*LOOPBACK, host.lower())
    return frozenset(f"{name}:{port}" for name in names) | (frozenset(names) if port == 80 else frozenset())


def _bearer(headers: Headers) -> str:
    return headers.get("authorization", "").removeprefix("Bearer ")


def _cookie(headers: Headers) -> str:
    try:
        cookie = SimpleCookie(headers.get("cookie", "")).get(COOKIE)
    except CookieError:  # a name that no browser sends
        return ""
    return cookie.value if cookie else ""
