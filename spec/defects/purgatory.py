"""Races of the purgatory, PROTOCOL.md section 11."""

from spec.defects.rows import Defect
from spec.variants import Switch

ROWS = (
    Defect(
        "S11-missed",
        "An update before the timer is armed tries nobody: a request waits although its leaders are there",
        breaks="satisfied_operations_do_not_wait",
        scope="purgatory",
        first_depth=11,
        fix=frozenset({Switch.ARM_BEFORE_SECOND_TRY}),
    ),
    Defect(
        "S11-timer",
        "A timer entry is cancelled before it is put in its bucket: an operation that was answered stays armed",
        breaks="answered_operations_have_no_timer",
        scope="purgatory",
        first_depth=23,
        fix=frozenset({Switch.INSERT_UNDER_MONITOR}),
    ),
    Defect(
        "S11-answer",
        "A leader is lost between tryComplete and onComplete: what the condition completed is answered with a time-out",
        breaks="completed_operations_do_not_time_out",
        scope="purgatory_alone",
        first_depth=9,
        fix=frozenset({Switch.ANSWER_AS_FOUND}),
    ),
)
