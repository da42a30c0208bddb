"""The threads of a controller's process, their lock, and the batch of requests that it fills."""
