"""Random scopes: any brokers and partitions, any parts of the protocol, some faults a few times each.

The manifest's scopes are small enough to be exhausted, and each is about few parts; nobody thought of most of these.

Left out is what the specification leaves out: removals by hand, after which some write in vain; odd lists in a request,
beside deletions; a topic that comes a third time, whose id is that of the first. There are always connections, and
UpdateMetadata where caches are looked at; topics are there where they are both moved and deleted.
"""

from collections.abc import Iterable
from dataclasses import replace
from random import Random

from model_check.refinement.simulate import widened
from spec.scopes import APART, PARTS, Scope

ANY = sorted(PARTS.keys() - APART - {"partitions", "connections"})
ASKED = frozenset({"reassignments", "deletions", "elections", "shutdowns", "additions"})
"""What somebody asks for, without which a part of the protocol has nothing to do."""


def random_scope(random: Random) -> Scope:
    """A scope with room for short walks."""
    brokers, count = random.choice((2, 2, 3)), random.choice((1, 1, 2, 2, 3))
    first_topics = random.randint(1, count)
    parts = _parts(random, can_add=first_topics > 1)
    bounds = Scope(
        name="random",
        statement="Any cluster, any parts.",
        brokers=brokers,
        controllers=random.randint(1, brokers),
        assigned=tuple(_replicas(random, brokers) for _ in range(count)),
        topic_of=tuple(int(p >= first_topics) for p in range(count)),
        added=(first_topics - 1,) if "addition" in parts else (),
        requests=tuple(_requests(random, brokers, count)) if "reassignment" in parts else (),
        parts=parts,
        notification_capacity=2,
        unclean=random.random() < 0.3,
        imbalance_percentage=random.choice((10, 50)),
        topics_stand=parts >= {"reassignment", "deletion"} or random.random() < 0.7,
        cold=random.random() < 0.2,
    )
    return _with_a_few_faults(random, widened(bounds))


def _parts(random: Random, *, can_add: bool) -> frozenset[str]:
    likely = random.choice((0.2, 0.4, 0.6))
    parts = {"partitions", "connections", *(one for one in ANY if random.random() < likely)}
    if not can_add:
        parts -= {"addition"}
    if "addition" in parts:
        parts |= {"creation"}
    if "cached_leaderships" in parts:
        parts |= {"metadata"}
    return frozenset(parts)


def _replicas(random: Random, brokers: int) -> tuple[int, ...]:
    return tuple(random.sample(range(1, brokers + 1), random.randint(1, brokers)))


def _requests(random: Random, brokers: int, count: int) -> Iterable[tuple[tuple[int, ...], ...]]:
    """Two, each of which moves one partition, and perhaps others."""
    for _ in range(2):
        one = random.randrange(count)
        yield tuple(_replicas(random, brokers) if p == one or random.random() < 0.5 else () for p in range(count))


def _with_a_few_faults(random: Random, bounds: Scope) -> Scope:
    """Whatever the parts are for is asked for, mostly; of other faults a few may happen. A topic is created once."""
    possible = dict(bounds.budgets)
    others = random.sample(sorted(possible), min(len(possible), random.randint(2, 6)))
    chosen = {*others, *(one for one in possible if one in ASKED and random.random() < 0.7)}
    limits = {one: 1 if one == "creations" else random.randint(1, 3) for one in possible if one in chosen}
    return replace(bounds, budgets=tuple(limits.items()))
