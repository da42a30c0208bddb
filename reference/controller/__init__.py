"""A controller: what it knows, its two state machines, its batch, and how it resigns."""
