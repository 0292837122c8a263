"""Files of a testbed as results: iperf3, Flent and ss, so that a plot shows a testbed next to a simulation.

`files.py` recognises files and groups the files of one test, `iperf3.py`, `flent.py` and `ss.py` read the output of these
wrote into the flows of `model.py`, and `result.py` makes the tables of a run of these.
"""

from .files import kind_of
from .model import Unreadable
from .result import read

__all__ = ["Unreadable", "kind_of", "read"]
