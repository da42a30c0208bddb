"""The README of the monitors: its table has each claim, with its sentence and what it is asked of."""

from pathlib import Path

import model_check.monitors.check
from model_check.monitors.check import CLAIMS
from model_check.monitors.claims import Needs

README = Path(model_check.monitors.check.__file__).with_name("README.md")
LETTERS = {Needs.NOTHING: "Z", Needs.REQUESTS: "Z, W", Needs.REST: "Z, R", Needs.REST_AND_REQUESTS: "Z, W, R"}


def test_the_table_has_each_claim_in_the_order_in_which_they_are_asked() -> None:
    rows = [line for line in README.read_text(encoding="utf-8").splitlines() if line.startswith("| `")]
    named = [line for line in rows if line.count("|") == 4]
    assert named == [f"| `{one.name}` | {one.statement} | {LETTERS[one.needs]} |" for one in CLAIMS]


def test_no_two_claims_have_one_name() -> None:
    assert len({one.name for one in CLAIMS}) == len(CLAIMS) == 39 + 16
