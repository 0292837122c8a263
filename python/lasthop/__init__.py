"""lasthop: a fast simulator of TCP over 802.11.

>>> import lasthop
>>> scenario = lasthop.load("scenarios/khademi2011-uplink-11b.toml")
>>> result = lasthop.run(scenario.set("tcp.congestion_control", "cubic"), seeds=5)
>>> result.flows[["seed", "id", "goodput_bps"]]
"""

from ._core import ScenarioError, __version__
from .campaign import complete
from .comparison import compare
from .code import CongestionControl, QueueDiscipline, RateControl
from .open_simulation import Simulation, open
from .result import Result, read
from .scenario import Scenario, load
from .simulation import Interrupted, RunFailed, run
from .store import Job, Store, StoreError
from .sweep import sweep

__all__ = [
    "CongestionControl",
    "Interrupted",
    "Job",
    "QueueDiscipline",
    "RateControl",
    "Result",
    "RunFailed",
    "Scenario",
    "ScenarioError",
    "Simulation",
    "Store",
    "StoreError",
    "__version__",
    "compare",
    "complete",
    "load",
    "open",
    "read",
    "run",
    "sweep",
]
