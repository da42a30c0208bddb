"""Plays in which a defect shows that no recording of a real cluster has been given of, by the defect's id.

Each follows the trigger that PROTOCOL.md section 13 tells, and is told as the world sees it: what is killed, cut off
or asked for, and which steps wait meanwhile (a process that is stopped, a link that is cut).
"""

from collections.abc import Callable, Mapping
from typing import Final

from model_check.judging.shipped_recordings import RAISED_UNTOLD
from tests.model_check.stand_ins import Play, a_scope


def half_active(*last: str) -> Play:
    """D4: a failover fails after the channels were opened; another broker wins, and the first goes on as controller."""
    play = Play(a_scope(3, ((1, 2), (2, 3))))
    play.start(topics=2)
    play.kill(1)
    with play.holding(r"elect_read\(c=3", r"on_controller_change\(c=3"):
        play.do(
            "end_orphaned_session(b=1)", *(last or ["read_deletions(c=2)"]), "fail_failover(c=2)", "resign_delete(c=2)"
        )
    with play.holding(r"on_controller_change\(c=2", r"elect_read\(c=2"):
        play.do("elect_create(c=3)", "finish_failover(c=3)")
    play.rest()
    play.start([1])
    return play


def half_begun() -> Play:
    """D4: the same before anything else is read or sent, so that its state machines never start."""
    return half_active("read_state(c=2, p=0)", "read_state(c=2, p=1)")


def half_read() -> Play:
    """D4: the same once the request for elections is read, of which there is none; then the other's session ends."""
    play = half_active("read_election_request(c=2)")
    play.do("expire_session(b=3, lost=0)")
    with play.holding(r"elect_create\(c=[12]"):
        play.do("elect_create(c=3)")
    play.rest()
    return play


def inconsistent() -> Play:
    """D5: a zombie drops a dead follower when its successor has read the state; its request is refused."""
    play = Play(a_scope(3, ((3, 2, 1),)))
    _cut_off_while_a_follower_dies(play)
    with play.holding(r"deliver_request\(c=1"):
        with play.holding(".*c=3"):
            play.do("renew_session(b=1)", "write_removal(c=1, p=0, r=2)")
        play.do("finish_failover(c=3)", "deliver_request(c=3, b=3)", "deliver_request(c=3, b=3)")
    play.rest()
    play.start([2])
    return play


def stuck_leader() -> Play:
    """D6: the same, and the zombie resigns before it tells anybody: the leader's writes fail for ever."""
    play = Play(a_scope(3, ((3, 2, 1),)))
    _cut_off_while_a_follower_dies(play)
    with play.holding(r"deliver_request\(c=1"):
        with play.holding(".*c=3"):
            play.do("renew_session(b=1)", "write_removal(c=1, p=0, r=2)", "on_new_session(c=1)")
        play.rest()
    play.write_in_vain(3, isr=(3,))
    return play


def _cut_off_while_a_follower_dies(play: Play) -> None:
    """Broker 2 dies, and controller 1 loses its session before it has handled that; controller 3 reads the state."""
    play.start(topics=1)
    play.kill(2)
    with play.holding(r"on_broker_change\(c=1", r"renew_session\(b=1"):
        play.do("end_orphaned_session(b=2)", "expire_session(b=1, lost=0)")
        play.do("elect_create(c=3)", "read_state(c=3, p=0)")


def whole_restart() -> Play:
    """D11, as it is since 0.10.2.0: a whole cluster is killed and started, and everybody follows."""
    play = Play(a_scope(3, ((1, 2, 3), (2, 3, 1))))
    play.start(topics=2)
    for b in (3, 2, 1):
        play.kill(b)
    play.do(*(f"end_orphaned_session(b={b})" for b in (3, 2, 1)))
    with play.holding("elect_"):
        play.do(*(f"start_process(b={b})" for b in (1, 2, 3)))
    play.rest()
    return play


