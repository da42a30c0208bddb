"""The reference's controller, driven by a conversation, as an implementer drives his own."""

from collections.abc import Callable
from functools import partial

import reference
from model_check.conformance.reference_words import release
from model_check.conformance.request_words import words_with_epoch
from model_check.conformance.vector import Object

Exchange = Callable[[Object], Object]
"""Says a line, and gives the answer to it."""


def _log(exchange: Exchange, line: str) -> None:
    exchange({"log": line})


def control(given: Object, dialect: str, exchange: Exchange) -> None:
    """Have a controller do what comes of what it hears, until there is no more."""

    def send(to: int, told: Object) -> int:
        answered = exchange({"send": {"to": to, "request": words_with_epoch(told)}})
        number: int = answered["result"]["number"]
        return number

    driven = reference.driven(
        {"broker": given["broker"], "settings": given["settings"], "release": release(dialect)},
        lambda call: exchange({"ask": call}),
        send,
        partial(_log, exchange) if "lines" in given else lambda _: None,
    )
    driven.start()
    while "event" in (came := exchange({"wait": True})):
        match came["event"]:
            case {"watch": path}:
                driven.watch(path)
            case {"session": "expired"}:
                driven.session_expired()
            case {"session": "goes on"}:
                driven.session_goes_on()
            case {"answer": answer}:
                driven.answered(answer["number"], answer["partitions"], answer["error"])
            case {"shutdown": broker}:
                told = driven.shut_down(broker)
                remaining = sorted(f"{one['Topic']}-{one['Partition']}" for one in told["PartitionsRemaining"])
                exchange({"reply": {"error": told["ErrorCode"], "remaining": remaining}})
            case {"rebalance": True}:
                driven.rebalance()
