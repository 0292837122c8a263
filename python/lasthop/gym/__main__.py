"""`python -m lasthop.gym TASK`: trains a policy, evaluates it with unseen seeds, and prints its table."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ..data.confidence import Estimate
from . import bench, channels, leaderboard, policies
from .learner import Generation
from .protocol import Outcome, compare, gap_to, run, scores_of
from .task import Task
from .tasks import TASKS

BOARD, BENCH = "leaderboard", "bench"


def main(arguments: list[str] | None = None) -> int:
    """Runs a task; returns the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m lasthop.gym",
        description="Trains and evaluates a ready task.",
        epilog=_tasks_text(),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    choices = [*TASKS, channels.NAME, BOARD, BENCH]
    parser.add_argument(
        "task", choices=choices, help="the task, leaderboard to print one, or bench to measure steps a second"
    )
    parser.add_argument("--policy", type=Path, help="evaluate this policy (JSON, ONNX, Python) instead of training one")
    parser.add_argument("--class", dest="class_name", default="Mine", help="its class, in Python (default: Mine)")
    parser.add_argument(
        "--algorithm",
        action="append",
        default=[],
        metavar="NAME",
        help="a built-in algorithm to compare with; again for more",
    )
    parser.add_argument("--name", help="its name in the table (default: the name of the file)")
    parser.add_argument("--leaderboard", type=Path, help="a file of scores to which those of this run are added")
    parser.add_argument("--generations", type=_count, help="generations of training (default: of the task)")
    parser.add_argument("--population", type=_count, help="episodes of a generation (default: of the task)")
    parser.add_argument("--seeds", type=_count, help="seeds of the evaluation (default: of the task)")
    parser.add_argument("--seed", type=int, default=1, help="seed of the learner (default: 1)")
    parser.add_argument("--jobs", type=_count, default=None, help="threads (default: one per core)")
    parser.add_argument(
        "--out", type=Path, help="a directory for the policy (JSON), its scenario (TOML) and the curve (PNG)"
    )
    of_bench = parser.add_argument_group("bench")
    of_bench.add_argument("--seconds", type=float, default=5.0, help="length of a round (default: 5)")
    of_bench.add_argument("--rounds", type=int, default=3, help="rounds, of which the best counts (default: 3)")
    of_bench.add_argument(
        "--resets", type=int, default=10_000, help="resets after which memory is compared (default: 10000)"
    )
    given = parser.parse_args(arguments)
    if given.task == BENCH:
        if given.seconds <= 0 or given.rounds < 1:
            parser.error("--seconds, --rounds: more than 0 are needed")
        for line in bench.lines(given.seconds, given.rounds, given.resets):
            print(line, flush=True)
        return 0
    if given.task == BOARD:
        if not given.leaderboard:
            parser.error("leaderboard: --leaderboard FILE names it")
        sys.stdout.write(leaderboard.table(given.leaderboard))
        return 0
    if given.leaderboard and given.seeds:
        parser.error("--seeds: scores of a leaderboard have the seeds of the task")
    if given.task == channels.NAME:
        if given.policy or given.algorithm:
            parser.error("--policy, --algorithm: the task channels has an assignment of channels, and no policy")
        task = channels.task()
        scores = _assigned(task, given)
    else:
        try:
            task = TASKS[given.task]().compared_with(given.algorithm)
        except ValueError as error:
            parser.error(f"--algorithm: {error}")
        scores = _evaluated(task, given) if given.policy else _trained(task, given)
    if given.leaderboard:
        leaderboard.add(given.leaderboard, task, scores)
    return 0


def _evaluated(task: Task, given: argparse.Namespace) -> dict[str, Estimate]:
    name = given.name or given.policy.name
    samples = {name: policies.score(task, given.policy, class_name=given.class_name, seeds=given.seeds)}
    samples |= compare(task, seeds=given.seeds, threads=given.jobs)
    scores = scores_of(samples)
    lines = _table(task.name, task.summary, task.unit, scores)
    if task.optimum is not None:
        best, source = task.optimum(task.scenario)
        lines += _optimum(best, source, gap_to(best, scores[name]), scores)
    sys.stdout.write("\n".join([*lines, ""]))
    return scores


def _trained(task: Task, given: argparse.Namespace) -> dict[str, Estimate]:
    begun = time.monotonic()
    outcome = run(task, **_sizes(given))
    sys.stdout.write(report(task, outcome, time.monotonic() - begun))
    if given.out:
        given.out.mkdir(parents=True, exist_ok=True)
        (given.out / f"{task.name}.json").write_text(outcome.policy.to_json(), encoding="utf-8")
        (given.out / f"{task.name}.toml").write_text(task.with_policy(f"{task.name}.json").text, encoding="utf-8")
        optimum = outcome.optimum and outcome.optimum[0]
        draw(task, outcome.history, outcome.scores, optimum, given.out / f"{task.name}.png")
        _say_next(given.out / f"{task.name}.toml", "the policy and its curve")
    return outcome.scores


