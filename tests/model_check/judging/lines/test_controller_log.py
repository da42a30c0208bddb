"""What a controller's log has of steps that no shipped recording shows; a settled cluster is led there by the hand."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from model_check.judging.hidden_steps import part, place_of
from model_check.judging.lines.controller_step import SILENT
from model_check.recordings.recording import Cluster
from model_check.stepping.open_system import OpenSystem, open_system
from spec.formats.kafka_types import TopicPartition
from spec.model import Model
from spec.state.enumerations import At
from spec.system import instances

PARTS = frozenset({"deletion", "preferred_election"})


class Told:
    """Two brokers, with controller 1 at work, topics `a`, `b` of one partition each, and the lines that steps write."""

    def __init__(self, *assigned: tuple[int, ...]) -> None:
        cold = open_system(2, assigned, tuple(range(len(assigned))), controller_epochs=7, parts=PARTS).model.scope
        topics = tuple("ab"[: len(assigned)])
        names = tuple(TopicPartition(topic, 0) for topic in topics)
        self.opened = OpenSystem(Model(replace(cold, cold=False), frozenset()))
        self.cluster = Cluster((1, 2), topics, names, assigned, parts=PARTS)
        self.state = self.opened.initial

    def do(self, *names: str) -> list[str]:
        """Take these steps; the kinds of the lines that they write."""
        written: list[str] = []
        for name in names:
            lines = self._lines(*_parsed(name))
            assert lines is not None, f"{name} is not enabled"
            written += lines
        return written

    def go_on(self) -> Iterator[list[str]]:
        """Let the controller do what it can, one step at a time, and what each writes; it lets callbacks be."""
        rules = [rule for rule in self.opened.rules.values() if rule.actor == "controller {c}" and rule.budget is None]
        steps = [(rule.name, one) for rule in rules for one in instances(rule, self.opened.model) if one["c"] == 1]
        while place_of(part(self.state, "controllers", 1)) is not At.IDLE:
            yield next(lines for step in steps if (lines := self._lines(*step)) is not None)

    def _lines(self, rule: str, parameters: Mapping[str, int]) -> list[str] | None:
        found = self.opened.step(self.state, rule, parameters)
        if found is None:
            return None
        self.state = found.after
        return [] if rule in SILENT else [one.line.__name__ for one in found.said]


def _parsed(name: str) -> tuple[str, dict[str, int]]:
    """`drop_request(c=1, t=0)` as a rule and its parameters."""
    rule, _, given = name.rstrip(")").partition("(")
    return rule, {key: int(value) for key, _, value in (one.partition("=") for one in given.split(", "))}


def test_known_topics_are_queued_behind_the_drop_of_requests_for_others() -> None:
    told = Told((1,), (1,))
    told.do("create_topic(t=0)", "on_topic_change(c=1)")
    list(told.go_on())
    told.do("request_deletion(t=0)", "create_topic(t=1)", "request_deletion(t=1)")
    assert told.do("on_deletion_change(c=1)") == ["DeletionRequested", "UnknownTopicsIgnored"]
    assert told.do("drop_request(c=1, t=1)") == ["DeletionQueued"]


def test_a_failover_that_elects_for_a_queued_topic_halts_its_deletion() -> None:
    """Broker 2, the preferred replica, is dead; the request for it, and that for the deletion, wait for a failover."""
    told = Told((2, 1))
    told.do("crash(b=2)", "end_orphaned_session(b=2)", "on_broker_change(c=1)", "create_topic(t=0)")
    told.do("on_topic_change(c=1)")
    list(told.go_on())
    told.do("request_deletion(t=0)", "request_preferred_election(named=1)", "crash(b=1)", "end_orphaned_session(b=1)")
    told.do("start_process(b=1)", "elect_read(c=1)", "elect_create(c=1)")
    written = [line for lines in told.go_on() for line in lines]
    begins = written.index("PreferredElectionStarted")
    assert written[begins : begins + 2] == ["PreferredElectionStarted", "DeletionHalted"]
    assert written.count("DeletionHalted") == 1
