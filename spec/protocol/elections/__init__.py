"""Preferred replicas are elected, on request and by the automatic rebalance."""
