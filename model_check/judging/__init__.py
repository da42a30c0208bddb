"""Judging a recording: the search for a behaviour of the specification that explains it, and the claims it breaks."""
