"""Live runs: a real ZooKeeper, brokers of the reference as processes, faults drawn from a seed, and the judgement."""
