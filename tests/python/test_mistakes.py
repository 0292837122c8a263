"""Wrong usage and wrong input: one sentence, status 2, and nothing written."""

from __future__ import annotations

import re

import pytest
from lasthop.cli import COMMANDS


def refused(done, *words):
    assert done.returncode == 2, done.stderr
    assert done.stdout == ""
    assert done.stderr.startswith("lasthop: ")
    assert done.stderr.count("\n") == 1, "one message, no traceback"
    for word in words:
        assert word in done.stderr


def test_missing_file_is_named(command, small):
    refused(command("run", "absent.toml"), "absent.toml: No such file or directory")


def test_directory_is_not_a_scenario(command, small):
    refused(command("run", small.parent), "directory")


def test_file_that_is_not_text_is_refused(command, small):
    small.write_bytes(b"\xff\xfe\x00")
    refused(command("run", "small.toml"), "small.toml", "UTF-8")


def test_broken_toml_names_file_and_line(command, small):
    small.write_text('name = "small"\nduration = \n')
    refused(command("run", "small.toml"), "small.toml:2")


def test_unknown_key_is_refused(command, small):
    small.write_text(small.read_text() + "\n[wird]\n")
    refused(command("run", "small.toml"), "wird")


def test_station_count_of_zero_names_its_place(command, small):
    refused(command("run", "small.toml", "--set", "station.0.count=0"), "count")


def test_unknown_algorithm_lists_the_known(command, small):
    refused(command("run", "small.toml", "--set", "tcp.congestion_control=newrino"), "newrino", "newreno")


@pytest.mark.parametrize(
    "arguments",
    [
        ("--seeds", "0"),
        ("--seeds", "-3"),
        ("--seeds", "many"),
        ("--seed", "-1"),
        ("--seed", "18446744073709551616"),
        ("--seeds", "2", "--seed", "3"),
        ("--jobs", "0"),
        ("--jobs", "1000000"),
        ("--interval", "0s", "--out", "out"),
        ("--interval", "1", "--out", "out"),
        ("--interval", "1us", "--out", "out", "--set", "duration=200 s"),
        ("--set", "station.0.count"),
        ("--frobnicate",),
    ],
)
def test_impossible_option_is_refused_before_anything_is_written(command, small, arguments):
    refused(command("run", "small.toml", *arguments), arguments[0])
    assert [path.name for path in small.parent.iterdir()] == ["small.toml"]


def test_interval_without_out_is_refused_as_without_effect(command, small):
    refused(command("run", "small.toml", "--interval", "1s"), "--interval", "--out")


def test_out_that_is_a_file_is_refused(command, small):
    refused(command("run", "small.toml", "--out", "small.toml"), "--out small.toml")


def test_json_in_a_missing_directory_is_refused(command, small):
    refused(command("run", "small.toml", "--json", "absent/result.json"), "--json absent/result.json")


def test_json_that_is_a_directory_is_refused(command, small):
    refused(command("run", "small.toml", "--json", "."), "--json")


def test_unknown_command_is_answered_with_the_nearest(command, small):
    refused(command("rum"), "rum: unknown command; did you mean run?", "`lasthop help`")
    refused(command("explian", "x"), "did you mean explain?")
    refused(command("frobnicate"), "unknown command; `lasthop help` lists them")
    refused(command("small.toml"), "`lasthop run small.toml`")
    refused(command("help", "rum"), "did you mean run?")


def test_unknown_option_is_answered_with_the_nearest_and_the_help_of_its_command(command, small):
    refused(
        command("run", "small.toml", "--sed", 1), "--sed: unknown option; did you mean --seed?", "`lasthop run --help`"
    )
    refused(command("sweep", "small.toml", "-x"), "-x: unknown option", "`lasthop sweep --help`")
    refused(command("--sed"), "--sed", "`lasthop --help`")
    refused(command("run", "small.toml", "other.toml"), "other.toml: unexpected argument", "`lasthop run --help`")


def test_lasthop_alone_shows_five_ways_in(command, small):
    done = command()
    ways = re.findall(r"^  lasthop (\w+)", done.stdout, re.MULTILINE)
    assert (done.returncode, done.stderr, len(ways)) == (0, "", 5)
    assert set(ways) <= set(COMMANDS)
    assert max(map(len, done.stdout.splitlines())) <= 100


def test_help_is_printed(command, small):
    for line in (("help",), ("--help",)):
        done = command(*line)
        assert (done.returncode, done.stderr) == (0, "") and "replay, recovery" in " ".join(done.stdout.split())
    for line in (("help", "run"), ("run", "--help")):
        done = command(*line)
        assert done.returncode == 0 and "--seeds" in done.stdout and done.stdout.startswith("usage: lasthop run")


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (("plot", "small.toml"), ("is a scenario, but a result is needed", "`lasthop run small.toml --out DIR`")),
        (("cc", "packetdrill", "small.toml"), ("is a scenario, but a packetdrill script is needed",)),
        (("cc", "recovery", "small.toml"), ("is a scenario, but a recording as JSON is needed",)),
        (("cc", "replay", "small.toml"), ("is a scenario, but a trace as CSV is needed",)),
        (("run", "result.json"), ("result.json: is JSON, such as a result", "a scenario file (TOML) is needed")),
    ],
)
def test_a_file_of_another_kind_is_recognised(command, small, line, words):
    (small.parent / "result.json").write_text("{}")
    refused(command(*line), *words)


def test_a_scenario_by_another_name_is_one_all_the_same(command, small):
    small.rename("small.txt")
    refused(command("cc", "packetdrill", "small.txt"), "is a scenario")
    refused(command("plot", "small.txt"), "is a scenario")


