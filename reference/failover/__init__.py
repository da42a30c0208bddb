"""Which broker becomes controller, and what it does then."""
