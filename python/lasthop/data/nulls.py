"""Fills rows from measurements with every quantity of their table; missing ones are null."""

from __future__ import annotations

from typing import Any

from .quantities import FLOW, LINK, MEDIUM, NODE, SIMULATOR, TOTALS, Quantities

#: Tables of a run, each with the quantities of its rows.
TABLES: dict[str, Quantities] = {
    "flows": FLOW,
    "totals": TOTALS,
    "nodes": NODE,
    "links": LINK,
    "medium": MEDIUM,
    "simulator": SIMULATOR,
}
# Quantities of every flow's row: TCP's are null for UDP in a run, too.
OF_EVERY_FLOW = (None, "TCP", "TCP, QUIC", "TCP, QUIC, ping", "with size")
# The origin of a result that no simulation gave.
CAPTURE = "capture"


def is_measured(run: Any) -> bool:
    """Whether captures or files of a testbed gave this run, so that there is no scenario to run again."""
    simulator = run.get("simulator")
    return isinstance(simulator, dict) and simulator.get("kind") == CAPTURE


def fill(run: dict[str, Any]) -> None:
    """Gives each row of a measured run all quantities of its table, null if unknown."""
    run["simulator"]["kind"] = CAPTURE
    for table, quantities in TABLES.items():
        rows = run[table] if isinstance(run[table], list) else [run[table]]
        absent = [str(quantity) for quantity in quantities if quantity.in_summary and quantity.only in OF_EVERY_FLOW]
        for row in rows:
            for name in absent:
                row.setdefault(name, None)
