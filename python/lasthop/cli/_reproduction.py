"""The work of `lasthop reproduce` after its arguments are read."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from .. import __version__
from ..data.extras import lacks
from ..data.files import write_whole
from ..papers import ClaimOutcome, Paper, PaperError, Reproduction, Runs, paper_files, read_paper
from ..papers.gallery import Drawing, begun, draughtsmen
from ..papers.released import lost, read_released, record
from ..papers.report import claim_json, page, table_rows, totals_text
from ..study.campaign import complete
from ..study.progress import Progress
from ..study.store import Job, Memory, Store, StoreError
from . import _arguments
from ._code import load_code_of
from ._mistake import Mistake
from ._output import note, show, write_data
from ._table import table


def reproduce(arguments: argparse.Namespace, jobs: int) -> int:
    """Checks everything, runs, judges, draws, writes; the exit status."""
    try:
        return _checked(arguments, jobs)
    except (PaperError, StoreError) as error:
        raise Mistake(str(error)) from None


def _checked(arguments: argparse.Namespace, jobs: int) -> int:
    """Raises `PaperError` and `StoreError`."""
    papers = [
        read_paper(file, quick=arguments.quick, allow_code=arguments.allow_code)
        for file in paper_files(arguments.paper)
    ]
    chosen = [_chosen(paper, arguments) for paper in papers]
    _check_found(arguments, papers, chosen)
    for place in {paper.file.parent for paper in papers}:
        read_released(place, quick=arguments.quick)
    _arguments.check_directory("--out", arguments.out)
    return _reproduce(papers, chosen, arguments, jobs)


def _chosen(paper: Paper, arguments: argparse.Namespace) -> tuple[list[Any], list[Any]]:
    """The claims and figures that are asked for: all, or those named."""
    everything = not arguments.claim and not arguments.figure
    claims = [claim for claim in paper.claims if everything or claim.id in arguments.claim]
    figures = [figure for figure in paper.figures if everything or _is_asked(figure.number, arguments.figure)]
    return claims, figures


def _is_asked(number: str, asked: Sequence[str]) -> bool:
    """Figure 5 includes its panels 5a and 5b."""
    return any(number == one or (number.startswith(one) and not number[len(one) :][:1].isdigit()) for one in asked)


def _check_found(
    arguments: argparse.Namespace, papers: Sequence[Paper], chosen: Sequence[tuple[list[Any], list[Any]]]
) -> None:
    claims = {claim.id for found, _ in chosen for claim in found}
    figures = [figure.number for _, found in chosen for figure in found]
    for name in arguments.claim:
        if name not in claims:
            every = ", ".join(claim.id for paper in papers for claim in paper.claims)
            raise Mistake(f"--claim {name}: there is no such claim; one of: {every}")
    for number in arguments.figure:
        if not any(_is_asked(figure, [number]) for figure in figures):
            every = ", ".join(dict.fromkeys(figure.number for paper in papers for figure in paper.figures))
            raise Mistake(f"--figure {number}: there is no such figure; one of: {every}")


def _reproduce(papers: list[Paper], chosen: list[Any], arguments: argparse.Namespace, jobs: int) -> int:
    out = Path(arguments.out)
    store = _store(out)
    runner = _Runner(store, jobs)
    works = [Reproduction(paper, Runs(store, runner)) for paper in papers]
    for work in works:
        work.planner.check()
    first = [job for work, asked in zip(works, chosen, strict=True) for job in work.first_jobs(*asked)]
    if arguments.allow_code:
        load_code_of(dict.fromkeys(job.scenario for job in first))
    if len(papers) > 1 and not arguments.quick and not arguments.claim and not arguments.figure:
        note(
            f"all {len(papers)} papers with their own run lengths; --quick takes minutes, and a PAPER or --claim ID less"
        )
    runner(first)
    outcomes = [work.claims(claims) for work, (claims, _) in zip(works, chosen, strict=True)]
    pictures = _drawn(works, outcomes, [figures for _, figures in chosen], out, jobs)
    found = list(zip(papers, outcomes, pictures, strict=True))
    _write(found, arguments, out)
    return _status(found, arguments, runner)


def _drawn(
    works: Sequence[Reproduction], outcomes: Sequence[Any], figures: Sequence[Any], out: Path, jobs: int
) -> list[list[dict[str, Any]]]:
    """Draws each paper's figures with progress and returns their entries of the page."""
    asked = [
        (work, figure, known) for work, known, some in zip(works, outcomes, figures, strict=True) for figure in some
    ]
    drawings: list[Drawing] = []
    with draughtsmen(jobs) as begin, Progress.fitting("drawing", "figures") as progress:

        def tell(finished: int) -> None:
            # Gathering a figure's data is half of the work.
            progress.update((len(drawings) + finished) / (2 * len(asked)), finished, len(asked))

        for work, figure, known in asked:
            drawings.append(begun(work, figure, known, out, begin))
            tell(sum(drawing.written.done() for drawing in drawings))
        pages = []
        for number, drawing in enumerate(drawings, start=1):
            pages.append((drawing.work, drawing.on_page(out)))
            tell(max(number, sum(drawing.written.done() for drawing in drawings)))
    return [[picture for owner, picture in pages if owner is work] for work in works]


