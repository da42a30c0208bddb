"""Reference against specification: every step of the one must be a step of the other, both ways.

An abstraction reads the specification's variables off a state of the reference; edges of whole state graphs, random
runs and the purgatory's races are taken on both sides and compared.
"""
