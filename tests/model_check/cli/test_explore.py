"""`kcheck explore`: what it prints is what there is, and its exit code is the verdict."""

import json
import signal
import tomllib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from model_check.checks import exploration
from model_check.explicit_state import explorer
from model_check.inventory.system_facts import system_fact
from model_check.traces.itf import load
from model_check.traces.replay import replay
from model_check.verdicts.results import from_json
from spec.errors import EnvironmentFailure
from tests.model_check.cli.conftest import Kcheck, built, counted, expectation


def test_a_scope_where_everything_holds_exits_with_0(kcheck: Kcheck) -> None:
    result = kcheck("explore", "solo", "--goals")
    _, found = counted("solo")
    assert result.exit_code == 0
    assert result.stdout.startswith("kcheck explore: HOLDS: all as expected\n")
    assert f"  {found.states} states, {found.transitions} transitions, depth {found.depth}, digest" in result.stdout


def test_known_violations_exit_with_0_and_take_a_line_each(kcheck: Kcheck) -> None:
    result = kcheck("explore", "pair")
    broken = expectation("pair")["violated"]
    lines = result.stdout.splitlines()
    assert result.exit_code == 0
    assert lines[0] == f"kcheck explore: HOLDS: all as expected, {len(broken)} known violations"
    for name, length in broken.items():
        (line,) = [line for line in lines if name in line]
        assert line.startswith("  known ")
        assert f"broken by {length} steps, as expected (" in line
    assert "The initial state" not in result.stdout


def test_what_is_not_expected_comes_first_with_the_shortest_story(kcheck: Kcheck, manifest: dict[str, Any]) -> None:
    broken = dict(expectation("pair")["violated"])
    first, *others = sorted(broken, key=broken.get)  # type: ignore[arg-type]  # every name has a length
    kept = {name: broken[name] for name in others[1:]}
    manifest["pair"]["expect"]["AS_CODED"] = {**expectation("pair"), "violated": kept}
    result = kcheck("explore", "pair")
    lines = result.stdout.splitlines()
    assert result.exit_code == 1
    assert lines[0].startswith("kcheck explore: VIOLATED: 2 not as expected")
    news = [line for line in lines[4:6] if "expected: HOLDS" in line]
    assert {line.split()[2] for line in news} == {first, others[0]}
    assert lines[7].startswith(f"{first}: ")
    assert not [name for name in others if f"\n{name}: " in result.stdout]


def test_a_violation_that_is_not_found_any_more_and_one_of_another_length_exit_with_1(
    kcheck: Kcheck, manifest: dict[str, Any]
) -> None:
    broken = dict(expectation("pair")["violated"])
    name, length = next(iter(broken.items()))
    for changed, said in (
        ({**broken, "epochs_never_go_back": 3}, "epochs_never_go_back  expected: VIOLATED in 3 steps"),
        ({**broken, name: length + 1}, f"broken by {length} steps; expected: VIOLATED in {length + 1} steps"),
    ):
        manifest["pair"]["expect"]["AS_CODED"] = {**expectation("pair"), "violated": changed}
        result = kcheck("explore", "pair")
        assert result.exit_code == 1
        assert said in result.stdout


def test_other_counts_and_rules_than_expected_exit_with_1(kcheck: Kcheck, manifest: dict[str, Any]) -> None:
    given = expectation("pair")
    idle = given["never_fired"]
    manifest["pair"]["expect"]["AS_CODED"] = {
        **given, "states": given["states"] + 1, "never_fired": [*idle[1:], "crash"],
    }  # fmt: skip
    result = kcheck("explore", "pair")
    assert result.exit_code == 1
    assert f"  states: expected {given['states'] + 1:,}, found {given['states']:,}\n" in result.stdout
    assert f"  rules never enabled, and not expected: {idle[0]}\n" in result.stdout
    assert "  rules never enabled, expected and not found: crash\n" in result.stdout


