"""qlog files against the drafts themselves: their CDDL, which tests/data/qlog has word for word."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

from cddl import Schema

DATA = Path(__file__).resolve().parents[1] / "data/qlog"
DRAFTS = Schema(*((DATA / f"{name}.cddl").read_text(encoding="utf-8") for name in ("main-schema-04", "quic-events-03")))
# The kinds of frames of a recording, with the name of their CDDL; the socket $QuicFrame takes any map.
FRAMES = {
    kind: "".join(part.capitalize() for part in kind.split("_")).replace("Id", "ID") + "Frame"
    for kind in (
        *("padding", "ping", "ack", "reset_stream", "stop_sending", "crypto", "new_token", "stream", "max_data"),
        *(
            "max_stream_data",
            "max_streams",
            "data_blocked",
            "stream_data_blocked",
            "streams_blocked",
            "new_connection_id",
        ),
        *("retire_connection_id", "path_challenge", "path_response", "connection_close", "handshake_done", "unknown"),
    )
}


def rule_of(event: dict[str, Any]) -> str:
    """The draft's name of an event: of "transport:packet_sent" TransportPacketSent."""
    return "".join(part.capitalize() for part in event["name"].replace(":", "_").split("_"))


def errors_of(log: dict[str, Any]) -> list[str]:
    """The mistakes of a log: of the file, of the data of its events by their names, and of each frame by its type.

    Of thousands of events alike it takes some: the first ones of each name, and every hundredth.
    """
    trace, seen = log["traces"][0], Counter[str]()
    events = []
    for place, event in enumerate(trace["events"]):
        seen[event["name"]] += 1
        if seen[event["name"]] < 20 or place % 100 == 0:
            events.append(event)
    found = DRAFTS.errors({**log, "traces": [{**trace, "events": events}]}, "QlogFile")
    for event in events:
        found += DRAFTS.errors(event["data"], rule_of(event))
        for frame in event["data"].get("frames", ()):
            found += DRAFTS.errors(frame, FRAMES[frame["frame_type"]])
    return found
