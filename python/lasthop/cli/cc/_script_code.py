"""The code of one packet script, in an interpreter of its own: what ends it, ends no verdict.

Run as a program. Reads JSON, `[[line, text, {name: number}], …]`, and writes a line of JSON after each piece: `null`, or
`["fail" or "skip", why]`, which is the last one. If a line is missing, the code has ended the interpreter.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any

# Fields that Linux reports to a script about a connection and the simulator lacks: of `tcp_info`, then of
# `TCP_CC_INFO` and `SO_MEMINFO`.
NO_COUNTERPART = frozenset(
    [
        "tcpi_fastopen_client_fail",
        "tcpi_accecn_fail_mode",
        "tcpi_accecn_opt_seen",
        "TCPI_OPT_USEC_TS",
        "TCPI_OPT_TFO_CHILD",
        "bbr_bw",
        "bbr_bw_lo",
        "bbr_bw_hi",
        "bbr_min_rtt",
        "bbr_pacing_gain",
        "bbr_cwnd_gain",
        "dctcp_enabled",
        "dctcp_ce_state",
        "dctcp_alpha",
        "dctcp_ab_ecn",
        "dctcp_ab_tot",
        "tcpv_enabled",
        "tcpv_rttcnt",
        "tcpv_rtt",
        "tcpv_minrtt",
        "SK_MEMINFO_RMEM_ALLOC",
        "SK_MEMINFO_RCVBUF",
        "SK_MEMINFO_WMEM_ALLOC",
        "SK_MEMINFO_SNDBUF",
        "SK_MEMINFO_FWD_ALLOC",
        "SK_MEMINFO_WMEM_QUEUED",
        "SK_MEMINFO_OPTMEM",
        "SK_MEMINFO_BACKLOG",
        "SK_MEMINFO_DROPS",
    ]
)


def main() -> None:
    """Runs the pieces one after another, as one program; their output is discarded."""
    pieces = json.load(sys.stdin)
    answers = os.fdopen(os.dup(1), "w")
    nowhere = os.open(os.devnull, os.O_RDWR)
    os.dup2(nowhere, 0)
    os.dup2(nowhere, 1)
    names: dict[str, Any] = {}
    for _, text, variables in pieces:
        names.update(variables)
        wrong = run(text, names)
        answers.write(json.dumps(wrong) + "\n")
        answers.flush()
        if wrong is not None:
            break
    os._exit(0)  # does not wait for anything the code has left behind


def run(text: str, names: dict[str, Any]) -> tuple[str, str] | None:
    """Runs a piece and returns its error, if any; its definitions stay in `names`."""
    try:
        exec(compile(text + "\n", "<script>", "exec"), names)  # noqa: S102 - scripts contain code
    except NameError as error:
        if error.name in NO_COUNTERPART:
            return "skip", f"{error.name} has no counterpart"
        return "fail", f"NameError: {error}{_near(error.name, names)}"
    except BaseException as error:  # noqa: BLE001 - whatever a script raises is its failure, SystemExit too
        said = f": {error}" if str(error) else ""
        return "fail", f"{type(error).__name__}{said}"
    return None


def _near(name: str | None, names: dict[str, Any]) -> str:
    from difflib import get_close_matches

    near = get_close_matches(name or "", names)
    return f"; did you mean {' or '.join(near)}?" if near else ""


if __name__ == "__main__":
    main()
