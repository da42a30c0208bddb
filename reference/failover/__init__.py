"""Who becomes controller, and what it does then."""
