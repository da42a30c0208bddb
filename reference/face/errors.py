"""What goes wrong with a face beside bad input."""

from spec.errors import SpecError


class NoRest(SpecError):
    """Something goes on and on, or has come to rest before it was as expected; the message says what moves."""
