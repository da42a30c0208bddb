"""Variables in words: no two have one name, and each says whose it is."""

import pytest

from model_check.reasons.names import AFTER, Names
from spec.language.rules import leaves
from spec.model import Model
from spec.scopes import scope, scopes
from spec.state.cluster import shape
from spec.system import instances, is_in_scope, rules
from spec.variants import AS_CODED, FENCED


def names_of(name: str) -> Names:
    return Names(Model(scope(name), AS_CODED))


EVERY_DAY = ("foreign_removal", "deletion_reassignment", "cached_leaderships", "purgatory")


@pytest.mark.parametrize(
    "name", [one if one in EVERY_DAY else pytest.param(one, marks=pytest.mark.slow) for one in scopes()]
)
def test_no_two_variables_have_one_name(name: str) -> None:
    for switches in (AS_CODED, FENCED):
        model = Model(scope(name), switches)
        paths = [one.name for one in leaves(shape(model))]
        told = list(map(Names(model).of, [*paths, *(f"{path}{AFTER}" for path in paths)]))
        assert len(set(told)) == 2 * len(paths)
        assert all(" ".join(one.split()) == one for one in told)


@pytest.mark.parametrize(
    ("path", "told"),
    [
        ("zookeeper.controller", "/controller"),
        ("zookeeper.state[1].isr", "the ISR of [b,0] in ZooKeeper"),
        ("controllers[1].epoch'", "controller 1's epoch after the step"),
        ("controllers[2].partitions[0].leader_epoch", "controller 2's leader epoch of [a,0]"),
        ("controllers[2].partitions[0].replicas[1]", "controller 2's state of [a,0], replica 1"),
        ("controllers[1].watching.brokers", "controller 1's watching brokers"),
        ("brokers[2].partitions[1].version", "broker 2's version of [b,0]"),
        ("processes[1].session", "broker 1's session"),
        ("processes[1].orphan", "broker 1's orphaned session"),
        ("controllers[1].topics[0]", "controller 1's knowledge of topic a"),
        ("history.acted[1]", "the past actions of epoch 1"),
        ("zookeeper.topics[0]", "the znode of topic a in ZooKeeper"),
        ("connections[1][2][0].stage", "the stage in the head of the queue from controller 1 to broker 2"),
        (
            "connections[1][2][1].partitions[0].leader",
            "the leader of [a,0] in place 1 of the queue from controller 1 to broker 2",
        ),
        ("budget.crashes", "what is left of crashes"),
    ],
)  # fmt: skip
def test_a_variable_is_told_by_whose_it_is_what_and_of_what(path: str, told: str) -> None:
    assert names_of("foreign_removal").of(path) == told


@pytest.mark.parametrize("name", ["foreign_removal", "purgatory", "purgatory_updates"])
def test_every_action_and_choice_of_a_scope_has_words(name: str) -> None:
    model = Model(scope(name), AS_CODED)
    names = Names(model)
    for rule in (one for one in rules() if is_in_scope(one, model)):
        told = [names.parameters(one) for one in instances(rule, model)]
        assert len({*told}) == len(told), rule.name
    assert all(names.parameters(one) for one in model.choices(["o", "p"]) or [{"o": 1}])


def test_parameters_are_told_as_the_things_they_number() -> None:
    names = names_of("foreign_removal")
    assert (
        names.parameters({"c": 1, "b": 2, "p": 1, "t": 0, "lost": 2})
        == "controller 1, broker 2, [b,0], topic a, 2 events lost"
    )
    assert Names(None).parameters({"c": 1}) == "controller 1"
    assert Names(None).of("clerks[1].at") == "clerks[1].at"
