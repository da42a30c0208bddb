"""Shares of what scripts show: what there is of each kind, what a walk shows of it, and what comes first."""

import json
import re
from dataclasses import replace

import pytest

from model_check.conformance.driving.log_lines import LOGS
from model_check.conformance.making.beyond import A_REBALANCE_AND_MORE, BEYOND, BY_HAND, REASONS, TWO_AND_A_DELETION
from model_check.conformance.making.cases import Case
from model_check.conformance.making.controlled import Made, chosen, kept
from model_check.conformance.making.occasions import (
    BRANCH,
    BRANCHES,
    BROKEN,
    OCCASION,
    TAKEN,
    TROUBLE,
    Occasions,
    branches_shown,
    troubles_shown,
)
from model_check.conformance.making.rounds import VERSIONS, asked, comes_by, new_to
from model_check.conformance.making.shares import LOST, OWN, amiss, claimed, share, there_is, told_of, troubles
from model_check.conformance.making.stages import Shown
from model_check.conformance.making.themes import THEMES
from model_check.conformance.vector import FOLDER
from model_check.explicit_state.interpreter import Machine
from reference.journal import ElectionGivenUp, Report, SelectorAsked, StateChange
from spec.defects import DEFECTS
from spec.formats.kafka_types import V0102, TopicPartition
from spec.logs.controller_log.leader_selection import PreferredSelected, UncleanLeader
from spec.logs.state_change_lines import ElectionFailed, LeaderElectionStarted
from spec.properties import claims
from spec.scopes import scope
from spec.system import rules, system
from spec.tables.taken_rows import ROWS
from tests.model_check.conformance.all_vectors import VECTORS

A0, A1 = TopicPartition("a", 0), TopicPartition("a", 1)
LOST_EPOCH = (
    "expire_session(b=1, lost=0)",
    "on_controller_change(c=2)",
    "elect_read(c=2)",
    "elect_create(c=2)",
    "read_epoch(c=2)",
    "increment_epoch_unanswered(c=2)",
    "increment_epoch(c=2)",
    "subscribe(c=2)",
    "read_brokers(c=2)",
    "read_topics(c=2)",
    "read_state(c=2, p=0)",
)
"""The shortest way to break a claim in the scope `losses`, as `kcheck defects D1-loss` tells it."""
GIVEN_UP = ElectionGivenUp(1, A0, creating=False)


def made(*shows: set[str], since: str = VERSIONS[0]) -> Made:
    """Cases that show these: kinds and names as one text each."""
    told = tuple(frozenset(tuple(one.split(": ")) for one in some) for some in shows)
    cases = tuple(Case("control", str(n), {"n": n, "since": since}, [{}], [], []) for n in range(len(shows)))
    return Made(
        tuple(zip(cases, told, strict=True)),
        {one: len(cases) if comes_by(since, one) else 0 for one in VERSIONS},
        (),
        10,
    )


def test_what_came_with_an_earlier_version_stays() -> None:
    first = made({"action: a"}, {"action: a", "action: b"}, {"action: a", "broken: c"})
    assert chosen({"broker": first}) == {"broker": [1, 2]}
    later = made({"action: a", "action: b", "action: d"}, {"action: d", "order: e"}, since=VERSIONS[1])
    assert chosen({"broker": first, "life": later}) == {"broker": [1, 2], "life": [1]}
    assert [one.title for one in kept({"broker": first, "life": later})["life"]] == ["1"]
    assert chosen({"broker": first, "life": replace(later, until=dict.fromkeys(VERSIONS, 2))})["broker"] == [2]


def test_a_kind_is_looked_for_from_a_version_on() -> None:
    shown: Shown = frozenset({("action", "a"), (TAKEN, "P-NEW-ONLINE")})
    assert asked(shown, VERSIONS[0]) == new_to(asked(shown, VERSIONS[0]), VERSIONS[0]) == {("action", "a")}
    assert asked(shown, VERSIONS[-1]) == shown
    assert new_to(shown, VERSIONS[1]) == {(TAKEN, "P-NEW-ONLINE")}
    assert {*VERSIONS} <= {*re.findall(r"^## (\S+)$", (FOLDER / "CHANGELOG.md").read_text("utf-8"), re.MULTILINE)}


def test_what_follows_a_selector_tells_its_branch() -> None:
    def branches(*entries: object) -> list[tuple[str, ...]]:
        return [one[1:] for one in branches_shown(entries)]  # type: ignore[arg-type]

    def asks(selector: str) -> SelectorAsked:
        return SelectorAsked(1, A0, selector)

    unclean = Report(UncleanLeader(A0, 1, (1,)))
    assert branches(GIVEN_UP) == []
    assert branches(asks("offline"), asks("reassigned"), GIVEN_UP) == [
        ("offline", "elects from the ISR"), ("reassigned", "elects nobody"),
    ]  # fmt: skip
    assert branches(asks("offline"), unclean) == [("offline", "elects from outside it")]
    assert branches(asks("offline"), ElectionGivenUp(1, A1, creating=False)) == [("offline", "elects from the ISR")]
    assert branches(asks("preferred")) == [("preferred", "need not elect")]
    assert branches(asks("preferred"), Report(PreferredSelected(2, A0))) == [("preferred", "elects from the ISR")]
    assert branches(asks("preferred"), Report(PreferredSelected(2, A0)), GIVEN_UP) == [("preferred", "elects nobody")]
    assert {*branches(asks("preferred"), asks("offline"), unclean)} < BRANCHES


