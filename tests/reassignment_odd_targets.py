"""What Kafka 0.10.2.2 makes of lists that are no lists of distinct brokers, told once, like the worked examples.

The values are those of its source, and of `tests/data/kafka-odd-targets.tar.xz`, a run of the real one. PROTOCOL.md D61
and D62.
"""

from spec.language.broker_lists import NOBODY
from tests.reassignment_moves import Make, Move, begin, complete, order, queued, settled

BOTH = (1, 2)


def _is_over(move: Move) -> None:
    """Nothing is asked for any more, and the controller is done."""
    assert (move["zookeeper.requested[0]"], move["controllers[1].reassigned[0]"]) == ("[]", "[]")
    assert (move["controllers[1].at"], move["controllers[1].isr_listening[0]"]) == ("IDLE", "no")


def nobody_takes_over(make: Make) -> None:
    """`[]`: all of nobody is in sync, so the old replicas go at once; clean election keeps the last in the ISR."""
    move = settled(make, BOTH, NOBODY, brokers=2)
    begin(move)
    assert move["controllers[1].at"] == "MOVE_READ", "no phase A"
    assert move.row()[:2] == ("[1, 2]", "[nobody]")
    assert "controller 1 fail election partition=0" in move.do("read_for_move", c=1, p=0)
    for r in BOTH:
        move.do("read_for_removal", c=1, p=0, r=r)
        seen = move.do("write_removal", c=1, p=0, r=r)
    assert queued(seen, "LeaderAndIsr") == [], "nobody is left to be told"
    ordered = ["UpdateMetadata", "StopReplica delete=0", "StopReplica delete=1"]
    assert [order(seen, r) for r in BOTH] == [ordered, ordered]
    for rule in ("write_target", "read_remaining", "write_remaining"):
        move.do(rule, c=1, p=0)
    move.deliver_all()
    assert move.row() == ("[nobody]", "[nobody]", "-1", "[2]", "2", "2")
    assert (move.replicas(*BOTH), {move[f"logs[{r}][0]"] for r in BOTH}) == ({"NON_EXISTENT"}, {"no"})
    _is_over(move)


def a_broker_twice_is_told_twice(make: Make) -> None:
    """`[2, 2]` of [1]: AR names it twice in the end; step 5 goes through RAR, and has it Online twice."""
    move = settled(make, (1,), (2, 2), brokers=2)
    begin(move)
    move.do("write_union", c=1, p=0)
    assert move.row()[0] == "[2, 1]", "a set"
    for rule in ("read_for_bump", "write_bump"):
        move.do(rule, c=1, p=0)
    move.do("start_new_replica", c=1, p=0, r=2)
    move.deliver_all()
    move.do("expand_isr", b=1, p=0, r=2)
    move.do("on_state_change", c=1, p=0)
    seen = move.do("read_whether_caught_up", c=1, p=0)
    assert order(seen, 2) == ["LeaderAndIsr", "UpdateMetadata"], "of the two only the one that is Online already"
    complete(move, 1)
    assert move.row() == ("[2, 2]", "[2, 2]", "2", "[2]", "3", "4")
    _is_over(move)


def text_is_refused_at_the_first_look(make: Make) -> None:
    """`["2"]`: accepted and watched; then an id is looked for in the ISR, and there is a ClassCastException."""
    move = settled(make, BOTH, (-2,), brokers=2)
    before = move.row()
    begin(move)
    assert move["controllers[1].at"] == "REFUSE_READ"
    for rule in ("read_remaining", "write_remaining"):
        move.do(rule, c=1, p=0)
    assert move.row() == before, "nothing is written"
    _is_over(move)


ODD_TARGETS = (nobody_takes_over, a_broker_twice_is_told_twice, text_is_refused_at_the_first_look)
