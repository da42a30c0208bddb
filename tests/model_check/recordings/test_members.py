"""members.json: who took part as what is read as it is printed, and what is none is refused."""

from pathlib import Path

import pytest

from model_check.recordings.members import Member, Role, members_of, print_members
from spec.errors import MalformedInput
from spec.formats.kafka_types import V0102

ONE = '{"role": "both", "runs": "x", "release": null}'


def test_what_is_printed_is_read(tmp_path: Path) -> None:
    members = {1: Member(Role.CONTROLLER, "kafka 1.1.1", None), 10: Member(Role.BROKER, "reference", V0102)}
    assert members_of(tmp_path) is None
    (tmp_path / "members.json").write_text(print_members(members), encoding="utf-8")
    assert members_of(tmp_path) == members


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        ("", "Expecting value"),
        ("[]", "has no attribute 'items'"),
        (f'{{"one": {ONE}}}', "'one' is no broker id"),
        (f'{{"-1": {ONE}}}', "'-1' is no broker id"),
        (f'{{"1": {ONE}, "01": {ONE}}}', "'01' is no broker id"),
        (f'{{"1": {ONE}, "1": {ONE}}}', "a name stands in it twice"),
        ('{"1": {"role": "king", "runs": "x", "release": null}}', "'king' is not a valid Role"),
        ('{"1": {"role": "both", "runs": "x", "release": "9"}}', "'9'"),
        ('{"1": {"role": "both", "runs": "x"}}', "'release'"),
    ],
)
def test_what_tells_no_members_is_refused(content: str, complaint: str, tmp_path: Path) -> None:
    (tmp_path / "members.json").write_text(content, encoding="utf-8")
    with pytest.raises(MalformedInput, match="is not an object of members by broker id") as refusal:
        members_of(tmp_path)
    assert complaint in str(refusal.value)
