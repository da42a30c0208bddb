"""Topics are deleted: the queue, the deletion thread, and what completes it."""
