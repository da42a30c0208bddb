"""Groups of tests that one worker runs, and the parts that a long run is cut into."""

from collections.abc import Iterable

import pytest

from model_check.verdicts.shares import share_named
from spec.errors import BadInput


def group_of(item: pytest.Item) -> str:
    """The group of a test that has one."""
    mark = item.get_closest_marker("xdist_group")
    assert mark is not None
    return str(mark.args[0] if mark.args else mark.kwargs["name"])


def of_shard(items: Iterable[pytest.Item], shard: str) -> list[pytest.Item]:
    """The tests of the Kth of N parts, by "K/N": whole groups, dealt out in turn; UsageError if there is none such."""
    try:
        number, of = share_named(shard)
    except BadInput as error:
        raise pytest.UsageError(str(error)) from error
    groups = {name: place for place, name in enumerate(dict.fromkeys(map(group_of, items)))}
    return [item for item in items if groups[group_of(item)] % of == number - 1]