def test_where_nothing_is_expected_a_violation_exits_with_1_and_tells_the_shortest_story(
    kcheck: Kcheck, manifest: dict[str, Any]
) -> None:
    broken = expectation("pair")["violated"]
    shortest = min(broken, key=broken.get)
    del manifest["pair"]["expect"]
    result = kcheck("explore", "pair")
    assert result.exit_code == 1
    assert result.stdout.startswith("kcheck explore: VIOLATED; the manifest expects nothing of it\n")
    assert all(f"broken by {length} steps" in result.stdout for length in broken.values())
    assert f"\n{shortest}: " in result.stdout
    assert not [name for name in broken if name != shortest and f"\n{name}: " in result.stdout]


def test_only_the_chosen_property_is_told_and_decides(kcheck: Kcheck, manifest: dict[str, Any]) -> None:
    broken = expectation("pair")["violated"]
    longest, shortest = max(broken, key=broken.get), min(broken, key=broken.get)
    told = kcheck("explore", "pair", "--property", longest)
    assert told.exit_code == 0
    assert f"\n{longest}: " in told.stdout
    assert shortest not in told.stdout
    given = expectation("pair")
    fewer = {name: length for name, length in broken.items() if name != longest}
    manifest["pair"]["expect"]["AS_CODED"] = {**given, "states": given["states"] + 1, "violated": fewer}
    assert kcheck("explore", "pair", "--property", longest).exit_code == 1
    assert kcheck("explore", "pair", "--property", shortest).exit_code == 0
    assert kcheck("explore", "pair", "--property", "epochs_never_go_back").exit_code == 0


def test_what_was_cut_short_is_incomplete_but_for_a_violation_that_nobody_expects(
    kcheck: Kcheck, manifest: dict[str, Any]
) -> None:
    given = expectation("pair")
    limit = ("--limit", str(given["states"] - 1))
    assert kcheck("explore", "pair", *limit).exit_code == 3
    known = kcheck("explore", "pair", *limit, "--property", next(iter(given["violated"])))
    assert known.exit_code == 3, "although what was asked for is found, and as expected"
    assert "  known " in known.stdout
    manifest["pair"]["expect"]["AS_CODED"] = {**given, "violated": {}}
    assert kcheck("explore", "pair", *limit).exit_code == 1


def test_everything_is_named_when_asked_for(kcheck: Kcheck) -> None:
    brief, whole = (kcheck("explore", "pair", *more).stdout for more in ([], ["--verbose"]))
    system, _ = counted("pair")
    names = [one.name for one in system.properties if one.kind not in ("recoverable", "eventually")]
    assert [name for name in names if name not in whole] == []
    assert "epochs_never_go_back" not in brief
    assert "claims hold" in brief
    assert "--verbose names them" in brief
    assert "single actions never enabled" in whole


def test_a_fix_moves_a_verdict(kcheck: Kcheck) -> None:
    result = kcheck("explore", "pair", "--with", "RESIGN_CLEANS_UP", "--property", "resigned_controllers_are_inactive")
    assert result.exit_code == 0
    assert (
        "kcheck explore: HOLDS; the manifest expects nothing of it\n\npair AS_CODED+RESIGN_CLEANS_UP" in result.stdout
    )


def test_what_a_fix_changes_is_told_beside_the_scope_without_it(kcheck: Kcheck) -> None:
    result = kcheck("explore", "pair", "--with", "RESIGN_CLEANS_UP")
    assert "  beside pair AS_CODED:\n    no longer broken: resigned_controllers_are_inactive\n" in result.stdout
    assert f"    states {expectation('pair')['states']:,} -> " in result.stdout
    assert "beside" not in kcheck("explore", "pair").stdout
    back = kcheck("explore", "pair", "--variant", "FENCED", "--without", "RESIGN_CLEANS_UP")
    assert "  beside pair FENCED:\n    now broken: resigned_controllers_are_inactive in " in back.stdout


