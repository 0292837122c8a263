"""Texts of other people's tools, in forms that the tools have had over the years and in other languages: the right number, or a sentence."""

from __future__ import annotations

import pytest
from lasthop.foreign.testbed import read

# ping


def ping_of(tmp_path, text: str | bytes):
    """The flow, the host and the warnings of a ping."""
    file = tmp_path / "ping.txt"
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    (result,) = read([file]).values()
    (run,) = result.runs
    return run["flows"][0], run["capture"]["flows"][0]["server"], result.warnings


def echoes(*ms: str | None, line: str = "64 bytes from 10.0.0.1: icmp_seq={number} ttl=64 time={ms} ms") -> str:
    return "".join(line.format(number=number, ms=each) + "\n" for number, each in enumerate(ms, 1) if each)


WINDOWS_DE = """
Ping wird ausgeführt für 8.8.8.8 mit 32 Bytes Daten:
Antwort von 8.8.8.8: Bytes=32 Zeit=1ms TTL=118
Zeitüberschreitung der Anforderung.
Antwort von 8.8.8.8: Bytes=32 Zeit=3ms TTL=118
Antwort von 8.8.8.8: Bytes=32 Zeit=2ms TTL=118

Ping-Statistik für 8.8.8.8:
    Pakete: Gesendet = 4, Empfangen = 3, Verloren = 1
    (25% Verlust),
"""
WINDOWS_FR = """
Envoi d’une requête 'Ping'  8.8.8.8 avec 32 octets de données :
Réponse de 8.8.8.8 : octets=32 temps=1 ms TTL=118
Délai d’attente de la demande dépassé.
Réponse de 8.8.8.8 : octets=32 temps=3 ms TTL=118
Réponse de 8.8.8.8 : octets=32 temps=2 ms TTL=118
"""
WINDOWS_ROUTER = """
Pinging 8.8.8.8 with 32 bytes of data:
Reply from 10.0.0.2: Destination host unreachable.
Reply from 8.8.8.8: bytes=32 time=1ms TTL=118
Reply from 8.8.8.8: bytes=32 time=3ms TTL=118
Reply from 8.8.8.8: bytes=32 time=2ms TTL=118

Ping statistics for 8.8.8.8:
    Packets: Sent = 4, Received = 4, Lost = 0 (0% loss),
"""
OF_THREE = ("1.00", None, "3.00", "2.00")
HEAD = "PING 10.0.0.1 (10.0.0.1) 56(84) bytes of data.\n"


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(HEAD + echoes(*OF_THREE, line="64 bytes from 10.0.0.1: icmp_req={number} ttl=64 time={ms} ms"), id="iputils of 2010, interrupted"),
        pytest.param(HEAD + echoes(*OF_THREE, line="64 Bytes von 10.0.0.1: icmp_seq={number} ttl=64 Zeit={ms} ms") + "\n4 Pakete übertragen, 3 empfangen, 25% Paketverlust, Zeit 3005 ms\n", id="iputils in German"),
        pytest.param(HEAD + echoes(*OF_THREE, line="64 octets de 10.0.0.1 : icmp_seq={number} ttl=64 temps={ms} ms") + "\n4 paquets transmis, 3 reçus, 25% packet loss, time 3005ms\n", id="iputils in French"),
        pytest.param(HEAD + echoes("1,00", None, "3,00", "2,00"), id="a decimal comma"),
        pytest.param(WINDOWS_DE.encode("cp850"), id="Windows in German, code page 850"),
        pytest.param(WINDOWS_DE.partition("Ping-Statistik")[0], id="the same, interrupted"),
        pytest.param(WINDOWS_FR, id="Windows in French, interrupted"),
        pytest.param(WINDOWS_ROUTER, id="a router's answer, which Windows counts as received"),
    ],
)  # fmt: skip
def test_pings_of_every_age_and_language_have_round_trips_and_losses(tmp_path, text):
    flow, _, _ = ping_of(tmp_path, text)
    assert (flow["segments_sent"], flow["loss_fraction"]) == (4, 0.25)
    assert (flow["rtt_mean_s"], flow["rtt_min_s"]) == pytest.approx((0.002, 0.001))


@pytest.mark.parametrize(
    ("head", "host"),
    [
        ("PING 2001:db8::1(2001:db8::1) 56 data bytes", "2001:db8::1"),
        ("PING ::1(::1) 56 data bytes", "::1"),
        ("PING fe80::1%wlan0(fe80::1%wlan0) 56 data bytes", "fe80::1%wlan0"),
        ("PING a.example(b.example (2001:db8::2)) 56 data bytes", "2001:db8::2"),
        ("PING6(56=40+8+8 bytes) 2001:db8::9 --> 2001:db8::3", "2001:db8::3"),
        ("PING 10.0.0.1 (10.0.0.1) from 10.0.0.2 wlan0: 56(84) bytes of data.", "10.0.0.1"),
        ("PING 10.0.0.1: 56 data bytes", "10.0.0.1"),
        ("Pinging a.example [2001:db8::4] with 32 bytes of data:", "2001:db8::4"),
    ],
)
def test_the_host_of_a_ping_is_its_whole_address(tmp_path, head, host):
    assert ping_of(tmp_path, f"{head}\n{echoes('1.0', '3.0')}")[1] == host


def test_a_flood_has_the_levels_of_its_summary_and_no_quantiles(tmp_path):
    text = f"{HEAD}...\n\n1000 packets transmitted, 995 received, 0.5% packet loss, time 1234ms\nrtt min/avg/max/mdev = 0.500/0.700/9.000/0.200 ms, pipe 2, ipg/ewma 1.235/0.702 ms\n"
    flow, _, warnings = ping_of(tmp_path, text)
    assert (flow["rtt_min_s"], flow["rtt_mean_s"]) == pytest.approx((0.0005, 0.0007))
    assert flow["segments_sent"] == 1000 and flow["loss_fraction"] == pytest.approx(0.005)
    assert flow["rtt_p95_s"] is None and any("no single round trips of 995 answers" in each for each in warnings)


def test_the_end_of_a_log_of_ping_has_the_losses_of_its_summary(tmp_path):
    flow, _, warnings = ping_of(
        tmp_path, f"{echoes('1.0', '3.0')}100 packets transmitted, 99 received, 1% packet loss, time 99000ms\n"
    )
    assert flow["loss_fraction"] == pytest.approx(0.01)
    assert any("round trips of 2 of 99 answers" in each for each in warnings)
