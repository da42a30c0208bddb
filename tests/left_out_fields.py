"""Requests that lack a field: what an encoder writes that does not know it."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from spec.formats.wire import Struct


@contextmanager
def leaving_out(struct: Struct, name: str) -> Iterator[None]:
    """Inside, a struct is written without one of its fields."""
    every = struct.members
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(struct, "members", lambda version: [one for one in every(version) if one[0] != name])
        yield


def struct_with(name: str, schema: Struct, version: int) -> Struct:
    """The one struct of a request that has a field of this name."""
    (found,) = (one for one in schema.structs(version) if name in dict(one.members(version)))
    return found
