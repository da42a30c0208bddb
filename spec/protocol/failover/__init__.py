"""Which broker becomes controller, what it does then, and how it gives /controller back."""
