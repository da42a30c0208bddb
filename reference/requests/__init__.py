"""Requests from the controller to a broker: batched, queued and sent."""
