"""Variants: the same protocol with the fixes of its defects switched on or off.

A switch is a fix, named after what it does, or reintroduces what an older release did; the text of such a switch begins
with the release that fixed that. `AS_CODED` is the code of Kafka 0.10.2 and has none on; `DOCUMENTED` adds the intent
of Kafka's own documentation where the code slipped, and `DOCUMENTATION` has its words; `FENCED` has every fix, those of
later releases and, where there is none, ours. PROTOCOL.md section 13 numbers the defects.

Any other set of switches is written as a variant with what is on top of it, and what it lacks:
`AS_CODED+FENCED_WRITES`, `FENCED-TOPIC_IDS`.
"""

import enum
import re
from collections.abc import Mapping
from types import MappingProxyType

from spec.errors import BadInput, UnknownName
from spec.formats.kafka_types import KafkaVersion


class Switch(enum.Enum):
    """A fix, or an older behaviour, that can be switched on; the value says what it does and where it comes from."""

    RESIGN_ON_EPOCH_CONFLICT = "D1: a failed epoch increment aborts the failover (0.10.2's intent, 1.1.0's code)"
    FENCED_WRITES = (
        "D2, D5, D6, D19, D41, D52, S7: each write of a controller is a transaction with a check of its epoch (2.1.0)"
    )
    FENCED_READS = "S6: a controller with fenced writes caches a leadership only while its epoch is the latest (ours)"
    FENCED_RESIGN = "D3: resign() deletes /controller only where the session that owns it is its own (cf. 2.1.0)"
    ATOMIC_ELECTION = "D1, D6: /controller and the next /controller_epoch are written in one transaction (2.1.0)"
    RESIGN_CLEANS_UP = "D4, D56: giving up /controller runs the whole resignation, also in mid-failover (1.0.0)"
    RECOGNISE_OWN_CREATE = "D54: a create that finds exactly what it meant to write counts as done (a fix of ours)"
    ARM_BEFORE_SECOND_TRY = "S11: the timer is armed before the second try, so that no update finds it unarmed (ours)"
    INSERT_UNDER_MONITOR = "S11: a timer entry is looked at and put in its bucket under one monitor (a fix of ours)"
    ANSWER_AS_FOUND = "S11: onComplete answers what tryComplete found, and does not look again (a fix of ours)"
    WAIT_FOR_LEADER = "D48: a reassignment waits, and keeps OAR, until a replica of RAR can lead (a fix of ours)"
    REFUSE_UNBORN_REASSIGNMENTS = "S8: a reassignment of a partition without leadership is refused (a fix of ours)"
    REFUSE_ODD_TARGETS = "D61, D62: a reassignment to nobody, to a broker twice, or to text is refused (cf. 2.4.0)"
    CACHE_BUMPED_EPOCH = "D18: the cache takes over a leader epoch that a reassignment raised (KAFKA-9212, 2.4.0)"
    DELETE_STRAYS = "D38, D47: a starting broker, or a new controller, has deleted what no AR has (cf. KIP-516, 3.7.0)"
    CLEAR_CONTEXT = "D13: a resignation empties the whole context of the controller (KAFKA-5310, 0.11.0.0)"
    ELECT_ONLY_THE_LED = "D42, D49: an election on request leaves out partitions without leadership (a fix of ours)"
    KEEP_UNREAD_REQUESTS = "D49, S8: a controller deletes, or changes, an admin's request only if it has read it (ours)"
    CACHE_WHAT_IS_WRITTEN = "S4: a removal caches what it has written, not what it has failed to write (a fix of ours)"
    SHUTDOWN_ENDS_WITH_TERM = (
        "D3, D5: a controlled shutdown is handled in one term, and ends with it (KAFKA-5028, 0.11.0.0)"
    )
    FENCED_ANSWERS = "D5: a controlled shutdown is answered only while /controller_epoch is the answerer's own (ours)"
    BROKER_EPOCHS = "D12: a registration's creation zxid tells a returned broker from one that never left (2.2.0)"
    OFFLINE_WITHOUT_LEADERSHIP = "D16, D17: a replica whose partition has no leadership goes Offline, too (2.0.0)"
    DYING_TOPICS_GET_NO_LEADERSHIP = (
        "D57, S9: a queued topic that does not move gets no leader, and no LeaderAndIsr (ours)"
    )
    COMPLETE_UNKNOWN_DELETIONS = "D37: completing the deletion of an unknown topic does not end the thread (1.1.0)"
    MARK_WHAT_IS_QUEUED = "D44, D57: a queued topic that is being reassigned is marked, and let alone (a fix of ours)"
    REFUSE_DOOMED_REASSIGNMENTS = "D44: a failover, too, refuses to reassign a topic that is queued for deletion (ours)"
    COMPLETION_FORGETS_MARK = "D45: a completed deletion takes the topic's ineligible mark along (a fix of ours)"
    REFUSED_DELETIONS_FAIL = "D46: a StopReplica that is refused whole fails the deletion that it asked for (ours)"
    RETRY_FAILED_DELETIONS = (
        "D72: a replica that a broker fails to delete holds no topic back; StopReplica is sent again (a fix of ours)"
    )
    KEEP_UNDELETED_LOGS = "D72: a broker does not forget a log that it could not delete (a fix of ours)"
    CALLBACK_WITHOUT_LOCK = "D50: no send thread waits for the controller lock; answers are events in a queue (1.0.0)"
    ATOMIC_COMPLETION = (
        "D37, D55, D70-again: a topic, its configuration and the request go in one transaction, or all stay (ours)"
    )
    GONE_IS_DELETED = "D70: a recursive delete goes on where a znode is gone already (KafkaZkClient, 1.1.0)"
    REBALANCE_ONLY_TO_IN_SYNC = "D36: the rebalance takes up what its preferred replica could lead (KAFKA-9866, 2.6.0)"
    KEEP_LAST_IN_SYNC = "D29: the last member stays in the ISR, also where election may be unclean (KAFKA-5083, 1.1.0)"
    CLEAN_BY_DEFAULT = "D30: leader election is clean unless a topic says otherwise (KIP-106, 0.11.0.0)"
    ELECT_WHERE_ALLOWED = (
        "D63: a topic that is allowed unclean election is elected for by the active controller (KAFKA-6835, 2.1.0)"
    )
    FORGET_THE_VANISHED = "D51, D53: with a topic that vanished goes all that was known of its partitions (ours)"
    FETCH_EPOCHS = "D58: a fetch names the leader epoch that it follows in, and no other counts (KIP-320, 2.1.0)"
    READ_UNDER_LOCK = (
        "D67, D68: a listener reads, and resigns, when it has its turn, not before (KAFKA-5028, KAFKA-5642, 1.1.0)"
    )
    TOPIC_IDS = "D23: requests and ISR writes name the topic's id, new with each creation (KIP-516, 2.8.0)"
    STOP_REPLICA_HAS_LEADER_EPOCH = "D22: a StopReplica older than the replica's leader epoch is refused (2.6.0)"
    TAKE_THE_DEAD_OFFLINE = "D15: a failover takes replicas on dead brokers Offline (KAFKA-3143, 2.3.0)"
    COMPARE_METADATA_EPOCHS = "D43: UpdateMetadata replaces no leadership of a higher leader epoch (a fix of ours)"
    FULL_METADATA = (
        "S10: UpdateMetadata of all says so, and a broker forgets what it does not name (cf. KAFKA-15799, 3.7.0)"
    )
    KEEP_OTHERS_ASSIGNMENTS = "D17, D39: a write of a topic's assignment changes only what it means to (a fix of ours)"
    LISTEN_BEFORE_READING = "D17: a failover listens to the topics before it reads their partitions (a fix of ours)"
    TRY_SENDS_AGAIN = "D28: a send of a state machine that fails is tried again (a fix of ours)"
    CLOSE_OLD_CONNECTIONS = (
        "D69: what comes through a newer connection closes the older one, and what still lies there (a fix of ours)"
    )
    TRY_REQUESTS_AGAIN = "D64: a broker takes back a LeaderAndIsr that an exception ends, and tries it again (ours)"

    # What older releases did. Each begins with the release that fixed it.
    TAKE_ANY_FOLLOWER = "before 0.8.1, D20: a leader takes whoever fetches into its ISR, whatever AR is"
    TELL_ONLY_THE_LEADER = "before 0.8.2, D21: only the leader is sent a removal from the ISR"
    COMPARE_NO_CONTENT = (
        "before 0.8.2.0, D31: a write that is repeated after a lost answer counts as failed (KAFKA-1382)"
    )
    KEEP_DIRTY_BATCH = "before 0.9.0.0, D28: a batch that an exception left dirty ends no term; every later one fails"
    TELL_ONLY_THE_NEW = (
        "before 0.9.0.0, D60: a start is sent to new brokers alone; followers do not ask who lives (KAFKA-972)"
    )
    ANNOUNCE_NO_ISR = "before 0.9.0.0, D65: no leader announces its ISR changes, and no controller listens (KAFKA-1367)"
    IGNORE_WHO_IS_NEW = "before 0.9.0, D7: a controller that finds another id goes on, and is elected anew (KAFKA-2437)"
    ADOPT_NEW_EPOCHS = "before 0.8.2.0, D25: every active controller takes over each new epoch (KAFKA-1096)"
    READ_BROKERS_TWICE = (
        "before 0.10.0.0, D24: new and dead brokers, and live ones, are read one after the other (KAFKA-3085)"
    )
    SHUTDOWN_FOLLOWS_ISR = (
        "before 0.10.0.0, D66: a controlled shutdown elects the first who stays in the ISR, alive or not (KAFKA-3670)"
    )
    REFUSE_DEAD_TARGETS = "before 0.10.1.0, D14: a reassignment is refused unless all of RAR lives (KAFKA-4214)"
    RUN_WHEN_NOT_ACTIVE = "before 0.10.2.0, D8: listeners do not ask who is active (KAFKA-4447)"
    RESIGN_UNDER_LOCK = "before 0.10.2.0, D9: a resignation joins the deletion thread under the lock (KAFKA-4360)"
    ALWAYS_RESIGN = "before 0.10.2.0, D10: a broker with a new session resigns, whoever is controller (KAFKA-4229)"
    LEAVE_REFUSED_DELETIONS = (
        "before 0.10.2.0, D71: where topics stay, so do requests; a failover has brokers forget the topics (KAFKA-3175)"
    )
    METADATA_LAST = "before 0.10.2.0, D11: a failover sends UpdateMetadata behind all LeaderAndIsr (KAFKA-4443)"

    @property
    def reintroduces(self) -> bool:
        """Whether it reintroduces an older release's behaviour, and fixes nothing."""
        return self.value.startswith("before ")

    @property
    def defects(self) -> list[str]:
        """The defects, of PROTOCOL.md section 13, that it fixes or reintroduces."""
        return re.findall(r"[DS]\d+", self.value.partition(":")[0])

    @property
    def fixed_in(self) -> tuple[int, ...]:
        """The release that fixed what it reintroduces, as far as its line: (0, 10, 2)."""
        named = self.value.removeprefix("before ").partition(",")[0]
        return tuple(map(int, named.split(".")[:3]))


