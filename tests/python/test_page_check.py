"""What the page answers about the text of a scenario: mistakes at their place, moves, saving, and what it refuses."""

from __future__ import annotations

from pathlib import Path

import lasthop
import pytest
from conftest import SMALL
from lasthop import _core
from page_bench import Page

FLOW = '[[flow]]\nstation = "*"\ndirection = "up"\n'
TRACE = FLOW + 'transport = "udp"\ntraffic = { kind = "trace", file = "FILE" }\n'


@pytest.fixture
def page(tmp_path: Path):
    root = tmp_path / "root"
    root.mkdir()
    (root / "small.toml").write_text(SMALL)
    made = Page(root)
    yield made
    made.desk.close()


# Changes of the small scenario, the marked part of the new text, and words of the sentence.
MISTAKES = {
    "unknown key": (("standard =", "standrd ="), "standrd", 'unknown key "standrd"'),
    "unknown name": (('"newreno"', '"newrenno"'), '"newrenno"', 'unknown congestion control "newrenno"'),
    "unknown standard": (("802.11b", "802.11zz"), '"802.11zz"', 'unknown standard "802.11zz"'),
    "no unit": (('duration = "2 s"', 'duration = "2"'), '"2"', "has no unit"),
    "bare number": (('delay = "10 ms"', "delay = 10"), "10", "has no unit"),
    "key within an inline table": (('kind = "fixed", rate', 'kind = "fixed", rat'), "rat", 'unknown key "rat"'),
    "name within an inline table": (('kind = "fixed"', 'kind = "fixt"'), '"fixt"', 'unknown rate control "fixt"'),
    "wrong station": (('station = "*"', 'station = "nobody"'), '"nobody"', 'no station "nobody"'),
    "wrong direction": (('"up"', '"upwards"'), '"upwards"', "upwards"),
    "too long a warm-up": (('warmup = "500 ms"', 'warmup = "9 s"'), '"9 s"', "is not shorter than the duration"),
    "wrong kind of value": (("count = 2", 'count = "two"'), '"two"', "two"),
    "no value": (('name = "small"', "name = "), "name =", "string values must be quoted"),
    "no such section": (("[wired]", "[wirred]"), "[wirred]", 'unknown key "wirred"'),
    "key given twice": (("count = 2", "count = 2\ncount = 3"), "count = 3", "duplicate key"),
    "behind letters that take two units": (
        ('[wired]\nrate = "100 Mbit/s"', '# 𝄞\n[wired]\nrate = "𝄞" # 𝄞'),
        '"𝄞"',
        "𝄞",
    ),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_marked_at_its_position(page: Page, name: str) -> None:
    (old, new), marked, said = MISTAKES[name]
    assert old in SMALL
    text = SMALL.replace(old, new, 1)
    answer = page.post("/api/check", {"text": text})
    [problem] = answer["problems"]
    units = text.encode("utf-16-le")
    assert units[2 * problem["begin"] : 2 * problem["until"]].decode("utf-16-le") == marked
    assert said in problem["message"]
    line = text.splitlines()[problem["line"] - 1].encode("utf-16-le")
    assert line[2 * (problem["column"] - 1) : 2 * (problem["end"] - 1)].decode("utf-16-le") == marked
    assert answer["resolved"] is None


def test_a_remedy_is_separate_from_the_mistake(page: Page) -> None:
    [problem] = page.post("/api/check", {"text": SMALL.replace('"newreno"', '"newrenno"')})["problems"]
    assert problem["remedy"].startswith('did you mean "newreno"?')
    assert problem["where"] == "tcp.congestion_control"


@pytest.mark.parametrize("text", ["", "[bss]\n", "name = 'x'\n", "\n\n", "[", '"', "é = "])
def test_problems_of_odd_texts_lie_within_them(page: Page, text: str) -> None:
    [problem] = page.post("/api/check", {"text": text})["problems"]
    assert 0 <= problem["begin"] <= problem["until"] <= len(text)
    assert problem["line"] >= 1


def test_a_correct_text_is_resolved_with_warnings_and_defaults(page: Page) -> None:
    answer = page.post("/api/check", {"text": SMALL})
    assert answer["problems"] == []
    assert answer["resolved"]["name"] == "small"
    assert "station[0].distance has no effect" in answer["warnings"][0]
    assert {"key": "channel.path_loss", "value": '{ kind = "none" }', "because": "802.11b"} in answer["defaults"]
    assert [node["name"] for node in answer["places"]["nodes"]] == ["ap", "sta1", "sta2"]


def test_closed_forms_or_why_there_are_none(page: Page) -> None:
    rows = page.post("/api/theory", {"text": SMALL})["rows"]
    assert "Bianchi: collision probability" in [row["quantity"] for row in rows]
    assert page.post("/api/theory", {"text": "[bss]"})["rows"] == []


def test_schema_and_registry_are_those_of_the_command(page: Page) -> None:
    assert "congestion_control" in page.get("/api/schema")["properties"]["tcp"]["properties"]
    assert "cubic" in [entry["name"] for entry in page.get("/api/registry")]


# Files ----------------------------------------------------------------------------------------------------------------


def trace_in(root: Path, name: str) -> dict[str, str]:
    return {"text": SMALL.replace(FLOW, TRACE.replace("FILE", name))}


def test_a_trace_below_the_directories_is_read(page: Page, tmp_path: Path) -> None:
    (tmp_path / "root" / "trace.csv").write_text("0 100\n1 100\n")
    assert page.post("/api/check", trace_in(tmp_path, "trace.csv"))["problems"] == []


@pytest.mark.parametrize("name", ["../secret.csv", "/etc/passwd", "link.csv", "folder/secret.csv"])
def test_files_elsewhere_are_refused_unopened(
    page: Page, tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def engine(*_: object) -> None:
        raise AssertionError("the engine was asked")

    monkeypatch.setattr(_core, "resolve", engine)
    secret = tmp_path / "secret.csv"
    secret.write_text("secret\n")
    (tmp_path / "root" / "link.csv").symlink_to(secret)
    (tmp_path / "root" / "folder").symlink_to(tmp_path)
    [problem] = page.post("/api/check", trace_in(tmp_path, name))["problems"]
    assert "not below the directories that this page was opened for" in problem["message"]
    assert page.refused("POST", "/api/runs", 422, json=trace_in(tmp_path, name)).count("not below") == 1


def test_a_result_whose_settings_name_a_file_elsewhere_is_refused_unopened(
    page: Page, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "root" / "given"
    lasthop.run(lasthop.Scenario(SMALL), seeds=1).save(place)
    settings = '# --set flow.0.transport=udp\n# --set flow.0.traffic={ kind = "trace", file = "/etc/passwd" }\n'
    (place / "scenario.toml").write_text(settings + SMALL)
    [key] = [entry["key"] for entry in page.get("/api/entries")["entries"] if entry["kind"] == "result"]

    def engine(*_: object) -> None:
        raise AssertionError("the engine was asked")

    monkeypatch.setattr(_core, "resolve", engine)
    again = f"/api/runs/{key}/seeds/1"
    for method, address in (
        ("GET", f"/api/scenarios/{key}"),
        ("POST", f"{again}/record"),
        ("GET", f"{again}/explained"),
    ):
        assert "not below the directories" in page.refused(method, address, 422)


def test_a_text_that_only_one_reader_takes_names_no_file(page: Page) -> None:
    text = trace_in(Path(), "/etc/passwd")["text"] + "\x00"
    [problem] = page.post("/api/check", {"text": text})["problems"]
    assert "passwd" not in problem["message"]
    assert "TOML" in problem["remedy"]


@pytest.mark.parametrize("name", ["new.toml", "A b-c_d.2.toml"])
def test_a_text_is_saved_once_and_replaced_on_request(page: Page, tmp_path: Path, name: str) -> None:
    file = tmp_path / "root" / name
    assert page.client.put(f"/api/scenarios/{name}", json={"text": SMALL}).json()["place"] == name
    assert file.read_text() == SMALL
    assert "exists already" in page.refused("PUT", f"/api/scenarios/{name}", 409, json={"text": "other"})
    assert file.read_text() == SMALL
    page.client.put(f"/api/scenarios/{name}", json={"text": "other", "replace": True})
    assert file.read_text() == "other"
    assert sorted(each.name for each in file.parent.iterdir()) == sorted([name, "small.toml"])


@pytest.mark.parametrize(
    "name", ["x.txt", ".hidden.toml", "..toml", "a..toml", "x", "-x.toml", "x%0A.toml", "x%00.toml"]
)
def test_only_plain_names_are_saved(page: Page, tmp_path: Path, name: str) -> None:
    said = page.refused("PUT", f"/api/scenarios/{name}", 422, json={"text": SMALL})
    assert "plain name" in said
    assert [each.name for each in (tmp_path / "root").iterdir()] == ["small.toml"]


@pytest.mark.parametrize("name", ["..%2fx.toml", "%2e%2e%2fx.toml", "a%2fb.toml"])
def test_no_name_leads_elsewhere(page: Page, tmp_path: Path, name: str) -> None:
    assert page.client.put(f"/api/scenarios/{name}", json={"text": SMALL}).status_code in (404, 405, 422)
    assert not (tmp_path / "x.toml").exists()


def test_a_link_out_of_the_directory_is_not_written_through(page: Page, tmp_path: Path) -> None:
    (tmp_path / "root" / "out.toml").symlink_to(tmp_path / "out.toml")
    said = page.refused("PUT", "/api/scenarios/out.toml", 403, json={"text": SMALL, "replace": True})
    assert "cannot be written below the directories" in said
    assert not (tmp_path / "out.toml").exists()


# Requests -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("address", ["/api/check", "/api/theory", "/api/move", "/api/runs"])
def test_bodies_are_bounded_and_checked(page: Page, address: str) -> None:
    assert "more than 2 MB" in page.refused("POST", address, 413, content=b"x" * 2_000_001)
    kind = {"Content-Type": "application/json"}
    assert "not JSON" in page.refused("POST", address, 400, content=b"{", headers=kind)
    assert "object" in page.refused("POST", address, 400, json=[])
    assert "must be JSON" in page.refused("POST", address, 415, content=b"{}", headers={"Content-Type": "text/plain"})
    assert "text is needed" in page.refused("POST", address, 422, json={"text": 5})


@pytest.mark.parametrize("address", ["/api/check", "/api/theory", "/api/move", "/api/runs"])
def test_half_a_surrogate_is_read_as_a_character_that_is_not_toml(page: Page, address: str) -> None:
    kind = {"Content-Type": "application/json"}
    answer = page.client.post(address, content=b'{"text": "\\ud800"}', headers=kind)
    assert answer.status_code in (200, 422)
    assert "expected `=`" in answer.text or "text is needed" in answer.text, answer.text


@pytest.mark.parametrize(
    "headers", [{"Origin": "http://evil.example"}, {"Host": "evil.example"}, {"Sec-Fetch-Site": "cross-site"}]
)
@pytest.mark.parametrize(
    ("method", "address"),
    [("POST", "/api/check"), ("POST", "/api/runs"), ("PUT", "/api/scenarios/x.toml"), ("DELETE", "/api/jobs/x")],
)
def test_other_sites_may_not_ask(
    page: Page, tmp_path: Path, headers: dict[str, str], method: str, address: str
) -> None:
    answer = page.client.request(method, address, json={"text": SMALL}, headers=headers)
    assert answer.status_code == 403
    assert page.get("/api/jobs")["jobs"] == []
    assert not (tmp_path / "root" / "x.toml").exists()


@pytest.mark.parametrize(
    "body", [{"path": "tcp"}, {"path": "station.0", "x": "1", "y": 2}, {"path": "station.0", "x": 1e99, "y": 0}]
)
def test_only_nodes_and_walls_are_moved(page: Page, body: dict) -> None:
    page.refused("POST", "/api/move", 422, json={"text": SMALL, **body})


def test_a_move_edits_the_position_in_place(page: Page) -> None:
    [edit] = page.post("/api/move", {"text": "# 𝄞\n" + SMALL, "path": "station.0", "distance": 4.25})["edits"]
    units = ("# 𝄞\n" + SMALL).encode("utf-16-le")
    assert units[2 * edit["from"] : 2 * edit["to"]].decode("utf-16-le") == '"10 m"'
    assert edit["insert"] == '"4.25 m"'


def test_ready_scenarios_are_always_listed(tmp_path: Path) -> None:
    page = Page(tmp_path)
    ready = {entry["name"]: entry for entry in page.get("/api/entries")["entries"]}
    assert ready["tcp-nup"]["ready"]
    assert "[[flow]]" in page.get(f"/api/scenarios/{ready['tcp-nup']['key']}")["text"]
    (tmp_path / "own.toml").write_text(SMALL)
    entries = page.get("/api/entries")["entries"]
    assert [entry["name"] for entry in entries if not entry["ready"]] == ["own"]
    assert {entry["name"] for entry in entries if entry["ready"]} == set(ready)


def test_a_browser_at_an_unknown_address_gets_a_page_and_a_program_json(tmp_path: Path) -> None:
    page = Page(tmp_path)
    shown = page.client.get("/nowhere", headers={"Accept": "text/html"})
    assert shown.status_code == 404 and shown.text.startswith("<!doctype html>")
    assert page.refused("GET", "/nowhere", 404) == "Not Found"
    assert "error" in page.client.get("/api/nowhere", headers={"Accept": "text/html"}).json()
