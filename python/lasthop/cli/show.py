"""`lasthop show`: one thing that can be chosen by name with its parameters, what a number of a result means, or what is in a BPF object."""

from __future__ import annotations

import argparse
import json
import sys
from typing import Any

from .. import _core
from ..data.quantities import FLOW
from ..data.ready import scenarios
from ..study.scenario import readable_text
from ._mistake import Mistake
from ._pager import show_paged

OBJECT_ENDING = ".o"
LARGEST_OBJECT = 16 << 20


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of `lasthop show`."""
    parser.add_argument(
        "name",
        metavar="NAME",
        help=f"an algorithm (cubic), a profile (tcp.profile.ns2), a section (bss.ap), a quantity ({FLOW.goodput_bps}) or a BPF object (mine.bpf.o)",
    )
    parser.add_argument("--json", action="store_true", help="as JSON")


def execute(arguments: argparse.Namespace) -> int:
    """Prints what is known of the name."""
    name = readable_text(arguments.name)
    if name.endswith(OBJECT_ENDING):
        for_people, told = _object(name)
        for_programs = _json(json.loads(told))
    elif name in scenarios():
        raise Mistake(f"{name}: is a ready scenario; `lasthop new {name}` prints it")
    else:
        entry = json.loads(_core.show_json(name))
        for_people, for_programs = _text(entry), _json(entry)
    if arguments.json:
        sys.stdout.write(for_programs)
    else:
        show_paged(for_people)
    return 0


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
    """The dotted name, of what it is and in which unit, then its definition."""
    of = f" of {entry['only']}" if entry["only"] else f" of {entry['scope']}s" if entry["entity"] else ""
    unit = f" in {entry['unit']}" if entry["unit"] else ""
    said = entry["shown"]["unit"]
    shown = f", shown in {said}" if said != entry["unit"] else ""
    where = " and ".join({"summary": "result", "series": "time series"}[place] for place in entry["in"])
    return f"{entry['name']} ({entry['type']}{of}{unit}{shown}; {where}): {entry['label']}\n    {entry['meaning']}\n"


def _text(entry: dict[str, Any]) -> str:
    if "quantities" in entry:
        return "".join(map(_quantity_text, entry["quantities"]))
    head = f"{entry['name']} ({entry['kind']}): {entry['summary']}\n"
    facts = [f"{key}: {entry[key]}\n" for key in ("source", "status") if entry.get(key)]
    parameters = [_parameter(parameter) for parameter in entry.get("parameters", [])]
    return head + "".join(facts) + ("\n" + "".join(parameters) if parameters else "")


def _parameter(parameter: dict[str, Any]) -> str:
    # Without a fixed default the help gives the condition instead; few of these must be given.
    default = parameter.get("default")
    facts = [f"default {default}"] if default is not None else []
    others = parameter.get("default_with_profile", {})
    facts += [f"with profile {profile}: {value}" for profile, value in others.items()]
    facts += [parameter["form"]] if parameter.get("form") else []
    return f"  {parameter['name']} ({'; '.join(facts)})\n      {parameter['help']}\n"
