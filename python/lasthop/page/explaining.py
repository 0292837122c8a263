"""The explanation of a run over time: its account in slices.

The seed runs once more, and its account is read at the end of each slice. A slice has the increase since the slice
before. PPDUs on the air between two slices count by their state at that time. The account may move time from one term
to another later; the earlier slices are then corrected, so that slices add up to the account of the whole.
"""

from __future__ import annotations

from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from .. import _core
from ..data.result import Result
from ..views.explain import explanation_of
from ..views.explain.account import CHANNEL_TERMS, FLOW_TERMS, SILENT
from ..views.explain.answers import answers
from ..views.explain.rerun import check_alike, check_simulated
from ..views.explain.suffering import suffering
from .jobs import JobProgress
from .recorded import nanoseconds
from .rerun import STOPPED, Rerun

SLICES = 120


class Slices(Rerun):
    """The account of one seed in slices: `time` when it is ready, else None."""

    # `edges_ns`, and shares of each slice by term: `flows` by id, `channels`.
    time: dict[str, Any] | None = None

    def work(self) -> None:
        """Computes the slices. Raises `ScenarioError` if the run gives other numbers than before."""
        check_simulated(self.result)
        run = _core.AccountSoFar(self.resolved, self.seed)
        end_ns = run.end_ns()
        begin_ns = nanoseconds(self.result.scenario["warmup"])
        edges = [begin_ns + round((end_ns - begin_ns) * part / SLICES) for part in range(SLICES + 1)]
        progress, accounts = JobProgress(self), []
        for edge in edges[1:]:
            if self.requests.count:
                return self.report(state="stopped", error=STOPPED)
            accounts.append(run.until(edge))
            progress.update(edge / end_ns, 0, 1)
        again = {**(so_far.document() if (so_far := run.metrics()) else {}), "account": accounts[-1]}
        check_alike(self.result, [self.seed], [again])
        self._account = accounts[-1]
        self.time = {"edges_ns": edges, **_gains(accounts, edges)}
        return self.report(state="done")

    @cached_property
    def known(self) -> dict[str, Any]:
        """Returns the sentences of the result's own account, if it has one."""
        return _in_words(self.result.with_runs([self.run])) if "account" in self.run else {}

    def summary(self) -> dict[str, Any]:
        """Returns the sentences of the new account, and the time of channels."""
        assert self.time is not None
        return {**self._words, "edges_ns": self.time["edges_ns"], "channels": self.time["channels"]}

    @cached_property
    def _words(self) -> dict[str, Any]:
        return _in_words(self.explained())

    def explained(self) -> Result:
        """The result of this seed alone, with the new account."""
        return self.result.with_runs([{**self.run, "account": self._account}])


def _gains(accounts: list[dict[str, Any]], edges: list[int]) -> dict[str, Any]:
    lengths = [(b - a) / 1e9 for a, b in pairwise(edges)]

    def of_flow(index: int) -> dict[str, list[float]]:
        terms = [account["flows"][index]["terms"] for account in accounts]
        return _shares({term: [of.get(f"{term}_s", 0.0) for of in terms] for term in FLOW_TERMS}, lengths)

    def of_channel(index: int) -> dict[str, list[float]]:
        channels = [_nth(account, index) for account in accounts]
        return _shares({term: [_of_channel(of, term) for of in channels] for term in CHANNEL_TERMS}, lengths)

    last = accounts[-1]
    flows = {flow["id"]: of_flow(index) for index, flow in enumerate(last["flows"])}
    return {"flows": flows, "channels": [of_channel(index) for index in range(len(last["channels"]))]}


def _nth(account: dict[str, Any], index: int) -> dict[str, Any]:
    """A channel of an account; one to which a BSS has not moved yet is idle."""
    channels: list[dict[str, Any]] = account["channels"]
    return channels[index] if index < len(channels) else {"nodes": [], "idle_s": account["covered_s"]}


def _of_channel(channel: dict[str, Any], term: str) -> float:
    if term in SILENT:
        return float(channel.get(f"{term}_s", 0.0))
    return float(sum(node.get(f"{term}_s", 0.0) for node in channel["nodes"]))


def _shares(terms: dict[str, list[float]], lengths: list[float]) -> dict[str, list[float]]:
    """The increase of each term in each slice, as shares of the slice; terms without any are left out."""
    gains = np.diff(np.array(list(terms.values())), axis=1, prepend=0.0)
    # From the last slice on, time that a term returns goes to the slice before, with as much of the other terms' gain.
    for number in range(gains.shape[1] - 1, 0, -1):
        here = gains[:, number]
        back, forth = np.minimum(here, 0), np.maximum(here, 0)
        if back.any() and forth.any():
            moved = forth * (-back.sum() / forth.sum())
            gains[:, number - 1] += back + moved
            gains[:, number] = forth - moved
    shares = np.maximum(gains, 0) / lengths
    return {name: np.round(share, 5).tolist() for name, share in zip(terms, shares, strict=True) if share.any()}


def _in_words(result: Result) -> dict[str, Any]:
    """Returns the sentences of a result's account, and the labels of terms."""
    explanation = explanation_of(result)
    return {
        "answers": answers(explanation),
        "suffering": suffering(explanation),
        "flow_terms": FLOW_TERMS,
        "channel_terms": CHANNEL_TERMS,
    }
