"""Forks: copies of what a simulation holds, made thousands of times a second."""

from typing import TypeVar

T = TypeVar("T")


def shallow_copy(one: T) -> T:
    """`copy.copy` for a plain object, without its detour through pickling; its fields are shared until replaced."""
    twin: T = object.__new__(type(one))
    twin.__dict__.update(one.__dict__)
    return twin
