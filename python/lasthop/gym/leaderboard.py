"""Leaderboards: a file with the scores of policies, each by the protocol of its task.

A row is comparable with others of its task if the digest is equal, which covers the scenario, the knobs, the observation, the reward and
the evaluation. A row has the mean reward over the seeds of the evaluation, with its 95 % interval.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .. import _core
from ..data.confidence import Estimate
from ..data.foreign_text import json_of
from . import channels
from .task import Task
from .tasks import TASKS

#: The form of the file.
FORMAT = 1


def read(path: Path) -> dict[str, list[dict[str, Any]]]:
    """The rows of each task. Raises `ValueError` for a file of another form."""
    told = json_of(path)
    if not isinstance(told, dict) or told.get("format") != FORMAT or not isinstance(told.get("tasks"), dict):
        raise ValueError(f"{path}: not a leaderboard of format {FORMAT}")
    return {str(name): list(rows) for name, rows in told["tasks"].items()}


def add(path: Path, task: Task, scores: Mapping[str, Estimate]) -> None:
    """Adds a row for each policy, in place of one of the same name; makes the file if it is missing."""
    tasks = read(path) if path.exists() else {}
    kept = [row for row in tasks.get(task.name, []) if row["policy"] not in scores]
    rows = [*kept, *(_row(task, name, one) for name, one in scores.items())]
    tasks[task.name] = sorted(rows, key=lambda row: -row["mean"])
    told = {"format": FORMAT, "tasks": dict(sorted(tasks.items()))}
    path.write_text(json.dumps(told, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def _row(task: Task, name: str, score: Estimate) -> dict[str, Any]:
    return {
        "policy": name,
        "mean": round(score.mean, 6),
        "ci95_low": None if score.ci95_low is None else round(score.ci95_low, 6),
        "ci95_high": None if score.ci95_high is None else round(score.ci95_high, 6),
        "seeds": score.n,
        "unit": task.unit,
        "digest": task.digest(),
        "lasthop": _core.__version__,
    }


def table(path: Path) -> str:
    """The leaderboard as text; a row whose task has changed since says so."""
    lines, tasks = [], TASKS | {channels.NAME: channels.task}
    for name, rows in read(path).items():
        digest = tasks[name]().digest() if name in tasks else None
        lines += [f"{name} ({rows[0]['unit']})" if rows else name]
        width = max((len(row["policy"]) for row in rows), default=0)
        for row in rows:
            has_interval = row["ci95_low"] is not None and row["ci95_high"] is not None
            interval = f" ({row['ci95_low']:.3f} to {row['ci95_high']:.3f})" if has_interval else ""
            note = "" if row["digest"] == digest else "  the task has changed since"
            lines.append(f"  {row['policy']:{width}}  {row['mean']:.3f}{interval}{note}")
        lines.append("")
    return "\n".join(lines)
