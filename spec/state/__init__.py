"""What the state is made of, record by record, and the states in which a model starts."""
