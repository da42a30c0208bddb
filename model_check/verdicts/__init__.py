"""What a check found, what was expected of it, and how both are reported."""