def dirty_batch() -> Play:
    """D28: a topic is removed by hand; a broker's start leaves a dirty batch, the next one ends the controller.

    No ISR change is announced at the end: the one that gave up, but half, would find its batch dirty by that, too, and
    resign its successor's /controller, win, fail, and so on without end, as no other broker is quicker here.
    """
    play = Play(a_scope(3, ((1, 2), (2, 3), (3, 1))))
    play.start(topics=3)
    play.do("remove_topic(t=0)")
    play.rest()
    for _ in range(2):
        play.kill(3)
        play.do("end_orphaned_session(b=3)")
        play.rest(r"elect_create\(c=1")
        with play.holding("report_isr_changes"):
            play.start([3])
    return play


def dirty_halt() -> Play:
    """D28: the batch is dirty as a broker dies, which halts a deletion first; then the elector resigns."""
    play = Play(a_scope(3, ((1, 2), (1, 3))))
    play.start(topics=2)
    play.kill(2)
    play.do("end_orphaned_session(b=2)")
    play.rest()
    with play.holding(r"deliver_deletion\(c=1, b=3"):
        play.do("request_deletion(t=1)")
        play.rest()
        play.do("remove_topic(t=0)")
        play.rest()
        with play.holding("report_isr_changes"):
            play.start([2])
        play.kill(3)
        play.do("end_orphaned_session(b=3)")
        play.rest(r"elect_create\(c=1")
    return play


def outlived_shutdown() -> Play:
    """D3: a session is lost while its controller treats a shutdown; it goes on when the term is over, and cannot send.

    Of three partitions the broker that stops leads one and follows in two.
    """
    play = Play(a_scope(3, ((1, 2), (2, 1), (1, 2, 3)), parts=frozenset({"shutdown"})))
    play.start(topics=3)
    with play.holding(r"move_partition\(c=1", r"answer_shutdown\(c=1"):
        play.stop(2)
        play.do("request_shutdown(b=2, c=1)", "accept_shutdown(c=1, b=2)", "expire_session(b=1, lost=0)")
        with play.holding(r"renew_session\(b=1", r"elect_create\(c=2"):
            play.do("elect_create(c=3)")
            play.rest()
        play.do("renew_session(b=1)")
        play.rest()
    play.do("move_partition(c=1, p=1, r=2)", "move_partition(c=1, p=2, r=2)", "resign_delete(c=1)")
    play.rest()
    return play


def dirty_shutdown() -> Play:
    """D28: the batch is dirty as a broker that is in no ISR shuts down: nothing is looked at, the elector resigns."""
    play = Play(a_scope(3, ((1, 2), (1, 3)), parts=frozenset({"shutdown"})))
    play.start(topics=2)
    play.kill(2)
    play.do("end_orphaned_session(b=2)")
    play.rest()
    with play.holding("report_isr_changes", "expand_isr"):
        play.do("shrink_isr(b=1, p=1, r=3)", "remove_topic(t=0)")
        play.rest()
        play.start([2])
        play.stop(3)
        play.rest(r"elect_create\(c=1")
        play.rest()
    return play


def namesake() -> Play:
    """D53: a topic is removed by hand and created again; its controller knows it still, and creates no state znode."""
    play = Play(a_scope(3, ((1, 2), (2, 3))))
    play.start(topics=2)
    play.do("remove_topic(t=0)")
    play.rest()
    play.do("create_topic(t=0)")
    play.rest()
    return play


def unclean() -> Play:
    """D29, D30: with unclean election both replicas die, and the first to come back leads; it was not in sync."""
    play = Play(a_scope(3, ((2, 3),), unclean=True))
    play.start(topics=1)
    for b in (2, 3):
        play.kill(b)
        play.do(f"end_orphaned_session(b={b})")
        play.rest()
    play.start([2, 3])
    return play


def allowed_too_late() -> Play:
    """D63: the leader outlives its follower, and dies; the follower is back, may lead by now, and is not elected."""
    play = Play(a_scope(3, ((2, 3),)))
    play.start(topics=1)
    for b in (3, 2):
        play.kill(b)
        play.do(f"end_orphaned_session(b={b})")
        play.rest()
    play.start([3])
    play.do("change_unclean_election(t=0)")
    play.rest()
    return play


