"""A controller and a broker that run: the whole protocol as handlers without I/O, readable next to Kafka's own classes.

Every handler is a generator that yields effects and receives results, so the same code runs in memory, where a
scheduler chooses each interleaving and crash, and on a real ZooKeeper. Each of its steps must be a step of `spec`,
whose tables drive it; it knows nothing of `model_check`, which judges it.
"""
