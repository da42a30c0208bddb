"""Scripts written by hand: each asks something of its own, and some have an end that is told without a reference."""

import json
from collections.abc import Sequence

import pytest

from model_check.conformance.driving.played import played
from model_check.conformance.making.by_hand import EVERY, comes_to, hand_cases
from model_check.conformance.making.by_hand_lines import LINES, SAID
from model_check.conformance.making.cases import BY_HAND
from model_check.conformance.making.controlled import DIALECT
from model_check.conformance.making.hands import ByHand, Items, deletes, starts, topic, topic_path, wins_after
from model_check.conformance.vector import FOLDER, Object
from reference.scripts import CONTROLLER
from spec.formats.kafka_types import V0102
from spec.logs.controller_log.lines import CONTROLLER_LOG
from spec.logs.state_change_lines import STATE_CHANGE_LOG
from tests.model_check.conformance.all_vectors import VECTORS
from tests.model_check.conformance.driving.driven import is_passed

WALKED = [one for one in VECTORS if one.verb == "control" and one.group != BY_HAND]
BY_ITSELF = [one for one in VECTORS if one.group == BY_HAND]


def kind_of(line: str) -> str:
    """The kind of a line of either log."""
    log = next(one for one in (STATE_CHANGE_LOG, CONTROLLER_LOG) if one.has(line, V0102))
    return type(log.parse(line, V0102)).__name__


def given_of(turns: Sequence[Items]) -> Object:
    """What a vector of these turns is given."""
    return {"broker": 1, "settings": {}, "compared": ["LeaderAndIsr", "UpdateMetadata", "StopReplica"],
            "script": [*turns]}  # fmt: skip


def last_turn(title: str) -> list[Object]:
    """What the vector of this title expects of its last turn."""
    (one,) = [case for case in hand_cases() if case.title.startswith(title)]
    turns: Object = one.then[0]["turns"]
    told: list[Object] = turns[max(turns, key=int)]
    return told


def test_every_script_has_another_title_and_says_where_it_comes_from() -> None:
    every = (*EVERY, *LINES)
    assert len({one.title for one in every}) == len(every)
    assert all(one.refs for one in every)


def test_each_kind_of_line_is_said_somewhere_and_no_walk_asks_for_it() -> None:
    walked = {kind for one in WALKED for kind in one.given.get("lines", ())}
    assert walked.isdisjoint(SAID)
    logged = [one for one in BY_ITSELF if "lines" in one.given]
    said = {kind_of(line) for one in logged for line in one.then[0]["lines"][str(len(one.given["script"]) - 1)]}
    assert said == SAID
    page = " ".join((FOLDER.parent / "README.md").read_text("utf-8").split())
    assert f"In {len(LINES)} further scripts of the group" in page
    assert f"of {len(SAID)} kinds that no walk asks for" in page


def test_none_asks_what_a_walk_asks() -> None:
    asked = {json.dumps(one.given["script"], sort_keys=True) for one in WALKED}
    done = [case for case in hand_cases() if "lines" not in case.given]
    own = [json.dumps(case.given["script"], sort_keys=True) for case in done]
    assert len({*own}) == len(own)
    assert asked.isdisjoint(own)


def test_they_stand_as_they_are_made_and_the_reference_passes_each() -> None:
    assert [one.hash for one in BY_ITSELF] == [case.hash for case in hand_cases()]
    assert [one.title for one in BY_ITSELF if not is_passed(json.loads(one.to_line()), "as-coded-0.10.2")] == []


def test_the_last_turns_are_compared() -> None:
    given = given_of((topic("a", [1]), starts(1), starts(2)))
    assert {*comes_to(given, 1)["turns"]} == {"2"}
    assert {*comes_to(given, 2)["turns"]} == {"1", "2"}


def test_another_controller_wins_after_so_many_tries() -> None:
    """Each failover ends at the topic's znode, which has no data (D52)."""
    standing: Items = [{"create": topic_path("a"), "data": None}]
    for tries in (1, 3):
        turns = (topic("b", [1]), starts(1), standing + deletes(CONTROLLER) + wins_after(tries))
        told = comes_to(given_of(turns), 1)["turns"]["2"]
        assert [one["create"] for one in told if "create" in one] == [CONTROLLER] * tries
        assert told[-1] == {"delete": CONTROLLER}


def test_a_script_without_end_is_told() -> None:
    endless = ByHand("for ever", ("D52",), ([{"create": topic_path("a"), "data": None}], starts(1)))
    with pytest.raises(RuntimeError, match="does not come to its end"):
        played(given_of(endless.turns), DIALECT, lines=500)


@pytest.mark.slow
def test_what_a_term_asked_a_broker_is_answered_to_nobody_once_it_is_over() -> None:
    """The answer that it cannot delete is to the term before; the next one is that it has, so the topic goes."""
    assert last_turn("A broker answers what the term before asked of it")[-1] == {"delete": "/admin/delete_topics/a"}


@pytest.mark.slow
def test_a_topic_whose_assignment_names_a_broker_twice_goes_and_its_broker_stays_in_the_isr() -> None:
    """`removeReplicaFromIsr` filters the list, finds nobody left, and keeps it as it was."""
    assert last_turn("A topic whose AR names a broker twice")[-1] == {"delete": "/admin/delete_topics/a"}
    (written,) = [one["data"] for one in last_turn("The broker fails that an AR names twice") if "set" in one]
    assert (written["leader"], written["leader_epoch"], written["isr"]) == (-1, 1, [2, 2])
