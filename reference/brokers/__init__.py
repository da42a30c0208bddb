"""What a broker does with the controller's requests."""
