"""When two runs show the same unexplained observation."""

from dataclasses import replace

import pytest

from model_check.campaigns.signatures import Signature, signature, without_numbers
from model_check.verdicts.results import Explained, Seen
from tests.model_check.campaigns.stand_in_runs import PART, WHOLE


@pytest.mark.parametrize(
    ("text", "alike"),
    [
        (
            'zxid 0x3b session=0x10 path=/brokers/topics/topic-2/partitions/0/state data={"isr":[3,1,2]} version=1',
            'zxid N session=N path=/brokers/topics/T/partitions/N/state data={"isr":[N]} version=N',
        ),
        ("to brokers Set(1, 2, 3) for partition topic-1-0", "to brokers Set(N) for partition T"),
        ("for partition [topic-12,0] from OnlineReplica", "for partition [T,N] from OnlineReplica"),
        ("[2026-11-25 19:49:54,547] TRACE", "[N-N-N N:N:N] TRACE"),
        ('{"0":[3,1],"1":[2]}', '{"N":[N]}'),
    ],
)  # fmt: skip
def test_numbers_topics_and_lengths_of_lists_do_not_matter(text: str, alike: str) -> None:
    assert without_numbers(text) == alike


def test_a_signature_has_the_kind_the_file_the_text_and_what_was_possible() -> None:
    assert signature(PART) == Signature(
        "StateWritten", "zookeeper.jsonl", "zxid N version=N", frozenset({"write_removal"})
    )
    assert signature(WHOLE) is None


def other(**changes: str) -> Explained:
    """The same, with another observation next."""
    return replace(PART, next=(replace(PART.next[0], **changes), *PART.next[1:]))  # type: ignore[arg-type]  # all texts


def are_the_same(one: Explained, another: Explained) -> bool:
    """By their signatures, asked both ways."""
    first, second = signature(one), signature(another)
    assert first is not None
    assert second is not None
    assert first.is_same(second) == second.is_same(first)
    return first.is_same(second)


@pytest.mark.parametrize(
    "again",
    [
        other(text="zxid 0xff version=12", place="zookeeper.jsonl:3"),
        replace(PART, explained=1, positions=2, next=(*PART.next, Seen("Else", "x:1", 1, "e"))),
        replace(PART, instead=("report_isr_changes(b=1)", "write_removal(c=1, p=2, r=3)")),
        replace(PART, instead=("start_process(b=1)",)),
        replace(PART, instead=()),
    ],
)
def test_another_run_of_the_same_shows_the_same(again: Explained) -> None:
    assert are_the_same(PART, again)


@pytest.mark.parametrize(
    "different",
    [
        other(kind="TopicCreated"),
        other(place="broker-1/controller.log:59"),
        other(text="zxid 0x3b"),
        replace(PART, instead=("write_move(c=1, p=1)", "deliver_request(c=1, b=2)")),
    ],
)
def test_what_differs_in_any_of_them_is_not_the_same(different: Explained) -> None:
    assert not are_the_same(PART, different)


def test_what_is_explained_shows_nothing() -> None:
    wanted = signature(PART)
    assert wanted is not None
    assert not wanted.is_same(signature(WHOLE))
