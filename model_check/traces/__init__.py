"""Runs of the specification: as a value, in files, and replayed."""