def test_the_manifest_is_believed_of_the_scope_without_a_fix_where_its_terms_are_the_accepted_ones(
    kcheck: Kcheck, manifest: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    manifest["pair"]["expect"]["AS_CODED"] = {**expectation("pair"), "states": 1_000_000}
    explored = ("explore", "pair", "--with", "RESIGN_CLEANS_UP")
    assert "states 1,000,000 -> " not in kcheck(*explored).stdout
    monkeypatch.setattr(exploration, "accepted", lambda: {"system pair AS_CODED": system_fact(built("pair"))})
    assert "states 1,000,000 -> " in kcheck(*explored).stdout


def test_a_fix_that_has_no_term_in_a_scope_changes_nothing_there(kcheck: Kcheck) -> None:
    result = kcheck("explore", "pair", "--with", "TOPIC_IDS")
    assert result.stdout.endswith(
        "  beside pair AS_CODED:\n    nothing changes: AS_CODED+TOPIC_IDS has no other term in this scope\n"
    )


def test_what_was_cut_short_is_not_compared_with_the_scope_without_a_fix(kcheck: Kcheck) -> None:
    result = kcheck("explore", "pair", "--with", "RESIGN_CLEANS_UP", "--limit", "3")
    assert "    not compared, since not everything was explored\n" in result.stdout


def test_a_fix_can_be_taken_out_of_a_variant(kcheck: Kcheck) -> None:
    chosen = ("--variant", "FENCED", "--without", "RESIGN_CLEANS_UP", "--property", "resigned_controllers_are_inactive")
    result = kcheck("explore", "pair", *chosen)
    assert result.exit_code == 1
    assert result.stdout.startswith("kcheck explore: VIOLATED")
    assert "pair FENCED-RESIGN_CLEANS_UP (explorer)\n" in result.stdout


def test_a_variant_is_given_as_it_is_shown(kcheck: Kcheck) -> None:
    result = kcheck("explore", "pair", "--variant", "FENCED-RESIGN_CLEANS_UP", "--limit", "1")
    assert "pair FENCED-RESIGN_CLEANS_UP (explorer)" in result.stdout


def test_the_json_has_every_story(kcheck: Kcheck) -> None:
    (run,) = from_json(kcheck("explore", "pair", "--json").stdout, "stdout").runs
    stories = [one.story for one in run.findings if one.story]
    assert len(stories) > len(expectation("pair")["violated"]), "witnesses have one, too"
    assert all(len(one.steps) == one.length for one in stories)


def test_the_json_is_a_document_with_the_same_verdict(kcheck: Kcheck) -> None:
    result = kcheck("explore", "pair", "--json")
    document = from_json(result.stdout, "stdout")
    assert document.exit_code == result.exit_code == 0
    (run,) = document.runs
    assert run.counts is not None
    assert list(run.counts.levels) == list(counted("pair")[1].levels)
    assert {one.property for one in run.findings if one.verdict == "VIOLATED"} == expectation("pair")["violated"].keys()
    assert json.loads(result.stdout)["exit_code"] == 0


def test_what_is_expected_stands_beside_each_verdict(kcheck: Kcheck) -> None:
    document = from_json(kcheck("explore", "pair", "--json").stdout, "stdout")
    expected = {one.property: one.expected for one in document.runs[0].findings}
    for name, length in expectation("pair")["violated"].items():
        assert expected[name] == f"VIOLATED in {length} steps"


def test_a_limit_leaves_incomplete(kcheck: Kcheck) -> None:
    result = kcheck("explore", "solo", "--limit", "3")
    assert result.exit_code == 3
    assert "the limit of states was reached" in result.stdout


def test_every_saved_trace_replays(kcheck: Kcheck, tmp_path: Path) -> None:
    kcheck("explore", "pair", "--traces", str(tmp_path))
    system, found = counted("pair")
    names = {f"pair-AS_CODED-{name}.itf.json" for name in {**found.violations, **found.witnesses}}
    assert {path.name for path in tmp_path.iterdir()} == names
    for path in tmp_path.iterdir():
        replay(system, load(path).trace)


def test_the_printed_expectations_are_those_of_the_plain_interpreter(kcheck: Kcheck) -> None:
    result = kcheck("explore", "pair", "--print-expectations")
    printed = tomllib.loads(result.stdout)["scope"]["pair"]["expect"]["AS_CODED"]
    wanted = {key: value for key, value in expectation("pair").items() if value}
    assert {key: sorted(v) if isinstance(v, list) else v for key, v in printed.items()} == {
        key: sorted(v) if isinstance(v, list) else v for key, v in wanted.items()
    }


GOAL = "eventually_one_working_controller"


def test_a_goal_that_is_asked_for_is_judged_where_the_manifest_leaves_goals_out(kcheck: Kcheck) -> None:
    result = kcheck("explore", "pair", "--property", GOAL)
    assert result.exit_code == 1, result.stderr
    assert f"VIOLATED   eventually  {GOAL}" in result.stdout


@pytest.mark.parametrize("verb", ["enumerate", "prove"])
def test_an_engine_that_cannot_judge_a_goal_says_so(kcheck: Kcheck, verb: str) -> None:
    result = kcheck(verb, "pair", "--property", GOAL)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith(f"kcheck: {GOAL} is claimed as `eventually`, which is not judged here; ")
    assert "`kcheck explore` judges it" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["nowhere"], "kcheck: no scope is called 'nowhere' (known: solo, pair)"),
        (
            ["solo", "--with", "FENCED_WRITES", "--without", "FENCED_WRITES"],
            "kcheck: FENCED_WRITES cannot be switched on",
        ),
        *(
            (["solo", "--variant", *more], "kcheck: FENCED_WRITES cannot be switched on and off at once")
            for more in (
                ["FENCED-FENCED_WRITES", "--with", "FENCED_WRITES"],
                ["AS_CODED+FENCED_WRITES", "--without", "FENCED_WRITES"],
                ["AS_CODED+FENCED_WRITES-FENCED_WRITES"],
            )
        ),
        (["solo", "--traces", __file__], f"kcheck: {__file__} is no folder; name another one"),
        (["solo", "--variant", "FENCE"], "kcheck: no variant is called 'FENCE'; did you mean FENCED?"),
        (["solo", "--with", "FENCED_WRITE"], "kcheck: no switch is called 'FENCED_WRITE'; did you mean FENCED_WRITES?"),
        (["solo", "--without", "NOPE"], "kcheck: no switch is called 'NOPE' (`kcheck show variants` lists all "),
        (["solo", "--property", "nope"], "kcheck: no property is called 'nope' (`kcheck show properties` lists all "),
        (["solo", "--property", "a_leader_is_elected"], "kcheck: a_leader_is_elected is not claimed in this scope"),
        (["pair", "--property", GOAL, "--no-goals"], f"kcheck: {GOAL} is claimed as `eventually`, which is not judged"),
    ],
)
def test_bad_input_is_one_complaint_that_helps_and_exit_code_2(
    kcheck: Kcheck, arguments: list[str], complaint: str
) -> None:
    result = kcheck("explore", *arguments)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr.startswith(complaint)
    assert all(line.startswith("  ") for line in result.stderr.splitlines()[1:]), "a list of what is known, and no more"


