"""Random runs: as many and as long as asked for, the same for the same seed, and faults are found by short stories."""

from functools import cache
from random import Random
from typing import Any

import pytest

from model_check.refinement.lockstep import Disagreement, Pair, Sides
from model_check.refinement.simulate import BY_HAND, chosen, first_disagreement, shortened, simulate, widened
from reference.controller.effects import ResignDelete
from reference.memory import steps as memory_steps
from reference.memory.choices import Choice
from reference.memory.cluster import MemoryCluster, lacking
from reference.procedures import Script
from spec.errors import BadInput
from spec.model import Model
from spec.protocol.controller.failed_sends import BESIDE
from spec.scopes import BUDGETS, scope, scopes
from spec.system import instances, is_in_scope, rules
from spec.variants import AS_CODED, FENCED, Switches
from tests.model_check.side_by_side import SideBySide


def sides(name: str, switches: Switches = AS_CODED) -> Sides:
    return _sides(name, switches)


@cache
def _sides(name: str, switches: Switches) -> Sides:
    return Sides(widened(scope(name)), switches)


@pytest.mark.parametrize("runs", [1, *(pytest.param(one, marks=pytest.mark.slow) for one in (15, 100))])
@pytest.mark.takes("Both sides are made, once for other tests, too, and take two hundred steps.")
def test_runs_of_two_hundred_steps_are_all_steps_of_the_specification(runs: int) -> None:
    """Hypothesis now and then breaks a run off and begins another in its place."""
    both, begun = sides("tiny"), list[int]()
    done = simulate(both, runs=runs, steps=200, number=3, progress=begun.append)
    assert begun == list(range(1, len(done.lengths) + 1))
    assert sum(length == 200 for length in done.lengths) == runs
    assert len(done.lengths) <= max(runs * 1.1, runs + 2)
    assert sum(done.by_rule.values()) == sum(done.lengths)


@pytest.mark.slow
def test_runs_take_every_rule_but_rare_ones() -> None:
    """What Hypothesis draws depends on the modules that are loaded, too; so there are runs until all were taken."""
    both = sides("tiny")
    missed = {action.rule for action in both.system.actions}
    for number in range(3, 24):
        if not missed <= RARE:
            missed -= set(simulate(both, runs=15, steps=200, number=number).by_rule)
    assert missed <= RARE


RARE = {
    "create_state", "create_state_unanswered", "create_epoch", "create_epoch_unanswered", "fail_registration",
    "close_failed_startup",
}  # fmt: skip
"""The topic and the first epoch are there from the outset; the last two take a restart that overtakes its session."""


@pytest.mark.parametrize(
    ("name", "switches", "runs", "steps"),
    [("tiny", AS_CODED, 2, 30), pytest.param("epochs", FENCED, 3, 50, marks=pytest.mark.slow)],
)
def test_the_same_seed_gives_the_same_runs_and_another_one_others(
    name: str, switches: Switches, runs: int, steps: int
) -> None:
    both = sides(name, switches)
    one, same, other = (simulate(both, runs=runs, steps=steps, number=number) for number in (5, 5, 6))
    assert one == same
    assert one != other


def takes_the_session_along(patch: pytest.MonkeyPatch) -> None:
    def crash(cluster: MemoryCluster, *, b: int) -> None:
        memory_steps.forget(cluster, b)

    patch.setattr(memory_steps, "crash", crash)


def tells_nobody(patch: pytest.MonkeyPatch) -> None:
    patch.setattr("reference.controller.batch._send_leader_and_isr", lambda *_: None)


def forgets_to_delete(patch: pytest.MonkeyPatch) -> None:
    """A resignation leaves /controller where it is, so there is no answer of its delete to be lost either."""

    def script(_: ResignDelete) -> Script[None]:
        yield from ()

    patch.setattr(ResignDelete, "script", script)


