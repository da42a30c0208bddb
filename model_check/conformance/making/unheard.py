"""Requests of which no watch tells a controller, only ZkClient, which calls all listeners behind the end of a session.

No walk has one: in the specification only who is elected creates /controller, and the failover that follows watches the
request. So walks are changed here whose last turn is a request for elections. The session ends before the request is
made, and somebody creates /controller again by hand, with the same broker in it. The controller hears that it has a new
session, finds itself named, and goes on (KAFKA-4229), but its watches are gone. Once its broker is registered, all
listeners are called, and what comes of that is what came in the walk, where the watch fired for the request.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Final

from model_check.conformance.making.stages import REGISTERS, Script, shape
from model_check.conformance.making.walks import NEW_SESSION
from model_check.conformance.making.who_acts import DRIVEN
from model_check.conformance.vector import Object
from reference.scripts import CONTROLLER

UNHEARD: Final = "unheard"
"""The kind of what they show."""
REQUEST: Final = "request_election("
EXPIRES: Final = f"expire_session(b={DRIVEN}, lost=0)"
WRITES: Final = f"write_controller(b={DRIVEN})"
"""Somebody creates /controller by hand, which no walk has."""


def unheard(scripts: Iterable[Script]) -> Iterator[Script]:
    """Those of the scripts whose last turn is a request for elections, with the end of the session before that."""
    for script in scripts:
        *before, last = script.turns
        if last.coming is None and len(last.first) == 1 and last.first[0].startswith(REQUEST):
            named: Object = {"create": CONTROLLER, "data": {"version": 1, "brokerid": DRIVEN, "timestamp": "0"}}
            items: tuple[Object, ...] = ({"end_session": DRIVEN}, named, *last.items, {"renew_session": DRIVEN})
            ends = replace(last, first=(EXPIRES, WRITES, *last.first, NEW_SESSION), items=items, orders=([],))
            goes_on = replace(last, first=(REGISTERS,), items=({"register": DRIVEN},))
            shows = frozenset({(UNHEARD, *(shape(one) for one in last.orders[0]))})
            yield Script((*before, ends, goes_on), shows)
