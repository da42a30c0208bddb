"""What the controller, the brokers and ZooKeeper do: a folder for each part of the protocol."""
