"""The base classes of algorithms in Python: `BASES` has a row for each kind."""

from .congestion_control import CongestionControl
from .error_model import ErrorModel
from .multi_user_scheduler import MultiUserScheduler
from .policy import Policy
from .queue_discipline import QueueDiscipline
from .rate_control import RateControl

BASES: dict[str, type] = {
    base.__name__: base
    for base in (CongestionControl, QueueDiscipline, RateControl, ErrorModel, MultiUserScheduler, Policy)
}

__all__ = ["BASES", "CongestionControl", "ErrorModel", "MultiUserScheduler", "Policy", "QueueDiscipline", "RateControl"]
