"""A leadership in the specification's words has all that its record in the state has, and nobody as 0."""

from model_check.stepping.leadership_words import WORDS, in_words
from spec.formats.leadership import NO_LEADERSHIP
from spec.language.records import names
from spec.state.zookeeper import Leadership
from tests.leaderships import led


def test_each_field_of_the_one_record_is_one_of_the_other() -> None:
    assert sorted(WORDS.values()) == sorted(names(Leadership))


def test_the_data_version_and_nobody_are_called_otherwise() -> None:
    told = {"leader": 2, "leader_epoch": 5, "isr": (2, 3), "controller_epoch": 7, "version": 4}
    assert in_words(led(2, 5, (2, 3), 7, 4)) == told
    nothing = {"leader": 0, "leader_epoch": -1, "isr": (), "controller_epoch": 0, "version": -1}
    assert in_words(NO_LEADERSHIP) == nothing
