"""The order of ZkClient's table, against what Java's own table gave."""

from types import SimpleNamespace
from typing import Any

import pytest

from model_check.judging import judge as judging
from model_check.judging import table_order
from model_check.judging.judge import Outcome, judge
from model_check.judging.search import Search
from model_check.judging.table_order import in_table_order, orders_of_states
from model_check.recordings.seen import SessionBegan
from spec.formats.kafka_types import TopicPartition
from tests.model_check.unpacking import RECORDINGS, recorded

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


def moving(*partitions: TopicPartition, renews: bool = True) -> Any:
    """What is asked of a recording in which these partitions move at once, and a session is made anew, or is not."""
    began = SessionBegan(place="", time=0, text="", zxid=1, by=1, first=not renews, is_guess=False)
    topics = tuple(dict.fromkeys(one.topic for one in partitions))
    requests = (tuple((1,) for _ in partitions),)
    return SimpleNamespace(
        cluster=SimpleNamespace(topics=topics, partitions=partitions, requests=requests), tracks={"a": [began]}
    )


MOVED = (TopicPartition("topic-1", 0), TopicPartition("topic-2", 0), TopicPartition("topic-0", 0))


def test_without_an_expiry_there_is_one_order_and_of_those_that_agree_the_first() -> None:
    """Java's table has topic-2 before topic-1, and that before topic-0 (above: 2, 1, 0), of either size."""
    assert orders_of_states(moving(*MOVED, renews=False)) == [(1, 0, 2)]
    assert orders_of_states(moving(*MOVED)) == [(1, 0, 2), (0, 1, 2)]


def test_the_likeliest_order_comes_first_also_where_a_later_one_agrees_with_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table_order, "_orders", lambda _cluster: [(0, 1, 2), (1, 0, 2), (0, 1, 2)])
    assert orders_of_states(moving(*MOVED)) == [(0, 1, 2), (1, 0, 2)]


@RECORDINGS
def test_nothing_is_said_to_show_it_while_one_order_has_more_to_try(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first order is tried to its end, and of the second only what a small budget allows."""
    recording = recorded("13-D1-epoch-write-connectionloss")
    ended: list[Search] = []

    def explanations(self: Search) -> list[Any]:
        self.is_exhausted = self.tried_all = not ended
        self.positions = 7
        ended.append(self)
        return []

    monkeypatch.setattr(judging, "orders_of_states", lambda _recording: [(), ()])
    monkeypatch.setattr(Search, "explanations", explanations)
    found = judge(recording)
    assert (found.outcome, found.positions) == (Outcome.INCOMPLETE, 14)
    assert found.reason == "no explanation found among 14 positions; --budget allows more"
