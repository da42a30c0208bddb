"""What brokers cause at the controller: they come, go, ask to stop, and announce new ISRs."""
