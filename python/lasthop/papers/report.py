"""The findings of a reproduction as JSON, as a table and as a page."""

from __future__ import annotations

import os
import shlex
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ..data.confidence import Estimate
from ..data.queue_report import DROPPED_SHARE
from ..study.headline import number
from ..study.scenario import toml_value
from .paper import UNITS, Expectation, Paper
from .queue_drops import Loss
from .rehearsal import Needs
from .reproduction import ClaimOutcome, PartOutcome, TodayOutcome
from .verdict import Verdict

# A verdict with a number of claims, as head of a column and in a sentence.
COUNTED = {
    Verdict.HOLDS: "hold",
    Verdict.IN_PART: "hold in part",
    Verdict.FAILS: "do not hold",
    Verdict.UNDECIDED: "undecided",
    Verdict.NOT_COMPARABLE: "not comparable",
}
FOUND_IN_FULL = "Found with full runs: "


def claim_json(paper: Paper, outcome: ClaimOutcome) -> dict[str, Any]:
    """One claim of `--json`; its numbers belong to the first part, in the measure's own unit."""
    claim, first = outcome.claim, outcome.parts[0]
    return {
        "id": claim.id,
        "paper": paper.key,
        "place": claim.place,
        "sentence": claim.sentence,
        "expected": expected(first.part.expectation, first.part.unit),
        **_numbers(first.finding.estimate),
        "verdict": outcome.verdict.value,
        "not_comparable": outcome.claim.not_comparable,
        "reason": reason(outcome, quick=paper.quick),
        "parts": [_part_json(part) for part in outcome.parts],
        "today": [
            {
                "label": item.today.label,
                **_numbers(item.estimate),
                "unit": item.today.unit,
                "runs": _runs(item.needs, item.needs.first_seeds),
            }
            for item in outcome.today
        ],
        "losses": [asdict(loss) for loss in outcome.losses],
        "runs": _distinct(run for part in outcome.parts for run in _runs(part.needs, part.seeds)),
    }


def _part_json(part: PartOutcome) -> dict[str, Any]:
    return {
        "sentence": part.part.sentence,
        "measure": part.part.measure,
        "unit": part.part.unit,
        "expected": expected(part.part.expectation, part.part.unit),
        "because": part.part.expectation.because,
        **_numbers(part.finding.estimate),
        "values": list(part.finding.values),
        "verdict": part.finding.verdict.value,
        "missing": part.missing,
    }


def _numbers(estimate: Estimate | None) -> dict[str, Any]:
    if estimate is None:
        return {"measured": None, "ci95_low": None, "ci95_high": None, "n": 0}
    return {
        "measured": estimate.mean,
        "ci95_low": estimate.ci95_low,
        "ci95_high": estimate.ci95_high,
        "n": estimate.n,
    }


def _runs(needs: Needs, seeds: int) -> list[dict[str, Any]]:
    """The runs behind a number, each as a scenario, settings and seeds, and as the command that repeats it."""
    runs_of = []
    for point in needs.points:
        scenario = os.path.relpath(point.case.scenario.file_name)
        settings = {path: value if isinstance(value, str) else toml_value(value) for path, value in point.settings}
        words = ["lasthop", "run", scenario, *(w for pair in settings.items() for w in ("--set", "=".join(pair)))]
        runs_of.append(
            {
                "scenario": scenario,
                "settings": settings,
                "seeds": list(range(1, seeds + 1)),
                "command": shlex.join([*words, "--seeds", str(seeds)]),
            }
        )
    return runs_of


def _distinct(runs: Any) -> list[dict[str, Any]]:
    longest: dict[str, dict[str, Any]] = {}
    for run in runs:
        key = run["command"].rsplit(" --seeds ", 1)[0]
        if key not in longest or len(run["seeds"]) > len(longest[key]["seeds"]):
            longest[key] = run
    return list(longest.values())


def expected(expectation: Expectation, unit: str) -> str:
    """Returns the expectation in words."""
    if expectation.shape is not None:
        slack = f" within {100 * expectation.tolerance:g} %" if expectation.tolerance else ""
        return f"{expectation.shape}{slack}"
    low, high = (None if bound is None else _shown(bound, unit) for bound in (expectation.low, expectation.high))
    if low is not None and high is not None:
        span = low if low == high else f"{low} to {high}"
    else:
        span = f"at most {high}" if low is None else f"at least {low}"
    return f"{span} {unit}".strip()


def _shown(value: float, unit: str) -> str:
    text = f"{value * UNITS[unit][0]:.4g}"
    return f"{float(text):g}"


def measured(part: PartOutcome) -> str:
    """Returns the measurement: a mean and its interval, or the means of a shape."""
    if part.finding.values:
        factor, decimals = UNITS[part.part.unit]
        return (
            ", ".join(number(value * factor, decimals) for value in part.finding.values) + f" {part.part.unit}".rstrip()
        )
    return _estimate_text(part.finding.estimate, part.part.unit)


def measured_today(item: TodayOutcome) -> str:
    """The mean and interval of a number shown next to a claim."""
    return _estimate_text(item.estimate, item.today.unit)