@pytest.mark.parametrize(
    ("name", "plant", "last", "reason"),
    [
        ("tiny", takes_the_session_along, "crash", "processes[1].orphan is"),
        pytest.param(
            "tiny",
            tells_nobody,
            "",
            "].stage is LEADER_AND_ISR in the specification, EMPTY in the reference",
            marks=pytest.mark.slow,
        ),
        pytest.param("left_overs", forgets_to_delete, "", "resign_delete_unanswered", marks=pytest.mark.slow),
    ],
)
def test_a_planted_fault_is_found_and_told_shortly(
    name: str, plant: Any, last: str, reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    both = sides(name)
    both.initial()
    plant(monkeypatch)
    with pytest.raises(Disagreement) as found:
        simulate(both, runs=50, steps=60, number=2)
    steps = found.value.steps
    assert len(steps) <= 20
    assert steps[-1].startswith(last)
    assert any(reason in one for one in found.value.reasons)
    again = first_disagreement(both, steps)
    assert again is not None
    assert (again.steps, again.reasons) == (steps, found.value.reasons)
    for place in range(len(steps)):
        shorter = first_disagreement(both, (*steps[:place], *steps[place + 1 :]))
        assert shorter is None or len(shorter.steps) >= len(steps)


def test_ctrl_c_after_a_disagreement_loses_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    both, parted = sides("tiny"), list[Disagreement]()
    both.initial()
    takes_the_session_along(monkeypatch)
    take = both.take

    def watched(*given: Any) -> Pair:
        try:
            return take(*given)
        except Disagreement as found:
            parted.append(found)
            raise

    monkeypatch.setattr(both, "take", watched)
    with pytest.raises(Disagreement) as found:
        simulate(both, runs=50, steps=60, number=2, stop=lambda: bool(parted))
    assert found.value.reasons == parted[0].reasons
    assert found.value.steps == parted[0].steps, "not shortened any more"


def test_what_cannot_be_shortened_stays() -> None:
    both, found = sides("tiny"), Disagreement(("crash(b=1)",), ("a reason of no one's",))
    assert shortened(both, found) is found
    assert first_disagreement(both, ("crash(b=1)", "no_such_step(c=1)")) is None


SAME_WRITE = """
expire_session(b=1, lost=0) -> on_controller_change(c=2) -> renew_session(b=1) -> on_new_session(c=1) ->
elect_read(c=1) -> elect_create(c=1) -> read_epoch(c=1) -> increment_epoch(c=1) -> subscribe(c=1) ->
expire_session(b=1, lost=1) -> elect_read(c=2) -> elect_create(c=2) -> read_epoch(c=2) ->
increment_epoch_unanswered(c=2) -> renew_session(b=1) -> read_brokers(c=1) -> increment_epoch(c=2) -> subscribe(c=2) ->
read_brokers(c=2) -> read_topics(c=1) -> read_state(c=1, p=0) -> read_topics(c=2) -> read_state(c=2, p=0) ->
read_for_election(c=1, p=0) -> read_for_election(c=2, p=0) -> write_elected_leader(c=2, p=0)
"""
"""Two controllers come to epoch 2, and both are about to write the same."""


def test_a_write_that_finds_its_very_content_counts_as_done_whoever_wrote_it() -> None:
    both = SideBySide(widened(scope("small")))
    both.do(*(step.strip() for step in SAME_WRITE.replace("\n", " ").split("->")))
    znode, cached = "zookeeper.state[0].version", "controllers[1].partitions[0].version"
    before = both[znode]
    assert int(both[cached]) < int(before)
    both.do("write_elected_leader(c=1, p=0)")
    assert both[znode] == both[cached] == before


# A broker reassigns a partition that it leads; its ISR write is repeated, fails on the version, and reads the znode.
OWN_REASSIGNMENT = """
    request_reassignment(k=0) -> on_reassignment_request(c=1) -> accept_reassignment(c=1, p=0)
    -> shrink_isr_unanswered(b=1, p=0, r=2) -> rewrite_isr(b=1, p=0)
"""


def test_who_reads_after_a_failed_isr_write_sets_no_watch() -> None:
    both = SideBySide(widened(scope("late_copies")))
    both.do(*(one.strip() for one in OWN_REASSIGNMENT.replace("\n", " ").split("->")))
    assert both["controllers[1].isr_watching[0]"] == "no"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "told"), [("small", f"{SAME_WRITE} -> write_elected_leader(c=1, p=0)"), ("late_copies", OWN_REASSIGNMENT)]
)
def test_all_along_these_stories_both_can_do_the_same(name: str, told: str) -> None:
    """Every day only the steps themselves are compared, as above."""
    both, steps = sides(name), tuple(one.strip() for one in told.replace("\n", " ").split("->"))
    assert len(both.story(steps).actions) == len(steps)
    assert first_disagreement(both, steps) is None


def choice(rule: str, number: int = 1) -> Choice:
    return Choice(rule, (("b", number),), lambda _: None)


def test_one_number_in_eight_is_a_fault_and_rules_take_turns() -> None:
    many = [*(choice("deliver_request", number) for number in range(5)), choice("elect_read"), choice("crash")]
    possible = {one.name: one for one in many}
    enabled: Any = dict.fromkeys(possible, ())
    picked = [chosen(possible, enabled, number) for number in range(8 * 2 * 5)]
    rules = [one.rule for one in picked if one is not None]
    assert [rules.count(rule) for rule in ("crash", "deliver_request", "elect_read")] == [10, 35, 35]
    assert {one.name for one in picked if one} == set(possible)


