"""The brokers: their processes and sessions, and the in-sync replicas that leaders write."""
