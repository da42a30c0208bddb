"""Claims that something has come about: each is broken by what is left undone at a moment of rest, and only there."""

from pathlib import Path

import pytest

from model_check.monitors.acts import read_acts
from model_check.monitors.check import NOTHING_AT_REST, check_history
from model_check.verdicts.verdict import Verdict
from spec.errors import MalformedInput
from tests.model_check.monitors.stories import Story, begun, born, breaks, failed_over, moved

LED = "leader 2, leader epoch 0, ISR [2, 3]"


def test_who_takes_the_controller_znode_and_does_nothing_is_told(tmp_path: Path) -> None:
    story = begun()
    story.end(1)
    won = story.create(2, "/controller", {"brokerid": 2}, ephemeral=True)
    place = story.rest()
    text = f"{place}: broker 2 has had /controller since {won}, and has not raised /controller_epoch"
    assert breaks(story.checked(tmp_path), "eventually_one_working_controller") == [text]


def test_who_fails_to_raise_the_epoch_and_goes_on_is_a_known_defect(tmp_path: Path) -> None:
    story = begun()
    story.end(1)
    won = story.create(2, "/controller", {"brokerid": 2}, ephemeral=True)
    story.refuse(2)
    place = story.rest()
    text = f"{place}: broker 2 has had /controller since {won}, and has not raised /controller_epoch"
    told = breaks(story.checked(tmp_path), "eventually_one_working_controller")
    assert told == [f"{text} (as in the known defect D1)"]


def test_that_nobody_is_controller_is_told(tmp_path: Path) -> None:
    story = begun()
    story.end(1)
    place = story.rest()
    text = f"{place}: nobody is controller, and brokers 2, 3 run"
    assert breaks(story.checked(tmp_path), "eventually_one_working_controller") == [text]


def test_brokers_that_never_stand_for_election_need_no_controller(tmp_path: Path) -> None:
    story = begun()
    story.act("broker-kill-9", 1)
    story.end(1)
    story.rest()
    role = '{"role": "%s", "runs": "x", "release": null}'
    members = ", ".join(f'"{broker}": {role % ("both" if broker == 1 else "broker")}' for broker in (1, 2, 3))
    (tmp_path / "members.json").write_text(f"{{{members}}}")
    assert story.checked(tmp_path).verdict is Verdict.HOLDS


def test_a_partition_without_a_state_is_told(tmp_path: Path) -> None:
    story = begun()
    story.assign(99, 3, 2, topic="u")
    place = story.rest()
    text = f"{place}: [u,0] has no state znode, although brokers 2, 3 run"
    assert breaks(story.checked(tmp_path), "eventually_partitions_are_led") == [text]


def test_a_leader_that_is_dead_is_told(tmp_path: Path) -> None:
    story = begun()
    story.act("broker-kill-9", 2)
    story.end(2)
    place = story.rest()
    text = "[t,0] has leader 2, leader epoch 0, ISR [2, 3], and broker 3 runs"
    assert breaks(story.checked(tmp_path), "eventually_leaders_can_lead") == [f"{place}: {text}"]


def test_a_replica_that_was_not_told_is_told(tmp_path: Path) -> None:
    story = begun()
    written = story.state(1, 3, 1, (2, 3))
    story.order(3, 3, 1, (2, 3), version=1)
    for broker in (1, 2, 3):
        story.tell(broker, 3, 1, (2, 3))
    place = story.rest()
    text = f"[t,0] has leader 3, leader epoch 1, ISR [2, 3] ({written}), and broker 2, which runs"
    told = breaks(story.checked(tmp_path), "eventually_live_replicas_are_informed")
    assert told == [f"{place}: {text}, has accepted no later leader epoch of it than 0"]


@pytest.mark.parametrize("ms", [5000, 500])
def test_a_process_that_nobody_noticed_is_a_known_defect(ms: int, tmp_path: Path) -> None:
    """Also where it rests so soon after that clocks do not tell the one process from the other."""
    story = begun()
    story.act("broker-kill-9", 3)
    story.end(3)
    story.act("broker-start", 3)
    story.start(3)
    story.begin(13, 3, incarnation=2)
    story.create(13, "/brokers/ids/3", {"version": 4}, ephemeral=True)
    place = story.rest(ms=ms, last=hex(len(story.transactions)))
    run = story.checked(tmp_path)
    (told,) = breaks(run, "eventually_live_replicas_are_informed")
    assert told.startswith(f"{place}: [t,0] has leader 2")
    assert told.endswith("broker 3, which runs, has accepted no LeaderAndIsr of it (as in the known defect D12)")
    (told,) = breaks(run, "eventually_live_brokers_know_the_leaders")
    assert told.endswith(
        "broker 3, which runs, has been sent nothing of it by UpdateMetadata (as in the known defect D12)"
    )


def test_a_process_of_which_nothing_is_written_leaves_open_which_one_is_present(tmp_path: Path) -> None:
    """The second was killed before it wrote its start; then the number of the third is not its place in the file."""
    story = begun()
    story.end(3)
    story.start(3)
    story.begin(13, 3, incarnation=3)
    story.create(13, "/brokers/ids/3", {"version": 4}, ephemeral=True)
    story.rest(ms=500, last=hex(len(story.transactions)))
    verdicts = {one.property: one.verdict for one in story.checked(tmp_path).findings}
    assert verdicts["eventually_live_brokers_know_the_leaders"] is Verdict.HOLDS


