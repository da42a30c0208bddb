"""Whether it is right: the engines that enumerate, prove, replay and judge what `spec` says and what `reference` does.

An engine gives one of four verdicts (HOLDS, VIOLATED, INCOMPLETE, ERROR), and two engines that look at the same scope
must agree on counts and digest. Nothing in this package encodes the protocol; an engine that needs to know a rule
reads it from the terms of `spec`.
"""