def test_a_word_without_quotes_is_shown_with_them(command, small):
    small.write_text(small.read_text().replace('"802.11b"', "802.11b"))
    refused(command("run", "small.toml"), 'small.toml:6: standard: 802.11b needs quotes; write standard = "802.11b"')


def test_a_list_without_a_number_is_shown_with_one(command, small):
    refused(command("run", "small.toml", "--set", "station.count=3"), "--set station.count=3", "write station.0.count")


def test_a_sweep_speaks_of_its_own_option(command, small):
    done = command("sweep", "small.toml", "--over", "station.0.count=1,x")
    refused(done, "--over station.0.count=x: station[0].count:")
    assert "--set" not in done.stderr
    small.write_text(small.read_text() + '\n[sweep]\n"wired.delay" = ["1 ms", "2 parsec"]\n')
    refused(command("sweep", "small.toml"), "[sweep] wired.delay=2 parsec: wired.delay:")


def test_a_missing_trace_is_reported_without_an_errno(command, small):
    done = command(
        "run",
        "small.toml",
        "--set",
        'flow.0.traffic={ kind = "trace", file = "absent.csv" }',
        "--set",
        "flow.0.transport=udp",
    )
    refused(done, "absent.csv", "No such file or directory")
    assert "os error" not in done.stderr


def test_unknown_kind_is_refused(command, small):
    refused(command("list", "colours"), "colours")


def test_unknown_name_is_refused(command, small):
    refused(command("show", "newrino"), "newrino")


def test_result_that_is_none_is_refused(command, small):
    (small.parent / "other.json").write_text("{}")
    refused(command("plot", "other.json"), "other.json", "format 1")


def test_picture_of_unknown_format_is_refused(command, small):
    refused(command("plot", "absent.json", "--out", "picture.jpg"), "picture.jpg", ".png")


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (("list", "foo"), ", quantity, knob, scenario, paper"),
        (("reproduce", "heusse2003", "--claim", "X"), "there is no such claim; one of: H-1, H-2, H-3"),
    ],
)
def test_a_refusal_names_what_there_is(command, line, said):
    done = command(*line)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1) and said in done.stderr


PING = "PING ap (10.0.0.1) 56(84) bytes of data.\n64 bytes from 10.0.0.1: icmp_seq=1 ttl=64 time=2.31 ms\n"
IW = "Station 02:00:00:00:00:07 (on wlan0)\n\tsignal:\t-52 dBm\n"
SVG = '<?xml version="1.0"?>\n<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN">\n<svg></svg>\n'
PCAP = bytes.fromhex("d4c3b2a1020004000000000000000000ffff000069000000")


@pytest.mark.parametrize("name", ["file", "file.json"])
@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"\x89PNG\r\n\x1a\n", "is a picture (PNG); "),
        (SVG.encode(), "is a picture (SVG); "),
        (b"%PDF-1.7\n", "is a PDF document; "),
        (b"\x1f\x8b\x08\x00", "is packed by gzip; unpack it first"),
        (b"<!DOCTYPE html>\n<title>results</title>", "is an HTML page; "),
        (IW.encode(), "is output of `iw`; use `lasthop twin "),
        (PING.encode(), "is a file of ping; read it first with `lasthop analyze "),
    ],
)
def test_a_file_of_another_kind_is_known_by_its_content(command, tmp_path, name, content, said):
    file = tmp_path / name
    file.write_bytes(content)
    for line in (
        ("explain", file),
        ("compare", file, file),
        ("run", file),
        ("plot", file, "--out", tmp_path / "p.csv"),
    ):
        if (line[0], name) == ("run", "file.json"):
            continue  # the end of the name has an answer of its own
        refused(command(*line), f"{name}: {said}")


def test_a_capture_is_known_by_its_content(command, tmp_path):
    file = tmp_path / "capture"
    file.write_bytes(PCAP)
    refused(command("run", file), "capture: is a capture; `lasthop twin ")
    assert "no packets" in command("explain", file).stderr or "no frames" in command("explain", file).stderr


def test_a_twin_names_the_files_that_it_is_made_of(command, tmp_path):
    for name, content, said in (
        ("ping.txt", PING, "is a file of ping, which `lasthop analyze` reads; "),
        ("page", SVG, ""),
    ):
        (tmp_path / name).write_text(content)
        done = command("twin", tmp_path / name, "--out", tmp_path / "twin.toml")
        refused(
            done, name, said, "a twin is made of captures (pcap or pcapng), of the output of `iw dev … station dump`"
        )
        assert not (tmp_path / "twin.toml").exists()


def test_sweep_resumes_by_its_store(command, small):
    done = command("sweep", "small.toml", "--over", "station.0.count=1,2", "--resume")
    refused(done, "--resume: a store goes on by itself; `lasthop sweep FILE … --store runs.duckdb`, given again")
    assert "did you mean" not in done.stderr


def test_a_scenario_without_a_closed_form_is_refused_before_it_runs(command, small):
    # The forms know one standard; this BSS has stations of two.
    bss = '[bss]\nstandard = "802.11n"\nchannel = 6\n'
    small.write_text(bss + '[[station]]\nname = "sta"\nstandard = "802.11b"\n[[flow]]\nstation = "sta"\n')
    done = command("theory", "small.toml", "--json", "rows.json")
    refused(done, "small.toml: no closed form holds for this scenario; `lasthop run` simulates it")
    assert not (small.parent / "rows.json").exists()


def test_papers_are_listed_with_their_claims(command):
    assert "H-1, H-2, H-3" in command("list", "paper").stdout
