"""Partitions move to other brokers."""
