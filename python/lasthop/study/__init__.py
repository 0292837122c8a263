"""Scenarios and how they are run: one run, several seeds, sweeps, stores, executors, code of the user."""