def test_at_rest_there_are_only_faults_and_then_nothing() -> None:
    crash = choice("crash")
    assert chosen({crash.name: crash}, {crash.name: ()}, 0) is crash
    assert chosen({crash.name: crash}, {}, 0) is None


@pytest.mark.parametrize("name", ["tiny", "election", "move", "deletion", "failed_send"])
def test_a_widened_scope_has_every_fault_that_its_rules_draw_on(name: str) -> None:
    wide = widened(scope(name))
    model = Model(wide, AS_CODED)
    acting = [one for one in rules() if is_in_scope(one, model) and any(True for _ in instances(one, model))]
    idle = dict(wide.budgets).keys() - {one.budget for one in acting}
    assert idle <= {"joint_shrinks"}, "of two brokers never do two lag behind"
    assert wide.budget("crashes") * 8 > 200
    for kept in ("brokers", "controllers", "assigned", "parts", "unclean", "cold"):
        assert getattr(wide, kept) == getattr(scope(name), kept)


def test_each_fault_but_removals_by_hand_is_one_of_some_widened_scope() -> None:
    wide = [widened(one) for one in scopes().values() if not lacking(one)]
    assert set().union(*(dict(one.budgets) for one in wide)) == {*BUDGETS} - {"updates"} - BY_HAND
    assert all((one.parts <= BESIDE) == bool(one.budget("failed_sends")) for one in wide)


@pytest.mark.parametrize(
    "name", [pytest.param(one, marks=[pytest.mark.slow] * (place % 4 > 0)) for place, one in enumerate(scopes())]
)
def test_every_scope_can_begin_a_run_or_is_refused(name: str, pytestconfig: pytest.Config) -> None:
    """Also one where nobody tells the brokers what they lead, as its start has it.

    Every day one in four, only with the wide bounds of a run; with --deep all, also with their own.
    """
    if lacking(scope(name)):
        with pytest.raises(BadInput, match=f"explore {name}`"):
            widened(scope(name))
        return
    for bounds in (widened(scope(name)), *([scope(name)] if pytestconfig.getoption("--deep") else [])):
        assert list(SideBySide(bounds)._differences()) == []


@pytest.mark.slow
@pytest.mark.parametrize("name", ["small", "epochs", "partitions", "metadata", "notifications", "unclean"])
@pytest.mark.parametrize("switches", [AS_CODED, FENCED])
def test_more_of_everything(name: str, switches: Switches) -> None:
    done = simulate(sides(name, switches), runs=100, number=7)
    assert sum(length == 200 for length in done.lengths) == 100


LATER_PARTS = {
    "preferred_election": "on_election_request",
    "out_of_sync_rebalance": "rebalance_partition",
    "shutdown": "move_partition",
    "addition_deletion": "write_addition",
    "move": "write_union",
    "reassignment_again": "write_target",
    "recreation": "delete_topic",
    "rebalance": "rebalance_partition",
    "addition_reassignment": "write_union",
}
"""Scopes of the parts that were specified last, each with a rule that even short runs come to."""

SELDOM = {"rebalance", "addition_reassignment", "reassignment_again", "recreation"}
"""Not every day."""


@pytest.mark.slow
@pytest.mark.parametrize(("name", "rule"), LATER_PARTS.items())
def test_short_runs_of_the_later_parts_until_a_rule_of_theirs_is_taken(name: str, rule: str) -> None:
    done = [simulate(sides(name), runs=4, steps=60, number=7)]
    while not done[-1].by_rule[rule] and len(done) < 40:
        done.append(simulate(sides(name), runs=2, steps=60, number=7 + len(done)))
    assert done[-1].by_rule[rule] > 0


@pytest.mark.parametrize("name", [pytest.param(one, marks=[pytest.mark.slow] * (one in SELDOM)) for one in LATER_PARTS])
def test_walks_of_the_later_parts_agree(name: str) -> None:
    """Without a system: the specification's text is run as it stands."""
    both, random = SideBySide(widened(scope(name))), Random(7)
    for _ in range(4):
        assert list(both.walk(random, 60))


@pytest.mark.slow
@pytest.mark.parametrize("name", LATER_PARTS)
def test_more_of_the_later_parts(name: str) -> None:
    done = simulate(sides(name, FENCED), runs=30, number=7)
    assert sum(length == 200 for length in done.lengths) == 30
