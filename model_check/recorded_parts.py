"""Which parts of the protocol a recording shows beyond what its znodes tell: what its logs and its acts say.

A part that is in costs time in every step of an explanation, so only those are that are needed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from model_check.recorded import Observed
from model_check.recorded_limits import SequencesByName
from model_check.recorded_processes import ControllerSaid, ProcessStopping
from model_check.recorded_zookeeper import SessionEnded
from spec.controller_log.broker_changes import ShuttingDownBroker
from spec.controller_log.preferred_election import ImbalanceRatio
from spec.partition_states import PartitionState
from spec.state_change_lines import PartitionBecameOnline


def parts_shown(sequences: SequencesByName, written: frozenset[str]) -> frozenset[str]:
    """The parts that the sequences show, beside those whose znodes are `written`."""
    everything = [one for sequence in sequences.values() for one in sequence]
    shown = frozenset(_shown(everything))
    elects_anew = any(isinstance(line, PartitionBecameOnline) and _is_another(line) for line in _lines(everything))
    if elects_anew and not shown and not written:
        return frozenset({"auto_rebalance"})
    return shown


def _shown(everything: Iterable[Observed]) -> Iterator[str]:
    for one in everything:
        match one:
            case ProcessStopping() | SessionEnded(by_client=True, had_registration=True):
                yield "shutdown"
            case ControllerSaid(line=ShuttingDownBroker()):
                yield "shutdown"
            case ControllerSaid(line=ImbalanceRatio()):
                yield "auto_rebalance"


def _lines(everything: Iterable[Observed]) -> Iterator[object]:
    return (one.line for one in everything if isinstance(one, ControllerSaid))


def _is_another(line: PartitionBecameOnline) -> bool:
    """Whether a leader is elected where there was one."""
    return line.source is PartitionState.ONLINE