Switches = frozenset[Switch]

DOCUMENTATION: Mapping[Switch, str] = MappingProxyType(
    {
        Switch.RESIGN_ON_EPOCH_CONFLICT: (
            'KafkaController.onControllerFailover: "If it encounters any unexpected exception/error while becoming '
            'controller, it resigns as the current controller."'
        ),
        Switch.CLEAR_CONTEXT: (
            'KafkaController.onControllerResignation: "invoked [...] when the current broker resigns as the '
            'controller. This is required to clean up internal controller data structures"'
        ),
        Switch.TAKE_THE_DEAD_OFFLINE: (
            'ReplicaStateMachine, of OfflineReplica: "If a replica dies, it moves to this state." And at start-up, of '
            'another: "replicas on dead brokers [...], if they belong to a topic to be deleted"'
        ),
        Switch.MARK_WHAT_IS_QUEUED: (
            'TopicDeletionManager: "A topic will be ineligible for deletion in the following scenarios - [...] '
            '3.2 partition reassignment for partitions of that topic is in progress"'
        ),
        Switch.COMPLETION_FORGETS_MARK: (
            'TopicDeletionManager.DeleteTopicsThread.doWork: "clear up all state for this topic from controller cache '
            'and zookeeper"'
        ),
        Switch.REFUSED_DELETIONS_FAIL: (
            'TopicDeletionManager.failReplicaDeletion: "Also invoked when the callback for StopReplicaResponse '
            'receives an error code for the replicas of a topic to be deleted."'
        ),
    }
)
"""What `DOCUMENTED` fixes: where Kafka 0.10.2.2's own documentation says so, and its words.

That a resignation cleans up could be read to fix D4, too (RESIGN_CLEANS_UP). But no words say that giving up in
mid-failover is such a resignation; so the scope `half_active` shows what fixing D1 alone brings.
"""

