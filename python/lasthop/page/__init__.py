"""The page of `lasthop serve`: runs, their air to the microsecond, scenarios to edit and run, comparisons and papers.

`app` puts the routes together, `guard` decides who may ask, `library` knows what lies below the given places. Each part of the
page is a module with `routes(desk)`; `static/` is what the browser runs, modules as they were written.
"""
