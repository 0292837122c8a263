"""Why, over time: the account of a run in slices of it, each as exact as that of the whole.

A seed is run once more with an account that is read at the end of each slice; what the account gained since the slice before is
the slice's. What is on the air between two slices counts by what had become of it then, and is set right in the next.
"""

from __future__ import annotations

import json
import threading
from typing import Any

from .. import _core
from ..explain import explanation_of
from ..explain.account import CHANNEL_TERMS, FLOW_TERMS, SILENT
from ..explain.answers import answers
from ..explain.rerun import scenario_of
from ..explain.suffering import suffering
from ..result import Result
from .recorded import nanoseconds

SLICES = 120


class Slices:
    """The account of one seed in slices, made on a thread of its own."""

    def __init__(self, result: Result, seed: int, resolved: _core.ResolvedScenario | None = None) -> None:
        self.error: str | None = None
        self._result = result
        self._account: dict[str, Any] = {}
        self.told: dict[str, Any] | None = None
        self.progress = 0.0
        self._stopped = False
        self._resolved = resolved or scenario_of(result).resolve()
        self._seed = seed
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Ends it after the slice that is under way."""
        self._stopped = True
        self._thread.join(10)

    def wait(self, timeout_s: float) -> None:
        """Waits until it is done, for so long at most."""
        self._thread.join(timeout_s)

    def result(self) -> Result:
        """The result of this seed alone, with its account, once that is there."""
        run = next(run for run in self._result.runs if run["seed"] == self._seed)
        return Result({**self._result.to_dict(), "runs": [{**run, "account": self._account}]}, source=self._result.source)

    def _run(self) -> None:
        try:
            self.told = self._sliced()
        except (RuntimeError, ValueError) as error:
            self.error = str(error)

    def _sliced(self) -> dict[str, Any] | None:
        run = _core.AccountSoFar(self._resolved, self._seed)
        end_ns = run.end_ns()
        document = json.loads(self._resolved.to_json())
        begin_ns = nanoseconds(document["warmup"])
        edges = [begin_ns + round((end_ns - begin_ns) * part / SLICES) for part in range(SLICES + 1)]
        accounts = []
        for number, edge in enumerate(edges):
            if self._stopped:
                return None
            accounts.append(json.loads(run.until(edge)) if number else None)
            self.progress = edge / end_ns
        self._account = accounts[-1]
        return {"edges_ns": edges, **_gains(accounts[1:], edges)}


def _gains(accounts: list[dict[str, Any]], edges: list[int]) -> dict[str, Any]:
    lengths = [(b - a) / 1e9 for a, b in zip(edges, edges[1:], strict=False)]
    flows = {
        flow["id"]: _shares({term: [a["flows"][index]["terms"].get(f"{term}_s", 0.0) for a in accounts] for term in FLOW_TERMS}, lengths)
        for index, flow in enumerate(accounts[-1]["flows"])
    }
    channels = [
        _shares({term: [_of_channel(a["channels"][index], term) for a in accounts] for term in CHANNEL_TERMS}, lengths)
        for index in range(len(accounts[-1]["channels"]))
    ]
    return {"flows": flows, "channels": channels}


def _of_channel(channel: dict[str, Any], term: str) -> float:
    if term in SILENT:
        return channel[f"{term}_s"]
    return sum(node.get(f"{term}_s", 0.0) for node in channel["nodes"])


def _shares(terms: dict[str, list[float]], lengths: list[float]) -> dict[str, list[float]]:
    """What each term gained in each slice, as shares of it; terms that gained nothing are left out."""
    told = {}
    for name, sums in terms.items():
        gains = [max(0.0, b - a) for a, b in zip([0.0, *sums], sums, strict=False)]
        if any(gains):
            told[name] = [round(gain / length, 5) for gain, length in zip(gains, lengths, strict=True)]
    return told


def in_words(result: Result) -> dict[str, Any]:
    """What the account of a result says in sentences, and how terms are called."""
    explanation = explanation_of(result)
    return {
        "answers": answers(explanation),
        "suffering": suffering(explanation),
        "flow_terms": FLOW_TERMS,
        "channel_terms": CHANNEL_TERMS,
    }
