"""What is asked of one revision of the specification, by a process that runs that revision's own code.

A revision does not know this package: it is laid over a copy of it, and `python -m model_check.revisions.inside` is
started there. So all that is used here of others must have been there for long, under the same names: the actions,
claims, rows and scopes of `spec`, `spec.system.system`, `explore`, a kernel's `expand`, and `tell`. Where a revision
lacks one of them, it is too old, and that is the answer.
"""
