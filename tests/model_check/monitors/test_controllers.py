"""Claims about controllers and state znodes: a good recording keeps them all, and each is broken by one wrong write."""

from pathlib import Path

import pytest

from model_check.monitors.check import read_history
from model_check.verdicts.verdict import Verdict
from reference.zookeeper.api import SetData
from reference.zookeeper.transactions import MultiChange, WriteRefused
from tests.model_check.monitors.stories import (
    AS_CODED_ROWS,
    Story,
    begun,
    born,
    breaks,
    deleted,
    failed_over,
    moved,
    remarks,
)

STATE = "/brokers/topics/t/partitions/0/state"


def test_what_a_good_controller_does_breaks_nothing(tmp_path: Path) -> None:
    story = begun()
    born(story, "u")
    story.rest()
    moved(story)
    story.rest()
    deleted(story, "u")
    story.rest()
    run = story.checked(tmp_path)
    assert run.verdict is Verdict.HOLDS
    assert remarks(run) == ()
    assert {one.verdict for one in run.findings} == {Verdict.HOLDS}
    assert {one.split(" ")[0] for one in run.not_asked} == {
        "controller_znode_is_its_owners",  # nobody gives it up
        "the_leader_changes_its_isr",  # no leader does
        "eventually_announcements_are_taken",
        "eventually_announced_isrs_are_known",
        "who_stops_in_order_leads_nothing",  # nobody is told to
        "new_terms_send_the_latest_leadership",  # there is one term
        "brokers_obey_no_older_epoch",
        "brokers_refuse_only_older_epochs",
        "brokers_accept_only_higher_leader_epochs",  # nothing arrives twice
        "brokers_refuse_only_known_leader_epochs",
        "caches_get_no_older_leadership",
        "eventually_deleted_topics_are_cached_nowhere",  # nobody says which release a broker is of
    }


def test_a_failover_breaks_nothing(tmp_path: Path) -> None:
    story = begun()
    failed_over(story)
    story.rest()
    run = story.checked(tmp_path)
    assert (run.verdict, remarks(run)) == (Verdict.HOLDS, ())


def test_who_deletes_the_controller_znode_of_another_is_told(tmp_path: Path) -> None:
    story = begun()
    place = story.delete(3, "/controller")
    told = breaks(story.checked(tmp_path), "controller_znode_is_its_owners")
    text = "broker 3 deleted /controller, which was broker 1's, whose session lived"
    assert told == [f"{place}: {text}"]


def test_an_admin_may_delete_the_controller_znode(tmp_path: Path) -> None:
    story = begun()
    story.delete(99, "/controller")
    assert story.checked(tmp_path).verdict is Verdict.HOLDS


@pytest.mark.parametrize(
    ("epoch", "text"),
    [(1, "broker 2 wrote 1 to /controller_epoch again"), (3, "broker 2 wrote 3 to /controller_epoch, which was 1")],
)
def test_an_epoch_that_is_raised_by_none_or_two_is_told(tmp_path: Path, epoch: int, text: str) -> None:
    story = begun()
    story.end(1)
    story.create(2, "/controller", {"brokerid": 2}, ephemeral=True)
    place = story.set(2, "/controller_epoch", epoch)
    assert breaks(story.checked(tmp_path), "each_election_raises_the_epoch_by_one") == [f"{place}: {text}"]


def test_who_acts_in_an_epoch_that_it_has_not_raised_is_told(tmp_path: Path) -> None:
    story = begun()
    story.end(1)
    story.create(2, "/controller", {"brokerid": 2}, ephemeral=True)
    place = story.state(2, 3, 1, (2, 3), term=1)
    run = story.checked(tmp_path)
    wrote = f"{place}: broker 2 wrote controller epoch 1 into {STATE}"
    raised = next(
        f"zookeeper.jsonl:{number}" for number, one in enumerate(story.transactions, 1) if _is_epoch(one.change)
    )
    text = f"{wrote}; 1 was written to /controller_epoch by broker 1 ({raised}), and not by itself"
    assert breaks(run, "who_acts_has_raised_the_epoch") == [text]
    text = f"{wrote}, and broker 1 has acted in epoch 1, too"
    assert breaks(run, "one_term_acts_in_an_epoch") == [text]


def _is_epoch(change: object) -> bool:
    return getattr(change, "path", "") == "/controller_epoch"


def test_an_epoch_that_nobody_has_raised_is_told(tmp_path: Path) -> None:
    story = begun()
    place = story.state(1, 3, 1, (2, 3), term=7)
    text = (
        f"{place}: broker 1 wrote controller epoch 7 into {STATE}, and nobody has ever written 7 to /controller_epoch"
    )
    assert breaks(story.checked(tmp_path), "who_acts_has_raised_the_epoch") == [text]


