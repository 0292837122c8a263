from __future__ import annotations


def routes(desk):
    return []
