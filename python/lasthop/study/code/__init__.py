"""Algorithms that a scenario brings as classes in Python: their base classes, their loading, and processes to run them."""

from .congestion_control import CongestionControl
from .queue_discipline import QueueDiscipline
from .rate_control import RateControl

__all__ = ["CongestionControl", "QueueDiscipline", "RateControl"]
