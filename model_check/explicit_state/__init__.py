"""Explicit-state model checking: every reachable state, complete, one by one.

The explorer searches breadth first in the memory of one process; goals are decided on its graph. It is measured against
an exploration in plain Python, which is the tests', and SPIN, given the system as Promela, is the engine from outside.
"""
