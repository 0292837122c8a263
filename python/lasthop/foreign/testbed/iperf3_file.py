"""Files of `iperf3 --json` and `--json-stream`: a document for each test of one end.

The format is the one of iperf3 3.0 to 3.21: `start` (connections, parameters), `intervals`, `end`, and `error`
if a test ended early. A server that serves several tests writes one document after another.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from ...data.foreign_text import Unreadable
from ...data.foreign_text import documents as documents_in
from .model import is_number

WHOLE = "iperf3 writes it at its end, so it may have been killed: stop it with Ctrl-C, or use --json-stream"

# The beginning of a document, or of an event of a stream; a shell may have written lines before.
BEGIN = re.compile(r'^\s*\{\s*"(?:start|intervals|end|event|title|extra_data)"\s*:', re.MULTILINE)
PARTS = ('"connected"', '"test_start"', '"event"', '"intervals"')


@dataclass
class Document:
    """One end's report of one test."""

    file: str
    start: dict[str, Any]
    intervals: list[dict[str, Any]]
    end: dict[str, Any]
    error: str | None

    @property
    def is_client(self) -> bool:
        """Whether the client wrote it."""
        return "accepted_connection" not in self.start

    @property
    def settings(self) -> dict[str, Any]:
        """The parameters of the test."""
        return _dict(self.start.get("test_start"))

    @property
    def cookie(self) -> str | None:
        """The same at both ends of a test, and of no other."""
        cookie = self.start.get("cookie")
        return cookie if isinstance(cookie, str) and cookie else None

    @property
    def began_s(self) -> float | None:
        """When it began, in seconds since 1970; whole seconds before iperf3 3.18."""
        stamp = _dict(self.start.get("timestamp"))
        exact = number(stamp, "timemillisecs")
        began: float | None = exact / 1e3 if exact is not None else number(stamp, "timesecs")
        return began


def looks_like_iperf3(text: str) -> bool:
    """Whether a file that begins so is one of iperf3, also with its keys in another order."""
    begin = BEGIN.search(text)
    return begin is not None and "{" not in text[: begin.start()] and any(part in text for part in PARTS)


def _json_alone(text: str) -> str:
    """The text without lines of a shell before its JSON and behind it; lines keep their numbers."""
    begin = BEGIN.search(text)
    at = begin.start() if begin else 0
    body = text[at:]
    last = body.rfind("}") + 1
    if not re.search(r'["\[\],]', body[last:]):
        body = body[:last]
    return "\n" * text.count("\n", 0, at) + body


def documents(file: str, text: str) -> list[Document]:
    """The tests in the text of a file; tests that a client fetched from its server follow its own.

    Raises `Unreadable` if the file is not iperf3's, or has no test.
    """
    values = _values(file, text)
    if values and "event" in values[0]:
        values = _of_events(file, values)
    found = [document for value in values for document in _with_server(file, value)]
    told = [document for document in found if document.intervals or _dict(document.end).get("streams")]
    if told:
        return told
    said = next((document.error for document in found if document.error), None)
    if said:
        raise Unreadable(f"{file}: iperf3 measured nothing: {said.removeprefix('error - ')}; repeat the test")
    raise Unreadable(f"{file}: iperf3 measured nothing; was it ended before the first interval? repeat the test")


def _values(file: str, text: str) -> list[dict[str, Any]]:
    """The JSON objects in a text, one after another."""
    found: list[Any] = []
    try:
        found.extend(documents_in(file, _json_alone(text), WHOLE))
    except Unreadable:
        # A stream is whole up to the line in which it was cut off.
        if not found or not isinstance(found[0], dict) or "event" not in found[0]:
            raise
    if not all(isinstance(value, dict) for value in found):
        raise Unreadable(f"{file}: not what iperf3 --json writes: no object with start, intervals and end")
    return found


def _of_events(file: str, events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Documents of the events of `--json-stream`."""
    found: list[dict[str, Any]] = []
    for event in events:
        kind, data = event.get("event"), event.get("data")
        if kind == "start":
            found.append({"start": data, "intervals": [], "end": {}})
        elif not found:
            raise Unreadable(f"{file}: its first event is {kind!r}, not 'start'; give the file from its beginning")
        elif kind == "interval":
            found[-1]["intervals"].append(data)
        elif kind in ("end", "error", "server_output_json"):
            found[-1][kind] = data
    for document in found:
        if not document["end"] and "error" not in document:
            document["error"] = "the file has no end"
    return found


def _with_server(file: str, value: dict[str, Any]) -> list[Document]:
    start, intervals, end, error = (value.get(key) for key in ("start", "intervals", "end", "error"))
    if not isinstance(start, dict) or not isinstance(intervals, list) or not isinstance(end or {}, dict):
        raise Unreadable(f"{file}: not what iperf3 --json writes: no object with start, intervals and end")
    for place, interval in enumerate(intervals):
        _check_rows(file, f"intervals[{place}]", interval)
    _check_rows(file, "end", end or {})
    own = Document(file, start, intervals, end or {}, str(error) if error else None)
    fetched = value.get("server_output_json")
    return [own, *(_with_server(file, fetched) if isinstance(fetched, dict) else [])]


def _check_rows(file: str, place: str, value: Any) -> None:
    """Refuses an object whose streams are no list of objects."""
    if not isinstance(value, dict):
        raise Unreadable(f"{file}: {place} is not an object, which iperf3 writes")
    streams = value.get("streams")
    if streams is not None and not (isinstance(streams, list) and all(isinstance(row, dict) for row in streams)):
        raise Unreadable(f"{file}: {place}.streams is not a list of objects, which iperf3 writes")


def number(row: dict[str, Any], key: str) -> Any:
    """A number of a row, or None."""
    value = row.get(key)
    return value if is_number(value) else None


def _dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
