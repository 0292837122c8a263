"""`lasthop cc recovery` on the recordings of the repository, on recordings with one changed number, on other files."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

RECORDINGS = sorted((Path(__file__).parents[1] / "data" / "vectors" / "recovery").glob("*.json.gz"))


def document_of(name: str) -> dict:
    path = next(path for path in RECORDINGS if path.name == f"{name}.json.gz")
    return json.loads(gzip.decompress(path.read_bytes()))


def with_change(folder: Path, name: str, event: str, field: int, by: float) -> Path:
    """The recording with one number of its last event of that kind changed."""
    document = document_of(name)
    row = [row for row in document["events"] if row[0] == event][-1]
    row[field] += by
    (folder / "changed.json").write_text(json.dumps(document))
    return folder / "changed.json"


def test_the_scripted_recordings_of_the_repository_are_followed(command):
    scripted = [path for path in RECORDINGS if not path.name.startswith("chance")]
    done = command("cc", "recovery", *scripted)
    assert done.returncode == 0, done.stdout + done.stderr
    assert len(done.stdout.splitlines()) == len(scripted) == 32
    assert all(line.endswith("no difference: pass") for line in done.stdout.splitlines())


@pytest.mark.parametrize(
    ("event", "field", "by", "what"),
    [
        ("out", 2, 1, "what is sent"),
        ("out", 1, 9, "its time"),
        ("ack", 3, -1, "what is acknowledged"),
        ("info", 4, 1, "cwnd"),
        ("info", 10, 8, "rto"),
    ],
)
@pytest.mark.parametrize("name", ["s_reno_loss4", "s_newreno_loss3", "s_tail3_tlp", "k_cubic_ece"])
def test_one_changed_number_is_found(command, tmp_path, name, event, field, by, what):
    done = command("cc", "recovery", with_change(tmp_path, name, event, field, by))
    assert (done.returncode, done.stdout.count("\n")) == (1, 1)
    assert f"differs in {what}" in done.stdout and "FAIL" in done.stdout


def test_a_recording_that_cannot_be_replayed_is_skipped_with_the_reason(command, tmp_path):
    document = document_of("s_reno_loss1")
    document["scenario"]["cc"] = "lp"
    (tmp_path / "lp.json").write_text(json.dumps(document))
    done = command("cc", "recovery", tmp_path / "lp.json")
    assert done.returncode == 77
    assert 'skipped because the congestion control "lp" is not known' in done.stdout
    # A failure takes precedence over a skipped one.
    changed = with_change(tmp_path, "s_reno_loss1", "info", 4, 1)
    assert command("cc", "recovery", tmp_path / "lp.json", changed).returncode == 1


def test_verbose_has_both_lists_side_by_side(command, tmp_path):
    changed = with_change(tmp_path, "s_tail1_tlp", "info", 4, 1)
    done = command("cc", "recovery", "--verbose", changed)
    marked = [line for line in done.stdout.splitlines() if ">" in line[:8]]
    assert len(marked) == 1
    assert "cwnd 51" in marked[0] and "cwnd 50" in marked[0]


@pytest.mark.parametrize(("text", "why"), [("", "no JSON"), ("{}", "events"), ("t,cwnd\n1,2\n", "no JSON")])
def test_a_file_that_is_no_recording_is_refused_with_one_line(command, tmp_path, text, why):
    (tmp_path / "other.json").write_text(text)
    done = command("cc", "recovery", tmp_path / "other.json")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert why in done.stderr


@pytest.mark.parametrize(
    ("key", "value"), [("segments", 4294967296), ("segments", 0), ("mss", 0), ("rtt_ms", 1e300), ("window", 2**63)]
)
def test_a_number_that_no_recording_has_is_refused(command, tmp_path, key, value):
    document = document_of("s_reno_loss1")
    document["scenario"][key] = value
    (tmp_path / "huge.json").write_text(json.dumps(document))
    done = command("cc", "recovery", tmp_path / "huge.json")
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert f'huge.json: scenario: "{key}" = ' in done.stderr and "it may be" in done.stderr


def test_lists_without_end_are_no_recording(command, tmp_path):
    (tmp_path / "deep.json").write_text("[" * 100_000)
    done = command("cc", "recovery", tmp_path / "deep.json")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
