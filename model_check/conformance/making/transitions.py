"""The two transition tables: each pair of states, whether it is permitted."""

from collections.abc import Iterator

from model_check.conformance.making.cases import Case
from spec.tables.partition_states import PARTITION_TRANSITIONS
from spec.tables.replica_states import REPLICA_TRANSITIONS
from spec.tables.table import S, Table, find


def transition_cases() -> Iterator[Case]:
    """Both machines, each from each of its states to each."""
    source = "StateMachine.assertValidPreviousStates"
    yield from _of("partition", PARTITION_TRANSITIONS, ("PROTOCOL.md section 3", f"Partition{source}"))
    yield from _of("replica", REPLICA_TRANSITIONS, ("PROTOCOL.md section 4", f"Replica{source}"))


def _of(machine: str, table: Table[S], sources: tuple[str, str]) -> Iterator[Case]:
    for before in table:
        for after in table:
            row = find(table, before, after)
            may = "may" if row else "may not"
            yield Case(
                "transition",
                f"A {machine} in {before} {may} become {after}",
                {"machine": machine, "from": str(before), "to": str(after)},
                [{"permitted": row is not None}],
                [row.id if row else "no row", *sources],
                ["tables", f"{machine}-states"],
            )
