"""An error of the user."""


class Mistake(Exception):
    """Wrong usage or input, as one sentence with place and remedy; ends the command with status 2."""
