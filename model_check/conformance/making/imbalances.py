"""The check of the automatic rebalance: for which partitions a preferred election is begun.

Expected is what PROTOCOL.md section 7.6 says: broker by broker, of the partitions whose first replica it is, the
share that others lead must be strictly higher than the percentage; nothing is begun while anything is reassigned or
elected on request, for a broker that is gone, or of a topic that is queued for deletion.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from model_check.conformance.making.cases import Case
from model_check.conformance.vector import Object

USUAL: Final[Object] = {"live": [1, 2, 3], "percentage": 10, "deleting": [], "reassigning": [], "electing": []}


def imbalance_cases() -> Iterator[Case]:
    """Shares around the limit, then each thing that stands in the way."""
    for count, lost, percentage in (
        (1, 0, 0), (1, 1, 0), (1, 1, 10), (1, 1, 99), (1, 1, 100), (2, 1, 49), (2, 1, 50), (2, 2, 50), (4, 1, 24),
        (4, 1, 25), (4, 1, 26), (4, 3, 74), (4, 3, 75), (10, 1, 10), (10, 1, 9), (10, 2, 10), (10, 2, 20), (10, 2, 19),
        (3, 1, 33), (3, 1, 34), (3, 2, 66), (3, 2, 67), (20, 3, 15), (20, 3, 14),
    ):  # fmt: skip
        led = {f"orders-{n}": (1, 2 if n < lost else 1) for n in range(count)}
        yield _case(f"{lost} of {count} led by another, {percentage} %", led, {"percentage": percentage})
    for percentage in (0, 10, 50):
        two = {"orders-0": (1, 2), "orders-1": (2, 2), "orders-2": (2, 1), "more-0": (3, 3), "more-1": (1, 1)}
        yield _case(f"each broker has a share of its own, {percentage} %", two, {"percentage": percentage})
    lost_both = {"orders-0": (1, 2), "more-0": (1, 3), "more-1": (2, 3)}
    yield _case("nothing stands in the way", lost_both, {})
    yield _case("the first replica is gone", lost_both, {"live": [2, 3]})
    yield _case("all first replicas are gone", lost_both, {"live": [3]})
    yield _case("a topic is queued for deletion", lost_both, {"deleting": ["orders"]})
    yield _case("the other topic is queued for deletion", lost_both, {"deleting": ["more"]})
    for key in ("reassigning", "electing"):
        yield _case(f"one of them is {key}", lost_both, {key: ["orders-0"]})
        yield _case(f"another partition is {key}", lost_both | {"third-0": (3, 3)}, {key: ["third-0"]})
    nobody = {"orders-0": (1, -1), "orders-1": (1, 1)}
    yield _case("nobody leads one of two, 10 %", nobody, {})
    yield _case("nobody leads one of two, 50 %", nobody, {"percentage": 50})
    unknown: Mapping[str, tuple[int, int | None]] = {"orders-0": (1, None), "orders-1": (1, 2)}
    yield _case("one of two has no leadership, 49 %", unknown, {"percentage": 49})
    yield _case("one of two has no leadership, 50 %", unknown, {"percentage": 50})
    hyphens = {"a-b-10": (1, 2), "a-b-2": (1, 2), "a-0": (1, 2), "a-1": (1, 1)}
    yield _case("topics with hyphens", hyphens, {})
    yield _case("topics with hyphens, one is queued for deletion", hyphens, {"deleting": ["a"]})
    yield _case("topics with hyphens, the other is queued for deletion", hyphens, {"deleting": ["a-b"]})
    doomed = {"orders-0": (1, 2), "more-0": (1, 1)}
    yield _case("what is queued for deletion does not count, 40 %", doomed, {"deleting": ["more"], "percentage": 60})
    emptied = {"orders-0": {"assigned": [1, 2], "leader": 2}, "more-0": {"assigned": [], "leader": None}}
    yield _case("what is queued for deletion has no replica", {}, {"deleting": ["more"], "partitions": emptied})


def _case(words: str, led: Mapping[str, tuple[int, int | None]], changes: Mapping[str, Any]) -> Case:
    given: Object = USUAL | {
        "partitions": {
            name: {"assigned": [first, *sorted({1, 2, 3} - {first})], "leader": leader}
            for name, (first, leader) in led.items()
        },
        **changes,
    }
    return Case(
        "find_imbalance", f"Automatic rebalance: {words}", given, [{"elect": _elected(given)}],
        ["PROTOCOL.md section 7.6", "KafkaController.checkAndTriggerPartitionRebalance"], ["rebalance"],
    )  # fmt: skip


def _elected(given: Object) -> list[str]:
    if given["reassigning"] or given["electing"]:
        return []
    kept = {name: one for name, one in given["partitions"].items() if name.rsplit("-", 1)[0] not in given["deleting"]}
    found = []
    for broker in given["live"]:
        own = [name for name, one in kept.items() if one["assigned"][0] == broker]
        lost = [name for name in own if kept[name]["leader"] not in {None, broker}]
        if 100 * len(lost) > given["percentage"] * len(own):
            found += lost
    return sorted(found)
