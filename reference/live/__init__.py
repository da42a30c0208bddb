"""The live driver: the same handlers as in memory, run by threads of a process on a real ZooKeeper."""
