"""Recordings of clusters, read: transactions, log lines and acts as sequences of observations."""
