"""The whole system: `system(scope, switches)` puts the parts together.

It lays out the variables, runs every rule once for each choice of its parameters, and instantiates every claim. What a
scope leaves out (a part that is off, a fault without a budget) contributes neither variable nor action.

It is imported from here, since the package cannot have a function of its module's name. Without switches it is Kafka's
code (AS_CODED), as for every verb of `kcheck`: what Kafka did is the question, unless another is asked, and recordings
of it are judged so. What its documentation meant (DOCUMENTED) is one switch away.
"""

from collections.abc import Iterable, Iterator, Mapping
from itertools import product

from spec import properties
from spec.collector import without_collector
from spec.language.broker_lists import plain
from spec.language.rules import Action, Rule, TransitionSystem, View, instantiate, leaves, parameter_names, rules_of
from spec.model import Model
from spec.protocol import delayed_operations, handlers
from spec.protocol.broker_events import broker_changes, controlled_shutdown, isr_notification
from spec.protocol.brokers import isr_changes
from spec.protocol.brokers import processes as processes_and_sessions
from spec.protocol.controller import early_reads, epoch_listener, failed_sends
from spec.protocol.controller import threads as controller_threads
from spec.protocol.deletion import completion as deletion_completion
from spec.protocol.deletion import lost_answers as lost_deletions
from spec.protocol.deletion import requests as deletion_requests
from spec.protocol.deletion import thread as topic_deletion
from spec.protocol.elections import allowed, rebalance, requested
from spec.protocol.failover import election as controller_election
from spec.protocol.failover import steps as controller_failover
from spec.protocol.leadership import partitions as partition_leadership
from spec.protocol.leadership import replicas as replica_transitions
from spec.protocol.reassignment import lost_answers as lost_reassignment_writes
from spec.protocol.reassignment import phase_a, phase_b
from spec.protocol.reassignment import requests as reassignment_requests
from spec.protocol.reassignment import steps as reassignment
from spec.protocol.requests import connections, failed_deletions, half_requests, single_stops
from spec.protocol.requests import late_copies as late_requests
from spec.protocol.topics import addition as partition_addition
from spec.protocol.topics import creation as topics
from spec.protocol.topics import edit_by_hand
from spec.protocol.topics import removal_by_hand as foreign_removal
from spec.said_before import said_before
from spec.scopes import Scope
from spec.state import purgatory as purgatory_state
from spec.state.enumerations import Callback
from spec.state.listeners import listened_paths
from spec.state.start import running
from spec.variants import AS_CODED, Switches, show_switches

CONTINUATIONS = handlers
"""What the rules of all parts go on with; it has no rules of its own, and must be read where they are."""

MODULES = (
    processes_and_sessions, controller_threads, controller_election, controller_failover, partition_leadership,
    replica_transitions, broker_changes, topics, partition_addition, foreign_removal, deletion_requests, topic_deletion,
    deletion_completion, lost_deletions, connections, isr_changes, isr_notification, reassignment_requests,
    reassignment, phase_a, phase_b, lost_reassignment_writes, requested, rebalance, controlled_shutdown, single_stops,
    late_requests, epoch_listener, early_reads, failed_sends, allowed, half_requests, failed_deletions,
    edit_by_hand, delayed_operations,
)  # fmt: skip


def rules() -> Iterator[Rule]:
    """Every rule of the protocol, in the order of the parts."""
    for module in MODULES:
        yield from rules_of(module)


@without_collector()
def system(
    scope: Scope, switches: Switches = AS_CODED, *, proving: bool = False, claims: bool = True, lines: bool = False
) -> TransitionSystem:
    """The transition system of a scope under a set of switches, with its claims, and with lines of logs if asked for.

    `proving` lifts the budgets and makes epochs and versions mathematical integers; everything else is the same text.
    """
    m = Model(scope, switches, proving)
    before = said_before(m)

    def made(rule: Rule, each: Mapping[str, int]) -> tuple[Action, View]:
        what = rule, tuple(each.items()), lines
        return before.said(m, what, lambda: instantiate(rule, before.place, m, each, lines=lines))

    steps = [made(rule, each) for rule in rules() if is_in_scope(rule, m) for each in instances(rule, m)]
    variables = tuple(leaves(before.shape)) if scope.cold or proving else running(m, before.shape)
    claimed = properties.instantiate_claims(m, before, steps) if claims else ()
    return TransitionSystem(
        f"{scope.name} {show_switches(switches)}", variables, tuple(one for one, _ in steps), claimed, m
    )


def is_in_scope(rule: Rule, m: Model) -> bool:
    """Whether the scope has the rule's parts, and a budget for it if it is a fault."""
    if not m.is_about(rule.parts):
        return False
    return rule.budget is None or m.scope.budget(rule.budget) > 0


def instances(rule: Rule, m: Model) -> Iterator[Mapping[str, int]]:
    """Every choice of a rule's parameters in a model."""
    domains: dict[str, Iterable[int]] = {
        **m.domains,
        "n": m.notices.ids,
        "h": sorted({h for p in m.partitions for one in m.named(p) for h in plain(one)[:1]}),
        "named": range(1, 1 << len(m.partitions)),
        "r": m.brokers.ids,
        "lost": range(m.scope.callback_capacity + 1),
        "heard": (1, 2),
        "done": range(1 << len(m.partitions)),
        "lagging": range(1, 1 << len(m.brokers.ids)),
        "callback": [list(Callback).index(one) for one in _controllers_callbacks(m)],
        "k": range(len(m.scope.requests)),
        "e": range(len(m.scope.edited)),
    }
    if m.has(purgatory_state.PART):
        domains = dict(purgatory_state.domains(m))
    names = parameter_names(rule)
    for values in product(*(domains[name] for name in names)):
        parameters = dict(zip(names, values, strict=True))
        if _makes_sense(parameters, m):
            yield parameters


def _controllers_callbacks(m: Model) -> Iterator[Callback]:
    """The callbacks of listeners that may do nothing while their broker is not the active controller."""
    yield from listened_paths(m).values()
    if m.has("addition"):
        yield Callback.MODIFICATIONS
    if m.has("reassignment"):
        yield Callback.STATE


def _makes_sense(parameters: Mapping[str, int], m: Model) -> bool:
    """A replica is one of its partition's, followers that lag are several; only an eligible controller loses events."""
    if m.has(purgatory_state.PART):
        return purgatory_state.makes_sense(parameters, m)
    if "r" in parameters and parameters["r"] not in m.assigned(parameters["p"]):
        return False
    if "lagging" in parameters:
        lagging, followers = m.brokers.ids_in(parameters["lagging"]), {*m.assigned(parameters["p"])} - {parameters["b"]}
        if len(lagging) < 2 or not followers.issuperset(lagging):
            return False
    if {"b", "p"} <= parameters.keys() and parameters["b"] not in m.assigned(parameters["p"]):
        return False
    if parameters.get("b") is not None and parameters.get("b") == parameters.get("r"):
        return False
    return not ((parameters.get("lost") or parameters.get("heard")) and parameters["b"] not in m.controllers)
