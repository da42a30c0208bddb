"""Unclean election is allowed, or forbidden, while all run: a topic's `unclean.leader.election.enable` is changed.

A controller reads it from /config/topics/T whenever it wants to know: at an election that finds no live member of the
ISR, and when the last member of an ISR is to be removed. Nothing tells it of a change. An admin that allows unclean
election because a partition is offline gets no leader by that: something else has to trigger an election, a broker's
start, say, or another controller (D63). A fix has the active controller elect for a topic that is allowed it.

It is read here together with the state znode. A change between Kafka's two reads comes before both, or after both, as
far as anybody sees, unless the state znode changes meanwhile, too. Left out: what is no boolean, which ends the
election or the removal with an exception; and a change of the brokers' own default, which takes their restart.

Kafka 0.10.2.2: `OfflinePartitionLeaderSelector`, `KafkaController.removeReplicaFromIsr`; 2.1.0: `TopicConfigHandler`,
`KafkaController.enableTopicUncleanLeaderElection`. PROTOCOL.md section 5.
"""

from spec.language.rules import action, observe, require, when
from spec.language.terms import flag
from spec.model import Model
from spec.protocol.controller.places import controller_step
from spec.protocol.leadership.partitions import begin_visits, needs_visit
from spec.state.cluster import State
from spec.state.enumerations import At, Handler, Session


@action(actor="admin", source="AdminUtils.changeTopicConfig 0.10.2.2", budget="unclean_changes", parts=("partitions",))
def change_unclean_election(s: State, m: Model, t: int) -> None:
    """A topic is allowed unclean election, or forbidden it; its configuration may say so before the topic is there."""
    unclean = ~flag(s.zookeeper.unclean[t])
    s.zookeeper.unclean[t] = unclean
    s.zookeeper.configurations[t] = True
    observe("admin", "change unclean election", topic=t)
    for c in m.controllers:
        with when(unclean & (s.processes[c].session != Session.NONE)):
            s.controllers[c].allowed[t] = True


@controller_step(
    At.IDLE,
    source="TopicUncleanLeaderElectionEnable 2.1.0",
    parts=("partitions", "allowed_elections", "unclean_changes"),
)
def elect_where_allowed(s: State, m: Model, c: int, t: int) -> None:
    """A controller that hears that a topic may elect who is not in sync elects for its partitions, if it is active."""
    controller = s.controllers[c]
    require(controller.allowed[t])
    controller.allowed[t] = False
    with when(controller.active):
        waiting = {p: needs_visit(s, m, c, p) if m.topic_of(p) == t else flag(False) for p in m.partitions}
        begin_visits(s, m, c, Handler.NONE, waiting)
