"""The runs of a store, each as a result of one seed."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from ..data.foreign_text import parsed_json
from ..data.origin import Origin, Source
from ..data.quantities import TOTALS
from ..data.result import FORMAT, Result
from ..study.store import Store, StoreError

RUN = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
# The holder of a store, such as a sweep, releases it from time to time; a page does not wait for long.
PATIENCE_S = 5.0
MOST = 200


def runs_in(path: Path, text: str = "") -> dict[str, Any]:
    """The latest runs of a store whose name or settings have `text`: at most `MOST`, and the number of all."""
    store = Store.existing(path, patience_s=PATIENCE_S)
    condition = "WHERE " + " AND ".join(_contains(word) for word in text.split()) if text.split() else ""
    count = store.query_arrow(f"SELECT count(*) AS runs FROM runs {condition}").to_pylist()[0]["runs"]
    goodput = f'"{TOTALS.goodput_bps}"' if _has_goodput(store) else "NULL"
    rows = store.query_arrow(
        f"SELECT run::VARCHAR AS run, name, seed, settings::JSON::VARCHAR AS settings, epoch(finished) AS finished_s, "
        f"{goodput} AS {TOTALS.goodput_bps} FROM runs {condition} ORDER BY finished DESC, name, seed LIMIT {MOST}"
    ).to_pylist()
    return {
        "count": count,
        "runs": [{**row, "settings": parsed_json(path.name, row["settings"] or "{}")} for row in rows],
    }


def run_of(path: Path, run: str) -> Result:
    """A run of a store. Raises `LookupError` for an unknown one, and `StoreError`."""
    if not RUN.fullmatch(run):
        raise LookupError(f"{run}: is not the key of a run")
    store = Store.existing(path, patience_s=PATIENCE_S)
    # The view has no documents; tables of a store are joined by their keys.
    rows = store.query_arrow(
        "SELECT run.document::VARCHAR AS document, scenarios.document::VARCHAR AS scenario, run.engine AS engine "
        f"FROM run JOIN scenarios USING (scenario) WHERE run.run = '{run}'::UUID"
    ).to_pylist()
    if not rows:
        raise LookupError(f"{run}: is not, or no longer, a run of {path.name}")
    try:
        document, scenario = (parsed_json(f"run {run}", rows[0][key]) for key in ("document", "scenario"))
    except ValueError as error:
        raise StoreError(f"{path.name}: {error}") from None
    version = rows[0]["engine"].partition("+")[0]
    head = {"format": FORMAT, "lasthop": version, "scenario": scenario, "warnings": []}
    return Result({**head, "runs": [document]}, origin=Origin(Source.STORE, (path.parent,)))


def _contains(word: str) -> str:
    """Whether a row has a word, in SQL. Quotes are doubled; a text has no other special characters."""
    text = word.lower().replace("'", "''")
    return f"contains(lower(name || ' ' || settings::VARCHAR), '{text}')"


def _has_goodput(store: Store) -> bool:
    columns = store.query_arrow(
        "SELECT column_name AS name FROM information_schema.columns WHERE table_name = 'totals'"
    )
    return any(row["name"] == TOTALS.goodput_bps for row in columns.to_pylist())
