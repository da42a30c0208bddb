"""Edge replay by workers: what they bring back is what one process finds."""

import itertools
import logging

import pytest

from model_check.explicit_state.spanning_tree import spanning_tree
from model_check.refinement.edge_replay import joined
from model_check.refinement.lockstep import Sides
from model_check.spark.spark_edge_replay import walk_with_workers
from spec.scopes import scope
from tests.model_check.conftest import MASTER
from tests.model_check.plain_trees import replay_edges

pytestmark = [pytest.mark.xdist_group("spark"), pytest.mark.usefixtures("spark")]


@pytest.mark.takes("Workers start that have both sides, and their parts are replayed here, too.")
def test_workers_and_one_process_find_the_same() -> None:
    sides = Sides(scope("bounce"))
    tree, reports = spanning_tree(sides.system), list[int]()
    walks = walk_with_workers(sides, tree, master=MASTER, progress=reports.append)
    assert walks is not None
    assert len(walks) > 1
    assert joined(sides, tree, walks) == replay_edges(sides, tree)
    assert all(report <= tree.states for report in reports)


@pytest.mark.parametrize("looks", [0, 1])
def test_a_replay_that_is_stopped_brings_nothing_back(looks: int) -> None:
    sides, asked = Sides(scope("bounce")), itertools.count()
    tree = spanning_tree(sides.system)
    assert walk_with_workers(sides, tree, master=MASTER, stop=lambda: next(asked) >= looks) is None


def test_of_a_second_press_nothing_is_printed(caplog: pytest.LogCaptureFixture) -> None:
    """As py4j tells of it: by the root logger."""
    logging.getLogger().error("KeyboardInterrupt while sending command.")
    logging.getLogger().error("anything else")
    assert caplog.messages == ["anything else"]
