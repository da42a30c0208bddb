"""Topics are deleted: the queue, requests, the deletion thread, and what completes it."""
