"""A controller: its threads and their lock, its own batch, how it resigns, the listener on its epoch."""
