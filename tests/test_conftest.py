"""How tests are handed out to workers: each is told its group, or what one worker has made another would make again."""

from pathlib import Path

import pytest


def is_told(request: pytest.FixtureRequest, group: str) -> bool:
    """Whether this test is handed out with that group; where none are handed out, whether with none."""
    node: pytest.Item = request.node
    if getattr(request.config.option, "loadgroup", False):
        return node.nodeid.rpartition("@")[2] == group
    return "@" not in node.nodeid


def test_the_tests_of_a_file_are_a_group(request: pytest.FixtureRequest) -> None:
    assert is_told(request, Path(__file__).relative_to(request.config.rootpath).as_posix())


@pytest.mark.xdist_group("a group of its own")
def test_a_group_that_is_named_is_kept(request: pytest.FixtureRequest) -> None:
    assert is_told(request, "a group of its own")
