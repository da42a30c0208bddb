"""Ten minutes of a real cluster under random faults and commands are explained, with what they break.

Recording 11a: three brokers are killed 27 times, stopped and resumed 22 times, and told to shut down 14 times, while
topics are created, deleted, reassigned and given partitions, and preferred replicas elected. Nobody had planned what it
would show. So three of the claims that it breaks, for which it is the only recording or the rarest, were looked for in
its files without the specification, and found in the same places; and the account counts what is in the files. Four of
its observations are configurations that allow unclean election, zk 143, 203, 249 and 1058.
"""

from collections import Counter

import pytest

from model_check.judging.judge import Outcome, judge
from model_check.judging.shipped_recordings import LONG, unpacked
from model_check.recordings.reading import read

NAME = "11a-random"

ACCOUNT = {
    # Transactions of the tools: creates of topics, of the requests, and writes of topics with new partitions.
    "create_topic": 13, "request_election": 31, "request_reassignment": 22, "request_deletion": 7,
    "write_addition": 10,
    # Each of the seven is deleted in the end.
    "delete_topic": 7, "delete_request": 7,
    # 32 creates of /controller; the first one of /controller_epoch, then 31 writes of it.
    "create_epoch": 1, "increment_epoch": 32,
}  # fmt: skip


@pytest.mark.slow
def test_ten_minutes_of_random_faults_are_explained() -> None:
    with unpacked(NAME) as home:
        recording = read(home / NAME)
    found = judge(recording)
    assert (found.outcome, found.reason, found.stuck) == (Outcome.EXPLAINED, "", None)
    assert found.explained == found.observations == 16_561
    assert {one.claim.name for one in found.broken} == LONG[NAME]
    taken = Counter(one.step.rule for one in found.path if one.step is not None)
    assert {rule: taken[rule] for rule in ACCOUNT} == ACCOUNT
