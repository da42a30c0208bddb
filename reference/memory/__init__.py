"""The cluster in memory: deterministic, nothing happens by itself, and a scheduler chooses every step."""
