"""Paths of znodes: each kind prints and parses, no text is two kinds, and another path is refused."""

import pytest
from hypothesis import given

from spec.errors import MalformedInput
from spec.formats.znode_paths import BROKER, ISR_CHANGE, KINDS, STATE, CreateMode, Path
from tests import strategies


@given(strategies.znode_paths_of_any_kind)
def test_a_path_parses_as_it_was_built(path: Path) -> None:
    assert Path.parse(str(path)) == path
    matches = [kind for kind in KINDS if kind.template.how_far(str(path)) == (len(str(path)), "the end")]
    assert matches == [path.kind]


def test_the_paths_are_those_of_kafka() -> None:
    assert str(STATE.path(topic="a.b", partition=10)) == "/brokers/topics/a.b/partitions/10/state"
    assert str(ISR_CHANGE.path(sequence=12)) == "/isr_change_notification/isr_change_0000000012"
    assert ISR_CHANGE.prefix == "/isr_change_notification/isr_change_"
    assert (
        len(KINDS) == len({kind.template for kind in KINDS}) == 26
    )  # the 10 of the protocol, the id of the cluster and 15 parents
    modes = {str(kind): kind.mode for kind in KINDS if kind.mode is not CreateMode.PERSISTENT}
    assert modes == {
        "/controller": CreateMode.EPHEMERAL,
        "/brokers/ids/{broker}": CreateMode.EPHEMERAL,
        "/isr_change_notification/isr_change_{sequence}": CreateMode.PERSISTENT_SEQUENTIAL,
    }


@pytest.mark.parametrize(
    "text",
    [
        "",
        "controller",
        "/controller/",
        "/controller2",
        "/brokers/ids/-1",
        "/brokers/ids/01",
        "/brokers/topics/a b",
        "/brokers/topics/..",
        "/brokers/topics/" + "x" * 256,
        "/brokers/topics/t/partitions/0/State",
        "/isr_change_notification/isr_change_12",
        "/kafka-acl",
    ],
)
def test_another_path_is_refused(text: str) -> None:
    with pytest.raises(MalformedInput, match="no znode of the controller's protocol has this path"):
        Path.parse(text)


def test_a_number_beyond_32_bits_is_refused_by_name() -> None:
    with pytest.raises(MalformedInput, match="/brokers/ids/2147483648: broker: 2147483648 does not fit 32 bits"):
        Path.parse("/brokers/ids/2147483648")


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"topic": "t"}, "partition: missing"),
        ({"topic": "t", "partition": 0, "broker": 1}, "broker: this path has no such parameter"),
        ({"topic": "a/b", "partition": 0}, "topic: 'a/b' is not a topic"),
        ({"topic": "t", "partition": -1}, "partition: -1 is not a number, not negative"),
    ],
)
def test_a_path_is_not_built_from_wrong_parameters(parameters: dict[str, str | int], message: str) -> None:
    with pytest.raises(MalformedInput, match=message):
        STATE.path(**parameters)  # type: ignore[arg-type]


def test_kinds_survive_pickling_by_identity() -> None:
    function, arguments = BROKER.__reduce__()
    assert function(*arguments) is BROKER
