"""Why a result is what it is: where the time of each flow and of each channel went, and what that says in words.

`account` reads the terms of `docs/explain.md` from a result, `rerun` makes them where a result has none, `answers` and
`difference` put them into sentences, `captured` says what captures tell, `suffering` which flows fare worst, `text` makes tables.
"""

from __future__ import annotations

from ...data.result import Result
from .account import CHANNEL_TERMS, FLOW_TERMS, ChannelTime, Explanation, FlowTime, explanation_of
from .answers import answers
from .captured import captured_text, is_captured
from .difference import Change, Difference, difference_of
from .rerun import scenario_of, to_be_run, with_account

__all__ = [
    "CHANNEL_TERMS",
    "FLOW_TERMS",
    "Change",
    "ChannelTime",
    "Difference",
    "Explanation",
    "FlowTime",
    "answers",
    "captured_text",
    "difference_of",
    "explain",
    "explanation_of",
    "is_captured",
    "scenario_of",
    "to_be_run",
    "with_account",
]


def explain(result: Result) -> Explanation:
    """Returns where each flow and channel of a result spent its time; runs the seeds again if necessary."""
    return explanation_of(with_account(result))
