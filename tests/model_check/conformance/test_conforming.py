"""Who conforms passes; who does not is caught by the vectors alone; and an adapter may do what it likes."""

import json
import sys
import time
from collections.abc import Sequence
from copy import deepcopy
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from model_check.conformance import conforming, reference_adapter
from model_check.conformance.conformance_report import document
from model_check.conformance.conforming import Conformance, How, Outcome, conform, parse_expected
from model_check.conformance.protocol import parse_answer
from model_check.conformance.reference_adapter import Adapter
from model_check.conformance.vector import DIALECTS, Object, Vector, is_legal
from model_check.verdicts.verdict import Verdict
from spec.errors import BadInput, MalformedInput
from tests.model_check.conformance.all_vectors import VECTORS
from tests.model_check.conformance.everyday_vectors import put
from tests.model_check.conformance.wrong_adapters import SLIPS

TABLES = [one for one in VECTORS if one.verb == "transition"]
HELLO: Any = {"protocol": 1, "name": "odd", "language": "Python", "dialect": "as-coded-0.10.2", "verbs": ["transition"]}


def asked(command: Sequence[str], vectors: Sequence[Vector] = VECTORS, **options: object) -> Conformance:
    """What becomes of these vectors, which are taken to be all there are."""
    stop = options.pop("stop", lambda: False)
    return conform(command, vectors, How(len(vectors), **options), stop)  # type: ignore[arg-type]


def said(**answer: object) -> str:
    """An answer to the first question, as a line."""
    return json.dumps({"id": TABLES[0].id, **answer})


def odd(*answers: str, hello: object = HELLO, rest: str = "") -> list[str]:
    """A program that says hello, then prints each of these texts for a question, then does the rest."""
    lines = [json.dumps(hello), *answers]
    program = f"""
import sys, os, time
for text in {lines!r}:
    input()
    sys.stdout.write(text + chr(10))
    sys.stdout.flush()
{rest}
"""
    return [sys.executable, "-c", program]


EVERY_DAY = "as-coded-0.10.2"
"""The last, whose vectors are most; the others have some of their own in few places."""


@pytest.mark.parametrize(
    "dialect", [pytest.param(one, marks=[pytest.mark.slow] * (one != EVERY_DAY)) for one in DIALECTS]
)
@pytest.mark.takes("It starts a process, and asks it hundreds of vectors.")
def test_the_reference_conforms_in_each_dialect(dialect: str, request: pytest.FixtureRequest) -> None:
    command = [sys.executable, "-m", reference_adapter.__name__, "--dialect", dialect]
    vectors = put(request, every=5)
    found = asked(command, vectors)
    of_dialect = sum(dialect in one.dialects for one in vectors)
    assert found.verdict is Verdict.HOLDS
    assert found.counts == {Outcome.PASS: of_dialect, Outcome.SKIP: len(vectors) - of_dialect}


@cache
def right(verb: str) -> list[tuple[Vector, Object]]:
    """What the reference answers to each vector of a verb, of its dialect."""
    ask, dialect = Adapter(HELLO["dialect"]).verbs[verb], HELLO["dialect"]
    return [(one, ask(one.given)) for one in VECTORS if one.verb == verb and dialect in one.dialects]


DEAR = {"elect", "reassign"}
"""The verbs of which the reference makes some hundred controllers."""


@pytest.mark.parametrize(
    "slip", [pytest.param(name, marks=[pytest.mark.slow] if SLIPS[name][0] in DEAR else []) for name in SLIPS]
)
@pytest.mark.takes("The first of each verb has the reference answer all its vectors.")
def test_a_slip_is_caught(slip: str) -> None:
    verb, changed = SLIPS[slip]
    assert all(is_legal(vector, outcome) for vector, outcome in right(verb))
    assert not all(is_legal(vector, changed(vector.given, deepcopy(outcome))) for vector, outcome in right(verb))


