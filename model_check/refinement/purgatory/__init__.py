"""The reference's delayed operations against the specification's."""
