"""Twins of captures that end anywhere, span years or lack what a line needs: a scenario that resolves, or one sentence."""

from __future__ import annotations

import argparse
import struct
from pathlib import Path

import lasthop
import pytest
from lasthop.cli import twin as cli_twin
from lasthop.cli._mistake import Mistake
from lasthop.foreign.twin import twin
from lasthop.foreign.twin.observation import Link, Mode, Seen
from lasthop.foreign.twin.radio import _rate_control_among, _rts, rate_control_lines, station_lines

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


WITH_AN_OLD_STATION = """
duration = "1 s"
warmup = "0 s"
[bss]
standard = "802.11n"
channel = 6
[[station]]
name = "laptop"
distance = "4 m"
[[station]]
name = "old"
standard = "802.11b"
distance = "6 m"
[[flow]]
station = "*"
direction = "down"
"""


def test_an_older_station_has_its_standard_in_the_twin(tmp_path):
    lasthop.run(lasthop.Scenario(WITH_AN_OLD_STATION), seeds=1, interval_s=None, pcap=tmp_path, progress=False)
    found = twin([next(tmp_path.rglob("air.pcapng"))], "twin")
    scenario = found.scenario_in(tmp_path)
    scenario.resolve()
    assert found.text().count('standard = "802.11b"  # seen: all of ') == 1
    goodputs = [flow["goodput_bps"] for flow in lasthop.run(scenario, seeds=1, progress=False).runs[0]["flows"]]
    # 11 Mbit/s carry 6.2 Mbit/s; without the key it would have the rates of the other station.
    assert 0 < goodputs[1] < 6.2e6


def links_of(up, down):
    of = {("a", "b"): up, ("b", "a"): down, ("c", "b"): [mode("ht-7", "ht", 7, 65_000_000, 100)]}
    links = {ends: Link(*ends, tuple(m), (0, 0), (0, 0), 0.0, 0, 0, None, 0, 0, 0, 0.1, ()) for ends, m in of.items()}
    return Seen("", 1.0, (5180,), ("b",), {"a": "b", "c": "b"}, links, (), None, {}, 0.0)


@pytest.mark.parametrize(("is_one_newer", "standard"), [(False, ["802.11a"]), (True, [])])
def test_a_station_is_older_if_it_is_both_ways(is_one_newer, standard):
    ofdm = [mode("ofdm-54", "ofdm", None, 54_000_000, 4)]
    seen = links_of(ofdm, [mode("ht-3", "ht", 3, 26_000_000, 90)] if is_one_newer else ofdm)
    assert [line.value for line in station_lines(seen, "a", "b")] == standard
    controls = [line.value for line in rate_control_lines(seen, "a", "b", lambda _: None)]
    # What a station of HT sends first, at 54 Mbit/s, is no rate of its link.
    assert controls == [{"kind": "fixed", "mcs": 3} if is_one_newer else {"kind": "fixed", "rate": "54 Mbit/s"}]


def test_a_twin_that_cannot_run_is_kept(tmp_path, monkeypatch):
    monkeypatch.setattr("lasthop.foreign.twin.model.station_lines", lambda *_: [])
    lasthop.run(lasthop.Scenario(WITH_AN_OLD_STATION), seeds=1, interval_s=None, pcap=tmp_path, progress=False)
    parser, kept = argparse.ArgumentParser(), tmp_path / "kept.toml"
    cli_twin.add_arguments(parser)
    arguments = parser.parse_args([str(next(tmp_path.rglob("air.pcapng"))), "--out", str(kept)])
    with pytest.raises(Mistake, match=rf"the twin cannot run: .*{kept} is kept"):
        cli_twin.execute(arguments)
    assert 'name = "old"' in kept.read_text()


IW = """Station 02:00:00:00:00:01 (on wlan0)
\ttx packets:\t900
\ttx bitrate:\t1200.9 MBit/s HE-MCS 11 80MHz HE-NSS 2 HE-GI 0 HE-DCM 0
Station 02:00:00:00:00:02 (on wlan0)
\ttx packets:\t900
\ttx bitrate:\t58.5 MBit/s VHT-MCS 1 80MHz VHT-NSS 1
"""


def test_a_mode_that_the_bss_lacks_is_assumed_with_its_difference(tmp_path):
    file = tmp_path / "iw.txt"
    file.write_text(IW)
    # VHT-MCS 1 at 80 MHz has 58.5 Mbit/s, HE-MCS 1 72.1 Mbit/s. [802.11-2020 Table 21-38; 802.11ax Table 27-91]
    said = 'rate = "72.1 Mbit/s" }  # assumed: the mode of this BSS nearest to 58.5 Mbit/s (+23 %); seen: 58.5 MBit/s VHT-MCS 1'
    assert said in twin([file], "twin").text()
