"""The capacity of a station's link, for tests of other transports: `measure` saturates it in a scenario, `formats`
writes it.

A saturating sender measures the link: a UDP sender that always has data replaces the station's own flows, and all other
flows contend as before. Each of its packets is one opportunity of the link.
"""

from .measure import Direction, Link, measure

__all__ = ["Direction", "Link", "measure"]