def left_request() -> Play:
    """D37: a controller dies between a topic's znode and its request; the next one's deletion thread ends."""
    play = Play(a_scope(3, ((2, 3), (3, 2), (1, 2))))
    play.start(topics=2)
    play.do("request_deletion(t=0)", "delete_topic(c=1, t=0)")
    play.kill(1)
    play.do("end_orphaned_session(b=1)")
    play.rest()
    play.do("request_deletion(t=1)")
    play.rest()
    play.start([1])
    return play


def old_leader() -> Play:
    """D47: the controller dies with the deletion that alone would have told the old leader, which leads on."""
    play = Play(a_scope(3, ((2,), (1,)), requests=(((3,), ()),)))
    play.start(topics=2)
    with play.holding("deliver_deletion"):
        play.do("request_reassignment(k=0)")
        play.rest()
        play.kill(1)
    play.do("end_orphaned_session(b=1)")
    play.rest()
    play.write_in_vain(2, isr=(2,))
    return play


def leaderless_move() -> Play:
    """D48: the new replica joins the ISR and dies with the controller; the next one completes without a leader."""
    play = Play(a_scope(4, ((2,), (1,)), requests=(((4,), ()),)))
    play.start(topics=2)
    with play.holding("on_state_change", "on_isr"):
        play.do("request_reassignment(k=0)", "expand_isr(b=2, p=0, r=4)")
    with play.holding("(?!end_orphaned)"):
        play.kill(4)
        play.kill(1)
        play.do("end_orphaned_session(b=4)", "end_orphaned_session(b=1)")
    play.rest()
    play.start([4])
    return play


def lost_death() -> Play:
    """D51: a broker's start raises, for a topic was removed by hand; another's death, found with it, is lost."""
    play = Play(a_scope(4, ((1, 2), (4, 3), (3, 4))))
    play.start(topics=3)
    play.do("remove_topic(t=0)")
    play.rest()
    play.kill(2)
    play.do("end_orphaned_session(b=2)")
    play.rest()
    with play.holding("on_broker_change"):
        play.do("start_process(b=2)", "register_broker(b=2)")
        play.kill(4)
        play.do("end_orphaned_session(b=4)")
        play.rest()
    play.rest(r"elect_create\(c=1")
    return play


def rewritten_topic() -> Play:
    """D52: a zombie's write of step 1 puts a topic back that its successor has deleted."""
    play = Play(a_scope(3, ((2,), (3,)), requests=(((3,), ()),)))
    play.start(topics=2)
    with play.holding(r"write_union\(c=1", r"renew_session\(b=1"):
        play.do("request_reassignment(k=0)")
        play.rest()
        play.do("expire_session(b=1, lost=0)")
        play.rest()
        play.do("request_deletion(t=0)")
        play.rest()
    play.rest()
    return play


def resurrected_state() -> Play:
    """D52: a zombie's create of a state znode puts it back, and the topic's znode above it, without an assignment."""
    play = Play(a_scope(3, ((2,), (3, 2))))
    play.start(topics=1)
    with play.holding(r"create_state\(c=1"):
        play.do("create_topic(t=1)")
        play.rest()
        with play.holding(r"renew_session\(b=1"):
            play.do("expire_session(b=1, lost=0)")
            play.rest()
            play.do("request_deletion(t=1)")
            play.rest()
    play.rest()
    return play


def carried_on() -> Play:
    """D59: a request is removed by hand once it is taken up, and the partition asked to stay, which nobody does."""
    play = Play(a_scope(3, ((1, 2),), requests=(((1, 3),), ((1, 2),))))
    play.start(topics=1)
    with play.holding("expand_isr"):
        play.do("request_reassignment(k=0)")
        play.rest()
    play.do("withdraw_reassignment()", "request_reassignment(k=1)")
    play.rest()
    return play


