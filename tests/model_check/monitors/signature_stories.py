"""Stories of breaks, in pairs: one in which that happens which brings a known defect about, and one without it."""

from tests.model_check.monitors.stories import Story, born, deleted, failed_over, moved

TOPIC = "/brokers/topics/t"
ELECTIONS = "/admin/preferred_replica_election"
MOVES = "/admin/reassign_partitions"


def restarted(story: Story, broker: int) -> int:
    """A broker dies and comes back, before anybody has done anything; its new session."""
    story.act("broker-kill-9", broker)
    story.end(broker)
    story.act("broker-start", broker)
    session = 10 + broker
    story.start(broker)
    story.begin(session, broker, incarnation=2)
    story.create(session, f"/brokers/ids/{broker}", {"version": 4}, ephemeral=True)
    return session


def returned(story: Story, broker: int) -> None:
    """A process registers in a new session."""
    story.begin(10 + broker, broker)
    story.create(10 + broker, f"/brokers/ids/{broker}", {"version": 4}, ephemeral=True)


def back(story: Story) -> None:
    """Broker 1, which was controller and is none any more, goes on in a new session."""
    failed_over(story)
    story.act("broker-start", 1)
    returned(story, 1)


# ------------------------------------------------------------------------------------------------------- controllers


def gives_up(story: Story, *, again: bool) -> None:
    if again:
        story.end(1)
        story.elect(2, 2)
        story.end(2)
        story.begin(11, 1)
        story.elect(11, 3)
        story.ms += 60_000
        story.delete(11, "/controller")
    else:
        story.delete(1, "/controller")
    session, epoch = (11, 3) if again else (1, 1)
    for number in (1, 2):
        story.elect(session, epoch + number)
        story.delete(session, "/controller")


def elections_fail(story: Story, *, unled: bool) -> None:
    named = [{"topic": "nowhere" if unled else "t", "partition": 0}]
    story.create(99, ELECTIONS, {"version": 1, "partitions": named})
    gives_up(story, again=False)


def prefers_nobody(story: Story, *, is_left: bool) -> None:
    """A preferred election is asked for of a partition that nobody has, or whose replica is dead."""
    story.assign(1, *(() if is_left else (3,)))
    story.create(99, ELECTIONS, {"version": 1, "partitions": [{"topic": "t", "partition": 0}]})
    gives_up(story, again=False)


def foreign_delete(story: Story, *, was: bool) -> None:
    back(story)
    story.delete(11 if was else 3, "/controller")


def borrowed(story: Story, *, refused: bool) -> None:
    story.end(1)
    story.create(2, "/controller", {"brokerid": 2}, ephemeral=True)
    if refused:
        story.refuse(2)
    story.state(2, 3, 1, (2, 3), term=1)


# --------------------------------------------------------------------------------------------------------- partitions


def out_of_assignment(story: Story, *, zombie: bool) -> None:
    back(story)
    story.move(3)
    story.assign(11 if zombie else 2, 3)


def taken_in_again(story: Story, *, zombie: bool) -> None:
    """Broker 3 is taken out of the ISR, then out of AR, and its leader takes it in again."""
    back(story)
    story.move(2)
    story.state(2, 2, 1, (2,), term=2)
    story.assign(11 if zombie else 2, 2)
    story.state(2, 2, 1, (2, 3), term=2)


def shrinks(story: Story, *, dead: bool) -> None:
    if dead:
        story.end(3)
    story.move(3)
    story.assign(1, 3, 2)
    story.assign(1, 3)


def assigned_to(story: Story, *, nobody: bool) -> None:
    """A partition of 2 and 3, which both lag not, is given to nobody, or to 1."""
    story.move(*(() if nobody else (1,)))
    story.assign(1, *(() if nobody else (1,)))


def shrinks_to(story: Story, *, nobody: bool) -> None:
    story.move(*(() if nobody else (3,)))
    story.assign(1, *(() if nobody else (3,)))


