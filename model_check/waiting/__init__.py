"""Long work, for whoever waits: an estimate before it, a bar during it, and Ctrl-C that ends it."""
