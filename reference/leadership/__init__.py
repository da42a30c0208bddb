"""The effects behind the rows of the transition tables: leaders are elected, replicas change state."""