def gives_a_move_up(story: Story, *, zombie: bool) -> None:
    story.move(1)
    story.assign(1, 1, 2, 3)
    back(story)
    story.delete(11 if zombie else 2, MOVES)


def drops_a_move(story: Story, *, foreign: bool) -> None:
    """A topic is deleted, by who is no controller any more or by who is; broker 3 comes back; a move is dropped."""
    born(story, "u")
    back(story)
    deleted(story, "u", session=11 if foreign else 2)
    story.end(3)
    returned(story, 3)
    story.move(1)
    story.assign(2, 1, 2, 3)
    story.delete(2, MOVES)


def carried_on(story: Story, *, removed: bool) -> None:
    story.move(1)
    story.assign(1, 1, 2, 3)
    story.delete(99 if removed else 1, MOVES)
    story.move(3)
    story.assign(1, 1)
    story.delete(1, MOVES)


def loses_a_partition(story: Story, *, added: bool) -> None:
    if added:
        story.set(99, TOPIC, {"version": 1, "partitions": {"0": [2, 3], "1": [2]}})
        story.set(1, TOPIC, {"version": 1, "partitions": {"0": [2, 3]}})
    else:
        story.set(1, TOPIC, {"version": 1, "partitions": {}})


def stops(story: Story, *, late: bool) -> None:
    if late:
        moved(story)
        story.move(2, 3)
        story.assign(1, 2, 3)
        story.state(1, 3, 4, (2, 3))
        story.delete(1, MOVES)
    story.ms += 3000
    story.stop(2)


def revived(story: Story, *, others: bool) -> None:
    back(story)
    deleted(story, session=2)
    story.state(11 if others else 2, 2, 0, (2, 3))


def goes_on(story: Story, *, taken: bool) -> None:
    story.move(1)
    story.assign(1, 1, 2, 3)
    story.state(1, 2, 1, (2, 3, 1))
    back(story)
    story.delete(11 if taken else 2, MOVES)
    story.assign(2, 1)


def writes_what_it_knew(story: Story, *, zombie: bool) -> None:
    """A controller, amid a move, writes the AR that was before another, which a zombie, or it itself, has written."""
    back(story)
    story.assign(11 if zombie else 2, 1, 2, 3)
    story.move(2, 1, 3)
    story.assign(2, 2, 3)


def reapplied(story: Story, *, again: bool) -> None:
    story.move(3, 2)
    story.assign(1, 3, 2)
    story.delete(1, MOVES)
    if again:
        back(story)
        story.end(2)
        story.elect(11, 3)
    story.assign(11 if again else 1, 2, 3)


# ------------------------------------------------------------------------------------------------------------ at rest


def stuck_election(story: Story, *, unled: bool) -> None:
    named = [{"topic": "nowhere" if unled else "t", "partition": 0}]
    story.create(99, ELECTIONS, {"version": 1, "partitions": named})
    story.rest()


def dead_leader(story: Story, *, raises: bool) -> None:
    if raises:
        story.delete(99, TOPIC)
        story.delete(99, "/config/topics/t")
        story.assign(99, 2, 3, topic="u")
        story.state(1, 2, 0, (2, 3), topic="u")
    restarted(story, 3)
    story.act("broker-kill-9", 2)
    story.end(2)
    story.rest()


def no_leader(story: Story, *, moving: bool) -> None:
    if moving:
        story.move(3, 2)
    story.state(1, -1, 1, (2, 3))
    story.rest()


def unread(story: Story, *, after: bool) -> None:
    back(story)
    if after:
        story.state(11, 3, 1, (2, 3), term=1)
    else:
        story.state(2, 3, 1, (2, 3), term=2)
    story.rest()


def untold_metadata(story: Story, *, bump: bool) -> None:
    if bump:
        story.state(1, 2, 1, (2, 3))
    else:
        story.state(1, 3, 1, (2, 3))
    story.rest()