def test_ctrl_c_leaves_incomplete_with_what_was_found(kcheck: Kcheck, monkeypatch: pytest.MonkeyPatch) -> None:
    @contextmanager
    def pressing(*_: object) -> Iterator[Callable[[object], None]]:
        yield lambda _: signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(exploration, "states_bar", pressing)
    result = kcheck("explore", "pair", "--with", "FENCED_WRITES")
    assert result.exit_code == 3
    assert "not exhausted: it was interrupted after 1 of " in result.stdout
    *_, resumable, anew = result.stdout.splitlines()
    assert resumable.endswith("kcheck enumerate pair --variant AS_CODED+FENCED_WRITES")
    assert anew.startswith("  the same command begins anew; only `kcheck verify`, `kcheck enumerate` and `kcheck campa")


def test_what_cannot_fit_is_refused_before_it_begins(kcheck: Kcheck, manifest: dict[str, Any]) -> None:
    manifest["solo"]["expect"]["AS_CODED"]["states"] = 10**12
    result = kcheck("explore", "solo")
    assert result.exit_code == 4
    assert result.stderr.startswith("kcheck: solo AS_CODED needs about ")
    assert "take a smaller scope" in result.stderr
    assert kcheck("explore", "solo", "--limit", "3").exit_code == 3


