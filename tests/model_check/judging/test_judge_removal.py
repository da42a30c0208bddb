"""Topics that somebody removed by hand, as recorded: which changes are read, and one fact changed."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from model_check.judging.judge import Outcome, judge
from model_check.recordings.reading import read
from model_check.recordings.seen import ConfigurationDeleted, StateDeleted, TopicDeleted, UncleanChanged
from tests.model_check.stand_ins import Play, a_scope
from tests.model_check.tampering import Lie, assert_found_out
from tests.model_check.unpacking import RECORDINGS, Change, changed, recorded, replaced

pytestmark = RECORDINGS

BY_HAND, BY_A_CONTROLLER = "32-D53-foreign-removal", "34-D55-config-lost"

LIES: Mapping[str, Lie] = {
    "a state znode that a broker deletes which is no controller": Lie(
        BY_HAND, "zookeeper.jsonl",
        replaced('"session": "0x100004e5c090000", "cxid": 52', '"session": "0x100004e5c090003", "cxid": 29'),
        "zookeeper.jsonl:50",
    ),
    "a removal that is not seen": Lie(
        BY_HAND, "broker-1/controller.log",
        replaced("deleted topics: [Set(t)]", "deleted topics: [Set()]"),
        "broker-1/controller.log:63",
    ),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("lie", LIES)
def test_a_removal_that_was_tampered_with_is_not_explained(lie: str, tmp_path: Path) -> None:
    assert_found_out(LIES[lie], tmp_path)


def test_the_znodes_of_a_topic_go_state_first() -> None:
    """Topic t has the number 0, as has its only partition; nobody is the admin."""
    changes = recorded(BY_HAND).tracks["zookeeper"]
    gone = [one for one in changes if isinstance(one, StateDeleted | TopicDeleted | ConfigurationDeleted)]
    assert [(type(one).__name__, one.by, one.place) for one in gone] == [
        ("StateDeleted", 0, "zookeeper.jsonl:50"), ("TopicDeleted", 0, "zookeeper.jsonl:53"),
    ]  # fmt: skip


@pytest.mark.slow
def test_a_request_and_the_controller_that_are_removed_by_hand_are_explained(tmp_path: Path) -> None:
    """The operators' remedy, from memory: another broker becomes controller, and knows nothing of the move."""
    play = Play(a_scope(3, ((1, 2),), requests=(((1, 3),),)))
    play.start(topics=1)
    with play.holding("expand_isr"):
        play.do("request_reassignment(k=0)")
        play.rest()
        with play.holding(r"elect_create\(c=[12]"):
            play.do("withdraw_reassignment()", "remove_controller()", "elect_create(c=3)")
    play.rest()
    found = judge(read(play.save(tmp_path)))
    assert found.outcome is Outcome.EXPLAINED
    taken = [one.step.rule for one in found.path if one.step is not None]
    assert [taken.count(one) for one in ("withdraw_reassignment", "remove_controller", "write_target")] == [1, 1, 0]


def by_the_admin(line: int) -> Change:
    """The admin's session, in place of a controller's, in a line."""

    def change(text: str) -> str:
        lines = text.splitlines(keepends=True)
        assert "0x100004a7cbe0001" in lines[line - 1]
        lines[line - 1] = lines[line - 1].replace("0x100004a7cbe0001", "0x100004a7cbe0000")
        return "".join(lines)

    return change


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (53, "a configuration that is removed by hand is not specified"),
        (54, "a request to delete a topic that is withdrawn by hand is not specified"),
    ],
)
def test_what_else_of_a_deletion_is_done_by_hand_ends_what_is_judged(line: int, reason: str, tmp_path: Path) -> None:
    cut = read(changed(BY_A_CONTROLLER, tmp_path, "zookeeper.jsonl", by_the_admin(line))).cut
    assert cut is not None
    assert (cut.place, cut.reason) == (f"zookeeper.jsonl:{line}", reason)


LAST = '{"zxid": "0x80", '
GONE = (
    '{"zxid": "0x80", "time": 1795201555479, "utc": "2026-11-20T19:05:55.479Z", "session": "0x100004e5c090000",'
    ' "cxid": 557, "type": "delete", "path": "/config/topics/t"}\n{"zxid": "0x81", '
)
NOTHING, UNCLEAN = r"\"config\": {}", r"\"config\": {\"unclean.leader.election.enable\": \"true\"}"


def test_a_configuration_that_goes_takes_along_what_it_said_of_unclean_election(tmp_path: Path) -> None:
    """Where no topic is deleted on request, nobody reads configurations but for that."""
    gone = replaced(LAST, GONE)
    first_is_unclean = replaced(NOTHING, UNCLEAN)
    for name, change, unclean in (
        ("plain", gone, []), ("unclean", lambda text: first_is_unclean(gone(text)), [True, False]),
    ):  # fmt: skip
        found = read(changed(BY_HAND, tmp_path / name, "zookeeper.jsonl", change))
        assert found.cut is None
        seen = [one.unclean for one in found.tracks["zookeeper"] if isinstance(one, UncleanChanged)]
        assert seen == unclean
