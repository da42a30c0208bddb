"""Elections that no death or start brings about: on request, by the rebalance, where a topic is newly allowed."""
