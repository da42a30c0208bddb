"""What the reference's objects say of the specification's state."""
