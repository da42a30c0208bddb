"""What is claimed of ISR change notification: who handles the notifications."""

from __future__ import annotations

from typing import Any

from spec.language import Action, claim
from spec.model import Model
from spec.state import At
from spec.terms import Value, either

PARTS = ("notifications",)


@claim("sometimes", source="PROTOCOL.md section 7.7", parts=PARTS)
def a_notification_is_handled(s: Any, m: Model) -> Value:
    """A controller is about to delete a notification that it has handled."""
    return either(*(s.controllers[c].at == At.NOTIFIED_DELETE for c in m.controllers))


@claim("step", source="PROTOCOL.md D8, KAFKA-4447", witness="a_notification_is_handled", parts=PARTS)
def only_the_active_handle_notifications(before: Any, after: Any, m: Model, action: Action) -> Value | None:
    """No notification is deleted by a broker that is not an active controller, and has told nobody of it."""
    if action.rule != "delete_notification":
        return None
    return before.controllers[action.parameters["c"]].active  # type: ignore[no-any-return]  # a view is dynamic


CLAIMS = (a_notification_is_handled, only_the_active_handle_notifications)