def test_a_log_that_nobody_tells_to_delete_is_told(tmp_path: Path) -> None:
    story = begun()
    moved(story)
    story.wire[2] = story.wire[2][:-4] + story.wire[2][-2:]  # all but the StopReplica
    place = story.rest()
    text = f"{place}: broker 2 hosts [t,0] (broker-2/wire.jsonl:6), and was not told to delete it; its AR is [3]"
    told = breaks(story.checked(tmp_path), "eventually_only_assigned_replicas_have_logs")
    assert told == [text]


def test_a_deletion_that_does_not_end_is_told(tmp_path: Path) -> None:
    story = begun()
    story.create(99, "/admin/delete_topics/t")
    place = story.rest()
    text = f"{place}: /admin/delete_topics/t is left, although all that host the topic run"
    assert breaks(story.checked(tmp_path), "eventually_deletions_complete") == [text]
    (tmp_path / "broker-1/server.log").write_text("\tdelete.topic.enable = false\n")
    told = breaks(check_history(tmp_path, excused=frozenset({"D71-request"})), "eventually_deletions_complete")
    assert told == [f"{text} (as in the known defect D71-request)"]


@pytest.mark.parametrize(
    ("target", "text"),
    [
        ((1,), "for [t,0], whose AR is [2, 3]: nobody has begun"),
        ((2,), f"for [t,0], whose AR is [2, 3], although all of it is in sync: it has {LED}"),
    ],
)
def test_a_reassignment_that_does_not_end_is_told(tmp_path: Path, target: tuple[int, ...], text: str) -> None:
    story = begun()
    story.move(*target)
    place = story.rest()
    told = breaks(story.checked(tmp_path), "eventually_reassignments_complete")
    assert told == [f"{place}: /admin/reassign_partitions asks for {list(target)} {text}"]


def test_an_election_that_does_not_end_is_told(tmp_path: Path) -> None:
    story = begun()
    story.create(99, "/admin/preferred_replica_election", {"version": 1, "partitions": []})
    place = story.rest()
    text = f"{place}: /admin/preferred_replica_election is left"
    assert breaks(story.checked(tmp_path), "eventually_elections_come_to_an_end") == [text]


# -------------------------------------------------------------------------------------------------- moments of rest


def undone(story: Story) -> None:
    """A request that nobody takes up."""
    story.create(99, "/admin/preferred_replica_election", {"version": 1, "partitions": []})


def test_a_break_counts_only_wherever_clocks_may_put_the_moment(tmp_path: Path) -> None:
    story = begun()
    undone(story)
    story.ms += 5000
    story.act("at-rest")
    story.ms += 1900
    story.delete(1, "/admin/preferred_replica_election")
    assert story.checked(tmp_path).verdict is Verdict.HOLDS


@pytest.mark.parametrize("act", ["broker-kill-9", "broker-sigstop"])
def test_nothing_is_asked_while_the_dead_are_still_registered_or_a_process_is_paused(act: str, tmp_path: Path) -> None:
    story = begun()
    undone(story)
    story.act(act, 2)
    story.rest()
    assert story.checked(tmp_path).reason.startswith(NOTHING_AT_REST)


def test_what_was_found_at_one_moment_is_not_told_again_at_the_next(tmp_path: Path) -> None:
    story = begun()
    undone(story)
    first = story.rest()
    story.rest()
    (told,) = breaks(story.checked(tmp_path), "eventually_elections_come_to_an_end")
    assert told.startswith(f"{first}: ")


@pytest.mark.parametrize(("quiet", "kill", "found"), [(6000, False, True), (4000, False, False), (6000, True, False)])
def test_the_end_of_an_older_recording_is_a_rest_if_all_is_quiet_and_up(
    tmp_path: Path, quiet: int, *, kill: bool, found: bool
) -> None:
    story = begun()
    story.act("broker-start", 3)
    if kill:
        story.act("broker-kill-9", 2)
    story.ms += quiet
    story.act("broker-kill-9 (end of recording)", 1)
    story.save(tmp_path)
    moves = [one.time_ms for one in story.transactions]
    assert bool(read_acts(tmp_path, moves).rests) is found


def test_an_act_that_cannot_be_read_is_refused(tmp_path: Path) -> None:
    story = begun()
    story.rest()
    with (story.save(tmp_path) / "actions.jsonl").open("a") as file:
        file.write('{"ms": 1}\n')
    with pytest.raises(MalformedInput, match=r"actions\.jsonl:2: is not an act with a time and its fields"):
        check_history(tmp_path)


def test_a_failover_that_leaves_a_topic_alone_is_told(tmp_path: Path) -> None:
    story = begun()
    story.assign(99, 2, 3, topic="u")
    failed_over(story)
    place = story.rest()
    told = breaks(story.checked(tmp_path), "eventually_partitions_are_led")
    assert told == [f"{place}: [u,0] has no state znode, although brokers 2, 3 run"]
    born(story, "v", 2, 2)
