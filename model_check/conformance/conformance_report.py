"""What `kcheck conform` says of an adapter: a line a group, each failure with all that it needs, and a summary."""

import json
import shlex
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from model_check.conformance.conforming import Conformance, Outcome, Result
from model_check.conformance.format_page import rule_of
from model_check.conformance.protocol import printable


def text(found: Conformance, command: Sequence[str]) -> str:
    """The report, with the command that asks a failing vector again."""
    return "\n".join([*_lines(found, command), ""])


def _lines(found: Conformance, command: Sequence[str]) -> Iterator[str]:
    adapter = found.adapter
    yield f"{adapter.name} ({adapter.language}), {adapter.dialect}"
    groups = dict.fromkeys(one.vector.group for one in found.results)
    width = max(map(len, groups), default=0)
    for group in groups:
        counts = Counter(one.outcome for one in found.results if one.vector.group == group)
        yield f"  {group.ljust(width)}  {_counted(counts)}"
    for one in found.results:
        if one.outcome in {Outcome.FAIL, Outcome.ERROR}:
            yield from ("", *of_failure(one, command))
    yield from ("", *_reasons(found))
    reason = f" ({found.reason})" if found.reason else ""
    yield f"kcheck conform: {found.verdict}{reason}: {_counted(found.counts, every=True)}, of {found.of} vectors"


def of_failure(one: Result, command: Sequence[str]) -> Iterator[str]:
    """All that there is to tell of a failure, as lines."""
    vector = one.vector
    yield f"{one.outcome.upper()} {vector.id}: {vector.title}"
    yield f"  {one.told}"
    yield f"  asked     {vector.verb} {_json(vector.given)}"
    yield f"  expected  {' or '.join(map(_json, vector.then))}"
    if one.found is not None:
        yield f"  found     {_json(one.found)}"
    yield f"  rule      {rule_of(vector.verb)}"
    yield f"  source    {', '.join(vector.refs)}"
    yield f"  again     kcheck conform --only {vector.id} {shlex.join(command)}"


def _reasons(found: Conformance) -> Iterator[str]:
    """Why vectors were skipped, or failed as expected."""
    for outcome in (Outcome.SKIP, Outcome.EXPECTED):
        reasons = Counter(one.told for one in found.results if one.outcome is outcome)
        yield from (f"  {count} {outcome}: {reason}" for reason, count in reasons.most_common())


def _counted(counts: Counter[Outcome], *, every: bool = False) -> str:
    always = (Outcome.PASS, Outcome.FAIL, Outcome.SKIP, Outcome.ERROR) if every else ()
    return ", ".join(f"{counts[one]} {one}" for one in Outcome if counts[one] or one in always)


def document(found: Conformance) -> dict[str, Any]:
    """The same as JSON."""
    adapter = asdict(found.adapter) | {key: sorted(getattr(found.adapter, key)) for key in ("verbs", "without")}
    results = [
        {
            "id": one.vector.id,
            "hash": one.vector.hash,
            "outcome": str(one.outcome),
            "told": one.told,
            "found": one.found,
        }
        for one in found.results
    ]
    return {
        "shows": "conformance",
        "version": 1,
        "verdict": str(found.verdict),
        "reason": found.reason,
        "vectors": found.of,
        "adapter": adapter,
        "counts": {str(one): found.counts[one] for one in Outcome},
        "results": results,
    }


def _json(value: Any) -> str:
    return printable(json.dumps(value, ensure_ascii=False))
