"""The part of the abstraction that shutdowns and the automatic rebalance have of their own."""

from model_check.refinement.abstraction.leadership import NOBODY, Named, flags
from reference.broker_events.controlled_shutdown import Departure
from reference.controller.controller import KafkaController
from reference.memory.cluster import MemoryCluster
from reference.memory.process import MemoryProcess
from spec.state.elections import Leaving


def on_the_way_out(process: MemoryProcess) -> Named:
    """How far a process is on its way out."""
    path, departure = f"processes[{process.broker_id}]", process.departure
    yield f"{path}.leaving", _leaving(departure)
    yield f"{path}.asked", NOBODY if departure is None else departure.asked or NOBODY
    yield f"{path}.tries", 0 if departure is None else departure.tries


def _leaving(departure: Departure | None) -> Leaving:
    if departure is None:
        return Leaving.NO
    if departure.asked is not None:
        return Leaving.WAITS
    return Leaving.MAY_GO if departure.may_go else Leaving.ASKS


def other_threads(cluster: MemoryCluster, controller: KafkaController, path: str) -> Named:
    """What the rebalance thread and a request handler have still to do."""
    work = controller.shutdown
    yield f"{path}.shutdown_fails", work is not None and work.failed
    yield f"{path}.elects", controller.elects
    yield f"{path}.shutting_down", controller.context.shutting_down_broker_ids
    yield f"{path}.shutdown_of", NOBODY if work is None else work.broker
    to_move = () if work is None else work.to_move
    yield from flags(path, cluster.partitions, imbalanced=controller.imbalanced, to_move=to_move)
