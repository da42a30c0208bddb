"""Enumeration by many workers: the explorer's search, cut into shards, on any Spark master.

Shards hand one another states as packed blobs through a run folder, from which a run that was killed goes on.
"""
