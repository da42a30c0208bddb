"""Explicit-state model checking: every reachable state, complete, one by one.

The explorer searches breadth first in the memory of one process; goals are decided on its graph. The plain interpreter
is the oracle that it is measured against, and SPIN, given the system as Promela, the engine from outside.
"""