def test_the_page_says_how_many_slips_are_caught() -> None:
    page = (Path(reference_adapter.__file__).parent / "README.md").read_text("utf-8")
    assert f"plants {len(SLIPS)} slips" in " ".join(page.split())


@pytest.mark.slow
@pytest.mark.parametrize("slip", ["permits nothing", "sends to everybody"])
def test_a_wrong_adapter_is_told_what_is_wrong(slip: str) -> None:
    verb, _ = SLIPS[slip]
    of_verb = [one for one in VECTORS if one.verb == verb]
    command = [sys.executable, "-m", "tests.model_check.conformance.wrong_adapters", slip]
    found = asked(command, of_verb)
    assert found.verdict is Verdict.VIOLATED
    failed = [one for one in found.results if one.outcome is Outcome.FAIL]
    assert all(one.told and one.found is not None for one in failed)


@pytest.mark.parametrize(
    ("answer", "rest", "told"),
    [
        ("rubbish", "", '"rubbish" is not JSON, or more than can be read: Expecting value'),
        ("[]", "", "expected an object, found []"),
        ("{}", "", f'id: expected "{TABLES[0].id}", which was asked, found null'),
        (said(), "", "expected an outcome, a skip or an error, found none of them"),
        (said(outcome={}, skip="why"), "", "found outcome and skip"),
        (said(outcome=7), "", "outcome: expected an object, found 7"),
        (said(skip=" "), "", 'skip: expected the reason as a string, found " "'),
        (said(outcome={"x": 0}).replace("0", "NaN"), "", "NaN is no number of JSON"),
        (said(outcome={"x": 0}).replace("0}", "1e999}"), "", "1e999 is no number of JSON"),
        (said(outcome={"x": []}).replace("[]", "[" * 99 + "]" * 99), "", "more than 100 objects and lists"),
        (said(error="no \x1b[31m state"), "", "no \\x1b[31m state"),
        (said(outcome={}) + "\n" + said(outcome={}), "time.sleep(60)", "it printed more than one line"),
    ],
)
def test_what_is_no_answer_is_an_error_of_its_vector(answer: str, rest: str, told: str) -> None:
    found = asked(odd(answer, rest=rest), TABLES[:1])
    assert (found.verdict, found.counts) == (Verdict.INCOMPLETE, {Outcome.ERROR: 1})
    assert told in found.results[0].told
    assert found.reason == "1 of 1 vectors ended as errors"


def test_an_answer_has_a_hundred_objects_and_lists_within_each_other_at_most() -> None:
    """It is an object itself, and so is its outcome."""
    assert parse_answer(said(outcome={"x": []}).replace("[]", "[" * 98 + "]" * 98), TABLES[0].id).outcome
    with pytest.raises(MalformedInput, match="more than 100 objects and lists"):
        parse_answer(said(outcome={"x": []}).replace("[]", "[" * 99 + "]" * 99), TABLES[0].id)


@pytest.mark.parametrize(
    ("rest", "told"),
    [
        ("input(); sys.exit(5)", "it ended with exit code 5"),
        ("input(); os.kill(os.getpid(), 9)", "it was ended by SIGKILL"),
        ("input(); time.sleep(60)", "it gave no answer within 0.5 s"),
        ("input(); sys.stdout.write('half'); sys.stdout.flush(); time.sleep(60)", 'within 0.5 s, and printed "half"'),
        ("input(); os.close(1); time.sleep(60)", "it has closed its output"),
    ],
)
def test_who_gives_no_answer_is_started_anew_for_the_next_vector(rest: str, told: str) -> None:
    found = asked(odd(rest=rest), TABLES[:2], seconds=0.5)
    assert [one.outcome for one in found.results] == [Outcome.ERROR, Outcome.ERROR]
    assert all(told in one.told for one in found.results)


