"""An error of the user."""


class Mistake(Exception):
    """Wrong usage or input, as one sentence that says where and what to do; ends the command with status 2."""
