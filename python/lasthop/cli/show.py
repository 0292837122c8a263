"""`lasthop show`: an algorithm, a section, key or value of scenario files, a quantity of results, a knob, or a BPF object."""

from __future__ import annotations

import argparse
import json
import re
import sys
import textwrap
import tomllib
from functools import partial
from typing import Any

from .. import _core
from ..data.diagnostic import ScenarioError
from ..data.key_values import KeyOfValue, keys_with
from ..data.quantities import NODE
from ..data.ready import scenarios
from ..papers import PaperError, paper_files
from ..study.scenario import readable_text
from ._mistake import Mistake
from ._pager import show_paged

OBJECT_ENDING = ".o"
LARGEST_OBJECT = 16 << 20
# `khademi2011`, `grazia2018-cotsq`, `K-2`.
PAPER_OR_CLAIM = re.compile(r"[a-z]+[0-9]{4}(-[a-z]+)?|[A-Z]+-[0-9]+")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of `lasthop show`."""
    parser.add_argument(
        "name",
        metavar="NAME",
        help=f"an algorithm (cubic), a profile (tcp.profile.ns2), a section or key of scenario files (bss.ap, station.queue), a value of a key (ath9k), a quantity "
        f"(nodes.ap.{NODE.queue_mean_packets}), a knob (edca.cw_min), a paper (khademi2011), a claim (K-2) or a BPF object (mine.bpf.o)",
    )
    parser.add_argument("--json", action="store_true", help="as JSON")


def execute(arguments: argparse.Namespace) -> int:
    """Prints the description."""
    name = readable_text(arguments.name)
    if name.endswith(OBJECT_ENDING):
        for_people, document = _object(name)
        for_programs = _json(json.loads(document))
    elif name in scenarios():
        raise Mistake(f"{name}: is a ready scenario; `lasthop new {name}` prints it")
    elif (paper := _paper(name)) is not None:
        for_people, for_programs = _paper_text(*paper), _json(paper[1])
    else:
        entry = _entry(name)
        for_people, for_programs = _text(entry), _json(entry)
    if arguments.json:
        sys.stdout.write(for_programs)
    else:
        show_paged(for_people)
    return 0


def _entry(name: str) -> dict[str, Any]:
    """An entry of the engine's lists, or a value of keys."""
    try:
        entry: dict[str, Any] = json.loads(_core.show_json(name))
    except ScenarioError:
        if not (keys := keys_with(name)):
            raise
        return {"kind": "value", "name": name, "keys": [key._asdict() for key in keys]}
    return entry


def _paper(name: str) -> tuple[str, dict[str, Any]] | None:
    """A paper by its key, or with the one claim that has this id; its key with the content of its file."""
    if not PAPER_OR_CLAIM.fullmatch(name):
        return None
    try:
        files = paper_files()
    except PaperError:
        return None
    for file in files:
        paper = tomllib.loads(file.read_text(encoding="utf-8"))
        claims = [claim for claim in paper["claim"] if claim["id"] == name]
        if file.stem == name or claims:
            return file.stem, paper if file.stem == name else {**paper, "claim": claims}
    return None


def _paper_text(key: str, paper: dict[str, Any]) -> str:
    """Title, claims and figures of a paper, and the command that checks them."""
    wrapped = partial(textwrap.fill, width=120, initial_indent="      ", subsequent_indent="      ")
    lines = [f"{key} (paper): {paper['title']}; {paper['authors']}, {paper['published']}", ""]
    for claim in paper["claim"]:
        lines += [f"  {claim['id']} ({claim['place']})", wrapped(claim["sentence"])]
    if figures := ", ".join(figure["number"] for figure in paper.get("figure", ())):
        lines += ["", f"figures: {figures}"]
    asked = f" --claim {paper['claim'][0]['id']}" if len(paper["claim"]) == 1 else ""
    return "\n".join([*lines, f"`lasthop reproduce {key}{asked} --quick` checks it", ""])


