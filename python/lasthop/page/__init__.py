"""The page of `lasthop serve`: runs, their air to the microsecond, scenarios to edit and run, comparisons and papers.

`app` assembles the routes, `guard` controls access, `library` lists the files below the directories of the page. Each
part of the page is a module with `routes(desk)`; `static/` has the browser's modules, unbuilt.
"""