def _estimate_text(estimate: Estimate | None, unit: str) -> str:
    if estimate is None:
        return "no value"
    factor, decimals = UNITS[unit]
    text = number(estimate.mean * factor, decimals)
    low_end, high_end = estimate.ci95_low, estimate.ci95_high
    if low_end is not None and high_end is not None and high_end != low_end:
        low, high = (number(bound * factor, decimals) for bound in (low_end, high_end))
        text += f" [{low}, {high}]"
    return f"{text} {unit}".rstrip()


def reason(outcome: ClaimOutcome, *, quick: bool = False) -> str:
    """The reason for the verdict. Notes in the claim file refer to full runs."""
    words = []
    for part in outcome.parts:
        if part.finding.verdict is Verdict.HOLDS and len(outcome.parts) > 1:
            continue
        what = part.part.sentence or outcome.claim.sentence
        expectation = expected(part.part.expectation, part.part.unit)
        text = f"{what}: {measured(part)}, expected {expectation}, {part.finding.verdict.value} ({evidence(part)})"
        if part.finding.step and part.finding.verdict is not Verdict.HOLDS:
            text += f"; its worst step is from value {part.finding.step}"
        if part.missing:
            text += f"; {part.missing}"
        words.append(text)
    if not words:
        words.append("every part holds")
    if outcome.claim.not_comparable:
        words.append(f"Not comparable: {outcome.claim.not_comparable.strip()}")
    if outcome.claim.found and outcome.verdict is not Verdict.HOLDS:
        words.append(FOUND_IN_FULL + outcome.claim.found.strip() if quick else outcome.claim.found.strip())
    return ". ".join(words)


def evidence(part: PartOutcome) -> str:
    """Returns the basis of a part: seeds, or no run at all."""
    if not part.needs.points:
        return "closed form"
    return f"{part.seeds} {'seed' if part.seeds == 1 else 'seeds'}"


def losses_text(losses: Sequence[Loss]) -> str:
    """The queues that dropped a notable share of their packets, and the largest share."""
    lossy = [
        f"{loss.place} in {loss.settings} of {loss.of}, at most {loss.most:.0%} in {loss.worst}"
        for loss in losses
        if loss.settings
    ]
    if not losses:
        return ""
    text = f"No queue dropped more than {DROPPED_SHARE:.0%} of its packets."
    if lossy:
        words = "; ".join(lossy)
        text = f"Queues that dropped more than {DROPPED_SHARE:.0%} of their packets, by settings: {words}."
    return text.replace("%", " %")


def totals(papers: Iterable[tuple[Paper, Sequence[ClaimOutcome], Any]]) -> list[tuple[Paper | None, Counter[Verdict]]]:
    """The number of claims with each verdict, by paper; the totals are under None."""
    counted = [(paper, Counter(outcome.verdict for outcome in outcomes)) for paper, outcomes, _ in papers]
    return [*counted, (None, sum((counts for _, counts in counted), Counter()))]


def totals_text(papers: Iterable[tuple[Paper, Sequence[ClaimOutcome], Any]]) -> str:
    """All verdicts counted, in a line: `44 claims: 20 hold, 3 do not hold`."""
    counts = totals(papers)[-1][1]
    words = ", ".join(f"{counts[verdict]} {COUNTED[verdict]}" for verdict in Verdict if counts[verdict])
    claims = counts.total()
    return f"{claims} {'claim' if claims == 1 else 'claims'}: {words}"


def table_rows(outcomes: Sequence[ClaimOutcome], *, beside: bool = True) -> list[list[str]]:
    """Rows of claim, statement, expected, measured, verdict: one for each part, then the claim's further numbers."""
    rows = []
    for outcome in outcomes:
        claim, several = outcome.claim, len(outcome.parts) > 1
        if several:
            rows.append([claim.id, _cut(claim.sentence), "", "", outcome.verdict.value])
        for part in outcome.parts:
            rows.append(
                [
                    "" if several else claim.id,
                    ("  " if several else "") + _cut(part.part.sentence or claim.sentence),
                    expected(part.part.expectation, part.part.unit),
                    measured(part),
                    part.finding.verdict.value,
                ]
            )
        if beside:
            rows += [
                ["", f"  for comparison: {_cut(item.today.label)}", "", measured_today(item), ""]
                for item in outcome.today
            ]
    return rows


def _cut(text: str, length: int = 72) -> str:
    text = " ".join(text.split())
    return text if len(text) <= length else text[: length - 1].rstrip() + "…"


def page(
    papers: Sequence[tuple[Paper, Sequence[ClaimOutcome], Sequence[dict[str, Any]]]], heading: dict[str, Any]
) -> str:
    """The page: each paper with its claims, and each figure with its numbers."""
    from jinja2 import Environment, FileSystemLoader, select_autoescape

    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        autoescape=select_autoescape(),
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"expected": lambda part: expected(part.expectation, part.unit)}
    functions = {
        "measured": measured,
        "measured_today": measured_today,
        "claim_json": claim_json,
        "evidence": evidence,
        "losses_text": losses_text,
        "totals": totals(papers),
        "COUNTED": COUNTED,
    }
    return environment.get_template("page.html").render(papers=papers, heading=heading, Verdict=Verdict, **functions)