def _object(name: str) -> tuple[str, str]:
    """Describes a BPF object, which is read and not run."""
    try:
        with open(name, "rb") as file:
            data = file.read(LARGEST_OBJECT + 1)
        if len(data) > LARGEST_OBJECT:
            raise Mistake(f"{name}: is longer than {LARGEST_OBJECT >> 20} MB, which no BPF object is")
        return _core.describe_object(data, name)
    except OSError as error:
        raise Mistake(f"{name}: {error.strerror}") from None
    except ValueError as error:
        raise Mistake(str(error)) from None


def _json(document: Any) -> str:
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def _quantity_text(entry: dict[str, Any]) -> str:
    """The dotted name with type, scope and unit, then the definition."""
    of = f" of {entry['only']}" if entry["only"] else f" of {entry['scope']}s" if entry["entity"] else ""
    unit = f" in {entry['unit']}" if entry["unit"] else ""
    scaled = entry["shown"]["unit"]
    shown = f", shown in {scaled}" if scaled != entry["unit"] else ""
    where = " and ".join({"summary": "result", "series": "time series"}[place] for place in entry["in"])
    return f"{entry['name']} ({entry['type']}{of}{unit}{shown}; {where}): {entry['label']}\n    {entry['meaning']}\n"


def _text(entry: dict[str, Any]) -> str:
    if "quantities" in entry:
        return "".join(map(_quantity_text, entry["quantities"]))
    if entry["kind"] == "knob":
        return _knob_text(entry)
    if entry["kind"] == "key":
        return _key_text(entry)
    if entry["kind"] == "value":
        return _value_text(entry["name"], [KeyOfValue(**key) for key in entry["keys"]])
    head = f"{entry['name']} ({entry['kind']}): {entry['summary']}\n"
    facts = [f"{key}: {entry[key]}\n" for key in ("source", "status", "over") if entry.get(key)]
    parameters = [_parameter(parameter) for parameter in entry.get("parameters", [])]
    others = [f"\nIt may also have the keys of [{name}]: `lasthop show {name}`\n" for name in entry.get("keys_of", [])]
    return head + "".join(facts) + ("\n" + "".join(parameters) if parameters else "") + "".join(others)


def _knob_text(entry: dict[str, Any]) -> str:
    """A knob: its forms, its meaning, its bounds and when a new value counts."""
    bounds = f"from {entry['least']:g} to {entry['most']:g} {entry['unit']}"
    return f"{entry['form']} (knob; {bounds})\n    {entry['summary']}\n    A new value counts for {entry['counts']}.\n"


def _value_text(name: str, keys: list[KeyOfValue]) -> str:
    """A value: each key that takes it, and the meaning of the key."""
    of = f"{len(keys)} keys" if len(keys) > 1 else "one key"
    lines = [f'  {each.key} = "{name}"\n      {each.help}\n' for each in keys]
    return f"{name} (value of {of}; `lasthop show KEY` has its other values)\n\n" + "".join(lines)


def _key_text(entry: dict[str, Any]) -> str:
    """A key: its meaning, then its default and values, a line each."""
    (parameter,) = entry["parameters"]
    facts = _defaults(parameter)
    facts += [f"values: {parameter['form']}"] if parameter.get("form") else []
    facts += [f"names: `lasthop list {entry['choices']}`"] if entry.get("choices") else []
    facts += [f"without it, the flow has the value of {name}.{parameter['name']}" for name in entry.get("keys_of", [])]
    return f"{entry['name']} (key): {entry['summary']}\n\n" + "".join(f"  {fact}\n" for fact in facts)


def _defaults(parameter: dict[str, Any]) -> list[str]:
    """The default, then each profile with another one. Without a fixed default the help gives the condition."""
    default = parameter.get("default")
    facts = [f"default {default}"] if default is not None else []
    others = parameter.get("default_with_profile", {})
    return facts + [f"with profile {profile}: {value}" for profile, value in others.items()]


def _parameter(parameter: dict[str, Any]) -> str:
    facts = _defaults(parameter) + ([parameter["form"]] if parameter.get("form") else [])
    return f"  {parameter['name']} ({'; '.join(facts)})\n      {parameter['help']}\n"
