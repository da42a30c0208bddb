"""What the values of the state may be: sessions, callbacks, places in the controller's code, handlers."""

import enum


class Session(enum.Enum):
    """A process's ZooKeeper session, as ZooKeeper has it."""

    NONE = "the process is not running"
    LIVE = "operations are done under it"
    EXPIRED = "ZooKeeper has ended it; operations block until the client has made a new one"


class Owes(enum.Enum):
    """Whether a process has still to create /brokers/ids/N, and on which thread."""

    NOTHING = "it is registered, or was"
    AFTER_ELECTION = "start-up does it, but has still to elect, under the controller lock"
    AT_START = "start-up does it next, without the lock; callbacks may run meanwhile"
    AFTER_EXPIRY = "a new-session handler does it; where there is a controller module, it waits in the event queue"
    GIVES_UP = "its id was taken, so it is not to be registered: the process is on its way out"


class Callback(enum.Enum):
    """An entry of ZkClient's event queue: the listener that is to run. What it is given is read when it is next."""

    NONE = "an empty place"
    CONTROLLER = "/controller was created, changed or deleted"
    SESSION = "a new session was made after an expiry"
    REGISTRATION = "the same, for the listener that registers the broker; it comes right behind the controller's"
    BROKERS = "the children of /brokers/ids changed"
    TOPICS = "the children of /brokers/topics changed"
    ISR_CHANGES = "the children of /isr_change_notification changed"
    REASSIGNMENTS = "/admin/reassign_partitions was created, changed or deleted"
    STATE = "the state znode of a partition that is being reassigned changed"
    ELECTIONS = "/admin/preferred_replica_election was created, changed or deleted"
    MODIFICATIONS = "a topic's znode was written"
    DELETIONS = "the children of /admin/delete_topics changed"


class At(enum.Enum):
    """What the holder of the controller lock does next; each is one ZooKeeper operation (IDLE: the lock is free)."""

    IDLE = "no controller code runs"
    ELECT_READ = "elect(): read /controller"
    ELECT_CREATE = "elect(): create /controller"
    ELECT_CREATE_AGAIN = "elect(): the create's answer was lost; create /controller again, under the same session"
    ELECT_SESSION_LOST = "elect(): likewise, but that session is no more, which ends the election"
    ELECT_REREAD = "elect(): somebody else won; read who"
    RESIGN_DELETE = "resign(): delete /controller"
    READ_EPOCH = "failover: read /controller_epoch"
    INCREMENT_EPOCH = "failover: write the epoch read plus one, if it is still that"
    CREATE_EPOCH = "failover: create /controller_epoch with 1"
    SUBSCRIBE = "failover: watch the children of the controller's paths"
    READ_BROKERS = "failover: read the live brokers"
    READ_BROKER_DATA = "broker change, before 0.10.0.0: read the data of the brokers that were listed"
    READ_TOPICS = "failover: read the topics and their assignments"
    READ_STATES = "failover: read the state znodes"
    ONLINE_READ = "partitions to OnlinePartition: read a state znode, or create it"
    ONLINE_WRITE = "partitions to OnlinePartition: write the elected leader, if the version is still the one read"
    REMOVE_READ = "replicas to OfflineReplica: read a state znode"
    REMOVE_WRITE = "replicas to OfflineReplica: write the ISR less the replica, if the version is still the one read"
    NEW_REPLICA_READ = "replicas to NewReplica: read a state znode"
    NOTIFIED_READ = "ISR change notification: read one, or a state znode that one names"
    NOTIFIED_DELETE = "ISR change notification: delete a handled notification"
    FINISH = "failover: delete /admin/preferred_replica_election"
    READ_REASSIGNMENTS = "failover: read /admin/reassign_partitions"
    REASSIGN_NEXT = "reassignment: begin with the next partition that is due"
    REASSIGN_READ = "reassignment: read whether the ISR has all of RAR"
    WRITE_UNION = "reassignment 1: write RAR + OAR to the topic's znode"
    BUMP_READ = "reassignment 2: read the state znode"
    BUMP_WRITE = "reassignment 2: write it with leader_epoch + 1, if the version is still the one read"
    START_READ = "reassignment 3: read the state znode for a replica that is to be started"
    MOVE_READ = "reassignment 7: read the state znode"
    MOVE_WRITE = "reassignment 7: write it with a leader of RAR, if the version is still the one read"
    WRITE_TARGET = "reassignment 10: write RAR to the topic's znode"
    COMPLETE_READ = "reassignment 11: read /admin/reassign_partitions"
    COMPLETE_WRITE = "reassignment 11: write it without the partition"
    REFUSE_READ = "reassignment refused or failed: read /admin/reassign_partitions"
    REFUSE_WRITE = "reassignment refused or failed: write it without the partition"
    READ_ELECTIONS = "failover: read /admin/preferred_replica_election"
    DELETE_ELECTIONS = "preferred election: delete /admin/preferred_replica_election"

    READ_DELETIONS = "failover: read which topics are to be deleted"
    DROP_REQUEST = "delete topics listener: delete a request that names no known topic"
    DELETE_QUEUED = "deletion thread: turn to the next queued topic"
    DELETE_STATE = "topic deletion: delete a state znode"
    DELETE_TOPIC = "topic deletion: delete the topic's znode"
    DELETE_CONFIGURATION = "topic deletion: delete the topic's configuration"
    DELETE_REQUEST = "topic deletion: delete the request"
    DEADLOCKED = "the lock's holder waits for a send thread that waits for the lock (D50)"


class Handler(enum.Enum):
    """Why the controller changes the states of partitions and replicas, which decides what follows."""

    NONE = "it does not"
    FAILOVER = "PartitionStateMachine.startup"
    STARTUP = "ReplicaStateMachine.startup, where it takes the dead Offline (2.3.0)"
    BROKER_STARTUP = "onBrokerStartup"
    BROKER_FAILURE = "onBrokerFailure"
    CREATION = "onNewPartitionCreation"
    REASSIGNMENT = "PartitionsReassignedListener"
    ISR_CHANGE = "ReassignedPartitionsIsrChangeListener"
    REQUESTED_ELECTION = "onPreferredReplicaElection, for a request"
    PENDING_ELECTION = "onPreferredReplicaElection, for what was pending at failover"
    DELETION_RETRY = "TopicDeletionManager.markTopicForDeletionRetry"
    DELETION_START = "TopicDeletionManager.startReplicaDeletion"
    SHUTDOWN = "shutdownBroker"
    REBALANCE = "onPreferredReplicaElection, for the automatic rebalance"


PREFERRED_HANDLERS = (Handler.REQUESTED_ELECTION, Handler.PENDING_ELECTION, Handler.REBALANCE)
"""Those that ask the preferred selector for a leader."""


class DeletionThread(enum.Enum):
    """The topic deletion manager and its thread, which a failover makes in two places."""

    NONE = "neither"
    MANAGER_ONLY = "the manager is made, its thread is not: a resignation raises (D56)"
    RUNNING = "both"
    ENDED = "the thread was ended by an exception: nothing is deleted until the next failover"
