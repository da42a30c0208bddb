"""Sequence diagrams: participants, arrows and notes in Mermaid's language, and nothing else whatever the texts are."""

import re
from dataclasses import replace

from hypothesis import given

from model_check.reports.mermaid import MOST_CHARACTERS, diagram, report
from model_check.verdicts.results import Document, Finding, Story, plain_document
from model_check.verdicts.verdict import Verdict
from tests.model_check.documents import documents, run
from tests.model_check.reports.stories import WHY, ZOMBIE

ZOMBIES = Finding("p", "step", "It holds.", "by hand", Verdict.VIOLATED, story=ZOMBIE)
LINE = re.compile(
    r"sequenceDiagram|  participant L\d+ as ([^#;\n]|#\d+;)*|  Note over L\d+(,L\d+)?: ([^#;\n]|#\d+;)*"
    r"|  L\d+(->>|-->>|-x|-\))L\d+: ([^#;\n]|#\d+;)*"
)


def test_a_story_is_participants_notes_and_arrows() -> None:
    assert (
        diagram(ZOMBIE, "It holds.")
        == """\
sequenceDiagram
  participant L0 as ZooKeeper
  participant L1 as controller 1
  participant L2 as controller 2
  participant L3 as broker 1
  participant L4 as broker 3
  Note over L1: acts in epoch 1
  Note over L0: FAULT: 1. expire_session(b=1)
  Note over L3: its session is no longer LIVE
  Note over L2: 2. elect_create(c=2)
  L2->>L0: create /controller controller=2
  Note over L2: 3. increment_epoch(c=2)
  L2->>L0: write /controller_epoch epoch=2
  Note over L2: acts in epoch 2
  Note over L2: 4. write_leader(c=2)
  Note over L4: 5. deliver_request(c=2, b=3)
  L2->>L4: LeaderAndIsr: become leader [0] leader=1 leader_epoch=1 isr=[1], sent at 4
  Note over L1: 6. write_removal(c=1)
  L1-xL0: fail to write state [0]
  L1-)L4: UpdateMetadata, which does not arrive
  Note over L4: 7. deliver_request(c=1, b=3)
  L1-xL4: refuse LeaderAndIsr epoch=1, sent at 6
  Note over L3: FAULT: 8. crash(b=1)
  Note over L3: its session is no longer EXPIRED
  Note over L0,L4: because: It holds.
"""
    )


def test_what_breaks_the_claim_is_told_with_its_values_where_somebody_says_so() -> None:
    told = replace(ZOMBIES, story=replace(ZOMBIE, because=WHY))
    page = report(plain_document("explore", run(told, verdict=Verdict.VIOLATED)))
    assert "because: of broker 1: its #60;epoch#62; (1) is #60; 2#59; it writes: yes\n```" in page
    assert "because: It holds.\n```" in report(plain_document("explore", run(ZOMBIES, verdict=Verdict.VIOLATED)))


def test_a_step_of_a_recording_says_which_claims_it_breaks() -> None:
    first, second = ZOMBIE.steps[:2]
    lines = diagram(replace(ZOMBIE, steps=(replace(first, breaks=("a_claim",)), second))).splitlines()
    (at,) = [number for number, line in enumerate(lines) if line.endswith(": breaks a_claim")]
    assert any(f"{first.number}. " in line for line in lines[:at])
    assert any(f"{second.number}. " in line for line in lines[at:])


def test_each_story_has_a_heading_and_a_diagram() -> None:
    page = report(plain_document("explore", run(ZOMBIES, verdict=Verdict.VIOLATED)))
    assert page.startswith("### tiny AS\\_CODED (explorer): p\n")
    assert "It holds. Broken by 8 steps." in page
    assert page.count("```mermaid\nsequenceDiagram\n") == 1
    assert report(plain_document("explore", run())) == "kcheck explore: HOLDS; there is no story to draw\n"


def test_of_a_long_story_the_last_steps_are_drawn() -> None:
    long = Story(8000, ZOMBIE.steps * 1000, ZOMBIE.initial)
    lines = diagram(long).splitlines()
    assert sum(map(len, lines)) < 50_000
    assert sum(map(len, lines)) > MOST_CHARACTERS / 2
    assert lines[-2] == "  Note over L3: FAULT: 8. crash(b=1)"
    (told,) = [line for line in lines if "steps come before" in line]
    drawn = sum(bool(re.search(r": (FAULT: )?\d\. ", line)) for line in lines)
    assert told == f"  Note over L0: {8000 - drawn} steps come before"


@given(documents)
def test_whatever_is_in_a_document_each_line_is_one_of_the_language(document: Document) -> None:
    for block in re.findall(r"```mermaid\n(.*?)```\n", report(document), re.DOTALL):
        assert all(LINE.fullmatch(line) for line in block.splitlines())


def test_nothing_in_a_name_ends_a_line_or_begins_a_word_of_the_language() -> None:
    hostile = replace(ZOMBIE.steps[0], action="end\n```\nL0->>L1: <b>;%%init", actor="zookeeper")
    lines = diagram(Story(1, (hostile,))).splitlines()
    assert all(LINE.fullmatch(line) for line in lines)
    assert lines[-1] == ("  Note over L0: FAULT: 1. end #96;#96;#96; L0-#62;#62;L1: #60;b#62;#59;#37;#37;init")
