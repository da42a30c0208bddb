"""What brokers handled: the request to stop nothing, when it is certain, and requests of which not all is told."""

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from model_check.judging.deliveries import Certainty, Deliveries
from model_check.judging.explaining import Explainer
from model_check.judging.judge import Outcome, judge
from model_check.judging.positions import Explained, Position
from model_check.recordings.reading import read
from model_check.recordings.seen import RequestHandled, StopReplicaRefused
from model_check.recordings.tracks import Tracks
from model_check.stepping.open_system import OpenSystem
from spec.formats.kafka_types import V0102
from spec.state.brokers import Stage
from spec.variants import AS_CODED
from tests.model_check.unpacking import RECORDINGS, changed, judged, recorded, without_line

pytestmark = RECORDINGS

BROKER, EPOCH, LIFE = 3, 1, 1
REFUSED = StopReplicaRefused(place="", time=0, text="", broker=BROKER, incarnation=LIFE, epoch=EPOCH)


def deliveries(controllers: list[int]) -> Deliveries:
    """What is known of a cluster in which nothing but the broker's life matters."""
    system = SimpleNamespace(model=SimpleNamespace(controllers=controllers))
    releases = dict.fromkeys(controllers, V0102)
    tracks = SimpleNamespace(life=lambda _place, _broker: LIFE, handled=lambda _place, _broker: [], releases=releases)
    return Deliveries(cast(OpenSystem, system), cast(Tracks, tracks))


def state(known: int = EPOCH + 1, **stages: Stage) -> dict[str, Any]:
    """The broker knows an epoch; the queues of controllers c1, c2 begin with a request of this stage."""
    queues = {
        int(name[1:]): {BROKER: {0: {"stage": list(Stage).index(stage), "epoch": EPOCH, "stop": {0: 1}}}}
        for name, stage in stages.items()
    }
    return {"brokers": {BROKER: {"controller_epoch": known}}, "connections": queues}


def after(before: dict[str, Any], to: dict[str, Any], c: int, *seen: StopReplicaRefused) -> Position:
    """Where a controller's request to the broker was delivered, and this was seen."""
    step = Explained("deliver_request", {"c": c, "b": BROKER}, (), seen)
    return Position(to, (), frozenset(), Position(before, ()), step)


def test_who_refused_the_stop_refuses_the_empty_request_that_follows() -> None:
    at = after(state(c1=Stage.STOP_REPLICA), state(c1=Stage.DELETE_REPLICA), 1, REFUSED)
    assert deliveries([1]).is_of_nothing(REFUSED, at) is Certainty.YES


@pytest.mark.parametrize("known", [EPOCH - 1, EPOCH])
def test_who_knows_no_newer_controller_refuses_nothing(known: int) -> None:
    at = after(state(c1=Stage.STOP_REPLICA), state(known, c1=Stage.DELETE_REPLICA), 1, REFUSED)
    assert deliveries([1]).is_of_nothing(REFUSED, at) is Certainty.NO


def test_nobody_refuses_in_another_life() -> None:
    at = after(state(c1=Stage.STOP_REPLICA), state(c1=Stage.DELETE_REPLICA), 1, REFUSED)
    assert deliveries([1]).is_of_nothing(replace(REFUSED, incarnation=LIFE + 1), at) is Certainty.NO


def test_what_an_earlier_life_refused_makes_nothing_certain() -> None:
    earlier = replace(REFUSED, incarnation=LIFE - 1)
    at = after(state(c1=Stage.STOP_REPLICA), state(c1=Stage.DELETE_REPLICA), 1, earlier)
    assert deliveries([1]).is_of_nothing(REFUSED, at) is Certainty.MAYBE


@pytest.mark.parametrize("controllers", [[1, 2], [2, 1]])
def test_of_two_controllers_in_one_epoch_it_may_be_either(controllers: list[int]) -> None:
    before = state(c1=Stage.DELETE_REPLICA, c2=Stage.STOP_REPLICA)
    at = after(before, state(c1=Stage.DELETE_REPLICA, c2=Stage.DELETE_REPLICA), 2, REFUSED)
    assert deliveries(controllers).is_of_nothing(REFUSED, at) is Certainty.MAYBE


def test_without_a_stop_before_it_the_deletion_itself_is_refused() -> None:
    at = Position(state(c1=Stage.DELETE_REPLICA), ())
    assert deliveries([1]).is_of_nothing(REFUSED, at) is Certainty.NO


def test_metadata_is_that_of_the_queue_or_no_step() -> None:
    """Each UpdateMetadata of the recording, as its brokers cached it; and the same with something else told.

    Only the last that broker 1 handled before it was killed may lack a line; all others live until the recording ends.
    """
    name, count, last = "12-D1-epoch-write-delayed", 0, []
    known = Explainer(recorded(name), AS_CODED).deliveries
    for position in judged(name).path:
        for one in position.step.observations if position.step and position.before else ():
            if isinstance(one, RequestHandled) and one.told:
                assert position.before is not None  # it is that of a step
                assert position.step is not None
                step, seen, count = (position.before, position.state), position.step.seen, count + 1
                assert known.agrees(one, *step, seen)
                (p, state), *others = one.told.items()
                if known.agrees(replace(one, told=dict(others)), *step, seen):
                    last.append((one.broker, one.place))
                other = dict(others) | {p: replace(state, leader_epoch=state.leader_epoch + 1)}
                assert not known.agrees(replace(one, told=other), *step, seen)
                assert not known.agrees(replace(one, told=dict(others), removed=frozenset({p})), *step, seen)
    assert count == 4 + 11 + 8  # different senders, epochs and ids behind "cached leader info" in each broker's log
    assert last == [(1, "broker-1/state-change.log:60")]


@pytest.mark.parametrize(
    ("broker", "outcome"), [(1, Outcome.EXPLAINED), pytest.param(2, Outcome.UNEXPLAINED, marks=pytest.mark.slow)]
)
def test_who_is_killed_may_not_come_to_write_all_that_a_request_tells(
    tmp_path: Path, broker: int, outcome: Outcome
) -> None:
    """Broker 1 is killed after it has handled the request, its last; broker 2, which handles the same, is not."""
    cached = "for partition rf3-2 in response to UpdateMetadata request sent by controller 1 epoch 1"
    log = f"broker-{broker}/state-change.log"
    found = judge(read(changed("12-D1-epoch-write-delayed", tmp_path, log, without_line(cached))), budget=3_000)
    assert found.outcome is outcome
