"""Recognises files that are no captures, so that an error names the kind of file and its remedy."""

from __future__ import annotations

import re
from typing import NamedTuple

from ..data.foreign_text import UTF_16, encoding_of

HEAD_BYTES = 4096
# pcap in both orders of bytes and both resolutions, its variant with packet types, and pcapng.
CAPTURES = (
    *(b"\xa1\xb2\xc3\xd4", b"\xd4\xc3\xb2\xa1", b"\xa1\xb2\x3c\x4d", b"\x4d\x3c\xb2\xa1"),
    *(b"\xa1\xb2\xcd\x34", b"\x34\xcd\xb2\xa1", b"\x0a\x0d\x0d\x0a"),
)
TAKEN = (
    "captures are pcap or pcapng; output of iperf3 --json, iperf2, netperf, ping, Flent, ss -tin and qlog is read too"
)
TWIN = "use `lasthop twin {}`"
BESIDE = "give it to `lasthop twin` beside the output of `iw dev … station dump`"
DUMP = "give `lasthop twin` the output of `iw dev … station dump`"
LOG = "log the sockets with: while sleep 0.2; do date +%s.%N; ss -tin; done"
UNPACK = "unpack it first"
CONVERT = "convert it to pcapng, e.g. with `tshark -r {} -w capture.pcapng`"

MAGICS: tuple[tuple[bytes, str, str], ...] = (
    (b"PK\x03\x04", "a ZIP archive", UNPACK),
    (b"\x1f\x8b", "packed by gzip", UNPACK),
    (b"BZh", "packed by bzip2", UNPACK),
    (b"\xfd7zXZ", "packed by xz", UNPACK),
    (b"\x28\xb5\x2f\xfd", "packed by zstd", UNPACK),
    (b"\x04\x22\x4d\x18", "packed by lz4", UNPACK),
    (b"%PDF", "a PDF document", ""),
    (b"\x89PNG", "a picture (PNG)", ""),
    (b"\xff\xd8\xff", "a picture (JPEG)", ""),
    (b"GIF8", "a picture (GIF)", ""),
    (b"\x7fELF", "a program (ELF)", ""),
    (
        b"SQLite format 3\x00",
        "a database (SQLite); Kismet's log has packets in it",
        "export it with `kismetdb_to_pcap`",
    ),
    (b"PAR1", "a Parquet table", ""),
    (b"TZSP", "a TZSP stream", CONVERT),
    (b"snoop\x00", "a capture of snoop", CONVERT),
    (b"TRSNIFF", "a capture of the NetXRay family", CONVERT),
    (b"\x7fver", "a capture of OmniPeek", CONVERT),
)
TEXTS: tuple[tuple[str, str, str], ...] = (
    (r"\A\s*(?:<!doctype html|<html)", "an HTML page", "download the file behind it"),
    (r"\A\s*(?:<\?xml[^>]*>\s*)?(?:<!doctype svg|<svg)", "a picture (SVG)", ""),
    (r"\A\s*<\?xml", "an XML document", ""),
    (r"\bStation [0-9A-F:]{17} \(on |\bConnected to [0-9A-F:]{17} \(on", "output of `iw`", TWIN),
    (r"^Joined IBSS ", "output of `iw` in an ad-hoc network, which is not modelled", "give that of a station of an AP"),
    (r"^Wiphy \S+\s*$", "output of `iw phy`, of what the hardware can do and not of what it did", DUMP),
    (r"^phy#\d+\s*$|^Interface \S+\s+ifindex ", "output of `iw dev`, which has no rates", DUMP),
    (r"\(phy #\d+\): ", "output of `iw event`, which is not used", DUMP),
    (r"^[0-9A-F:]{17}\s+-?\d+ dBm / ", "output of `iwinfo … assoclist`", DUMP),
    (r"^flags=\[", "output of `hostapd_cli`", DUMP),
    (r"^wpa_state=", "output of `wpa_cli`", DUMP),
    (r"^IN-USE\s+BSSID", "output of `nmcli`", DUMP),
    (r"^Inter-\| sta-\|", "the kernel's `/proc/net/wireless`", DUMP),
    (r"^\d+: \S+: <[A-Z_,-]*> mtu ", "output of `ip link`, which has no rates", DUMP),
    (r"^\S+: flags=\d+<|\bLink encap:", "output of `ifconfig`, which has no rates", DUMP),
    (r"^\[ *\d+\.\d{6}\] ", "a log of the kernel", ""),
    (r"^Proto Recv-Q Send-Q", "output of `netstat`", LOG),
    (r"^class \S+ [0-9A-F]*:[0-9A-F]+ ", "output of `tc class`", "give that of `tc -s qdisc` to `lasthop twin`"),
    (r"\A\s*\[\s*\{\s*\"kind\"\s*:[^}]*\"handle\"", "output of `tc -j qdisc`", BESIDE),
    (r"^Not connected\.\s*$", "output of `iw` without a connection", "run it while the station is connected"),
    (r"^Survey data from ", "output of `iw survey dump`", BESIDE),
    (r"^qdisc \S+ \S+: ", "output of `tc -s qdisc`", BESIDE),
    (r"best\s+_{4,}\s*rate|^\s*(?:type\s+)?rate\s+throughput|^(?:HT|VHT)\d+,[LS]GI,", "Minstrel's rc_stats", BESIDE),
    (r"^NIC statistics:", "output of `ethtool -S`", BESIDE),
    (r"^BSS [0-9A-Fa-f:]{17}\(on ", "output of `iw scan`, which is not used", ""),
    (
        r"^\S+\s+(?:IEEE 802\.11.* )?ESSID:",
        "output of `iwconfig` or `iwinfo`",
        "give `lasthop twin` the output of `iw dev … station dump`",
    ),
    (
        r"^(?:\d{4}-\d\d-\d\d )?\d\d:\d\d:\d\d\.\d+ (?:IP6? |\d+us tsft |.* (?:BSSID|RA|TA|DA):)",
        "text of tcpdump",
        "write the packets themselves with `tcpdump -w FILE`",
    ),
    (r"^Frame \d+: \d+ bytes on wire", "text of tshark", "write the packets themselves with `tshark -w FILE`"),
    (
        r"^\s*\d+\s+\d+\.\d+\s+\S+ (?:→|->) \S+\s",
        "text of tshark",
        "write the packets themselves with `tshark -w FILE`",
    ),
    (r"\bConnecting to host \S+, port \d+|\bServer listening on \d+", "text of iperf3", "run it with --json"),
    (
        r"\[ *(?:\d+|SUM)\] +\d+\.\d+- ?\d+\.\d+ +sec ",
        "rows of iperf without their beginning",
        "give the whole text of iperf2, or run iperf3 with --json",
    ),
    (r"^\s*ifaces\s*:|^\s*ids\s*=\s*\[\s*\"", "a configuration of wmediumd", ""),
    (r"^\s*\[(?:bss|\[station|\[flow|wired|tcp)\]", "a scenario", "run it with `lasthop run {}`"),
    (r'"format":\s*1,\s*"lasthop"', "a result of lasthop", "look at it with `lasthop explain {}` or `lasthop plot {}`"),
    (
        r"\A(?:\d+\r?\n){20}",
        "a Mahimahi trace",
        'make it a link of a scenario with `wired.rate = { kind = "trace", file = "{}" }`',
    ),
    (r"\A\s*(?:\{\s*[\"}]|\[\s*[\[{\"\]\d-])", "JSON of no known program", ""),
)
# What a result, a scenario, or a broken one of them looks like.
OWN = ("a scenario", "a result of lasthop", "JSON of no known program", "a text")


