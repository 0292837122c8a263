"""`python -m lasthop.gym TASK`: trains a policy, evaluates it with unseen seeds, and prints its table."""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

from ..data.confidence import Estimate
from .protocol import Outcome, run
from .tasks import TASKS, Task


def main(arguments: list[str] | None = None) -> int:
    """Runs a task; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m lasthop.gym", description="Trains and evaluates a ready task.")
    parser.add_argument("task", choices=TASKS, help="the task")
    parser.add_argument("--generations", type=_count, default=30, help="generations of training (default: 30)")
    parser.add_argument("--population", type=_count, default=32, help="episodes of a generation (default: 32)")
    parser.add_argument("--seeds", type=_count, default=20, help="seeds of the evaluation (default: 20)")
    parser.add_argument("--seed", type=int, default=1, help="seed of the learner (default: 1)")
    parser.add_argument("--jobs", type=_count, default=None, help="threads (default: one per core)")
    parser.add_argument("--out", type=Path, help="a directory for the policy (JSON) and the curve (PNG)")
    given = parser.parse_args(arguments)
    task = TASKS[given.task]()
    begun = time.monotonic()
    outcome = run(
        task,
        generations=given.generations,
        population=given.population,
        seeds=given.seeds,
        seed=given.seed,
        threads=given.jobs,
    )
    sys.stdout.write(report(task, outcome, time.monotonic() - begun))
    if given.out:
        given.out.mkdir(parents=True, exist_ok=True)
        (given.out / f"{task.name}.json").write_text(outcome.policy.to_json(), encoding="utf-8")
        draw(task, outcome, given.out / f"{task.name}.png")
    return 0


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) < 2:
        raise argparse.ArgumentTypeError(f"{text}: a whole number from 2 is needed")
    return int(text)


def report(task: Task, outcome: Outcome, took_s: float) -> str:
    """The table of a task."""
    lines = [f"{task.name}: {task.summary}; {task.unit}, mean and 95 % interval over unseen seeds", ""]
    width = max(map(len, outcome.scores))
    lines += [f"{name:{width}}  {_text(score)}" for name, score in outcome.scores.items()]
    if outcome.optimum is not None and (gap := outcome.gap()):
        best, source = outcome.optimum
        lines += [f"{'optimum':{width}}  {best:.3f}  {source}", ""]
        lines.append(
            f"gap to the optimum: {_text(Estimate(100 * gap.mean, _percent(gap.ci95_low), _percent(gap.ci95_high), gap.n))} %"
        )
    return "\n".join([*lines, f"trained and evaluated in {took_s:.0f} s", ""])


def _percent(share: float | None) -> float | None:
    return None if share is None else 100 * share


def _text(score: Estimate) -> str:
    interval = (
        "" if score.ci95_low is None or score.ci95_high is None else f" ({score.ci95_low:.3f} to {score.ci95_high:.3f})"
    )
    return f"{score.mean:.3f}{interval}"


def draw(task: Task, outcome: Outcome, path: Path) -> None:
    """Draws the curve of the training."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 4), layout="constrained")
    axes = figure.subplots()
    axes.plot([one.mean for one in outcome.history], label="mean of a generation")
    axes.plot([one.best for one in outcome.history], label="best quarter")
    axes.axhline(outcome.scores[task.default].mean, color="grey", linestyle="--", label=task.default)
    if outcome.optimum is not None:
        axes.axhline(outcome.optimum[0], color="black", linestyle=":", label="optimum")
    axes.set(xlabel="generation", ylabel=task.unit, title=task.summary)
    axes.legend()
    figure.savefig(path, dpi=150)


if __name__ == "__main__":
    sys.exit(main())
