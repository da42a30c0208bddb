"""What is looked up in a history is what one finds who goes through all of it."""

import pytest

from model_check.monitors.check import read_history
from model_check.monitors.controllers import raisers
from model_check.monitors.deletion import deletions, was_deleted
from model_check.monitors.fences import _with_known
from model_check.monitors.history import History, state_path
from model_check.monitors.requests import tells
from tests.model_check.unpacking import JUDGED, RECORDINGS, recording

pytestmark = RECORDINGS


@pytest.fixture(params=JUDGED)
def history(request: pytest.FixtureRequest) -> History:
    return read_history(recording(request.param))


def test_the_writes_that_may_be_told_are_among_those_that_say_the_same(history: History) -> None:
    told = [one for request in history.arrivals.all() for one in request.states.items()]
    assert told
    for partition, state in told:
        plain = [one for one in history.of(state_path(partition)) if tells(state, one)]
        assert [one for one in history.saying(partition, state) if tells(state, one)] == plain


def test_the_highest_epoch_that_was_obeyed_before_is_known(history: History) -> None:
    for received in history.arrivals.by_broker.values():
        for request, _, known in _with_known(received.requests):
            before = (
                one.epoch or 0
                for one in received.requests
                if one.answer is not None and not one.is_refused and one.answer.order < request.order
            )
            assert known == max(before, default=0)


def test_what_is_found_once_is_what_is_found(history: History) -> None:
    for kind in {one.path.kind for one in history.writes if one.path}:
        assert list(history.of_kind(kind)) == [one for one in history.writes if one.path and one.path.kind is kind]
    assert history.once(raisers) == raisers(history)
    for topic in {one.topic for one in history.writes}:
        for number in range(0, len(history.writes), 10):
            plain = any(one.write.topic == topic and one.write.number < number for one in deletions(history))
            assert was_deleted(history, topic, number) == plain