def test_lines_that_warn_or_tell_of_an_error_are_shown() -> None:
    entries = [StateChange(LeaderElectionStarted(1, 1, A0)), StateChange(ElectionFailed(1, 1, A0, "why")), GIVEN_UP]
    assert [*troubles_shown(entries)] == [(TROUBLE, "ElectionFailed")]
    assert {"ElectionFailed", "ReplicaChangeFailed", "UnknownTopicsIgnored"} < troubles()
    assert "LeaderElectionStarted" not in troubles()


def test_a_claim_is_shown_by_the_step_by_which_it_comes_true_or_breaks() -> None:
    machine = Machine(system(scope("losses")))
    occasions, raw, shown = Occasions(machine), machine.initial, list[frozenset[tuple[str, ...]]]()
    for name in LOST_EPOCH:
        after = machine.enabled(raw)[name]
        shown.append(occasions.by(name, raw, after))
        raw = after
    assert [number for number, one in enumerate(shown) if (BROKEN, "one_term_acts_in_an_epoch") in one] == [10]
    assert [number for number, one in enumerate(shown) if (OCCASION, "the_second_epoch") in one] == [
        5
    ]  # whose answer is lost


def test_there_is_something_of_each_kind_and_what_no_script_can_show_is_of_it() -> None:
    kinds = {kind: there for kind, _, there in there_is()}
    assert (len(kinds[TAKEN]), len(kinds[BRANCH])) == (len(ROWS), 10)
    names = {one.name for one in rules()}
    assert names > OWN | LOST
    assert {"adopt_epoch", "elect_where_allowed", "read_broker_data", "check_imbalance"}.isdisjoint(OWN)
    assert {*BEYOND} <= OWN.union(*kinds.values())
    assert len(BEYOND) == sum(map(len, REASONS.values())), "each has one reason"
    assert {"a_leader_is_elected"} <= kinds[OCCASION]
    assert {"one_term_acts_in_an_epoch"} <= kinds[BROKEN]


def test_a_share_names_what_is_missing() -> None:
    assert share("rows", frozenset("abc"), frozenset("bx")) == "1 of 3 rows; without a, c"
    assert share("rows", frozenset("a"), frozenset("a")) == "1 of 1 rows; without none"


@pytest.mark.parametrize(("number", "told"), [(0, "1 of 10 scripts show all of 2 actions"), (1, "2 of 62 actions of")])
def test_shares_are_told_a_line_each(number: int, told: str) -> None:
    lines = [*told_of({"broker": made({"action: subscribe", "action: elect_read"})})]
    assert lines[number].startswith(told)
    assert len(lines) == 4 + len([*there_is()]) + len(REASONS)


def test_what_is_missing_has_a_reason_and_what_is_shown_has_none() -> None:
    """Of all there is but what has a reason nothing is amiss; one less, or one more, is."""
    kinds = {kind: there for kind, _, there in there_is()}
    walked = {f"{kind}: {name}" for kind, there in kinds.items() for name in there - BEYOND.keys()}
    walked |= {f"action: {one}" for one in OWN | LOST if one not in BEYOND}
    assert amiss({"broker": made(walked)}) == []
    assert amiss({"broker": made(walked | {"action: stop_deletions"})}) == [
        "a walk shows stop_deletions, and a reason says why none does"
    ]
    assert amiss({"broker": made(walked - {"action: subscribe"})}) == [
        "no walk shows subscribe, and no reason is given"
    ]
    assert "no walk shows stop_deletions: it takes a thread that has the lock" in "\n".join(
        told_of({"broker": made(walked)})
    )


def test_what_a_script_by_hand_shows_is_in_its_refs_or_its_lines() -> None:
    """A defect that breaks the claim, or of which the occasion's source tells; lines are those that are compared."""
    by_hand = [one for one in VECTORS if one.group == "case"]
    refs, lines = {ref for one in by_hand for ref in one.refs}, json.dumps([one.then for one in by_hand])
    breaking = {claim: {one.id for one in DEFECTS if one.breaks == claim} for claim in claimed()[1]}
    sources = {one.name: {*re.findall(r"\bD\d+", one.source)} for one in claims()}
    page, broken = (FOLDER.parent / "README.md").read_text("utf-8"), BEYOND.keys() & breaking.keys()
    of_them = len({*REASONS[BY_HAND]} & broken)
    assert f"Of the {len(broken)} claims, for example, scripts by hand break {of_them}." in page
    for name in REASONS[BY_HAND]:
        if name in troubles():
            (kind,) = (one for log in LOGS for one in log.kinds if one.__name__ == name)
            assert max(re.split(r"{[^}]*}", kind.templates[V0102].text), key=len) in lines.replace('\\"', '"'), name
        else:
            assert refs & (breaking.get(name) or sources[name]), name


def test_no_theme_has_what_the_reasons_say_that_none_has() -> None:
    scopes = [theme.scope(name) for name, theme in THEMES.items()]
    assert not any(one.controllers > 1 and "deletion" in one.parts for one in scopes)
    beside = {"deletion", "reassignment", "preferred_election"}
    assert not any("auto_rebalance" in one.parts and beside & one.parts for one in scopes)
    needing = {one.name: one.parts for one in claims()}
    assert all("deletion" in needing[name] for name in REASONS[TWO_AND_A_DELETION])
    assert all("auto_rebalance" in needing[name] for name in REASONS[A_REBALANCE_AND_MORE])
