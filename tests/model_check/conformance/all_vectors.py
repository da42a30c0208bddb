"""The vectors, read once for all tests."""

from typing import Final

from model_check.conformance.vector import read_vectors

VECTORS: Final = read_vectors()
