"""Requests from the controller to a broker: batched, queued, sent, handled, and copies that come late."""
