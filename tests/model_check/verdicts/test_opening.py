"""What a story begins with: the controller, the leaders, and what may still go wrong."""

from model_check.explicit_state.findings import story_of
from model_check.traces.trace import Trace
from model_check.verdicts.opening import opening
from model_check.verdicts.rendering import steps_in_lines
from model_check.verdicts.results import Story
from spec.language.rules import TransitionSystem
from spec.scopes import scope
from spec.system import system
from spec.variants import AS_CODED


def initially(built: TransitionSystem) -> Trace:
    return Trace(((None, {one.name: one.initial for one in built.variables}),))


def test_a_cluster_at_rest_has_a_controller_leaders_and_budgets() -> None:
    story = story_of(built := system(scope("bounce"), AS_CODED), initially(built))
    assert list(steps_in_lines(story)) == [
        "   0. The initial state.",
        "        controller 1, epoch 1; brokers {1,2}; [a,0] leader 1, leader epoch 0, ISR [1, 2]",
        "        may still happen: crashes (1)",
    ]


def test_what_is_not_there_yet_and_what_may_change_are_told() -> None:
    at_first = {"zookeeper.controller": "-1", "zookeeper.epoch": "0", "zookeeper.registered": "{}"}
    topics = {
        "zookeeper.state[0].leader": "-1", "zookeeper.state[0].version": "-1",
        "zookeeper.state[1].leader": "2", "zookeeper.state[1].isr": "[2]", "zookeeper.assigned[1]": "[2, 3]",
    }  # fmt: skip
    initial = {**at_first, **topics, "budget.expiries": "0", "budget.lost_answers": "2"}
    assert opening(Story(0, initial=initial, partitions=("[a,0]",))) == (
        "no controller, epoch 0; brokers {}; [a,0] no leader yet; [1] leader 2, ISR [2], AR [2, 3]",
        "may still happen: lost answers (2)",
    )
    assert opening(Story(0, initial=at_first)) == ("no controller, epoch 0; brokers {}",)


def test_of_another_system_or_of_a_state_that_nobody_kept_nothing_is_told() -> None:
    assert opening(Story(0, initial={"counter": "1"})) == opening(Story(0)) == ()
