"""How tests are handed out to workers, and which: each is told its group, or what one worker has made another would
make again; a shard has whole groups; and who takes long says why.
"""

from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest
from hypothesis import settings

from tests.conftest import pytest_itemcollected
from tests.groups import group_of, of_shard


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


def in_group(name: str) -> pytest.Item:
    """A test of a group."""
    return cast(pytest.Item, SimpleNamespace(get_closest_marker=lambda _: pytest.mark.xdist_group(name).mark))


def test_shards_are_of_whole_groups_and_together_they_are_everything() -> None:
    items = [in_group(name) for name in ("a", "b", "a", "c", "b", "d", "e")]
    parts = [of_shard(items, f"{number}/2") for number in (1, 2)]
    assert [[group_of(one) for one in part] for part in parts] == [["a", "a", "c", "e"], ["b", "b", "d"]]
    assert of_shard(items, "1/1") == items


@pytest.mark.parametrize("shard", ["0/2", "3/2", "2", "a/b", "-1/2"])
def test_a_shard_that_there_is_not_is_refused(shard: str) -> None:
    with pytest.raises(pytest.UsageError, match="names no share; the second of four is 2/4"):
        of_shard([], shard)


@pytest.mark.parametrize("said", [(), ("",), ("long",), ("One.", "Two.")])
def test_a_test_that_takes_long_without_a_sentence_why_is_refused(said: tuple[str, ...]) -> None:
    marks = [pytest.mark.takes(*said).mark]
    with pytest.raises(pytest.UsageError, match=r'a test: takes\("A sentence that says why."\)'):
        pytest_itemcollected(cast(pytest.Item, SimpleNamespace(nodeid="a test", iter_markers=lambda _: marks)))


@pytest.mark.takes("It shows that a sentence is enough.")
def test_a_sentence_is_enough(request: pytest.FixtureRequest) -> None:
    assert request.node.get_closest_marker("takes")


def test_hypothesis_tries_more_where_the_run_is_deep(request: pytest.FixtureRequest) -> None:
    assert settings().max_examples == (200 if request.config.getoption("--deep") else 20)
