"""Questions that every part asks about what a controller knows."""
