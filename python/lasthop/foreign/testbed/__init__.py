"""Files of test tools as results, so that a plot shows a testbed next to a simulation.

`files.py` recognises files and groups the files of one test; `iperf3.py`, `iperf2.py`, `netperf.py`, `ping.py`, `flent.py`, `ss.py` and `qlog.py` read the
output of these into the flows of `model.py`, and `result.py` makes the tables of a run.
"""

from ...data.foreign_text import Unreadable
from .files import kind_of
from .result import read

__all__ = ["Unreadable", "kind_of", "read"]
