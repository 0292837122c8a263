"""Algorithms that a scenario brings as classes in Python: their base classes, their loading, and processes to run them.

A run without such code loads no base class, so `bases` collects them instead of this module.
"""
