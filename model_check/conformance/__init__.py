"""For implementations of others: what they can take away from here, as data that needs no Python."""
