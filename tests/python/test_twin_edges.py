"""Twins of captures that end anywhere, span years or lack what a line needs: a scenario that resolves, or one sentence."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest
from lasthop.foreign.twin import twin
from lasthop.foreign.twin.observation import Link, Mode, Seen
from lasthop.foreign.twin.radio import _rate_control_among, _rts

CAPTURES = sorted((Path(__file__).parents[1] / "data/captures").glob("*-reference.pcap"))
HEADER, RECORD = 24, 16


def packets(file: Path, count: int) -> list[bytes]:
    """The header of a capture, and its first packets with their records."""
    data, at, found = file.read_bytes(), HEADER, []
    while len(found) < count:
        end = at + RECORD + struct.unpack_from("<I", data, at + 8)[0]
        found.append(data[at:end])
        at = end
    return [data[:HEADER], *found]


@pytest.mark.parametrize("capture", CAPTURES, ids=lambda file: file.stem)
def test_every_beginning_of_a_capture_has_a_twin_that_resolves(tmp_path, capture):
    resolved, parts, file = 0, packets(capture, 60), tmp_path / "part.pcap"
    for count in range(1, len(parts)):
        file.write_bytes(b"".join(parts[: count + 1]))
        try:
            found = twin([file], "twin")
        except ValueError as error:
            assert str(error).startswith(f"{file}: ")
        else:
            found.scenario_in(tmp_path).resolve()
            resolved += 1
    assert resolved > 20


@pytest.mark.parametrize(("later_s", "said"), [(20_000_000, "spans 20000000"), (None, "spans 0.032 ms")])
def test_a_capture_too_short_or_too_long_for_a_run_is_refused_with_its_span(tmp_path, later_s, said):
    header, *records = packets(CAPTURES[-1], 60)
    seconds, rest = struct.unpack_from("<I", records[0])[0], records[0][4:8]
    if later_s is None:
        records = [struct.pack("<I", seconds) + rest + record[8:] for record in records]
    else:
        records[-1] = struct.pack("<I", seconds + later_s) + records[-1][4:]
    file = tmp_path / "long.pcap"
    file.write_bytes(b"".join([header, *records]))
    with pytest.raises(ValueError, match=said):
        twin([file], "twin")


def test_rts_without_a_frame_behind_them_set_no_threshold():
    link = Link("a", "b", (), (0, 0), (0, 0), 0.0, 0, 5, None, 0, 0, 0, 0.1, ())
    assert _rts([link], adapts=False) == []


def mode(name, kind, mcs, rate_bps, mpdus):
    return Mode(name, kind, False, mcs, 1, 20, 800, False, rate_bps, mpdus, 0, mpdus, 0, 0, 0, mpdus, 0)


@pytest.mark.parametrize(("of_ofdm", "found"), [(4, "trace"), (60, "trace"), (90, "fixed")])
def test_a_link_of_ht_has_rates_of_ht_though_its_first_frames_were_older(of_ofdm, found):
    """An association exchanges its keys at 6 to 54 Mbit/s."""
    modes = (mode("ofdm-54", "ofdm", None, 54_000_000, of_ofdm), mode("ht-7", "ht", 7, 65_000_000, 100 - of_ofdm))
    over_time = (54_000_000, 65_000_000, 13_000_000) if found == "trace" else (54_000_000, 65_000_000)
    if found == "trace":
        modes = (*modes, mode("ht-1", "ht", 1, 13_000_000, 30))
    link = Link("a", "b", modes, (0, 0), (0, 0), 0.0, 0, 0, None, 0, 0, 0, 0.1, over_time)
    seen = Seen("", 1.0, (5180,), ("b",), {"a": "b"}, {("a", "b"): link}, (), None, {}, 0.0)
    control, origin = _rate_control_among(seen, link, None)
    assert control["kind"] == found
    assert control.get("rates", []) in ([], ["65 Mbit/s", "65 Mbit/s", "13 Mbit/s"])
    assert control.get("mcs", 7) == 7
    assert f"; {of_ofdm} MPDUs at rates of older standards left out" in origin
