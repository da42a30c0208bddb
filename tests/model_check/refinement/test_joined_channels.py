"""Before 0.9.0.0 a failover runs on top of the channels that an earlier term left over: both side by side.

Since then the metrics of those channels end it (D56). Real 0.8.2.2 was seen to do it when /controller was removed by
hand: the first controller went on beside the second (D7), and was elected again with its channels open. PROTOCOL.md
section 6; Kafka 0.8.2.2: `ControllerChannelManager`.
"""

from dataclasses import replace

from spec.scopes import scope
from spec.variants import AS_CODED, Switch, Switches
from tests.model_check.side_by_side import SideBySide

BEFORE_0_9 = frozenset({Switch.IGNORE_WHO_IS_NEW})


STEPS = ("elect_read", "elect_create", "read_epoch", "increment_epoch", "subscribe", "read_brokers", "read_topics")
FAILOVER = [*(f"{step}(c=1)" for step in STEPS), "read_state(c=1, p=0)"]


def elected_again(switches: Switches, *meanwhile: str) -> SideBySide:
    """Controller 1 has put requests on broker 2's queue when its failover fails; it is elected again, up to the end."""
    both = SideBySide(scope("outlived_term"), switches, exceptions=1, crashes=1)
    after = FAILOVER.index("increment_epoch(c=1)") + 1
    both.do(
        "start_process(b=2)", "register_broker(b=2)", "start_process(b=1)",
        *FAILOVER[:after], "create_epoch(c=1)", *FAILOVER[after:], "create_state(c=1, p=0)",
        "fail_failover(c=1)", "resign_delete(c=1)", "on_controller_change(c=1)",
    )  # fmt: skip
    assert both["controllers[1].channels"] == "{2}"
    assert queued(both) == ["1", "1"]
    both.do(*meanwhile, *FAILOVER)
    return both


def queued(both: SideBySide) -> list[str]:
    """The epochs of what waits for broker 2."""
    slots = (f"connections[1][2][{slot}]" for slot in range(4))
    return [both[f"{slot}.epoch"] for slot in slots if both[f"{slot}.stage"] != "EMPTY"]


def test_the_metrics_of_a_left_over_channel_end_the_next_failover() -> None:
    both = elected_again(AS_CODED)
    assert both["controllers[1].at"] == "RESIGN_DELETE"
    assert queued(both) == ["1", "1"]


def test_before_0_9_the_next_failover_goes_on_with_the_queues_of_the_first() -> None:
    both = elected_again(BEFORE_0_9)
    assert both["controllers[1].at"] == "FINISH"
    assert (both["controllers[1].channels"], both["controllers[1].stranded"]) == ("{2}", "{}")
    assert queued(both) == ["1", "1", "2", "2"], "each sends UpdateMetadata, then LeaderAndIsr"
    both.do("finish_failover(c=1)", "deliver_request(c=1, b=2)", "register_broker(b=1)")
    both.do("on_controller_change(c=1)", "on_broker_change(c=1)")
    assert both["controllers[1].channels"] == "{1,2}"


def test_before_0_9_who_was_gone_meanwhile_gets_a_channel_again_with_what_waited_for_it() -> None:
    both = elected_again(BEFORE_0_9, "crash(b=2)", "end_orphaned_session(b=2)")
    assert (both["controllers[1].channels"], both["controllers[1].stranded"]) == ("{}", "{2}")
    both.do("read_for_election(c=1, p=0)", "finish_failover(c=1)", "on_broker_change(c=1)")
    both.do("start_process(b=2)", "register_broker(b=2)", "on_controller_change(c=1)", "on_broker_change(c=1)")
    assert (both["controllers[1].channels"], both["controllers[1].stranded"]) == ("{2}", "{}")
    assert queued(both)[:2] == ["1", "1"]
    assert set(queued(both)[2:]) == {"2"}


def test_the_machine_tells_of_what_has_vanished_since_its_earlier_term_too() -> None:
    """Nothing but a resignation clears its map (`PartitionStateMachine.shutdown`)."""
    both = SideBySide(replace(scope("foreign_removal"), cold=True), BEFORE_0_9, exceptions=1, removals=1)
    after = FAILOVER.index("increment_epoch(c=1)") + 1
    both.do("start_process(b=2)", "register_broker(b=2)", "start_process(b=1)", *FAILOVER[:after], "create_epoch(c=1)")
    both.do(*FAILOVER[after:], "read_state(c=1, p=1)", "create_state(c=1, p=1)")
    both.do("fail_failover(c=1)", "resign_delete(c=1)", "on_controller_change(c=1)", "remove_topic(t=1)", *FAILOVER)
    assert both["controllers[1].partitions[1].state"] == "ONLINE"
