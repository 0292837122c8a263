"""qlog files: one JSON document (`.qlog`), or a JSON text sequence (`.sqlog`), also with one event a line.

Main schema of draft-ietf-quic-qlog-main-schema, from the drafts of 2020 (events as lists) by 0.3 and 0.4 to the latest (`file_schema`). Names
of events lose their namespace, as drafts moved them: `recovery:metrics_updated` and `quic:recovery_metrics_updated` are the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple

from ...data.foreign_text import Unreadable, parsed_json
from .iperf3_file import number

RECORD = "\x1e"
MARKS = re.compile(r'"qlog_version"|"qlog_format"|urn:ietf:params:qlog')
MS = 1e-3


class Event(NamedTuple):
    """An event of an end."""

    time_s: float
    group: str
    name: str
    data: dict[str, Any]


@dataclass
class Trace:
    """The log of one end."""

    title: str
    point: str
    """`client`, `server`, `network` or `unknown`"""
    common: dict[str, Any]
    raw: list[Any]
    began_s: float | None = None
    """seconds since 1970, if the log has it"""
    notes: list[str] = field(default_factory=list)

    def events(self) -> Iterator[Event]:
        """The events, with times in seconds from the beginning of the log."""
        shape = _shape(self.common)
        columns, scale = self.common.get("event_fields"), _unit_s(self.common)
        now_s, zero_s = 0.0, None
        for each in self.raw:
            found = _fields(each, columns)
            time = None if found is None else number(found, "time")
            if found is None or time is None:
                continue
            now_s = now_s + time * scale if shape == "delta" else time * scale
            zero_s = now_s if zero_s is None and shape == "absolute" else zero_s
            group = found.get("group_id", self.common.get("group_id", self.common.get("ODCID", "")))
            data = found.get("data")
            yield Event(now_s - (zero_s or 0.0), str(group), _name(found), data if isinstance(data, dict) else {})


def looks_like_qlog(text: str) -> bool:
    """Whether a text that begins so is a qlog file."""
    return text[:1] in ("{", RECORD) and MARKS.search(text[:8192]) is not None


def traces(file: str, text: str) -> list[Trace]:
    """The traces in a text. Raises `Unreadable` if it is no qlog file, or is cut off."""
    if RECORD in text[:8192]:
        return [_of_sequence(file, text.split(RECORD))]
    try:
        document = parsed_json(file, text, "end the program that logs before you copy its file")
    except Unreadable:
        lines = [line for line in text.splitlines() if line.strip()]
        if len(lines) > 1 and _is_object(file, lines[0]):
            return [_of_sequence(file, lines)]
        raise
    found = document.get("traces") if isinstance(document, dict) else None
    if not isinstance(found, list):
        raise Unreadable(f"{file}: has no list of traces, which qlog has; is the file of another program?")
    return [
        _trace(each, each.get("events"))
        for each in found
        if isinstance(each, dict) and isinstance(each.get("events"), list)
    ]


def _is_object(file: str, line: str) -> bool:
    with suppress(Unreadable):
        return isinstance(parsed_json(file, line), dict)
    return False


def _of_sequence(file: str, records: Iterable[str]) -> Trace:
    """The trace of a sequence, up to the record in which it was cut off."""
    found, bad = [], 0
    for record in records:
        if not record.strip():
            continue
        try:
            found.append(parsed_json(file, record))
        except Unreadable:
            bad += 1
    head = found[0] if found and isinstance(found[0], dict) else {}
    about = head.get("trace")
    if not isinstance(about, dict):
        raise Unreadable(
            f"{file}: its first record has no trace, which a qlog sequence begins with; give the whole file"
        )
    trace = _trace(about, found[1:])
    if bad:
        trace.notes.append(f"{file}: {bad} records are not complete JSON and are left out")
    return trace


def _trace(about: dict[str, Any], events: Any) -> Trace:
    point, common, settings = (about.get(key) for key in ("vantage_point", "common_fields", "configuration"))
    common = dict(common) if isinstance(common, dict) else {}
    if isinstance(about.get("event_fields"), list):
        common["event_fields"] = about["event_fields"]
    if isinstance(settings, dict):
        common |= {key: settings[key] for key in ("time_units", "time_offset") if key in settings}
    kind = point.get("type") if isinstance(point, dict) else None
    kind = kind if kind in ("client", "server", "network") else "unknown"
    title = about.get("title")
    return Trace(title if isinstance(title, str) else "", str(kind), common, list(events), _began_s(common))


def _shape(common: dict[str, Any]) -> str:
    """How times are counted: `relative`, `absolute` or `delta`, whose later name is relative_to_previous_event."""
    text = str(common.get("time_format", ""))
    if text in ("delta", "relative_to_previous_event"):
        return "delta"
    columns = common.get("event_fields")
    is_absolute = text in ("absolute", "") and not (isinstance(columns, list) and "relative_time" in columns)
    return "absolute" if is_absolute else "relative"


def _unit_s(common: dict[str, Any]) -> float:
    return 1e-6 if common.get("time_units") == "us" else MS


def _began_s(common: dict[str, Any]) -> float | None:
    """The reference time, in seconds since 1970; 0 is no time of a log."""
    reference = common.get("reference_time")
    if isinstance(reference, dict):
        try:
            return datetime.fromisoformat(str(reference.get("wall_clock_time"))).timestamp()
        except (ValueError, OverflowError):
            return None
    value: float | None = number(common, "reference_time")
    return value * _unit_s(common) if value else None


def _fields(each: Any, columns: Any) -> dict[str, Any] | None:
    """An event by names; those of 2020 are lists, whose columns the trace names."""
    if isinstance(each, dict):
        return each
    if not isinstance(each, list) or not isinstance(columns, list):
        return None
    found = {str(column).lower(): value for column, value in zip(columns, each, strict=False)}
    found["time"] = found.get("relative_time", found.get("time", found.get("delta_time")))
    return found


def _name(found: dict[str, Any]) -> str:
    """The name of an event without namespace and prefix."""
    name = found.get("name", found.get("event", found.get("event_type", "")))
    return str(name).rpartition(":")[2].lower().removeprefix("recovery_")