def _store(out: Path) -> Store | Memory:
    """A store in the folder, so that no run is made twice; without DuckDB runs last as long as the command."""
    if reason := lacks("store"):
        note(f"{out / 'runs.duckdb'}: runs are not stored, since a store {reason}")
        return Memory()
    return Store.open(out / "runs.duckdb")


class _Runner:
    """Runs the jobs that the store lacks, with progress."""

    def __init__(self, store: Store | Memory, jobs: int) -> None:
        self.failures: list[str] = []
        self._store = store
        self._jobs = jobs

    def __call__(self, wanted: Sequence[Job]) -> None:
        with Progress.fitting("reproducing", "runs") as progress:
            done = complete(wanted, self._store, jobs_at_once=self._jobs, progress=progress)
        self.failures += done.failures
        if done.interrupted:
            raise KeyboardInterrupt


def _write(found: list[Any], arguments: argparse.Namespace, out: Path) -> None:
    rows = [row for _, outcomes, _ in found for row in table_rows(outcomes, beside=len(found) == 1)]
    if rows:
        head = ["claim", "statement", "expected", "measured [95 % interval]", "verdict"]
        show(f"{table(head, rows, left=5)}\n{totals_text(found)}\n", beside_data=arguments.json == "-")
    document: dict[str, Any] = {
        "claims": [claim_json(paper, outcome) for paper, outcomes, _ in found for outcome in outcomes]
    }
    document |= {"lasthop": __version__, "quick": arguments.quick}
    text = json.dumps(document, indent=1, ensure_ascii=False) + "\n"
    if arguments.json is not None:
        write_data(arguments.json, [text])
    stem = _stem([paper for paper, _, _ in found], arguments)
    write_whole(out / f"{stem}.json", [text])
    write_whole(out / f"{stem}.html", [page(found, {"version": __version__, "quick": arguments.quick})])
    note(f"wrote {out / stem}.html: the claims with their figures and comparisons")
    if any(pictures for _, _, pictures in found):
        note(f"wrote {out / 'figures'}: each figure as PDF, PNG and CSV")


def _stem(papers: Sequence[Paper], arguments: argparse.Namespace) -> str:
    """The name of the page. A part of the papers does not replace the page of all."""
    asked = [*arguments.claim, *(f"fig{number}" for number in arguments.figure)]
    parts = [papers[0].key] if arguments.paper is not None else [] if asked else ["index"]
    return "-".join([*parts, *asked])


def _status(found: list[tuple[Paper, list[ClaimOutcome], Any]], arguments: argparse.Namespace, runner: _Runner) -> int:
    now = {paper.key: {outcome.claim.id: outcome.verdict for outcome in outcomes} for paper, outcomes, _ in found}
    places = {paper.file.parent for paper, _, _ in found}
    gone = [name for place in places for name in lost(read_released(place, quick=arguments.quick), now)]
    for name in gone:
        note(f"{name} held in the last release and does not any more")
    for failure in dict.fromkeys(runner.failures):
        note(failure)
    if arguments.record:
        for place in places:
            of_place = {paper.key: now[paper.key] for paper, _, _ in found if paper.file.parent == place}
            file = record(place, of_place, quick=arguments.quick, version=__version__)
            note(f"wrote {file}")
    return 1 if gone or runner.failures else 0