class Kind(NamedTuple):
    """A kind of file, and the remedy; either may be empty."""

    name: str
    remedy: str

    def sentence(self, path: str, taken: str = TAKEN) -> str:
        """The end of an error about the file at `path`; `taken` has the files that are right."""
        return f"is {self.name}; {self.remedy.replace('{}', path) or taken}"


def is_capture(head: bytes) -> bool:
    """Whether a file that begins so is pcap or pcapng; a shorter file than a magic number counts unless it is text, and fails later."""
    return (len(head) < 4 and not _is_plain(head)) or head.startswith(CAPTURES)


def kind_of_head(head: bytes) -> Kind | None:
    """The kind of a file that begins so; None for a capture or an unknown kind."""
    for magic, name, remedy in MAGICS:
        if head.startswith(magic):
            return Kind(name, remedy)
    text = head.decode(encoding_of(head), "replace")
    for pattern, name, remedy in TEXTS:
        if re.search(pattern, text, re.MULTILINE | re.IGNORECASE):
            return Kind(name, remedy)
    if head.startswith(UTF_16) or _is_plain(head):
        return Kind("a text", "")
    return None


def _is_plain(head: bytes) -> bool:
    """Whether these are bytes of a text."""
    return all(byte >= 0x20 or byte in b"\t\r\n\x1b" for byte in head)


def refusal(path: str, taken: str = TAKEN) -> str | None:
    """The sentence that refuses a file that is no capture; None for a capture. Raises `OSError` if it cannot be read."""
    head = _head(path)
    if not head.strip():
        return f"{path}: is empty; {taken}"
    if is_capture(head):
        return None
    kind = kind_of_head(head)
    return f"{path}: {kind.sentence(path, taken) if kind else f'is no capture; {taken}'}"


def has_packets(path: str) -> bool:
    """Whether a file begins as a capture. Raises `OSError` if it cannot be read."""
    return _head(path).startswith(CAPTURES)


def other_kind(path: str, taken: str) -> str | None:
    """The sentence that refuses a file where a result or a scenario is needed; None for these, and for unknown kinds."""
    kind = kind_of_head(_head(path))
    return None if kind is None or kind.name in OWN else f"{path}: {kind.sentence(path, taken)}"


def _head(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read(HEAD_BYTES)