def test_a_request_that_comes_long_before_its_epoch_is_told(tmp_path: Path) -> None:
    story = begun()
    arrived = story.tell(2, 2, 0, (2, 3), term=2, controller=2)
    story.ms += 3000
    story.end(1)
    raised = story.elect(2, 2)
    told = breaks(story.checked(tmp_path), "who_acts_has_raised_the_epoch")
    text = "UpdateMetadata of controller 2, epoch 2, to broker 2 arrived, before 2 was written to /controller_epoch"
    assert told == [f"{arrived}: {text} ({raised})"]


def test_a_request_may_come_before_its_epoch_by_clocks_that_are_a_little_off(tmp_path: Path) -> None:
    story = begun()
    story.tell(2, 2, 0, (2, 3), term=2, controller=2)
    story.ms += 1900
    story.end(1)
    story.elect(2, 2)
    assert story.checked(tmp_path).verdict is Verdict.HOLDS


def test_a_zombie_that_decides_is_told(tmp_path: Path) -> None:
    story = begun()
    failed_over(story)
    story.begin(11, 1)
    place = story.state(11, 3, 1, (2, 3), term=1)
    run = story.checked(tmp_path)
    text = (
        f"broker 1 wrote controller epoch 1 into {STATE} while /controller_epoch was 2 and /controller was broker 2's"
    )
    assert breaks(run, "only_the_latest_term_writes") == [f"{place}: {text} (as in the known defect D2)"]
    assert run.verdict is Verdict.VIOLATED


def test_a_zombie_that_writes_an_assignment_is_told(tmp_path: Path) -> None:
    story = begun()
    failed_over(story)
    story.begin(11, 1)
    place = story.assign(11, 3, 2)
    text = "broker 1 wrote /brokers/topics/t while /controller_epoch was 2 and /controller was broker 2's"
    told = breaks(story.checked(tmp_path), "only_the_latest_term_writes")
    assert told == [f"{place}: {text} (as in the known defect D2)"]


def test_who_was_never_elected_deletes_no_request(tmp_path: Path) -> None:
    story = begun()
    story.create(99, "/admin/preferred_replica_election", {"version": 1, "partitions": []})
    place = story.delete(3, "/admin/preferred_replica_election")
    text = f"{place}: broker 3 deleted /admin/preferred_replica_election, but was never elected controller"
    assert breaks(story.checked(tmp_path), "only_the_latest_term_writes") == [text]


def test_any_broker_may_create_a_topic_for_its_client(tmp_path: Path) -> None:
    story = begun()
    story.assign(3, 2, 3, topic="v")
    assert story.checked(tmp_path).verdict is Verdict.HOLDS


def test_who_gives_the_controller_znode_up_again_and_again_is_told(tmp_path: Path) -> None:
    story = begun()
    first = place = story.delete(1, "/controller")
    for epoch in (2, 3):
        story.elect(1, epoch)
        place = story.delete(1, "/controller")
    told = breaks(story.checked(tmp_path), "failovers_come_to_their_end")
    text = f"broker 1 gave /controller up 3 times in one session, first at {first}"
    assert told == [f"{place}: {text}"]


def test_an_excused_row_is_told_and_is_no_violation(tmp_path: Path) -> None:
    story = begun()
    failed_over(story)
    story.begin(11, 1)
    story.delete(11, "/controller")
    run = story.checked(tmp_path, excused=frozenset({"D3"}))
    (found,) = (one for one in run.findings if one.property == "controller_znode_is_its_owners")
    assert (run.verdict, found.verdict, found.expected) == (Verdict.HOLDS, Verdict.VIOLATED, "VIOLATED")


# ------------------------------------------------------------------------------------------------------- state znodes


def wrong_state(story: Story, *written: object) -> str:
    """The controller decides once, rightly, and then writes something else."""
    story.state(1, 3, 1, (2, 3))
    leader, epoch, isr = written
    return story.state(1, leader, epoch, isr)  # type: ignore[arg-type]  # a row of the table below


@pytest.mark.parametrize(
    ("claim", "written", "text"),
    [
        ("leader_epoch_never_goes_back", (3, 0, (2, 3)), f"broker 1 took the leader epoch of {STATE} back from 1 to 0"),
        (
            "decisions_raise_the_leader_epoch_by_one",
            (2, 3, (2, 3)),
            f"broker 1 raised the leader epoch of {STATE} from 1 to 3",
        ),
        (
            "decisions_raise_the_leader_epoch_by_one",
            (2, 1, (2, 3)),
            f"broker 1 made 2 leader in {STATE} in the place of 3, and left the leader epoch at 1",
        ),
        (
            "clean_leaders_were_in_sync",
            (1, 2, (1,)),
            f"broker 1 made 1 leader in {STATE}, where the ISR was [2, 3], and unclean election is off",
        ),
        (
            "decisions_bring_nobody_into_the_isr",
            (3, 2, (3, 1)),
            f"broker 1 decided about {STATE}, and took 1 into the ISR, which was [2, 3]",
        ),
        ("leaders_are_in_sync", (2, 2, (3,)), f"broker 1 wrote {STATE} with leader 2, who is not in its ISR [3]"),
        ("isr_is_not_empty", (-1, 2, ()), f"broker 1 wrote {STATE} with an empty ISR"),
        (
            "isr_is_within_assigned",
            (3, 2, (3, 1)),
            f"broker 1 wrote {STATE}; then the ISR of [t,0] was [3, 1], its AR [2, 3]",
        ),
        (
            "leaders_are_assigned",
            (1, 2, (1,)),
            f"broker 1 wrote {STATE}; then the leader of [t,0] was 1, its AR [2, 3]",
        ),
    ],
)
def test_a_wrong_state_is_told(tmp_path: Path, claim: str, written: tuple[object, ...], text: str) -> None:
    story = begun()
    place = wrong_state(story, *written)
    assert breaks(story.checked(tmp_path), claim) == [f"{place}: {text}"]


