"""Recordings of real Kafka 0.10.2.2: the claims that they break are those of the defects that they show, and no others.

What a recording shows is told by its own account; a claim that is broken without such a defect would be a false alarm.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

import pytest

from model_check.judging.shipped_recordings import unpacked as unpacked_whole
from model_check.monitors.check import CLAIMS, check_history, read_history, run_of
from model_check.monitors.history import History
from model_check.verdicts.verdict import Verdict
from tests.model_check.monitors.stories import AS_CODED_ROWS, breaks
from tests.model_check.unpacking import NAMES, changed, recording, replaced

BROKEN: Final[Mapping[str, Mapping[str, str]]] = {
    "06-reassign-controller-kill": {"eventually_only_assigned_replicas_have_logs": "D47"},
    "08-delete": {"busy_topics_are_not_deleted": "D44", "eventually_only_assigned_replicas_have_logs": "D57"},
    "10-unclean": {"isr_is_not_empty": "D29"},
    "12-D1-epoch-write-delayed": {"who_acts_has_raised_the_epoch": "D1", "one_term_acts_in_an_epoch": "D1"},
    "13-D1-epoch-write-connectionloss": {
        "who_acts_has_raised_the_epoch": "D1",
        "one_term_acts_in_an_epoch": "D1",
        "only_the_latest_term_writes": "D1",
    },
    "14-D2-zombie-assignment-write": {
        "only_the_latest_term_writes": "D2",
        "assignments_change_in_order": "D2-assignment",
    },
    "15-D3-resign-deletes-foreign-controller": {"controller_znode_is_its_owners": "D3"},
    "18-D13-context-not-reset": {"assignments_change_in_order": "D13"},
    "20-D22-late-stopreplica": {"in_sync_replicas_are_not_deleted": "D22"},
    "21-D23-recreated-topic-orphan": {"brokers_refuse_only_known_leader_epochs": "D23"},
    "24-D39-lost-partition": {"partitions_stay": "D39"},
    "25-D42-D49-preferred-without-leadership": {"failovers_come_to_their_end": "D42"},
    "26-D44-delete-during-reassignment": {
        "busy_topics_are_not_deleted": "D44",
        "eventually_reassignments_complete": "D44",
    },
    "32-D53-foreign-removal": {"failovers_come_to_their_end": "D53", "only_the_latest_term_writes": "D2"},
    "34-D55-config-lost": {"topics_have_their_configuration": "D55"},
}
"""The claims that a recording breaks, each with the known defect that shows there; but for those of the next."""

RAISED_UNTOLD: Final = (
    "05-reassign", "06-reassign-controller-kill", "08-delete", "14-D2-zombie-assignment-write",
    "18-D13-context-not-reset", "20-D22-late-stopreplica", "21-D23-recreated-topic-orphan",
    "23-D38-orphan-after-reassignment", "24-D39-lost-partition", "26-D44-delete-during-reassignment",
)  # fmt: skip
"""The recordings with a reassignment that raises a leader epoch, which UpdateMetadata then does not tell: D18."""


def broken(name: str) -> dict[str, str]:
    """The claims that a recording breaks, each with its defect."""
    raised = {"what_is_told_is_no_older_than_what_was_ordered": "D18"} if name in RAISED_UNTOLD else {}
    return {**BROKEN.get(name, {}), **raised}


def rows(history: History) -> dict[str, str]:
    """The claims that a history breaks, each with the rows that are named."""
    asked = {one.name: list(one.ask(history)) for one in CLAIMS if not one.missing(history)}
    found = {name: sorted({one.row for one in answers if one is not None}) for name, answers in asked.items()}
    return {name: "/".join(some) for name, some in found.items() if some}


EVERY_DAY = {"12-D1-epoch-write-delayed", "10-unclean", "25-D42-D49-preferred-without-leadership"}
"""`kcheck verify` asks all of them."""


@pytest.mark.parametrize(
    "name", [pytest.param(one, marks=[pytest.mark.slow] * (one not in EVERY_DAY)) for one in NAMES]
)
def test_a_recording_breaks_what_its_defect_breaks(name: str) -> None:
    history = read_history(recording(name))
    assert rows(history) == broken(name)
    assert run_of(history, name, AS_CODED_ROWS).verdict is Verdict.HOLDS


@pytest.mark.slow
def test_ten_minutes_at_random_break_what_known_defects_break() -> None:
    with unpacked_whole("11a-random") as home:
        history = read_history(home / "11a-random")
    assert rows(history) == {
        "isr_is_not_empty": "D29",
        "assignments_shrink_after_the_new_caught_up": "D48",
        "busy_topics_are_not_deleted": "D44",
        "what_is_told_is_no_older_than_what_was_ordered": "D18",
        "eventually_only_assigned_replicas_have_logs": "D38/D38-deletion/D47",
    }


def test_whoever_is_excused_nothing_is_told_of_a_violation_with_the_row_of_it() -> None:
    run = check_history(recording("15-D3-resign-deletes-foreign-controller"))
    assert run.verdict is Verdict.VIOLATED
    text = "broker 3 deleted /controller, which was broker 2's, whose session lived (as in the known defect D3)"
    assert breaks(run, "controller_znode_is_its_owners") == [f"zookeeper.jsonl:56: {text}"]


def test_a_leader_epoch_that_was_tampered_with_is_found(tmp_path: Path) -> None:
    moved = '\\"leader\\":3,\\"version\\":1,\\"leader_epoch\\":2,\\"isr\\":[2,3]'
    change = replaced(moved, moved.replace('epoch\\":2', 'epoch\\":4'))
    run = check_history(changed("24-D39-lost-partition", tmp_path, "zookeeper.jsonl", change), excused=AS_CODED_ROWS)
    path = "/brokers/topics/t/partitions/0/state"
    told = breaks(run, "decisions_raise_the_leader_epoch_by_one")
    assert told == [f"zookeeper.jsonl:47: broker 1 raised the leader epoch of {path} from 1 to 4"]
    told = breaks(run, "leader_epoch_never_goes_back")
    assert told == [f"zookeeper.jsonl:48: broker 1 took the leader epoch of {path} back from 4 to 3"]
    assert run.verdict is Verdict.VIOLATED
