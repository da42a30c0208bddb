"""Mutants: the sources with one small change each, to see whether any check notices (`kcheck mutate`)."""
