"""lasthop: a fast simulator of TCP over 802.11.

>>> import lasthop
>>> scenario = lasthop.load("scenarios/khademi2011-uplink-11b.toml")
>>> result = lasthop.run(scenario.set("tcp.congestion_control", "cubic"), seeds=5)
>>> result.flows[["seed", "id", "goodput_bps"]]
"""

from collections.abc import Callable
from importlib import import_module
from types import MethodType
from typing import Any

from ._core import __version__
from .data.diagnostic import Diagnostic, ScenarioError
from .data.result import Result, read
from .study.campaign import complete
from .study.code import CongestionControl, ErrorModel, QueueDiscipline, RateControl
from .study.comparison import Comparisons, compare
from .study.open_simulation import Simulation, open
from .study.scenario import Scenario, load
from .study.simulation import Interrupted, RunFailed, run
from .study.store import Job, Store, StoreError
from .study.sweep import sweep


class _Attached:
    """A method whose function is in a higher layer than its class; the layer is imported at the first use."""

    def __init__(self, module: str, function: str) -> None:
        self._module = module
        self._function = function

    def __get__(self, instance: object, owner: type | None = None) -> Callable[..., Any]:
        function: Callable[..., Any] = getattr(import_module(self._module, __name__), self._function)
        return function if instance is None else MethodType(function, instance)


for _class, _name, _module, _function in (
    (Result, "plot", ".views.plot", "plot"),
    (Result, "explain", ".views.explain", "explain"),
    (Result, "air", ".page.notebook", "air"),
    (Result, "to_qlog", ".views.export.of_result", "to_qlog"),
    (Result, "to_perfetto", ".views.export.of_result", "to_perfetto"),
    (Result, "_repr_html_", ".views.notebook", "result_html"),
    (Scenario, "_repr_html_", ".views.notebook", "scenario_html"),
    (Comparisons, "_repr_html_", ".views.notebook", "comparisons_html"),
):
    setattr(_class, _name, _Attached(_module, _function))

__all__ = [
    "CongestionControl",
    "Diagnostic",
    "ErrorModel",
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
