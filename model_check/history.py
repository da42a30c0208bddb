"""History: what the specification remembers of a run and nobody in the cluster knows.

Which terms have acted, and in which epochs, is read from what the reference leaves behind of each step.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from reference.connections import QueuedRequest
from reference.journal import Fate, FateMet, Milestone, OperationDone, Reached, RequestSent
from reference.memory_cluster import MemoryCluster
from reference.zookeeper_api import Create, Delete, SetData
from reference.zookeeper_scripts import PREFERRED_REPLICA_ELECTION, parsed
from spec.znode_paths import ISR_CHANGE, STATE
from spec.znodes import PartitionStatePayload

BROKER_STEPS = ("shrink_isr", "shrink_isr_unanswered", "expand_isr", "expand_isr_unanswered", "rewrite_isr")
"""The steps that a process takes as a broker, and not as a controller."""


@dataclass(frozen=True)
class History:
    """In which controller epochs some term has acted, and whose present terms have."""

    epochs: frozenset[int] = frozenset()
    terms: frozenset[int] = frozenset()

    def after(self, rule: str, cluster: MemoryCluster) -> History:
        """The history after a step of this rule, which the cluster has just taken."""
        now = self
        for entry in cluster.entries:
            match entry:
                case OperationDone(process=c, operation=Create(path="/controller")) if _has_won(rule, cluster, c):
                    now = replace(now, terms=now.terms - {c})
                case Reached(controller=c, milestone=Milestone.RESIGNED) | FateMet(process=c, fate=Fate.CRASHED):
                    now = replace(now, terms=now.terms - {c})
                case RequestSent(controller=c, request=queued, queued=True):
                    now = now.acting(c, _epoch_of(queued))
                case OperationDone(process=c, operation=Create() | SetData() as write, answer=answer):
                    if _is_state(write.path) and not isinstance(answer, Exception) and rule not in BROKER_STEPS:
                        content = parsed(PartitionStatePayload, write.path, write.data)
                        now = now.acting(c, content.controller_epoch)
                case OperationDone(process=c, operation=Delete(path=path), answer=None) if _is_message(path):
                    controller = cluster.processes[c].controller
                    now = now if controller is None else now.acting(c, controller.context.epoch)
        return now

    def acting(self, c: int, epoch: int) -> History:
        """The history once c has acted in an epoch."""
        return History(self.epochs | {epoch}, self.terms | {c})


def _has_won(rule: str, cluster: MemoryCluster, c: int) -> bool:
    """Whether an election has just told a broker that it is the controller."""
    controller = cluster.processes[c].controller
    return rule == "elect_create" and controller is not None and controller.am_i_leader


def _epoch_of(queued: QueuedRequest) -> int:
    epoch: int = getattr(queued.request, "controller_epoch")  # noqa: B009 - every request of a controller has one
    return epoch


def _is_state(path: str) -> bool:
    return path.endswith("/state") and STATE.prefix in path


def _is_message(path: str) -> bool:
    """Whether a znode is one that the controller deletes when it has handled it."""
    return path.startswith(ISR_CHANGE.prefix) or path == PREFERRED_REPLICA_ELECTION
