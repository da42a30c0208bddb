"""The page: all of a document is on it as text, the story is drawn, and nothing of a name is markup."""

import json
import re
from dataclasses import replace
from html.parser import HTMLParser

from hypothesis import given

from model_check.reports.characters import printable
from model_check.reports.html import HEAD, LEFT, ROW, lane_width, report
from model_check.verdicts.occurrences import items
from model_check.verdicts.results import Comparison, Document, Finding, plain_document
from model_check.verdicts.told_stories import stories_told
from model_check.verdicts.verdict import Verdict
from spec.protocol.handlers import ROWS as HANDLER_ROWS
from spec.tables.partition_states import PartitionState
from spec.tables.replica_states import ReplicaState
from spec.tables.taken_rows import ROWS
from tests.model_check.documents import documents, run
from tests.model_check.reports.stories import INSTEAD, WHY, ZOMBIE

ZOMBIES = Finding("zombies_are_fenced", "step", "It holds.", "by hand", Verdict.VIOLATED, story=ZOMBIE)
VOID = {"meta", "input"}


class Page(HTMLParser):
    """What is on a page: its elements, each with its attributes, and the text; elements are closed in their order."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str]]] = []
        self.open: list[str] = []
        self.words: list[str] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, {name: value or "" for name, value in attrs}))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, {name: value or "" for name, value in attrs}))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words.append(data)

    def count(self, tag: str, look: str = "") -> int:
        """How many elements there are of a name, and of a class."""
        return sum(name == tag and look in attributes.get("class", "") for name, attributes in self.elements)


def drawn() -> Page:
    return Page(report(plain_document("explore", run(ZOMBIES, verdict=Verdict.VIOLATED))))


def test_a_story_is_drawn_with_all_that_its_time_line_has() -> None:
    page = drawn()
    assert page.count("circle", "fault") == 2
    assert page.count("circle", "act") == 6
    assert page.count("rect", "epoch e1") == page.count("rect", "epoch e2") == 1
    assert page.count("rect", "session live") == 3
    assert page.count("rect", "session expired") == 2
    assert [page.count("g", look) for look in ("operation", "fails", "request", "refused", "lost")] == [3, 1, 3, 1, 1]
    assert page.count("path", "cross") == 2
    (size,) = [attributes for name, attributes in page.elements if name == "svg"]
    assert (int(size["width"]), int(size["height"])) == (LEFT + 5 * lane_width(5), HEAD + 9 * ROW)


def test_the_last_step_of_what_is_broken_says_because() -> None:
    page = report(plain_document("explore", run(ZOMBIES, verdict=Verdict.VIOLATED)))
    assert re.findall(r"<li [^>]*>.*<strong>because</strong> <em>(.*?)</em>", page) == ["broker 1"]
    assert '<p class="because"><b>because</b> It holds.</p>' in page
    told = replace(ZOMBIES, story=replace(ZOMBIE, because=WHY))
    page = report(plain_document("explore", run(told, verdict=Verdict.VIOLATED)))
    assert '<p class="because"><b>because</b> of broker 1: its &lt;epoch&gt; (1) is &lt; 2; it writes: yes</p>' in page
    assert "because" not in Page(report(plain_document("explore", run(replace(ZOMBIES, verdict=Verdict.HOLDS))))).words


def test_without_a_script_all_steps_can_be_read() -> None:
    text = " ".join("".join(drawn().words).split())
    for step in ZOMBIE.steps:
        assert f"{step.actor} : {step.statement} {step.action}" in text.replace(f"{step.actor}:", f"{step.actor} :")
        assert all(" ".join(line.split()) in text for line in (*step.observed, *step.changes))


def test_each_step_has_what_else_was_possible_and_folded_why_the_rest_was_not() -> None:
    text = report(plain_document("explore", run(replace(ZOMBIES, story=replace(ZOMBIE, possibilities=INSTEAD)))))
    page = Page(text)
    words = " ".join("".join(page.words).split())
    assert page.count("div", "instead") == 7, "of the first step it is not told"
    assert words.count("possible, too: crash(b=1) crash(b=2)") == 2
    assert words.count("possible, too: crash(b=1) read(c=1)") == 0, "the story takes crash(b=1) there"
    assert words.count("possible, too: read(c=1)") == 1
    assert page.count("details", "possibilities") == 1
    assert "open" not in next(given for name, given in page.elements if "possibilities" in given.get("class", ""))
    assert "This is told of 7 of 8 steps, the last; kcheck explain tells of any." in words
    spans = [given for name, given in page.elements if "data-first" in given]
    assert [(one["data-first"], one["data-last"]) for one in spans] == [
        ("2", "8"), ("2", "3"), ("4", "6"), ("7", "8"), ("2", "7"), ("8", "8"),
    ]  # fmt: skip
    assert f"read(c=1)2–7 {INSTEAD.reasons[0]}8 possible" in words
    assert "possible, too" not in "".join(drawn().words)


def test_what_is_new_known_and_checked_comes_before_the_stories() -> None:
    known = Finding("known_to_break", "always", "It is known.", "by hand", Verdict.VIOLATED)
    made = Comparison("known_to_break", "VIOLATED", "VIOLATED", Verdict.HOLDS, "VIOLATED")
    page = report(plain_document("verify", run(ZOMBIES, known, verdict=Verdict.VIOLATED, comparisons=(made,))))
    heads = re.findall("<h2>(.*?)</h2>", page)
    assert heads == [
        "What is new (1)",
        "What is known to be violated (1)",
        "What was checked (1)",
        "zombies_are_fenced",
    ]
    assert '<a href="#story-0">zombies_are_fenced</a>' in page


@given(documents)
def test_whatever_is_in_a_document_the_page_is_whole_and_its_own(document: Document) -> None:
    page = Page(report(document))
    assert page.count("section", "story") == len(stories_told(document))
    assert page.count("script") == 1 + page.count("section", "story")
    assert not any(name in {"link", "img", "iframe", "object", "base"} for name, _ in page.elements)
    assert not any({"src", "onload", "style"} & attributes.keys() for _, attributes in page.elements)
    assert all(attributes["href"].startswith("#") for name, attributes in page.elements if name == "a")
    text = "".join(page.words)
    assert all(printable(one.reason) in text for one in document.runs)


def test_nothing_of_a_name_is_markup() -> None:
    hostile = "</script><script>alert(1)</script>\"'><img src=x onerror=alert(2)>{{ 7 * 7 }}\x00"
    step = replace(ZOMBIE.steps[0], actor=hostile, statement=hostile, changes=(f"{hostile[:9]}: a -> {hostile}",))
    story = replace(ZOMBIE, steps=(step,), initial={hostile: hostile})
    broken = replace(ZOMBIES, property=hostile, statement=hostile, story=story)
    page = Page(report(plain_document(hostile, replace(run(broken, verdict=Verdict.VIOLATED), scope=hostile))))
    assert page.count("img") == 0
    assert page.count("script") == 2
    assert printable(hostile) in "".join(page.words)
    (data,) = [one for one in page.words if one.startswith('{"initial"')]
    assert json.loads(data)["initial"] == {printable(hostile): printable(hostile)}


def test_what_explorations_took_is_a_table_and_two_drawings() -> None:
    crash = replace(
        run(),
        fired={"crash": 1234},
        occurrences={"P-NEW-ONLINE": 56, "H-CREATION-VISITS-DONE": 1234},
        first_depths={"crash": 7, "P-NEW-ONLINE": 8, "H-CREATION-VISITS-DONE": 9},
    )
    text = report(plain_document("explore", crash))
    page = Page(text)
    assert page.count("svg", "machine") == 2
    assert page.count("rect", "state-box") == len(PartitionState) + len(ReplicaState)
    assert page.count("g", "row never") == len(ROWS) - 1
    assert page.count("g", "row") == len(ROWS)
    assert page.count("td", "row") == len(HANDLER_ROWS)
    assert page.count("td", "row never") == len(HANDLER_ROWS) - 1
    assert "finish_creation <b>1,234</b>" in text
    assert text.count("<b>not taken</b>") == len(HANDLER_ROWS) - 1
    assert f"What was taken of the specification (2 of {len(list(items()))})" in "".join(page.words)
    rows = '<td>{}</td>\n<td class="number">{}</td><td class="number">{}</td><td>{}</td></tr>'
    assert rows.format("crash", "1,234", 7, "tiny AS_CODED") in text
    assert rows.format("P-NEW-ONLINE", 56, 8, "tiny AS_CODED") in text
    assert rows.format("P-NEW-OFFLINE", 0, "", "nowhere") in text
    assert "What was taken" not in "".join(drawn().words)


def test_the_story_of_a_whole_run_is_drawn_too() -> None:
    judged = replace(run(verdict=Verdict.INCOMPLETE), scope="a recording", reason="not explained", story=ZOMBIE)
    page = report(plain_document("judge", judged))
    assert "<h2>a recording</h2>\n<p>not explained</p>" in page
    assert Page(page).count("li", "because") == 0
    assert Page(page).count("rect", "epoch e2") == 1


def test_the_steps_of_a_recording_that_break_claims_are_marked_and_named() -> None:
    first, second, *rest = ZOMBIE.steps
    story = replace(ZOMBIE, steps=(first, replace(second, breaks=("one_claim", "another_claim")), *rest))
    judged = replace(run(verdict=Verdict.VIOLATED), scope="a recording", story=story)
    text = report(plain_document("judge", judged))
    page = Page(text)
    assert page.count("li", "because") == page.count("div", "because") == 1
    assert '<strong title="one_claim, another_claim">breaks 2 claims</strong>' in text
    assert f'<a href="#story-0-{second.number}">step {second.number}</a>: one_claim, another_claim</p>' in text
    assert f'id="story-0-{second.number}"' in text


def test_lanes_leave_room_for_words_in_a_window_of_1280_pixels_and_are_never_too_narrow() -> None:
    assert [lane_width(lanes) for lanes in (1, 5, 8, 12)] == [150, 150, 106, 96]
    assert all(LEFT + lanes * lane_width(lanes) < 1280 - 400 for lanes in range(1, 9))