STUCK: Final = frozenset({"eventually_leaders_can_lead", "eventually_live_replicas_are_informed"})
ZOMBIE: Final = "only_the_latest_term_writes"
TORN: Final = "eventually_partitions_are_led"
"""Of a topic that is removed by hand the state znodes go first; for a moment it stands without."""
DEAD_IN_SYNC: Final = "the_dead_are_not_in_sync"
"""D15: whose successor reads that a dead broker is in the ISR leaves it there."""
STALE: Final = STUCK | {"eventually_live_replicas_are_in_sync"}
"""D6: the zombie's ISR stands, [3], and the leader's version is older, so it can take nobody in (PROTOCOL.md, section
10): broker 1, which lives, stays out, and so does broker 2 where it comes back."""
OLD_ISR: Final = "eventually_isr_changes_are_known"
"""A zombie writes an ISR behind its successor's reading, and nobody tells that one."""

PLAYS: Final[Mapping[str, tuple[Callable[[], Play], frozenset[str]]]] = {
    "D3-shutdown": (outlived_shutdown, frozenset({"controller_znode_is_its_owners", DEAD_IN_SYNC})),
    "D4": (half_active, frozenset({"resigned_controllers_are_inactive", ZOMBIE})),
    "D4-unstarted": (half_begun, frozenset({"resigned_controllers_are_inactive", ZOMBIE})),
    "D4-read": (half_read, frozenset({
        "resigned_controllers_are_inactive", ZOMBIE, DEAD_IN_SYNC, OLD_ISR,
        "eventually_one_working_controller",  # two are active
    })),
    "D5": (inconsistent, STALE | {ZOMBIE, DEAD_IN_SYNC, OLD_ISR}),
    "D6": (stuck_leader, STALE | {ZOMBIE, DEAD_IN_SYNC, OLD_ISR}),
    "D11": (whole_restart, frozenset({DEAD_IN_SYNC})),
    "D28": (dirty_batch, frozenset({
        "batches_are_clean",  # once for the start that raises
        "resigned_controllers_are_inactive",  # D4: and so the next one resigns, half
        "eventually_live_replicas_are_informed", "eventually_live_replicas_are_in_sync",  # broker 3, after the first
        TORN,
    })),
    "D28-shutdown": (dirty_shutdown, frozenset({"batches_are_clean", "resigned_controllers_are_inactive"})),
    "D28-halted": (dirty_halt, frozenset({
        "batches_are_clean", "resigned_controllers_are_inactive",  # as above
        "dying_topics_get_no_leadership",  # D57: the next controller begins with a LeaderAndIsr of what is queued
        "deleted_topics_are_hosted_nowhere", "nothing_of_a_deleted_topic_is_left",  # nobody deletes what a hand removed
    })),
    "D53-namesake": (namesake, frozenset({TORN})),
    "D29-D30": (unclean, frozenset({"isr_is_not_empty", "leaders_were_in_sync"})),
    "D63": (allowed_too_late, frozenset({"allowed_elections_are_held"})),
    "D37": (left_request, frozenset({
        "deletion_threads_live", "eventually_deletions_complete", "nothing_of_a_deleted_topic_is_left",
    })),
    "D47": (old_leader, frozenset({
        "eventually_only_assigned_replicas_lead", "eventually_only_assigned_replicas_have_logs", *RAISED_UNTOLD,
    })),
    "D48": (leaderless_move, STUCK | {  # nor does the return of the new replica elect it
        "old_replicas_go_after_the_leader_moved", *RAISED_UNTOLD,
    }),
    "D51": (lost_death, frozenset({
        "dead_leaders_are_replaced", "batches_are_clean", "resigned_controllers_are_inactive",
        "eventually_one_working_controller",  # D4: two are active, as in recording 32; D15 shows only in some
        TORN,
    })),
    "D52": (rewritten_topic, frozenset({"topics_have_their_configuration", ZOMBIE, *RAISED_UNTOLD})),
    "D59": (carried_on, frozenset({
        "no_reassignment_ends_halfway", "assignments_change_in_order", "original_replicas_stay_assigned",
        *RAISED_UNTOLD,
    })),
    "D52-state": (resurrected_state, STUCK | {"nothing_of_a_deleted_topic_is_left", ZOMBIE}),
}  # fmt: skip
"""The play of each, and the claims that every explanation of it breaks."""
