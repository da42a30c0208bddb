"""Which files of the reference, or of what it shares with the specification, each verb asks about.

What else a question runs is the way there: it makes a controller, starts its brokers, and shows what became of them.
"""

from typing import Final

REQUESTS: Final = tuple(f"spec/formats/{name}.py" for name in ("wire", "requests", "json_requests", "inner_records"))
SUBJECTS: Final = {
    "transition": ("reference/controller/machines.py", "spec/tables/table.py"),
    "elect": ("reference/leadership/leader_selectors.py",),
    "create_partition": ("reference/leadership/partitions.py", "reference/leadership/effects.py"),
    "remove_replica": ("reference/leadership/replicas.py", "reference/leadership/machine_batches.py"),
    "reassign": (
        "reference/reassignment/requests.py", "reference/reassignment/steps.py", "reference/reassignment/effects.py",
        "reference/leadership/leader_selection.py", "reference/leadership/partitions.py",
        "reference/leadership/replicas.py",
    ),
    "find_imbalance": ("reference/elections/rebalance.py",),
    "write_state": ("reference/brokers/isr.py", "reference/memory/isr_changes.py", "reference/zookeeper/tree.py"),
    "send_batch": ("reference/controller/batch.py",),
    "fence": ("reference/brokers/broker.py",),
    "read_znode": tuple(f"spec/formats/{name}.py" for name in ("znodes", "znode_paths", "json_schema")),
    "encode_request": REQUESTS,
    "decode_request": REQUESTS,
}  # fmt: skip
"""By verb."""
