"""The abstraction of one model, part by part: what cannot have changed since it was read is not read again.

A step changes a process or two, and perhaps ZooKeeper's tree. Each part of what is said tells what it is read from, by
naming the notes that stand for that (`Notes`), and what else counts; there it is kept until one of them is another. Two
processes of a number that have the same in their memories are told apart by nothing, so what was read of the one holds
of the other.
"""

from collections.abc import Callable, Hashable, Iterator, Mapping
from functools import partial
from itertools import chain
from operator import itemgetter
from typing import TypeAlias

from model_check.refinement.abstraction.assignments import begun, tool
from model_check.refinement.abstraction.cluster import memory_of, read_before, session, watches, zookeeper
from model_check.refinement.abstraction.connections import late_copies
from model_check.refinement.abstraction.leadership import Named, flags
from model_check.refinement.fingerprint import memory
from model_check.refinement.history import History
from model_check.terms.python_code import Raw
from reference.forking import Notes
from reference.memory.cluster import MemoryCluster
from reference.memory.process import MemoryProcess
from spec.language.terms import Kind
from spec.language.views import leaves
from spec.model import Model
from spec.state.cluster import epochs_acted_in, shape

Says: TypeAlias = Callable[[MemoryCluster, History], Named]
Kept: TypeAlias = Callable[[MemoryCluster, History], tuple[Notes, Hashable]]


class Part:
    """Some of the variables, always the same ones; nothing is read for them but what they are kept by."""

    def __init__(self, says: Says, kept: Kept) -> None:
        self.says, self.kept = says, kept
        self.places: tuple[int, ...] | None = None
        """The variables' places in a state."""


class Abstraction:
    """The abstraction for one model; `names` are the specification's variables in their order.

    It says what any model keeps; what this one does not keep is left out.
    """

    def __init__(self, m: Model, kinds: Mapping[str, Kind]) -> None:
        self.names = tuple(kinds)
        self._left_out = frozenset(one.name for one in leaves(shape(m), kept=False))
        raws: dict[Kind, dict[object, int]] = {}
        self._kinds = {
            name: (place, kind, raws.setdefault(kind, {})) for place, (name, kind) in enumerate(kinds.items())
        }
        self.parts = [*_of_all(m), *chain.from_iterable(map(partial(_of_process, m), m.brokers.ids))]
        self.parts += chain.from_iterable(map(partial(_of_controller, m), m.controllers))
        self._in_order: Callable[[Raw], Raw] | None = None

    def __call__(self, cluster: MemoryCluster, history: History) -> Raw:
        """The raw value of every variable, in order; KeyError names those that lack or are unknown."""
        said = [self.read(part, cluster, history) for part in self.parts]
        if self._in_order is None:
            self._in_order = self._settled()
            return self(cluster, history)
        return self._in_order(tuple(chain.from_iterable(said)))

    def _settled(self) -> Callable[[Raw], Raw]:
        """Leave out the parts that say nothing in this model, and put the variables of the others in their order."""
        self.parts = [part for part in self.parts if part.places]
        said = (place for part in self.parts for place in part.places or ())
        found = {place: number for number, place in enumerate(said)}
        if lacking := [name for place, name in enumerate(self.names) if place not in found]:
            raise KeyError(f"the abstraction says nothing of {', '.join(lacking)}")
        return itemgetter(*(found[place] for place in range(len(self.names))))

    def read(self, part: Part, cluster: MemoryCluster, history: History) -> Raw:
        """What a part says, if that is not kept."""
        notes, key = part.kept(cluster, history)
        kept: Raw | None = notes.get((part, key))
        if kept is None:
            kept = notes[part, key] = self.placed(part, part.says(cluster, history))
        return kept

    def placed(self, part: Part, said: Named) -> Raw:
        """The raw values of a part's variables; a value is encoded once for its kind."""
        places, found = list[int](), list[int]()
        for name, value in said:
            if name in self._left_out:
                continue
            place, kind, raws = self._kinds[name]
            raw = raws.get(value)
            if raw is None:
                raw = raws[value] = kind.encode(value)
            places.append(place)
            found.append(raw)
        if part.places is None:
            part.places = tuple(places)
        elif part.places != tuple(places):
            raise RuntimeError(f"a part of the abstraction speaks now of these variables, now of others: {said}")
        return tuple(found)


# ----------------------------------------------------------------------------------------------------------- the parts


def _of_all(m: Model) -> Iterator[Part]:
    """The parts that are of no single process."""
    others = Notes()
    yield Part(
        lambda cluster, _: zookeeper(m, cluster), lambda cluster, _: (cluster.zookeeper.notes, _orphans(cluster))
    )
    yield Part(lambda cluster, _: tool(cluster), lambda cluster, _: (others, _read_by_tool(cluster)))
    yield Part(lambda cluster, history: _history(m, cluster, history), lambda _, history: (history.notes, None))
    yield Part(lambda cluster, _: _budget(cluster), lambda cluster, _: (others, tuple(cluster.budget.values())))


def _of_process(m: Model, b: int) -> Iterator[Part]:
    """The parts that are of a process alone."""
    read = Notes()
    yield Part(
        lambda cluster, _: memory_of(m, cluster, cluster.processes[b]),
        lambda cluster, _: (read, memory(cluster, cluster.processes[b]).digest),
    )
    yield Part(
        lambda cluster, _: session(cluster, cluster.processes[b]),
        lambda cluster, _: (read, _standing(cluster, cluster.processes[b])),
    )


def _of_controller(m: Model, c: int) -> Iterator[Part]:
    """The parts that are of a controller and ZooKeeper, or of its old connections."""
    read = Notes()
    yield Part(
        lambda cluster, _: watches(m, cluster, cluster.processes[c]),
        lambda cluster, _: (
            read,
            (cluster.processes[c].own_controller.listeners, cluster.watches(cluster.processes[c])),
        ),
    )
    yield Part(
        lambda cluster, _: read_before(m, cluster, cluster.processes[c]),
        lambda cluster, _: (cluster.zookeeper.notes, cluster.processes[c].notes),
    )
    yield Part(
        lambda cluster, _: late_copies(m, cluster, c),
        lambda cluster, _: (read, (tuple(cluster.late.items()), tuple(cluster.created.items()))),
    )


def _standing(cluster: MemoryCluster, process: MemoryProcess) -> Hashable:
    """What is read of a process to tell what it does."""
    has_events = process.controller is None and bool(process.events)
    on_the_way = process.starting, process.electing, process.gives_up, process.departure, has_events
    return process.is_running, process.orphan is not None, cluster.can_operate(process), on_the_way


def _orphans(cluster: MemoryCluster) -> Hashable:
    return tuple([process.orphan for process in cluster.processes.values()])


def _read_by_tool(cluster: MemoryCluster) -> Hashable:
    return cluster.adding and (cluster.adding[0], tuple(cluster.adding[1].items()))


def _history(m: Model, cluster: MemoryCluster, history: History) -> Named:
    yield from ((f"controllers[{c}].acted", c in history.terms) for c in m.controllers)
    yield from ((f"history.acted[{epoch}]", epoch in history.epochs) for epoch in epochs_acted_in(m))
    yield from flags("history", cluster.topics(), asked=history.doomed)
    yield from begun(cluster, history)


def _budget(cluster: MemoryCluster) -> Named:
    yield from ((f"budget.{name}", left) for name, left in cluster.budget.items())