def told_in_vain(story: Story, *, refused: bool) -> None:
    """What a controller tells of a partition was never written; it may have tried to."""
    if refused:
        story.refuse(1)
    story.tell(3, 3, 1, (3,))


def held_back(story: Story, *, asked_amid: bool) -> None:
    story.move(1)
    story.assign(1, 1, 2, 3)
    if not asked_amid:
        story.create(99, "/admin/delete_topics/t")
        failed_over(story)
    deleted(story, session=1 if asked_amid else 2)


def unheard_creation(story: Story, *, repeated: bool) -> None:
    story.assign(99, 2, 3, topic="u")
    story.state(1, 2, 0, (2, 3), topic="u")
    if repeated:
        story.refuse(1, -110)
    story.rest()


def unheard_raise(story: Story, *, away: bool) -> None:
    """A reassignment raises the leader epoch alone, and broker 3, which may have no session then, is not told."""
    if away:
        story.end(3)
    story.state(1, 2, 1, (2, 3))
    story.order(2, 2, 1, (2, 3), version=1)
    if away:
        returned(story, 3)
    for broker in (1, 2, 3):
        story.tell(broker, 2, 1, (2, 3))
    story.rest()


def left_log(story: Story, *, gone: bool) -> None:
    moved(story)
    story.wire[2] = story.wire[2][:-4] + story.wire[2][-2:]  # all but the StopReplica
    if gone:
        story.act("broker-kill-9", 1)
        story.end(1)
        story.elect(2, 2)
        for broker in (2, 3):
            story.tell(broker, 3, 3, (3,), term=2, controller=2)
    story.rest()


def left_by_a_term(story: Story, *, ended: bool) -> None:
    """The same session is elected again, so that its earlier term has told what it ever does."""
    moved(story)
    story.wire[2] = story.wire[2][:-4] + story.wire[2][-2:]  # all but the StopReplica
    if ended:
        story.delete(99, "/controller")
        story.elect(1, 2)
    story.rest()


def taken_back(story: Story, *, zombie: bool) -> None:
    """Broker 1 comes into AR, is told to host the partition, and goes by a write that is about something else."""
    back(story)
    story.assign(11 if zombie else 2, 2, 3, 1)
    story.order(1, 2, 0, (2, 3), version=0, term=2, controller=2)
    story.assign(2, 2, 3)
    story.rest()


def undeleted(story: Story, *, failed: bool) -> None:
    story.create(99, "/admin/delete_topics/t")
    story.state(1, -1, 1, (3,))
    for broker in (2, 3):
        story.stop(broker, failed=failed and broker == 2)
    story.rest()


def undeleted_move(story: Story, *, failed: bool) -> None:
    moved(story)
    story.wire[2] = story.wire[2][:-4] + story.wire[2][-2:]  # all but the StopReplica
    if failed:
        story.stop(2, failed=True)
    story.rest()


def unfinished(story: Story, *, back: bool) -> None:
    story.move(2)
    if back:
        restarted(story, 2)
    story.rest()


def nowhere(story: Story, *, deletes: bool) -> None:
    if deletes:
        story.move(1)
        story.assign(1, 1, 2, 3)
        deleted(story)
    else:
        story.create(99, MOVES, {"version": 1, "partitions": [{"topic": "x", "partition": 0, "replicas": [1]}]})
    story.rest()


def unseen(story: Story, *, amid: bool) -> None:
    failed_over(story)
    story.ms += 0 if amid else 60_000
    story.set(99, TOPIC, {"version": 1, "partitions": {"0": [2, 3], "1": [2]}})
    story.rest()


def half_deleted(story: Story, *, lost: bool) -> None:
    story.create(99, "/admin/delete_topics/t")
    story.delete(1, f"{TOPIC}/partitions/0/state")
    if lost:
        story.refuse(1, -101)
    story.delete(1, "/config/topics/t")
    story.delete(1, "/admin/delete_topics/t")
    story.rest()
