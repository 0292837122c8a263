"""The capacity of a station's link, for tests of other transports: `measure` saturates it in a scenario, `formats` writes
it down.

A link is measured as a saturating sender sees it: its station's own flows are taken out, a UDP sender that always has data stands
in their place, and all others of the scenario contend as they do. Its packets, one by one, are the link's opportunities.
"""

from .measure import Direction, Link, measure

__all__ = ["Direction", "Link", "measure"]
