"""The base class of schedulers of several users in Python."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..._core import Offer, SchedulerContext, Won


class MultiUserScheduler:
    """The stations that share PPDUs of an access point: `multi_user = { kind = "python", file = "mine.py", class = "Mine" }`.

    Keys of the table that are no settings of `multi_user` are arguments of the class. A method that returns None leaves its
    choice to `airtime`; the base class always does.

    >>> class OneByOne(lasthop.MultiUserScheduler):
    ...     def downlink(self, offer):
    ...         return [0]  # the station whose turn it is, alone
    """

    def __init__(self, context: SchedulerContext) -> None:
        """Starts a run; `context` has `stations` (their number), `max_users`, `bsrp` and random()."""

    def turn(self, won: Won) -> str | None:
        """Returns the use of a medium that was won: "queue" (own data), "question" (BSRP) or "data" (a Basic trigger).

        `won` has `now_s`, `has_data` (of the access point), and `reported`: bytes that each station has reported last.
        """
        return None

    def downlink(self, offer: Offer) -> list[int] | None:
        """Returns the stations to which data go, as indices of `offer.users`; one alone has a PPDU of its own.

        `offer` has `now_s`, `users`, `max_users`, `longest_s` (of data), `around_one_s` and `around_several_s` (contention
        and acknowledgement of a PPDU). A user has `place` (its station, from 0), `bytes` that wait for it, and `rate_bps`
        over the whole channel. The first user is the station whose turn it is by the queue. As many of the chosen are served
        as there are units of one size.
        """
        return None

    def uplink(self, offer: Offer) -> list[int] | None:
        """Returns the stations whose data are asked for, like `downlink`; without BSRP `offer.is_known` is False."""
        return None

    def on_grant(self, now_s: float, place: int, bytes: int) -> None:
        """Called with the bytes for which the station at a place was given airtime."""