def test_an_empty_isr_where_election_may_be_unclean_is_a_known_defect(tmp_path: Path) -> None:
    story = begun()
    story.set(99, "/config/topics/t", {"version": 1, "config": {"unclean.leader.election.enable": "true"}})
    place = story.state(1, -1, 1, ())
    run = story.checked(tmp_path, excused=AS_CODED_ROWS)
    text = f"{place}: broker 1 wrote {STATE} with an empty ISR (as in the known defect D29)"
    assert breaks(run, "isr_is_not_empty") == [text]
    assert run.verdict is Verdict.HOLDS


def test_who_may_be_elected_uncleanly_may_come_into_the_isr(tmp_path: Path) -> None:
    story = begun()
    story.set(99, "/config/topics/t", {"version": 1, "config": {"unclean.leader.election.enable": "true"}})
    story.state(2, 2, 0, (2,))
    story.state(1, 3, 1, (3,))
    story.order(3, 3, 1, (3,), version=2)
    assert story.checked(tmp_path).verdict is Verdict.HOLDS


def test_a_controller_epoch_that_falls_is_told(tmp_path: Path) -> None:
    story = begun()
    failed_over(story)
    story.state(2, 3, 1, (2, 3), term=2)
    place = story.state(3, 3, 1, (3,), term=1)
    text = f"{place}: broker 3 wrote controller epoch 1 into {STATE}, which had 2"
    assert breaks(story.checked(tmp_path), "writers_epochs_never_go_back") == [text]


def test_who_does_not_lead_changes_no_isr(tmp_path: Path) -> None:
    story = begun()
    story.state(2, 2, 0, (2,))
    place = story.state(3, 2, 0, (2, 3))
    text = (
        f"broker 3 changed the ISR in {STATE} from [2] to [2, 3], but its leader was 2, "
        "and /controller_epoch was 1 and /controller was broker 1's"
    )
    assert breaks(story.checked(tmp_path), "the_leader_changes_its_isr") == [f"{place}: {text}"]


def test_a_state_that_nobody_can_read_is_told(tmp_path: Path) -> None:
    story = begun()
    place = story.set(1, STATE, {"version": 1, "leader": 2})
    (told,) = breaks(story.checked(tmp_path), "znodes_can_be_read")
    assert told == f"{place}: broker 1 wrote {STATE} so that nobody can read it: it has no leader_epoch"


def test_unknown_keys_and_higher_versions_are_read(tmp_path: Path) -> None:
    story = begun()
    story.end(1)
    elected = {"version": 2, "brokerid": 2, "timestamp": "1", "kraftControllerEpoch": -1}
    story.create(2, "/controller", elected, ephemeral=True)
    story.set(2, "/controller_epoch", 2)
    story.create(2, "/feature", {"version": 1})
    run = story.checked(tmp_path)
    assert run.verdict is Verdict.HOLDS
    assert remarks(run) == (
        "no moment of rest: at no moment the cluster is known to have been at rest",
        "passed over are znodes of other parts than the controller's protocol: 1",
    )


# ------------------------------------------------------------------------------------------------- multi transactions


def test_the_parts_of_a_transaction_are_at_its_line(tmp_path: Path) -> None:
    """And so is what follows at its own."""
    story = begun()
    path = "/brokers/topics/t"
    parts = (story.tree.prepare(99, SetData(path, b"{}")), story.tree.prepare(99, SetData("/brokers/ids", b"")))
    place = story.log(99, MultiChange(parts))
    after = story.create(99, "/feature")
    writes = read_history(story.save(tmp_path)).writes
    assert [one.place for one in writes[-3:]] == [place, place, after]


def test_a_refused_transaction_writes_nothing(tmp_path: Path) -> None:
    story = begun()
    place = story.log(99, MultiChange((WriteRefused(0), WriteRefused(-101))))
    history = read_history(story.save(tmp_path))
    assert place not in {one.place for one in history.writes}
    assert [one.error for one in history.refusals] == ["NoNode"]