def test_who_talks_on_and_on_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """Long before a conversation is too long by its lines."""
    driven = next(one for one in VECTORS if one.verb == "control")
    monkeypatch.setattr(conforming, "WHOLE", 1.5)
    says = json.dumps({"id": driven.id, "ask": {"op": "exists", "path": "/a"}})
    rest = f"while True: input(); time.sleep(0.2); print({says!r}, flush=True)"
    (result,) = asked(odd(hello={**HELLO, "verbs": ["control"]}, rest=rest), [driven], seconds=1).results
    assert result.told == "the conversation did not come to its end within 1.5 s"


KEEPS = f"""
import json, sys
MAY_COME_FROM = {{
    "NonExistentPartition": ["OfflinePartition"], "NewPartition": ["NonExistentPartition"],
    "OnlinePartition": ["NewPartition", "OnlinePartition", "OfflinePartition"],
    "OfflinePartition": ["NewPartition", "OnlinePartition", "OfflinePartition"],
}}
state = None
for line in sys.stdin:
    asked = json.loads(line)
    if asked["verb"] == "hello":
        print({json.dumps({**HELLO, "resets": True})!r}, flush=True)
    elif asked["verb"] == "reset":
        state = state if "keeps" in sys.argv else None
        print(json.dumps({{"id": asked["id"], "outcome": {{}}}}), flush=True)
    elif asked["verb"] == "transition":
        state = state or asked["given"]["from"]
        permitted = state in MAY_COME_FROM[asked["given"]["to"]]
        state = asked["given"]["to"] if permitted else state
        print(json.dumps({{"id": asked["id"], "outcome": {{"permitted": permitted}}}}), flush=True)
"""
"""A partition that is in the state in which the last question left it, unless it was told to forget that."""


def test_what_is_kept_over_a_reset_is_caught() -> None:
    partitions = [one for one in TABLES if one.given["machine"] == "partition"]
    command = [sys.executable, "-c", KEEPS]
    assert asked(command, partitions).counts == {Outcome.PASS: len(partitions)}
    assert asked([*command, "keeps"], partitions).verdict is Verdict.VIOLATED


def test_who_says_that_he_resets_and_does_not_is_started_anew() -> None:
    for answer, told in (({"skip": "no way"}, "and says no way"), ({"error": "no disk"}, "and says no disk")):
        found = asked(odd(said(**answer), hello={**HELLO, "resets": True}), TABLES[:1])
        assert found.counts == {Outcome.ERROR: 1}
        assert told in found.results[0].told


def test_who_answers_a_reset_late_or_with_another_id_is_told_that_it_was_the_reset() -> None:
    """Otherwise its author would look at what answers the vector."""
    cases = {"": "it gave no answer within 0.5 s", json.dumps({"id": "x", "outcome": {}}): "its answer: id: expected "}
    for answer, told in cases.items():
        rest, answers = ("input()\ntime.sleep(9)", []) if not answer else ("", [answer])
        found = asked(odd(*answers, hello={**HELLO, "resets": True}, rest=rest), TABLES[:1], seconds=0.5)
        assert found.counts == {Outcome.ERROR: 1}
        assert found.results[0].told.startswith(f"it was told to reset, which it says it can: {told}")


WAITS = f"""
import json, sys
for line in sys.stdin:
    asked = json.loads(line)
    if "verb" in asked:
        name = asked.get("id")
    if "given" in asked or "event" in asked:
        print(json.dumps({{"id": name, "wait": True}}), flush=True)
    else:
        print({json.dumps({**HELLO, "verbs": ["control"]})!r} if "verb" in asked else "late", flush=True)
"""


def test_who_is_amid_something_where_a_script_ends_is_started_anew() -> None:
    """It does nothing, so a script that needs what it should have created cannot go on; it says something late."""
    script = next(one for one in VECTORS if one.verb == "control" and '"set"' in json.dumps(one.given["script"]))
    found = asked([sys.executable, "-c", WAITS], [script, script])
    assert [one.outcome for one in found.results] == [Outcome.FAIL, Outcome.FAIL]


