"""Wrong usage and wrong input: one sentence, status 2, and nothing written."""

from __future__ import annotations

import pytest


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


def test_interval_without_out_has_no_effect_and_says_so(command, small):
    refused(command("run", "small.toml", "--interval", "1s"), "--interval", "--out")


def test_out_that_is_a_file_is_refused(command, small):
    refused(command("run", "small.toml", "--out", "small.toml"), "--out small.toml")


def test_json_in_a_missing_directory_is_refused(command, small):
    refused(command("run", "small.toml", "--json", "absent/result.json"), "--json absent/result.json")


def test_json_that_is_a_directory_is_refused(command, small):
    refused(command("run", "small.toml", "--json", "."), "--json")


@pytest.mark.parametrize("option", ["--pcap", "--qlog"])
def test_option_of_a_later_version_says_so(command, small, option):
    refused(command("run", "small.toml", option, "x"), option, "not there yet")


@pytest.mark.parametrize(
    "name",
    [
        "analyze",
        "emulate",
        "kernel",
        "serve",
    ],
)
def test_command_of_a_later_version_says_so(command, small, name):
    refused(command(name, "anything"), name, "not there yet")


def test_unknown_command_lists_the_known(command, small):
    refused(command("rum"), "rum", "run", "compare")


def test_no_command_is_refused(command, small):
    refused(command(), "COMMAND")


def test_unknown_kind_is_refused(command, small):
    refused(command("list", "colours"), "colours")


def test_unknown_name_is_refused(command, small):
    refused(command("show", "newrino"), "newrino")


def test_result_that_is_none_is_refused(command, small):
    (small.parent / "other.json").write_text("{}")
    refused(command("plot", "other.json"), "other.json", "format 1")


def test_picture_of_unknown_format_is_refused(command, small):
    refused(command("plot", "absent.json", "--out", "picture.jpg"), "picture.jpg", ".png")
