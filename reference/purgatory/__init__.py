"""Delayed operations wait for what completes them, or for their time to be over."""
