"""The lines that questions are asked of, in the forms that releases 0.8.2 to 2.8 gave them.

`spec/logs/` declares each line of the era exactly, release by release; here one pattern a line reads all of them, and
those of later releases, whose classes print otherwise but say the same. The logger, the writer and the first word say
which patterns may fit, so that a line meets one or two of them. A line of Kafka's that nothing is asked of is known by
its first words; what is neither is unknown.

    [Controller 1 epoch 3 | [Controller id=1 epoch=3] ] changed partition [t,0] | t-0 from .. to ..
"""

import re
from typing import Any, Final

from spec.tables.partition_states import PARTITION_TRANSITIONS
from spec.tables.replica_states import REPLICA_TRANSITIONS, ReplicaState
from spec.tables.table import Table, transitions

STATE_CHANGES: Final = "state.change.logger"
CONTROLLER: Final = "kafka.controller."
PARTITION: Final = "kafka.cluster.Partition"
OURS: Final = (STATE_CHANGES, CONTROLLER, "kafka.server.", "kafka.cluster.")
"""How the loggers begin whose files are these."""

SPEAKER: Final = re.compile(
    r"\[(Controller|Broker) id=(\d{1,10})(?: epoch=(-?\d{1,10}))?\] (?:Controller \d+ epoch \d+ )?"
    r"|(Controller|Broker) (\d{1,10}) (?:epoch (-?\d{1,10}) )?"
    r"|()Error on broker (\d{1,10}) ()"
)
TP: Final = r"(?:\[[\w.-]{1,249},\d{1,10}\]|[\w.-]{1,249}-\d{1,10})"
CONTEXT: Final = r"from controller (\d{1,10}) epoch (-?\d{1,10})"
MOVED: Final = re.compile(
    rf"hanged (?:partition ({TP})(?: state)?|state of replica (\d{{1,10}}) for partition ({TP})) from (\w+) to (\w+)"
)
BEGUN: Final = re.compile(rf"[Ss]tarted leader election for partition ({TP})")
FAILED: Final = re.compile(
    rf"(?:[Ii]nitiated state change|[Ff]ailed to change state)(?: of replica (\d{{1,10}}))? for partition ({TP})"
    r" from (\w+) to (\w+)(?: failed)?"
)
LEADER_EPOCH: Final = re.compile(r"[Ll]eaderEpoch[:=](-?\d{1,10})[,)]")
RECEIVED: Final = re.compile(rf".*correlation id (-?\d{{1,10}}) {CONTEXT}(?: for partition ({TP}))?")
NAMED: Final = re.compile(r"topicName='([\w.-]{1,249})', partitionIndex=(\d{1,10}),")
ACCEPTED: Final = re.compile(
    rf"andling LeaderAndIsr request correlationId (-?\d{{1,10}}) {CONTEXT} starting the become-(?:leader|follower)"
    rf" transition for partition ({TP})(?: with leader -?\d+)?"
)
UPDATED: Final = re.compile(
    r".* in response to UpdateMetadata request sent by controller (\d{1,10}) epoch (-?\d{1,10})"
    r" with correlation id (-?\d{1,10})"
)
OLD_REQUEST: Final = re.compile(
    r"(?:gnoring \w+ request from|eceived (?:stop replica|update metadata) request (?:with correlation id -?\d+ )?"
    r"from an old) controller (?:(\d{1,10}) )?(?:with )?"
    r"(?:correlation id -?\d+ since its controller )?epoch (-?\d{1,10})"
    r"(?: is old)?\. Latest known controller epoch is (?:%d )?(-?\d{1,10})"
)
OLD_LEADER_EPOCH: Final = re.compile(
    rf"gnoring LeaderAndIsr request from controller (\d{{1,10}}) with correlation id -?\d+ epoch -?\d+ for partition"
    rf" {TP}"
    r" since its associated leader epoch (-?\d{1,10}) (?:is old\. Current leader epoch is|is not higher than the"
    r" current leader epoch|is smaller than the current leader epoch) (-?\d{1,10})"
)
OF_PARTITION: Final = re.compile(rf".* for partition ({TP})")
EPOCH_LINE: Final = re.compile(
    r"\[Controller (?:id=)?(\d{1,10})\]:? (?:"
    r"(?P<read>Initialized controller epoch to (\d{1,10}) and zk version (\d{1,10}))"
    r"|(?:Controller \d+ i|I)ncremented epoch to (\d{1,10})"
    r"|(?:\d+ successfully elected as the controller\. )?Epoch incremented to (\d{1,10})(?: and epoch zk version.*)?"
    r"|(?P<resigned>Broker \d+ resigned as the controller|Resigned))"
)
STALE: Final = re.compile(
    rf"\[?Partition ({TP}) (?:on broker |broker=)(\d{{1,10}})[\]:]:? Cached zkVersion \[?(\d{{1,10}})\]?"
    r" not equal to that in zookeeper, skip updating ISR"
)
QUIET: Final = re.compile(
    r"started (?:leader election|fetcher) |elected leader -?\d+ for |encountered error |aborted leader election "
    r"|sending |sent |failed to send |received (?:response |leaderandisrrequest |stopreplica )"
    r"|partition \S+ state changed to |stopped |completed |truncated |skipped |finished "
    r"|deleted partition |cached leader info |ignoring |handling "
    r"|(?:leader|follower) \S+ (?:starts at|with topic id) |(?:error )?while processing |add(?:ed)? \d+ "
    r"|updatemetadata request ",
    re.IGNORECASE,
)
"""How lines begin whose other words nobody asks for; what a pattern is for, and does not read, is not among them."""

FORGETS: Final = re.compile(
    r"handling stop ?replica |received stopreplica |(?:error )?while processing |received leaderandisrrequest "
    r"|skipped the become-(?:leader|follower) state change (?!after marking)",
    re.IGNORECASE,
)
"""After these nobody knows what a broker has stored of the partition that they name, or of any."""

TABLES: Final[tuple[Table[Any], ...]] = (PARTITION_TRANSITIONS, REPLICA_TRANSITIONS)
ROWS: Final = {(str(row.source), str(row.target)): row.id for table in TABLES for row in transitions(table)}
"""The rows of both tables by their states; which of the tables it is, the names of the states tell."""
LATER: Final = (str(ReplicaState.OFFLINE), str(ReplicaState.DELETION_INELIGIBLE))
"""The row that 2.3.0 added (KAFKA-3143). Lines of 1.0 on look alike, so there it is let pass."""
STATES: Final = frozenset(str(state) for table in TABLES for state in table)
NEW: Final = "NewPartition"
ONLINE: Final = "OnlinePartition"
