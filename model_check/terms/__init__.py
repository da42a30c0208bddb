"""Code from terms: straight lines of Python and C."""
