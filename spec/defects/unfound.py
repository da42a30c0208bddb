"""The defects of PROTOCOL.md section 13 that no enumeration here shows, each with the reason."""

from spec.defects.rows import Unfound

UNFOUND = (
    Unfound("D26",
        "A broker that finds its own id in /controller elects itself again and again (KAFKA-1451)",
        "fixed in 0.8.2.0, the first release of the era: elect() reads before it creates, and is specified so",
    ),
    Unfound("D27",
        "An ephemeral znode of the same broker's last session is waited for, or given up (KAFKA-992, KAFKA-1387)",
        "what went wrong is how long to wait, and time is not specified; the fixed rules are (scope `early`)",
    ),
    Unfound("D32",
        "A broker that shuts down is not sent the new leader (KAFKA-7482)",
        "a slip of the rewrite in 1.1.0, which is after the era",
    ),
    Unfound("D33",
        "The reassignment znode is removed too early (KAFKA-6193)",
        "fixed in the rewrite for 1.1.0; its mechanism is not documented, and step 11 of 0.10.2 follows the writes",
    ),
    Unfound("D34",
        "Pending deletions do not start at a failover (KAFKA-1681)",
        "fixed in 0.8.2.0, the first release of the era",
    ),
    Unfound("D35",
        "Watches outlive a resignation, so events are handled twice (KAFKA-1578)",
        "fixed in 0.8.2.0, the first release of the era",
    ),
    Unfound("D40",
        "What an event says is taken when its watch fires, and is stale when it is handled (KAFKA-5502, KAFKA-5879)",
        "of the event queue of 0.11 and later; in the era what was read before the lock may be stale (D67)",
    ),
)  # fmt: skip