def test_a_disk_that_is_full_when_traces_are_saved_takes_no_result_along(
    kcheck: Kcheck, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(exploration, "save_traces", full)
    result = kcheck("explore", "solo", "--traces", str(tmp_path))
    assert result.exit_code == 4
    assert result.stdout.startswith("kcheck explore: ")
    assert result.stderr == "kcheck: no space is left for what is written; make room and start again\n"


def test_what_is_likely_under_other_switches_chooses_the_kernel_but_makes_no_room(
    kcheck: Kcheck, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[int, int]] = []
    plain = explorer.explore

    def noting(*arguments: Any, expected: int, likely: int, **options: Any) -> Any:
        asked.append((expected, likely))
        return plain(*arguments, expected=expected, likely=likely, **options)

    monkeypatch.setattr(explorer, "explore", noting)
    cleaning = ["--variant", "AS_CODED+RESIGN_CLEANS_UP"]
    for arguments in ([], cleaning, [*cleaning, "--limit", "3"]):
        kcheck("explore", "pair", *arguments)
    known = asked[0][0]
    assert known > 3
    assert asked == [(known, known), (0, known), (0, 3)]


@pytest.mark.parametrize("verb", [("explore", "solo", "--traces"), ("prove", "solo", "--export")])
def test_a_folder_that_cannot_be_written_is_refused_before_the_work(kcheck: Kcheck, verb: tuple[str, ...]) -> None:
    result = kcheck(*verb, "/proc/traces")
    assert (result.exit_code, result.stdout) == (4, "")
    assert (
        result.stderr
        == "kcheck: nothing can be written to /proc/traces: No such file or directory; name another folder\n"
    )


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (EnvironmentFailure("the disk is full", "make room"), 4, "kcheck: the disk is full; make room\n"),
        (OSError(28, "No space left on device"), 4, "kcheck: no space is left for what is written; make room "),
        (OSError(28, "No space left on device", "a/b"), 4, "kcheck: no space is left for a/b; make room and start "),
        (PermissionError(13, "Permission denied", "a/b"), 4, "kcheck: a/b: Permission denied\n"),
        (TimeoutError("nobody answers"), 4, "kcheck: nobody answers\n"),
        (TimeoutError(), 4, "kcheck: TimeoutError\n"),
        (MemoryError(), 4, "kcheck: out of memory; "),
        (KeyboardInterrupt(), 3, "kcheck: interrupted; "),
    ],
)
def test_failures_around_us_are_one_line(
    kcheck: Kcheck, monkeypatch: pytest.MonkeyPatch, error: BaseException, code: int, said: str
) -> None:
    result = failing_with(kcheck, monkeypatch, error)
    assert (result.exit_code, result.stdout) == (code, "")
    assert result.stderr.startswith(said)
    assert result.stderr.count("\n") == 1


def test_our_own_mistakes_keep_their_traceback_and_are_no_verdict(
    kcheck: Kcheck, monkeypatch: pytest.MonkeyPatch
) -> None:
    result = failing_with(kcheck, monkeypatch, RuntimeError("a bug"))
    assert result.exit_code == 4
    assert "RuntimeError: a bug" in result.stderr


def failing_with(kcheck: Kcheck, monkeypatch: pytest.MonkeyPatch, error: BaseException) -> Any:
    def fail(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(explorer, "explore", fail)
    return kcheck("explore", "solo")


def test_the_systems_of_these_tests_are_those_of_the_manifest() -> None:
    assert built("pair").name == "pair AS_CODED"
