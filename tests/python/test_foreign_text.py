"""Files of others are read within bounds, by one module: each refusal has the file, the place and the remedy."""

from __future__ import annotations

import ast
import gzip
import json
from pathlib import Path

import pytest
from lasthop.data import foreign_text
from lasthop.data.foreign_text import DEEPEST, Unreadable, documents, json_of, lines_of, parsed_json, text_of, toml_of

PACKAGE = Path(__file__).parents[2] / "python" / "lasthop"
PARSERS = {"json": {"load", "loads", "JSONDecoder"}, "tomllib": {"load", "loads"}}
UNPACKERS = ("gzip", "zlib", "bz2", "lzma", "zipfile")
# Modules that parse or unpack by themselves, each with the reason why its text is not of others.
OWN = {
    "cli.cc._script_code": "reads the question of its parent process",
    "cli.self.schema": "reads the engine's text",
    "cli.show": "reads the engine's text",
    "foreign.analysis": "reads the engine's text",
    "study.executor.chunk": "packs what its own workers send",
    "study.store.shards": "reads the head that a writer of this program puts beside its columns",
    "study.store.memory": "packs what it keeps in memory",
    "cli.emulate": "reads a scenario that was resolved before",
    "cli.host.deploy": "reads a scenario that was resolved before",
    "cli.list": "reads scenarios of the package",
    "kernel.bpf.split": "reads the answer of `tc` on this host",
    "kernel.emulation.worker": "reads the job of its parent process",
    "data.profiles": "reads the scenario file of a result, of which the result has the resolved form",
    "page.report": "packs what it writes",
    "page.scenario_text": "reads a scenario that was resolved before, and values that it writes",
    "study.axis": "reads arguments of the command line",
    "study.code.worker": "reads the job of its parent process",
    "study.store.identity": "reads what it wrote one line before",
    "study.unfinished": "reads the seeds that an interrupted command of this program kept",
    "cli.cc.packetdrill": "reads the answers of its own child process",
}


def _parsing(file: Path) -> list[str]:
    """The calls that parse text, except of the engine's own, and the imports that unpack."""
    found = []
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import | ast.ImportFrom):
            names = [node.module or ""] if isinstance(node, ast.ImportFrom) else [each.name for each in node.names]
            found += [name for name in names if name in UNPACKERS]
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and isinstance(node.func.value, ast.Name)
        ):
            is_parser = node.func.attr in PARSERS.get(node.func.value.id, ())
            found += [ast.unparse(node)] if is_parser and not _is_of_engine(node) else []
    return found


def _is_of_engine(call: ast.Call) -> bool:
    """Whether the text comes from the engine, in the same expression."""
    text = ast.unparse(call.args[0]) if call.args else ""
    return text.startswith("_core.") or text.endswith(".to_json()")


def test_one_module_parses_and_unpacks_files():
    found = {}
    for file in PACKAGE.rglob("*.py"):
        name = ".".join(file.relative_to(PACKAGE).with_suffix("").parts)
        if not name.startswith(("bundled", "templates")) and (calls := _parsing(file)):
            found[name] = calls
    assert found.pop("data.foreign_text")
    assert {name: calls for name, calls in found.items() if name not in OWN} == {}
    assert OWN.keys() <= found.keys(), "an exception that is no longer needed"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[" * (DEEPEST + 1) + "]" * (DEEPEST + 1), f"line 1: is nested more than {DEEPEST} levels deep"),
        ("\n[" + "[" * 100_000, "line 2: is nested more than"),
        ('{"a":\n 1e999}', "line 2: 1e999… is beyond every counter"),
        ('{"a":\n' + "9" * 5000 + "}", "line 2: 99999999999999999999… is beyond every counter"),
        ('{"a": 36893488147419103232}', "line 1: 36893488147419103232… is beyond"),
        ('{"a": 1,\n', "line 2: is not complete JSON; copy the file once more"),
        ('{"a": 1} {"b": 2}', "has 2 documents of JSON where one is expected"),
        ("", "has 0 documents of JSON"),
    ],
)
def test_json_out_of_bounds_is_refused_with_its_place(text, said):
    with pytest.raises(Unreadable) as caught:
        parsed_json("x.json", text)
    assert str(caught.value).startswith("x.json") and said in str(caught.value) and "; " in str(caught.value)


def test_numbers_up_to_the_bounds_are_read():
    document = parsed_json(
        "x.json", '{"a": 18446744073709551615, "b": -1.7e308, "c": 1e-400, "d": [NaN, -Infinity], "e": 1}'
    )
    assert document == {"a": 2**64 - 1, "b": -1.7e308, "c": 0.0, "d": [None, None], "e": 1}


def test_a_document_at_the_limit_of_depth_is_read():
    assert parsed_json("x.json", "[" * DEEPEST + "]" * DEEPEST)


def test_a_document_of_too_many_values_is_refused_before_it_is_parsed(monkeypatch):
    monkeypatch.setattr(foreign_text, "MOST_VALUES", 10)
    with pytest.raises(Unreadable, match="x.json: has more than 10 values, the limit; give a part of it"):
        parsed_json("x.json", "[" + "0," * 10 + "0]")


def test_half_of_a_surrogate_pair_is_replaced_and_a_whole_pair_stays():
    text = r'["\ud800", "a\uDC00b", "\ud83d\ude00", "\ud83d\ud83d\ude00", "\u00e9"]'
    assert parsed_json("x", text) == ["\ufffd", "a\ufffdb", "\U0001f600", "\ufffd\U0001f600", "é"]
    "".join(parsed_json("x", text)).encode()


def test_documents_of_a_stream_come_up_to_the_damaged_one():
    found = []
    with pytest.raises(Unreadable, match="line 3"):
        found.extend(documents("x.json", '{"a": 1}\n{"a": 2}\n{"a": '))
    assert found == [{"a": 1}, {"a": 2}]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"\0" * 600, "is not text; give the file that the program wrote"),
        (b'{"a": "\xff"}', "byte 7: is not text in UTF-8"),
        (gzip.compress(b'{"a": 1}', mtime=0)[:-4], "its gzip ends early or is damaged; copy the file once more"),
        (gzip.compress(b"[0]" * 1000, mtime=0), "has more than 2000 bytes of text, the limit; give a part of it"),
        (b"[0]" * 1000, "has more than 2000 bytes of text"),
    ],
)
def test_a_file_out_of_bounds_is_refused_with_its_place(tmp_path, content, said):
    file = tmp_path / "x"
    file.write_bytes(content)
    with pytest.raises(Unreadable) as caught:
        json_of(file, 2000)
    assert str(caught.value).startswith(str(file)) and said in str(caught.value)


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_text_is_unpacked_and_decoded(tmp_path, pack, encoding):
    file = tmp_path / "x"
    file.write_bytes(pack('{"ä": [1,\n2]}'.encode(encoding)))
    assert json_of(file) == json.loads(text_of(file)) == {"ä": [1, 2]}
    assert list(lines_of(file)) == ['{"ä": [1,\n', "2]}"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a = " + "[" * 5000, "is nested too deeply"),
        ("a = " + "9" * 5000, "Exceeds the limit"),
        ("a = 1 2", "at line 1, column 7"),
        ("#" * 1_000_001, "has more than 1000000 bytes"),
    ],
)
def test_toml_out_of_bounds_is_refused(tmp_path, text, said):
    file = tmp_path / "x.toml"
    file.write_text(text)
    with pytest.raises(Unreadable, match=said):
        toml_of(file)