AS_CODED: Switches = frozenset()
DOCUMENTED: Switches = frozenset(DOCUMENTATION)
FENCED: Switches = frozenset(one for one in Switch if not one.reintroduces)


def as_of(release: KafkaVersion) -> Switches:
    """The switches that reintroduce what a release line still did, and 0.10.2 does not."""
    line = tuple(map(int, str(release).split(".")))
    return frozenset(one for one in Switch if one.reintroduces and one.fixed_in > line)


VARIANTS: dict[str, Switches] = {"AS_CODED": AS_CODED, "DOCUMENTED": DOCUMENTED, "FENCED": FENCED}


def variant(name: str) -> Switches:
    """The switches of a named variant; UnknownName lists the known ones."""
    if name not in VARIANTS:
        raise UnknownName("variant", name, VARIANTS)
    return VARIANTS[name]


def switch(name: str) -> Switch:
    """The switch of that name; UnknownName lists the known ones."""
    if name not in Switch.__members__:
        raise UnknownName("switch", name, Switch.__members__, listed_by="kcheck show variants")
    return Switch[name]


def show_switches(switches: Switches) -> str:
    """A set of switches as text that `switches_named` reads: the one that names the fewest, of the first variant."""
    base, members = min(VARIANTS.items(), key=lambda one: len(one[1] ^ switches))
    marked = [("+", switches - members), ("-", members - switches)]
    return base + "".join(mark + name for mark, some in marked for name in sorted(one.name for one in some))


def switches_named(text: str) -> Switches:
    """The switches that a text names: `DOCUMENTED`, `AS_CODED+FENCED_WRITES`, `FENCED+METADATA_LAST-TOPIC_IDS`.

    UnknownName lists the known variants, or switches; BadInput names one that is to be both on and off.
    """
    return adjusted(*marked_switches(text))


def marked_switches(text: str) -> tuple[Switches, Switches, Switches]:
    """The variant at the head of such a text, and what the text switches on and off; UnknownName lists the known."""
    base, *marked = re.split("(?=[+-])", text)
    on, off = (frozenset(switch(one[1:]) for one in marked if one[0] == mark) for mark in "+-")
    return variant(base), on, off


def adjusted(switches: Switches, on: Switches, off: Switches) -> Switches:
    """Switches with some on and some off; BadInput names one that is to be both."""
    for one in sorted(on & off, key=lambda both: both.name):
        raise BadInput(f"{one.name} cannot be switched on and off at once")
    return (switches | on) - off
