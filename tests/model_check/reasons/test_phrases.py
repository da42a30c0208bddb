"""A comparison in words: flags, numbers, enumerations, sets and lists of brokers; what has no words keeps its term."""

import pytest
import z3

from model_check.reasons.deciding import Deciding
from model_check.reasons.names import Names
from model_check.reasons.phrases import Phrases
from model_check.terms.straight_line import Valuation
from spec.language.rules import TransitionSystem
from spec.language.terms import FLAG, Value, choose, flag
from spec.language.views import Variable
from spec.model import Model
from spec.scopes import scope
from spec.variants import AS_CODED

MODEL = Model(scope("tiny"), AS_CODED)
BROKERS = MODEL.brokers
KINDS = {
    "zookeeper.epoch": MODEL.controller_epoch, "controllers[1].epoch": MODEL.controller_epoch,
    "controllers[1].active": FLAG, "controllers[1].live": BROKERS.set_kind, "controllers[1].dead": BROKERS.set_kind,
    "zookeeper.state[0].isr": BROKERS.list_kind, "zookeeper.state[0].leader": BROKERS.id_kind,
    "zookeeper.state[0].leader_epoch": MODEL.leader_epoch,
}  # fmt: skip
VARIABLES = tuple(Variable(name, kind, 0) for name, kind in KINDS.items())
SYSTEM = TransitionSystem("some variables", VARIABLES, (), (), MODEL)
EPOCH, MINE, ACTIVE, LIVE, DEAD, ISR, LEADER, LEADER_EPOCH = (kind.variable(name) for name, kind in KINDS.items())
STATE = {
    name: KINDS[name].encode(value)
    for name, value in {
        "zookeeper.epoch": 2, "controllers[1].epoch": 1, "controllers[1].active": True, "controllers[1].live": (1, 3),
        "controllers[1].dead": (2,), "zookeeper.state[0].isr": (3, 1), "zookeeper.state[0].leader": 3,
        "zookeeper.state[0].leader_epoch": 0,
    }.items()
}  # fmt: skip


@pytest.mark.parametrize(
    ("condition", "told"),
    [
        (ACTIVE, "controller 1's active: yes"),
        (~ACTIVE, "controller 1's active: yes"),
        (EPOCH == 1, "/controller_epoch (2) is not 1"),
        (EPOCH == 2, "/controller_epoch is 2"),
        (MINE == EPOCH, "controller 1's epoch (1) is not /controller_epoch (2)"),
        (MINE < EPOCH, "controller 1's epoch (1) is < /controller_epoch (2)"),
        (MINE >= EPOCH, "controller 1's epoch (1) is < /controller_epoch (2)"),
        (LEADER_EPOCH > 0, "the leader epoch of [a,0] in ZooKeeper (0) is not > 0"),
        (LEADER_EPOCH.plus(1) == 0, "the leader epoch of [a,0] in ZooKeeper + 1 (1) is not 0"),
        (LEADER == 0, "the leader of [a,0] in ZooKeeper (3) is not -1"),
        (BROKERS.contains(ISR, 2), "the ISR of [a,0] in ZooKeeper {1,3} lacks broker 2"),
        (BROKERS.contains(ISR, 3), "the ISR of [a,0] in ZooKeeper {1,3} has broker 3"),
        (
            BROKERS.first(ISR) == LEADER,
            "the first of the ISR of [a,0] in ZooKeeper and the leader of [a,0] in ZooKeeper are both 3",
        ),
        (
            BROKERS.is_subset(BROKERS.members(ISR), LIVE),
            "the ISR of [a,0] in ZooKeeper {1,3} is within controller 1's live brokers {1,3}",
        ),
        (BROKERS.is_subset(LIVE, DEAD), "controller 1's live brokers {1,3} is not within controller 1's dead {2}"),
        (BROKERS.disjoint(LIVE, DEAD), "controller 1's live brokers {1,3} and controller 1's dead {2} share nothing"),
        (
            BROKERS.union(LIVE, DEAD) == BROKERS.empty_set(),
            "controller 1's live brokers with controller 1's dead ({1,2,3}) is not {}",
        ),
        (
            BROKERS.difference(LIVE, DEAD) == DEAD,
            "controller 1's live brokers without controller 1's dead ({1,3}) is not controller 1's dead ({2})",
        ),
        (choose(ACTIVE, EPOCH, MINE) == 1, "/controller_epoch (2) is not 1"),
        (
            BROKERS.without(ISR, 1) == ISR,
            "the ISR of [a,0] in ZooKeeper without 1 ([3]) is not the ISR of [a,0] in ZooKeeper ([3, 1])",
        ),
    ],
)  # fmt: skip
def test_a_comparison_is_told_with_the_values_that_it_goes_by(condition: Value, told: str) -> None:
    values, term = Valuation(STATE), flag(condition).term
    if z3.is_not(term):
        term = term.arg(0)
    assert Phrases(SYSTEM, values, Names(MODEL)).of(Deciding(term, bool(values(term)))) == told


def test_what_has_no_words_is_told_as_z3_has_it_with_its_values() -> None:
    term = z3.Distinct(LIVE.term, DEAD.term)
    told = Phrases(SYSTEM, Valuation(STATE), Names(MODEL)).of(Deciding(term, holds=True))
    values = "where controller 1's dead = {2}, controller 1's live brokers = {1,3}"
    assert told == f"so: controllers[1].live != controllers[1].dead, {values}"
