"""ZooKeeper around the controller: its operations and answers, its tree, its server, and its transaction log."""
