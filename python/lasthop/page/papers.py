"""Papers with their claims, the verdicts of the release and of reproductions here, and the runs of each.

`GET /api/papers`, `/api/papers/KEY`; `/api/papers/KEY/behind/ID`: the runs of a claim, or of a figure as `figure-N`;
`/api/papers/KEY/runs/ID/N`: one of these as a scenario; `/api/papers/KEY/figures/N`: a figure drawn here. `POST
/api/papers/KEY/reproduce`: `lasthop reproduce KEY --quick` as a run of the page.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable
from functools import lru_cache
from pathlib import Path
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse
from starlette.routing import Route

from ..papers import Paper, PaperError, paper_files, read_paper
from ..papers.paper import Claim, FigurePlan, Point
from ..papers.rehearsal import Needs, Planner
from ..papers.released import read_released
from ..papers.report import expected
from ..study.store import Job as Wanted
from ..study.store import Store, StoreError
from .desk import Desk
from .library import Entry, Library
from .reproducing import ReproduceJob, reproduced, stores_in
from .scenario_text import with_settings
from .stored import PATIENCE_S

MISSING = "the claim files of papers are not here: they come with the source of lasthop, in its folder papers/"
# Maximum number of runs listed for a claim whose measure reads hundreds.
MOST_RUNS = 120


def routes(desk: Desk) -> list[Route]:
    """Returns the routes of this part of the page."""
    library = desk.library

    def json_of(answer: Callable[..., Any], *names: str) -> Callable[[Request], Awaitable[JSONResponse]]:
        async def answered(request: Request) -> JSONResponse:
            return JSONResponse(
                await run_in_threadpool(answer, library, *(request.path_params[name] for name in names))
            )

        return answered

    async def figure(request: Request) -> FileResponse:
        file = await run_in_threadpool(_picture, library, request.path_params["paper"], request.path_params["figure"])
        return FileResponse(file, media_type="image/png", headers={"Cache-Control": "no-cache"})

    async def reproduce(request: Request) -> JSONResponse:
        paper = await run_in_threadpool(_paper, request.path_params["paper"])
        job = ReproduceJob(paper.key, paper.file, library)
        desk.jobs.add(job)
        return JSONResponse(job.state(), 201)

    at = "/api/papers/{paper}"
    return [
        Route("/api/papers", json_of(_all)),
        Route(at, json_of(_one, "paper")),
        Route(f"{at}/behind/{{what}}", json_of(_behind, "paper", "what")),
        Route(f"{at}/runs/{{what}}/{{number:int}}", json_of(_scenario, "paper", "what", "number")),
        Route(f"{at}/figures/{{figure}}", figure),
        Route(f"{at}/reproduce", reproduce, methods=["POST"]),
    ]


def _paper(key: str, *, quick: bool = False) -> Paper:
    """The paper of a key, which is never read as a file name. Raises `LookupError` and `PaperError`."""
    for file in _files():
        if file.stem == key:
            return read_paper(file, quick=quick)
    raise LookupError(f"{key}: there is no such paper")


def _files() -> list[Path]:
    try:
        return paper_files()
    except PaperError:
        return []


def _all(library: Library) -> dict[str, Any]:
    files = _files()
    stores = stores_in(library)
    return {"papers": [_summary(stores, file) for file in files], "why": "" if files else MISSING}


@lru_cache(maxsize=64)
def _told(file: Path, _stamp: tuple[int, int]) -> dict[str, Any]:
    """Facts of a paper, whose reading takes some 30 ms, for as long as its file is the same."""
    paper = read_paper(file)
    return {**_head(paper), "claims": len(paper.claims)}


def _summary(stores: list[Entry], file: Path) -> dict[str, Any]:
    try:
        status = file.stat()
        told = _told(file, (status.st_mtime_ns, status.st_size))
        verdicts = read_released(file.parent, quick=False).get(told["key"], {})
    except (PaperError, OSError) as error:
        return {"key": file.stem, "name": file.stem, "error": str(error)}
    here = reproduced(stores, told["key"])
    return {
        **told,
        "released": Counter(verdicts.values()),
        "here": here and _counted(here),
    }


def _head(paper: Paper) -> dict[str, Any]:
    facts = ("key", "name", "title", "authors", "published", "reference", "summary", "notes")
    return {name: getattr(paper, name) for name in facts}


def _counted(here: dict[str, Any]) -> dict[str, Any]:
    return {"quick": here["quick"], "verdicts": Counter(claim["verdict"] for claim in here["claims"].values())}


def _one(library: Library, key: str) -> dict[str, Any]:
    paper = _paper(key)
    released = {
        mode: read_released(paper.file.parent, quick=mode == "quick").get(key, {}) for mode in ("full", "quick")
    }
    here = reproduced(stores_in(library), key)
    claims = [_claim(claim, released, here) for claim in paper.claims]
    figures = [_figure(paper, figure, here) for figure in paper.figures]
    return {**_head(paper), "claims": claims, "figures": figures, "here": here and _counted(here)}


def _claim(claim: Claim, released: dict[str, dict[str, str]], here: dict[str, Any] | None) -> dict[str, Any]:
    parts = [
        {
            "sentence": part.sentence,
            "expected": expected(part.expectation, part.unit),
            "because": part.expectation.because,
        }
        for part in claim.parts
    ]
    facts = {name: getattr(claim, name) for name in ("id", "place", "sentence", "found", "not_comparable")}
    verdicts = {mode: by_claim.get(claim.id) for mode, by_claim in released.items()}
    return {**facts, "parts": parts, "released": verdicts, "here": here and here["claims"].get(claim.id)}


def _figure(paper: Paper, figure: FigurePlan, here: dict[str, Any] | None) -> dict[str, Any]:
    drawn = here is not None and _file_of(paper, figure.number, here).is_file()
    return {"number": figure.number, "title": figure.title, "drawn": drawn}


def _file_of(paper: Paper, number: str, here: dict[str, Any]) -> Path:
    return Path(here["directory"]) / "figures" / f"{paper.key}-fig{number}.png"


def _picture(library: Library, key: str, number: str) -> Path:
    paper, here = _paper(key), reproduced(stores_in(library), key)
    if here and any(figure.number == number for figure in paper.figures):
        file = _file_of(paper, number, here)
        if file.is_file() and (library.is_within(file) or library.is_own(file)):
            return file
    raise LookupError(f"figure {number}: was not drawn here; `lasthop reproduce {key} --out DIR` draws it")


def _points(paper: Paper, what: str) -> tuple[list[Point], int]:
    """The points that a claim or figure reads, and its first number of seeds."""
    planner = Planner(paper)
    needs: list[Needs] | None = None
    for claim in paper.claims:
        if claim.id == what:
            needs = planner.of_claim(claim)
    for figure in paper.figures:
        if f"figure-{figure.number}" == what:
            needs = [planner.of_figure(figure)]
    if needs is None:
        raise LookupError(f"{what}: {paper.name} has no such claim or figure")
    points = list(dict.fromkeys(point for need in needs for point in need.points))
    return points, max((need.first_seeds for need in needs), default=1)


def _behind(library: Library, key: str, what: str) -> dict[str, Any]:
    """The runs that a claim or figure reads: settings, and the runs in stores here."""
    points, seeds = _points(_paper_here(library, key), what)
    rows = [
        {
            "number": number,
            "case": point.case.name,
            "labels": {name: str(label) for name, label in point.labels},
            "runs": [],
        }
        for number, point in enumerate(points[:MOST_RUNS])
    ]
    for store in _stores(library, key):
        try:
            _add_stored(store, points[:MOST_RUNS], seeds, rows)
        except StoreError:
            continue  # another process holds this one
    return {"count": len(points), "seeds": seeds, "points": rows}


def _stores(library: Library, key: str) -> list[Entry]:
    """The stores next to the reproduction here."""
    stores = stores_in(library)
    here = reproduced(stores, key)
    directory = here and Path(here["directory"])
    return [entry for entry in stores if entry.path.parent == directory]


def _add_stored(entry: Entry, points: list[Point], seeds: int, rows: list[dict[str, Any]]) -> None:
    store = Store.existing(entry.path, patience_s=PATIENCE_S)
    runs = [(row, seed, point) for row, point in zip(rows, points, strict=True) for seed in range(1, seeds + 1)]
    keys = [store.key(Wanted(point.scenario, seed)) for _, seed, point in runs]
    held = store.held(keys).runs
    for (row, seed, _), key in zip(runs, keys, strict=True):
        if key in held:
            row["runs"].append({"seed": seed, "key": f"{entry.key}.{key}"})


def _paper_here(library: Library, key: str) -> Paper:
    """A paper as it was reproduced here: in its quick form, if it was."""
    here = reproduced(stores_in(library), key)
    return _paper(key, quick=here is not None and here["quick"])


def _scenario(library: Library, key: str, what: str, number: int) -> dict[str, Any]:
    """One of the runs behind a claim, for the editor."""
    points, _ = _points(_paper_here(library, key), what)
    if not 0 <= number < len(points):
        raise LookupError(f"{what}: has no run {number}")
    point = points[number]
    return {"key": "", "name": f"{key} {what} {number + 1}", "text": with_settings(point.scenario), "saved": False}
