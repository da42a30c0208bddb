"""The manifest as a whole: what is idle or unwitnessed in every scope is found."""

import pytest

from model_check.verdicts.manifest_checks import check_manifest
from model_check.verdicts.results import Comparison
from model_check.verdicts.verdict import Verdict
from spec.expectations import plans
from spec.properties import claims
from spec.system import rules
from spec.tables.taken_rows import ROWS


def comparison(about: str, *, tiny: str = "", election: str = "") -> Comparison:
    """What the check says of one name, with a line in the expectations of two scopes, and no other scope."""
    counts = {"states": 1, "transitions": 0, "depth": 0, "digest": "1-0"}
    tables = {name: _table(line) for name, line in {"tiny": tiny, "election": election}.items()}
    given = {name: {"expect": {"AS_CODED": {**counts, **table}}} for name, table in tables.items()}
    run = check_manifest(plans({"scope": given}))
    return next(one for one in run.comparisons if one.about == about)


def _table(line: str) -> dict[str, object]:
    key, _, name = line.partition(" ")
    return {} if not line else {key: {name: "why"} if key == "incomplete" else [name]}


def test_every_witness_every_rule_and_every_row_is_asked_for_once() -> None:
    run = check_manifest(plans({"scope": {}}))
    wanted = [one.name for one in claims() if one.kind == "sometimes"] + [one.name for one in rules()] + list(ROWS)
    assert [one.about for one in run.comparisons] == wanted
    assert run.verdict is Verdict.VIOLATED


@pytest.mark.parametrize("key", ["unwitnessed", "incomplete"])
def test_a_witness_in_one_scope_is_enough_and_in_none_is_too_few(key: str) -> None:
    line = f"{key} two_controllers_act"
    assert comparison("two_controllers_act").found == "election, tiny"
    assert comparison("two_controllers_act", tiny=line).found == "election"
    assert not comparison("two_controllers_act", tiny=line, election=line).is_met


def test_a_scope_without_the_parts_shows_nothing() -> None:
    assert comparison("a_leader_is_elected").found == "tiny"
    assert comparison("deliver_request").found == "tiny"


def test_a_rule_must_fire_somewhere() -> None:
    assert comparison("elect_create", tiny="never_fired elect_create").found == "election"
    assert not comparison("deliver_request", tiny="never_fired deliver_request").is_met


def test_a_row_must_be_taken_somewhere_by_the_code_as_it_is() -> None:
    def taken(variant: str) -> Comparison:
        counts = {"states": 1, "transitions": 0, "depth": 0, "digest": "1-0", "rows": {"P-NEW-OFFLINE": 33}}
        run = check_manifest(plans({"scope": {"tiny": {"expect": {variant: counts}}}}))
        return next(one for one in run.comparisons if one.about == "P-NEW-OFFLINE")

    assert taken("AS_CODED").found == "tiny"
    assert not taken("FENCED").is_met


def test_what_is_not_to_be_proved_must_be_broken_by_an_exploration_of_that_variant() -> None:
    def refuted(variant: str, violated: dict[str, int]) -> Comparison:
        counts = {"states": 1, "transitions": 0, "depth": 0, "digest": "1-0", "violated": violated}
        entry = {"expect": {"AS_CODED": counts}, "prove": {variant: {"violated": ["one_term_acts_in_an_epoch"]}}}
        return check_manifest(plans({"scope": {"tiny": entry}})).comparisons[-1]

    assert refuted("AS_CODED", {"one_term_acts_in_an_epoch": 12}).is_met
    assert not refuted("AS_CODED", {}).is_met
    assert not refuted("FENCED", {"one_term_acts_in_an_epoch": 12}).is_met
