"""Where a cluster in memory starts: with nothing running, or settled.

The settled cluster is not built but run: broker 1 starts and becomes controller, the others start, the topics are
created (where the scope has them from the outset) and led by the first of their replicas, and every request is
answered. A scope without the creation of topics then leaves that listener out.
"""

from dataclasses import replace

from reference.controller.controller import LISTENED_PATHS, KafkaController
from reference.memory.admin import create_topic
from reference.memory.choices import Choice
from reference.memory.cluster import MemoryCluster, listened_paths
from reference.memory.scheduler import choices, step
from spec.scopes import Scope
from spec.variants import AS_CODED, Switches

STARTS = ("start_process", "start_process_early")


def initial_cluster(scope: Scope, switches: Switches = AS_CODED) -> MemoryCluster:
    """The cluster in which an exploration of this scope starts."""
    cluster = MemoryCluster(scope, switches)
    if scope.cold:
        if cluster.model.topics_stand:
            for t, _ in enumerate(cluster.topics()):
                create_topic(cluster, t)
    else:
        _settle(cluster)
    cluster.entries.clear()
    return cluster


def _settle(cluster: MemoryCluster) -> None:
    """Start the brokers one after the other, create the topics, and let everything come to rest.

    They were sent what they lead and follow, also in a scope without connections, where nobody sends them more.
    """
    bounds = cluster.scope
    cluster.bind(replace(bounds, parts=bounds.parts | {"connections"}))
    for process in cluster.processes.values():
        _listen(process.controller, *LISTENED_PATHS)
    for b in cluster.processes:
        run_to_rest(cluster, f"start_process(b={b})")
    if cluster.model.topics_stand:
        for t, _ in enumerate(cluster.topics()):
            create_topic(cluster, t)
            run_to_rest(cluster)
    cluster.bind(bounds)
    heard = max(process.broker.controller_epoch for process in cluster.processes.values())
    for process in cluster.processes.values():
        process.broker.controller_epoch = heard  # from UpdateMetadata, also where the scope leaves it out
        _listen(process.controller, *listened_paths(cluster.scope, cluster.switches))


def _listen(controller: KafkaController | None, *paths: str) -> None:
    """Have a controller listen to these of the paths, now or as soon as it is active."""
    if controller is not None:
        controller.configuration = replace(controller.configuration, paths=paths)
        controller.listeners -= {*LISTENED_PATHS} - {*paths}


def run_to_rest(cluster: MemoryCluster, first: str | None = None, limit: int = 10_000) -> list[str]:
    """Make the named step, then every step of progress there is, in the order of `choices`; give their names.

    No process is started and no fault happens. Raises RuntimeError if there is no rest within the limit.
    """
    done: list[str] = []
    chosen = _named(cluster, first) if first is not None else _progress(cluster)
    while chosen is not None:
        if len(done) == limit:
            raise RuntimeError(f"no rest after {limit} steps; the last were {done[-5:]}")
        step(cluster, chosen)
        done.append(chosen.name)
        chosen = _progress(cluster)
    return done


def _named(cluster: MemoryCluster, name: str) -> Choice:
    found = {choice.name: choice for choice in choices(cluster)}
    if name not in found:
        raise ValueError(f"{name} is not possible here; what is: {', '.join(found) or 'nothing'}")
    return found[name]


def _progress(cluster: MemoryCluster) -> Choice | None:
    steps = (choice for choice in choices(cluster) if not choice.is_fault and choice.rule not in STARTS)
    return next(steps, None)
