"""The order of ZkClient's table, against what Java's own table gave."""

import pytest

from model_check.judging.table_order import in_table_order

PATHS = [f"/brokers/topics/topic-{i % 3}/partitions/{i // 3}/state" for i in range(20)]


@pytest.mark.parametrize(
    ("entries", "places", "order"),
    [
        (8, 16, [4, 2, 1, 6, 7, 0, 5, 3]),
        (20, 32, [4, 2, 1, 6, 19, 7, 8, 10, 9, 11, 14, 12, 13, 0, 18, 5, 15, 3, 16, 17]),
    ],
)
def test_it_is_that_of_a_concurrent_hash_map(entries: int, places: int, order: list[int]) -> None:
    """As a `ConcurrentHashMap` of Java 17 has them that they were put into, one after the other."""
    assert in_table_order(PATHS[:entries], places) == [PATHS[i] for i in order]
