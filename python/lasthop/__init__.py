"""lasthop: a laboratory for TCP, QUIC and calls over Wi-Fi.

>>> import lasthop
>>> scenario = lasthop.load("scenarios/khademi2011-uplink-11b.toml")
>>> result = lasthop.run(scenario.set("tcp.congestion_control", "cubic"), seeds=5)
>>> result.flows[["seed", "id", "goodput_bps"]]
"""

from functools import partial
from importlib import import_module

from .data.attached import LOADERS

TYPE_CHECKING = False  # the one of `typing`, which would be loaded for it
if TYPE_CHECKING:
    from typing import Any

    from ._core import __version__
    from .data.diagnostic import Diagnostic, ScenarioError
    from .data.result import Result, read
    from .study.campaign import complete
    from .study.code.bases import (
        CongestionControl,
        ErrorModel,
        MultiUserScheduler,
        Policy,
        QueueDiscipline,
        RateControl,
    )
    from .study.comparison import compare
    from .study.open_simulation import Simulation, open
    from .study.scenario import Scenario, load
    from .study.simulation import Interrupted, RunFailed, run
    from .study.store import Job, Store, StoreError
    from .study.sweep import sweep

# Names and their modules, loaded at the first use.
_MODULES = {
    "__version__": "._core",
    "Comparisons": ".study.comparison",
    "CongestionControl": ".study.code.bases",
    "Diagnostic": ".data.diagnostic",
    "ErrorModel": ".study.code.bases",
    "Interrupted": ".study.simulation",
    "Job": ".study.store",
    "MultiUserScheduler": ".study.code.bases",
    "Policy": ".study.code.bases",
    "QueueDiscipline": ".study.code.bases",
    "RateControl": ".study.code.bases",
    "Result": ".data.result",
    "RunFailed": ".study.simulation",
    "Scenario": ".study.scenario",
    "ScenarioError": ".data.diagnostic",
    "Simulation": ".study.open_simulation",
    "Store": ".study.store",
    "StoreError": ".study.store",
    "compare": ".study.comparison",
    "complete": ".study.campaign",
    "load": ".study.scenario",
    "open": ".study.open_simulation",
    "read": ".data.result",
    "run": ".study.simulation",
    "sweep": ".study.sweep",
}


def _loaded(module: str, name: str) -> "Any":
    return getattr(import_module(module, __name__), name)


def __getattr__(name: str) -> "Any":
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value = _loaded(_MODULES[name], name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


# Methods of `data.attached`.
for _class, _name, _module, _function in (
    ("Result", "plot", ".views.plot", "plot"),
    ("Result", "explain", ".views.explain", "explain"),
    ("Result", "air", ".page.notebook", "air"),
    ("Result", "to_qlog", ".views.export.of_result", "to_qlog"),
    ("Result", "to_perfetto", ".views.export.of_result", "to_perfetto"),
    ("Result", "_repr_html_", ".views.notebook", "result_html"),
    ("Scenario", "_repr_html_", ".views.notebook", "scenario_html"),
    ("Comparisons", "_repr_html_", ".views.notebook", "comparisons_html"),
):
    LOADERS[_class, _name] = partial(_loaded, _module, _function)

__all__ = [
    "CongestionControl",
    "Diagnostic",
    "ErrorModel",
    "Interrupted",
    "Job",
    "MultiUserScheduler",
    "Policy",
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