def _assigned(task: Task, given: argparse.Namespace) -> dict[str, Estimate]:
    begun = time.monotonic()
    outcome = channels.run(**_sizes(given))
    scores, gap = scores_of(outcome.samples), outcome.gap()
    lines = _table(task.name, task.summary, task.unit, scores)
    lines += ["", f"learned: {channels.shown(outcome.learned)}; best: {channels.shown(outcome.best)}"]
    if gap is not None:
        lines.append(f"gap to the optimum: {_text(gap)} {task.unit}")
    sys.stdout.write("\n".join([*lines, f"trained and evaluated in {time.monotonic() - begun:.0f} s", ""]))
    if given.out:
        given.out.mkdir(parents=True, exist_ok=True)
        scenario = given.out / f"{task.name}.toml"
        scenario.write_text(channels.with_assignment(outcome.learned).text, encoding="utf-8")
        optimum = scores[channels.BEST].mean
        draw(task, outcome.history, scores, optimum, given.out / f"{task.name}.png")
        _say_next(scenario, "the learned channels, with the curve")
    return scores


def _sizes(given: argparse.Namespace) -> dict[str, Any]:
    names = ("generations", "population", "seeds", "seed")
    return {"threads": given.jobs, **{name: getattr(given, name) for name in names}}


def _say_next(scenario: Path, content: str) -> None:
    sys.stderr.write(f"lasthop.gym: {scenario}: written, with {content}\nlasthop.gym: next: lasthop run {scenario}\n")


def _table(name: str, summary: str, unit: str, scores: Mapping[str, Estimate]) -> list[str]:
    width = max(map(len, scores))
    head = f"{name}: {summary}; {unit}, mean and 95 % interval over unseen seeds"
    return [head, "", *(f"{one:{width}}  {_text(score)}" for one, score in scores.items())]


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) < 2:
        raise argparse.ArgumentTypeError(f"{text}: a whole number from 2 is needed")
    return int(text)


def report(task: Task, outcome: Outcome, took_s: float) -> str:
    """The table of a task."""
    lines = _table(task.name, task.summary, task.unit, outcome.scores)
    if outcome.optimum is not None and (gap := outcome.gap()):
        lines += _optimum(*outcome.optimum, gap, outcome.scores)
    return "\n".join([*lines, f"trained and evaluated in {took_s:.0f} s", ""])


def _optimum(best: float, source: str, gap: Estimate, scores: Mapping[str, Estimate]) -> list[str]:
    """The last row of the table, and the gap."""
    width = max(map(len, scores))
    shares = Estimate(100 * gap.mean, _percent(gap.ci95_low), _percent(gap.ci95_high), gap.n)
    return [f"{'optimum':{width}}  {best:.3f}  {source}", "", f"gap to the optimum: {_text(shares)} %"]


def _tasks_text() -> str:
    """Each task with its controls and observations, in the order in which a policy sees them."""
    lines = ["tasks, with their controls and observations:"]
    for task in (make() for make in TASKS.values()):
        lines += [
            f"  {task.name}: {task.summary}",
            f"      controls, {task.least:g} to {task.most:g}: {', '.join(task.knobs)}",
            f"      observes: {', '.join(task.observe)}",
        ]
    return "\n".join(lines)


def _percent(share: float | None) -> float | None:
    return None if share is None else 100 * share


def _text(score: Estimate) -> str:
    interval = (
        "" if score.ci95_low is None or score.ci95_high is None else f" ({score.ci95_low:.3f} to {score.ci95_high:.3f})"
    )
    return f"{score.mean:.3f}{interval}"


def draw(
    task: Task, history: Sequence[Generation], scores: Mapping[str, Estimate], optimum: float | None, path: Path
) -> None:
    """Draws the curve of the training."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 4), layout="constrained")
    axes = figure.subplots()
    axes.plot([one.mean for one in history], label="mean of a generation")
    axes.plot([one.best for one in history], label="best quarter")
    axes.axhline(scores[task.default].mean, color="grey", linestyle="--", label=task.default)
    if optimum is not None:
        axes.axhline(optimum, color="black", linestyle=":", label="optimum")
    axes.set(xlabel="generation", ylabel=task.unit, title=task.summary)
    axes.legend()
    figure.savefig(path, dpi=150)


if __name__ == "__main__":
    sys.exit(main())
