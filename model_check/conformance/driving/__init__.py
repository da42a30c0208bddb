"""A controller that is driven: the suite plays ZooKeeper and the brokers, and tells what happens."""
