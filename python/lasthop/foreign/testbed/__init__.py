"""Files of a testbed as results: iperf3, Flent and ss, so that a plot shows a testbed beside a simulation.

`files.py` tells files apart and puts those of one test together, `iperf3.py`, `flent.py` and `ss.py` read what their programs
wrote into the flows of `model.py`, and `result.py` makes the tables of a run of these.
"""

from .files import kind_of
from .model import Unreadable
from .result import read

__all__ = ["Unreadable", "kind_of", "read"]
