"""Exit statuses, and their meanings for the manual page."""

FAILED = 1
SKIPPED = 77
MEANINGS = {
    0: "Done.",
    FAILED: "A run failed, a claim no longer holds, a replay or a script differs, or output could not be written.",
    2: "Wrong usage or input: one message with place and remedy.",
    SKIPPED: "No replay or script differs, but one was skipped, with its reason; or this machine cannot load programs.",
    130: "Interrupted with Ctrl-C or a signal to end; finished work is kept.",
}
