"""Explains a result: how each flow and channel spent its time, in tables and in sentences.

`account` reads the terms of `docs/explain.md` from a result, and `rerun` computes them for a result without an account.
`answers` and `difference` write the sentences, `captured` explains captures, `suffering` ranks flows, `text` makes
tables.
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
    """Returns how each flow and channel of a result spent its time; runs the seeds again if necessary."""
    return explanation_of(with_account(result))
