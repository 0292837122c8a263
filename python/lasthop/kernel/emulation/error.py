"""An error of an emulated run."""

from __future__ import annotations


class EmulationError(Exception):
    """One sentence with place and remedy; `log` has the last lines of a build or of a guest's console."""

    def __init__(self, sentence: str, log: str = "") -> None:
        super().__init__(f"{sentence}\n{log}" if log else sentence)
        self.sentence = sentence
        self.log = log
