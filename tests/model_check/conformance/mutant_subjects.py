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
    "handle_state_changes": (
        "reference/leadership/partitions.py", "reference/leadership/replicas.py",
        "reference/leadership/machine_batches.py",
    ),
    "handle_isr_changes": ("reference/broker_events/isr_notification.py",),
    "change_isr": ("reference/brokers/isr.py",),
    "shut_down": ("reference/broker_events/controlled_shutdown.py",),
    "fail_broker": ("reference/broker_events/broker_changes.py",),
    "delay": ("reference/purgatory/operations.py", "reference/purgatory/purgatory.py"),
    "encode_response": REQUESTS,
    "decode_response": REQUESTS,
    "read_line": ("spec/logs/log_lines.py",),
    "write_line": ("spec/logs/log_lines.py",),
    "control": tuple(
        f"reference/{name}.py"
        for name in (
            "broker_events/broker_changes", "broker_events/controlled_shutdown", "broker_events/isr_notification",
            "controller/batch", "controller/controller_batch", "controller/resignation", "deletion/completion",
            "deletion/queue", "deletion/requests", "deletion/thread", "elections/rebalance", "elections/requested",
            "failover/election", "failover/steps", "leadership/effects", "leadership/leader_selection",
            "leadership/leader_selectors", "leadership/machine_batches", "leadership/partitions",
            "leadership/replicas", "reassignment/effects", "reassignment/requests", "reassignment/steps",
            "topics/addition", "topics/creation", "threads", "scripts",
        )
    ),
}  # fmt: skip
"""By verb."""
