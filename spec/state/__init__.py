"""What the state is made of, leaf by leaf, and the states in which a model starts."""
