"""What `live` and `campaign` are asked for, as a task and as words."""

import pytest

from model_check.cli.live_options import Asked
from model_check.live.fault_kinds import USUAL
from spec.errors import BadInput, UnknownName
from spec.formats.kafka_types import V0102, V090


def test_what_is_as_usual_is_not_said() -> None:
    assert Asked().words == ""
    asked = Asked(brokers="./run --id {id}", broker_count=2, only=["lag", "pause"], off=["A", "B"], up_when="is up")
    assert asked.words == (
        "--brokers './run --id {id}' --broker-count 2 --up-when 'is up' --only lag --only pause --without A --without B"
    )
    assert Asked(keep_topics=True).words == "--keep-topics"


def test_without_a_number_each_kind_comes_once() -> None:
    assert (Asked().task(7).faults, Asked().task(7).seconds) == (len(USUAL), None)
    assert (Asked(only=["lag"]).task(7).faults, Asked().task(7, faults=3).faults) == (1, 3)
    assert Asked().task(7, minutes=2).seconds == 120
    assert Asked().task(7, plays=(2, 5)).plays == (2, 5)


def test_members_are_chosen_apart() -> None:
    setup = Asked(controller="reference", controller_count=2).task(7).setup
    assert (setup.controllers, setup.brokers, setup.is_all_ours) == (2, 3, True)
    assert Asked(brokers="reference").task(7).setup.controllers == 1
    assert Asked(controller="reference").task(7).setup.controllers == 2
    assert Asked(controller="sh -c {id}").task(7).setup.controllers == 2
    assert Asked(controller="sh -c true").task(7).setup.controllers == 1  # nothing tells one from another
    assert Asked(controller="reference", controller_count=1).task(7).setup.controllers == 1
    assert Asked().task(7).setup.controllers == 0


@pytest.mark.parametrize(
    ("asked", "complaint"),
    [
        (Asked(kafka="0.10.2.2", brokers="reference"), "--kafka chooses every controller and broker"),
        (Asked(release="0.7"), "no release line is called '0.7'"),
        (Asked(only=["dance"]), "no kind of fault is called 'dance'"),
        (Asked(kafka="0.10.2.2", brokers=""), "--kafka chooses every controller and broker"),
        (Asked(kafka=""), "no release of Kafka is called ''"),
        (Asked(controller=""), "'' is neither `reference`, kafka:RELEASE nor a folder of jars"),
        (Asked(brokers=""), "'' is neither `reference`, kafka:RELEASE nor a folder of jars"),
        (Asked(controller_count=1), "--controller-count counts members that only control; it needs --controller or"),
        (Asked(kafka="0.10.2.2", controller_count=2), "--controller-count counts members that only control"),
        (Asked(release="0.9.0"), "--release: agreed with a command, and none is to run"),
        (Asked(kafka="0.10.2.2", up_when="up", stop_with="INT"), "--up-when, --stop-with: agreed with a command"),
        (Asked(controller="reference", brokers="kafka:0.10.2.2", release="0.9.0"), "--release: agreed with a command"),
    ],
)
def test_what_contradicts_itself_or_is_not_known_is_refused(asked: Asked, complaint: str) -> None:
    with pytest.raises((BadInput, UnknownName), match=complaint):
        asked.task(7)


def test_what_is_agreed_with_a_command_reaches_it() -> None:
    setup = Asked(controller="sh -c true", release="0.9.0").task(7).setup
    assert (setup.controller.release, setup.broker.release) == (V090, V0102)


def test_faults_are_named_or_counted() -> None:
    with pytest.raises(BadInput, match="--play names the faults; --faults and --minutes count them"):
        Asked().task(7, faults=3, plays=(2,))
