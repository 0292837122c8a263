"""Why, over time: the account of a run in slices of it.

A seed is run once more with an account that is read at the end of each slice; what the account gained since the slice before is
the slice's. What is on the air between two slices counts by what had become of it then. Where the account takes back later what
it had booked for another term, that is set right in the slices before, so that slices add up to the account of the whole.
"""

from __future__ import annotations

import json
import threading
from typing import Any

import numpy as np

from .. import _core
from ..explain import explanation_of
from ..explain.account import CHANNEL_TERMS, FLOW_TERMS, SILENT
from ..explain.answers import answers
from ..explain.rerun import goodputs, scenario_of
from ..explain.suffering import suffering
from ..result import Result
from .recorded import nanoseconds

SLICES = 120
OTHER_NUMBERS = f"lasthop {_core.__version__} gives other numbers than the version that made this result; run it anew"


class Slices:
    """The account of one seed in slices, made on a thread of its own."""

    def __init__(self, result: Result, seed: int, resolved: _core.ResolvedScenario | None = None, turn: threading.Semaphore | None = None) -> None:
        self.error: str | None = None
        self._result = result
        self._account: dict[str, Any] = {}
        self.told: dict[str, Any] | None = None
        self.progress = 0.0
        self._stopped = False
        self._resolved = resolved or scenario_of(result).resolve()
        self._seed = seed
        self._turn = turn or threading.Semaphore()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Ends it after the slice that is under way."""
        self._stopped = True

    def close(self) -> None:
        """The same, and waits for that."""
        self.stop()
        self._thread.join(10)

    def wait(self, timeout_s: float) -> None:
        """Waits until it is done, for so long at most."""
        self._thread.join(timeout_s)

    def is_explained(self) -> bool:
        """Whether the result holds an account of this seed."""
        return "account" in self._run_of_seed()

    def of_seed(self) -> Result:
        """The result of this seed alone, as it is."""
        return Result({**self._result.to_dict(), "runs": [self._run_of_seed()]}, source=self._result.source)

    def result(self) -> Result:
        """The same with the account that was made, once that is there."""
        run = {**self._run_of_seed(), "account": self._account}
        return Result({**self._result.to_dict(), "runs": [run]}, source=self._result.source)

    def _run_of_seed(self) -> dict[str, Any]:
        return next(run for run in self._result.runs if run["seed"] == self._seed)

    def _run(self) -> None:
        try:
            with self._turn:
                self.told = self._sliced()
        except BaseException as error:  # whatever it is, who waits is told
            self.error = f"{type(error).__name__}: {error}"

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
        own = self._run_of_seed()
        if goodputs(json.loads(run.metrics_json() or "null") or own) != goodputs(own):
            self.error = OTHER_NUMBERS
            return None
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
    gains = np.diff(np.array(list(terms.values())), axis=1, prepend=0.0)
    # From the last on, what a term gives back goes to the slice before, and as much of the others' gain.
    for number in range(gains.shape[1] - 1, 0, -1):
        here = gains[:, number]
        back, forth = np.minimum(here, 0), np.maximum(here, 0)
        if back.any() and forth.any():
            moved = forth * (-back.sum() / forth.sum())
            gains[:, number - 1] += back + moved
            gains[:, number] = forth - moved
    shares = np.maximum(gains, 0) / lengths
    return {name: np.round(share, 5).tolist() for name, share in zip(terms, shares, strict=True) if share.any()}


def in_words(result: Result) -> dict[str, Any]:
    """What the account of a result says in sentences, and how terms are called."""
    explanation = explanation_of(result)
    return {
        "answers": answers(explanation),
        "suffering": suffering(explanation),
        "flow_terms": FLOW_TERMS,
        "channel_terms": CHANNEL_TERMS,
    }
