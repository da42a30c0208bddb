"""What transactions change of the specification's tree, where no recording that comes along shows it."""

from model_check.judging.judge import judge
from model_check.judging.recorded_trees import agrees
from model_check.recordings.seen import AssignmentWritten
from model_check.stepping.plain_state import PlainState
from spec.state.enumerations import At
from tests.model_check.unpacking import RECORDINGS, recorded

pytestmark = RECORDINGS


def without_topic(state: PlainState) -> PlainState:
    """A state of a cluster with one topic, once somebody has deleted it."""
    gone = "topics", "assigned", "state"
    return {**state, "zookeeper": {name: value for name, value in state["zookeeper"].items() if name not in gone}}


def test_a_controller_that_writes_the_assignment_of_a_deleted_topic_puts_it_back() -> None:
    """D52, with the late write of recording 14: the whole topic is there again, and step 2 finds no state znode."""
    found = judge(recorded("14-D2-zombie-assignment-write"), budget=250)
    late = [one for one in found.path if one.step is not None and one.step.rule == "write_union"][-1]
    assert late.step is not None
    assert late.before is not None
    written = late.step.observations[0]
    assert isinstance(written, AssignmentWritten)
    step, before = found.system.step, without_topic(late.before.state)
    taken = step(before, "write_union", late.step.parameters)
    assert taken is not None
    after = taken[0]
    assert agrees(found.system.model, written, before, after, taken.seen)
    assert not agrees(found.system.model, written, before, without_topic(after), taken.seen)
    assert not agrees(found.system.model, written, before, after), "nothing was seen to be written"
    zookeeper, model = found.system.view(after).zookeeper, found.system.model
    assert zookeeper.topics[0].raw == 1
    assert [model.brokers.lists[zookeeper.assigned[p].raw] for p in model.partitions_of(0)] == [(3, 2), (2, 3)]
    ended = step(after, "read_for_bump", late.step.parameters)
    assert ended is not None
    assert list(At)[found.system.view(ended[0]).controllers[1].at.raw] is At.REFUSE_READ