@pytest.mark.slow
def test_who_floods_is_cut_off() -> None:
    flood = "input()\nwhile True: sys.stdout.write('x' * 65536)"
    (result,) = asked(odd(rest=flood), TABLES[:1], seconds=60).results
    assert result.told == "it printed more than 16 MiB before the end of a line"


def test_nothing_of_an_adapter_is_left_behind(tmp_path: Path) -> None:
    pid = tmp_path / "pid"
    child = (
        f"import subprocess\nchild = subprocess.Popen(['sleep', '1000'])\nopen({str(pid)!r}, 'w').write(str(child.pid))"
    )
    asked(odd(said(outcome={"permitted": True}), rest=child + "\ninput()"), TABLES[:2], seconds=1)
    until = time.monotonic() + 5
    while time.monotonic() < until and _runs(int(pid.read_text())):
        time.sleep(0.02)
    assert not _runs(int(pid.read_text()))


def _runs(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text("utf-8").rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


@pytest.mark.slow
def test_an_adapter_that_only_fails_is_asked_no_more() -> None:
    found = asked(odd(rest="sys.exit(1)"), TABLES, seconds=5)
    assert found.counts == {Outcome.ERROR: 20}
    assert found.reason == "20 questions in a row ended as errors; no more were asked"


def test_who_answers_before_he_is_asked_gets_no_pass_for_it() -> None:
    """However fast he is: an answer names its question, and nothing may stand there before."""
    ahead = "time.sleep(0.3)\nwhile True: print(json.dumps({'outcome': {'permitted': True}}), flush=True)"
    found = asked(odd(rest="import json\n" + ahead), TABLES[:5], seconds=5)
    assert {one.outcome for one in found.results} == {Outcome.ERROR}


@pytest.mark.parametrize(
    ("hello", "told"),
    [
        ({**HELLO, "protocol": 2}, "protocol: expected 1, found 2"),
        ({**HELLO, "dialect": "kafka"}, "dialect: expected one of documented, as-coded-0.8.2,"),
        ({**HELLO, "name": ""}, "name: expected a string"),
        ({**HELLO, "verbs": "transition"}, "verbs: expected a list of strings"),
        ({**HELLO, "without": "deletion"}, "without: expected a list of strings"),
        ({**HELLO, "resets": "yes"}, 'resets: expected true or false, found "yes"'),
        ({**HELLO, "verbs": ["fly"]}, 'verbs: "fly" is no verb of protocol 1: transition, elect,'),
        ({"error": "no database"}, 'it says "no database"'),
        ([], "expected an object"),
    ],
)
def test_who_says_no_hello_is_no_adapter(hello: object, told: str) -> None:
    with pytest.raises(BadInput, match="is no adapter: ") as caught:
        asked(odd(hello=hello), TABLES[:1])
    assert told in str(caught.value)


def test_what_cannot_be_run_is_told() -> None:
    with pytest.raises(BadInput, match="no-such-adapter' is no program that can be run"):
        asked(["./no-such-adapter"], TABLES[:1])


def test_a_skip_is_no_pass() -> None:
    found = asked(odd(said(skip="no tables here")), TABLES[:1])
    assert (found.verdict, found.reason) == (Verdict.INCOMPLETE, "no vector passed")
    assert found.results[0].told == "no tables here"


def test_what_an_implementation_is_without_is_skipped() -> None:
    """By group or tag; a name of another version's is passed over."""
    vectors = [next(one for one in TABLES if tag in one.tags) for tag in ("partition-states", "replica-states")]
    hello = {**HELLO, "without": ["replica-states", "no-such-tag"]}
    found = asked(odd(said(outcome=vectors[0].then[0]), hello=hello), vectors)
    assert [one.outcome for one in found.results] == [Outcome.PASS, Outcome.SKIP]
    assert found.results[1].told == "the adapter is without replica-states"
    assert found.verdict is Verdict.HOLDS
    assert document(found)["adapter"]["without"] == ["no-such-tag", "replica-states"]


def test_what_is_not_asked_leaves_the_verdict_open() -> None:
    found = conform(odd(said(outcome=TABLES[0].then[0])), TABLES[:1], How(len(VECTORS)))
    assert (found.verdict, found.reason) == (Verdict.INCOMPLETE, f"1 of {len(VECTORS)} vectors were asked")


@pytest.mark.slow
def test_an_expected_failure_is_none_and_an_unexpected_pass_is_one() -> None:
    wrong = [sys.executable, "-m", "tests.model_check.conformance.wrong_adapters", "permits everything"]
    failing = [one.vector.id for one in asked(wrong, TABLES).results if one.outcome is Outcome.FAIL]
    known = dict.fromkeys(failing, "we permit everything")
    found = asked(wrong, TABLES, expected_failures=known)
    assert found.verdict is Verdict.HOLDS
    assert found.counts[Outcome.EXPECTED] == len(failing)
    right = [sys.executable, "-m", reference_adapter.__name__]
    found = asked(right, TABLES, expected_failures=known)
    assert found.counts[Outcome.FAIL] == len(failing)
    assert "it passes, and was expected to fail: we permit everything" in {one.told for one in found.results}


def test_expected_failures_are_ids_with_reasons() -> None:
    text = "# ours\n\nkcs-elect-0001  we elect otherwise  # see the issue\n"
    assert parse_expected(text, "known.txt", ["kcs-elect-0001"]) == {"kcs-elect-0001": "we elect otherwise"}
    with pytest.raises(MalformedInput, match=r"known\.txt:1: there is no vector kcs-elect-9999"):
        parse_expected("kcs-elect-9999 why", "known.txt", ["kcs-elect-0001"])
    with pytest.raises(MalformedInput, match=r"known\.txt:2: kcs-elect-0001 is there twice"):
        parse_expected("kcs-elect-0001\tone\nkcs-elect-0001 two", "known.txt", ["kcs-elect-0001"])
    with pytest.raises(MalformedInput, match=r"known\.txt:3: say why kcs-elect-0001 is expected to fail"):
        parse_expected("\n\nkcs-elect-0001", "known.txt", ["kcs-elect-0001"])


def test_the_first_failure_may_be_the_last_question() -> None:
    wrong = [sys.executable, "-m", "tests.model_check.conformance.wrong_adapters", "permits nothing"]
    found = asked(wrong, TABLES, fail_fast=True)
    assert [one.outcome for one in found.results][-1] is Outcome.FAIL
    assert found.counts[Outcome.FAIL] == 1


def test_who_is_interrupted_waits_for_no_answer() -> None:
    """Neither for the first one, which says who it is, nor for a later one."""
    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        asked(["sleep", "78"], stop=lambda: time.monotonic() > began + 0.3)
    command = odd(said(outcome=TABLES[0].then[0]), rest="time.sleep(78)")
    found = asked(command, TABLES[:3], stop=lambda: time.monotonic() > began + 1.5)
    assert (found.verdict, found.reason) == (Verdict.INCOMPLETE, "interrupted")
    assert len(found.results) == 1
    assert time.monotonic() < began + 8


def test_what_an_adapter_leaves_behind_in_a_session_of_its_own_is_ended(tmp_path: Path) -> None:
    told = tmp_path / "pid"
    start = f"""
import subprocess
child = subprocess.Popen(["sleep", "78"], start_new_session=True)
open({str(told)!r}, "w").write(str(child.pid))
"""
    asked(odd(said(outcome={}), rest=start), TABLES[:2], seconds=1.0)
    pid = int(told.read_text("utf-8"))
    stat = Path(f"/proc/{pid}/stat")
    assert not stat.exists() or stat.read_text("utf-8").rpartition(")")[2].split()[0] == "Z"
