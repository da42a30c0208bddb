"""Stories of zombies, step by step: the last step breaks what is claimed, and the reference does all of it, too."""

from typing import Final, NamedTuple

import pytest

from model_check.refinement.lockstep import Sides
from model_check.refinement.simulate import first_disagreement
from spec.defects import DEFECTS
from spec.properties import claim_named
from spec.scopes import scope
from spec.variants import AS_CODED, Switch
from tests.spec.stepping import Run


class Story(NamedTuple):
    """The steps of a shortest story of a defect, and the one that the fix takes away."""

    steps: tuple[str, ...]
    prevented: str


ELECTED: Final = ("elect_read(c=2)", "elect_create(c=2)", "read_epoch(c=2)", "increment_epoch(c=2)", "subscribe(c=2)")

STORIES: Final = {
    "D5": Story(
        (
            "expire_session(b=2, lost=0)", "on_broker_change(c=1)", "read_for_removal(c=1, p=0, r=2)",
            "renew_session(b=2)", "on_new_session(c=2)", "elect_read(c=2)", "register_broker(b=2)",
            "expire_session(b=1, lost=0)", "on_controller_change(c=2)", *ELECTED, "renew_session(b=1)",
            "read_brokers(c=2)", "read_topics(c=2)", "read_state(c=2, p=0)", "write_removal(c=1, p=0, r=2)",
            "deliver_request(c=2, b=2)",
        ),
        prevented="write_removal(c=1, p=0, r=2)",
    ),
    "D52-topic": Story(
        (
            "request_reassignment(k=0)", "on_reassignment_request(c=1)", "accept_reassignment(c=1, p=0)",
            "read_whether_caught_up(c=1, p=0)", "write_union(c=1, p=0)", "read_for_bump(c=1, p=0)",
            "write_bump(c=1, p=0)", "start_new_replica(c=1, p=0, r=2)", "deliver_request(c=1, b=2)",
            "deliver_request(c=1, b=1)", "expand_isr(b=1, p=0, r=2)", "on_state_change(c=1, p=0)",
            "request_deletion(t=0)", "read_whether_caught_up(c=1, p=0)", "expire_session(b=1, lost=1)",
            "on_controller_change(c=2)", *ELECTED, "read_brokers(c=2)", "read_topics(c=2)", "read_state(c=2, p=0)",
            "read_reassignments(c=2)", "read_deletions(c=2)", "accept_reassignment(c=2, p=0)",
            "read_whether_caught_up(c=2, p=0)", "deliver_request(c=2, b=2)", "read_for_move(c=2, p=0)",
            "write_move(c=2, p=0)", "read_for_removal(c=2, p=0, r=1)", "write_removal(c=2, p=0, r=1)",
            "write_target(c=2, p=0)", "read_remaining(c=2, p=0)", "write_remaining(c=2, p=0)", "finish_failover(c=2)",
            "deliver_request(c=2, b=2)", "deliver_request(c=2, b=2)", "delete_queued_topic(c=2, t=0)",
            "read_for_removal(c=2, p=0, r=2)", "write_removal(c=2, p=0, r=2)", "deliver_request(c=2, b=2)",
            "deliver_deletion(c=2, b=2, p=0)", "on_replica_deleted(c=2, b=2, p=0)", "delete_queued_topic(c=2, t=0)",
            "delete_state(c=2, p=0)", "delete_topic(c=2, t=0)", "delete_configuration(c=2, t=0)",
            "delete_request(c=2, t=0)", "renew_session(b=1)", "read_for_move(c=1, p=0)",
            "read_for_removal(c=1, p=0, r=1)", "write_target(c=1, p=0)",
        ),
        prevented="write_target(c=1, p=0)",
    ),
}  # fmt: skip

DEFECT = {one.id: one for one in DEFECTS}


def told(id: str, *switches: Switch) -> Run:  # noqa: A002 - the name that PROTOCOL.md gives it
    """The story up to the step that the fix takes away, which is next."""
    bounds, story = scope(DEFECT[id].scope), STORIES[id]
    run = Run(bounds, frozenset(switches), **dict(bounds.budgets))
    run.do(*story.steps[: story.steps.index(story.prevented)])
    return run


@pytest.mark.parametrize("id", STORIES)
def test_a_story_has_the_defining_steps_and_breaks_its_claim_with_the_last_step(id: str) -> None:  # noqa: A002
    one, steps = DEFECT[id], STORIES[id].steps
    assert len(steps) == one.first_depth
    rules = iter(step.partition("(")[0] for step in steps)
    assert all(rule in rules for rule in one.defining)
    run = told(id)
    run.do(*steps[steps.index(STORIES[id].prevented) : -1])
    claim = claim_named(one.breaks)
    if claim.kind == "step":
        assert not run.holds(one.breaks, steps[-1])
    else:
        assert run.holds(one.breaks)
        run.do(steps[-1])
        assert not run.holds(one.breaks)


@pytest.mark.parametrize("id", STORIES)
def test_a_zombie_that_is_fenced_off_writes_nothing_and_gives_up(id: str) -> None:  # noqa: A002
    run = told(id, Switch.FENCED_WRITES)
    before = dict(run.state)
    run.do(STORIES[id].prevented)
    assert not run.differs_from(before, "zookeeper")
    assert run["controllers[1].active"] == "no"


@pytest.mark.parametrize("id", ["D5", pytest.param("D52-topic", marks=pytest.mark.slow)])
def test_the_reference_does_all_of_it(id: str) -> None:  # noqa: A002 - the name that PROTOCOL.md gives it
    assert first_disagreement(Sides(scope(DEFECT[id].scope), AS_CODED), STORIES[id].steps) is None


def test_what_a_broker_is_told_in_d5_is_older_than_the_znode_and_not_what_the_new_controller_reads() -> None:
    run = told("D5")
    known = run.leadership("controllers[2].partitions[0]")
    assert run.holds(DEFECT["D5"].breaks, "deliver_request(c=2, b=2)")
    run.do("write_removal(c=1, p=0, r=2)")
    assert not run.holds(DEFECT["D5"].breaks, "deliver_request(c=2, b=2)")
    assert run.leadership("zookeeper.state[0]") == ("1", "[1]", "1")
    assert run.leadership("controllers[2].partitions[0]") == known == ("1", "[1, 2]", "0")
    assert run.leadership("connections[2][2][0].partitions[0]") == known


def test_what_comes_back_in_d52_is_an_assignment_and_nothing_else() -> None:
    run = told("D52-topic")
    assert (run["zookeeper.topics[0]"], run["zookeeper.assigned[0]"]) == ("no", "[]")
    run.do("write_target(c=1, p=0)")
    assert (run["zookeeper.topics[0]"], run["zookeeper.assigned[0]"]) == ("yes", "[2]")
    assert (run["zookeeper.configurations[0]"], run["zookeeper.state[0].version"]) == ("no", "-1")
