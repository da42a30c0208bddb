"""The reference as an adapter: `python -m model_check.conformance.reference_adapter [--dialect as-coded-0.9.0]`.

It reads questions from standard input and answers each on standard output, a line for a line (`protocol.py`). It asks
the reference's own code, and the formats that the reference shares with the specification.
"""

import argparse
import json
import sys
from collections.abc import Callable, Iterable
from typing import Final

from model_check.conformance import (
    reference_broker,
    reference_bytes,
    reference_driven,
    reference_functions,
    reference_lines,
    reference_machines,
    reference_tables,
)
from model_check.conformance.protocol import PROTOCOL
from model_check.conformance.vector import DIALECTS, Object
from spec.errors import BadInput

Ask = Callable[[Object, str], Object]
ASKED: Final[dict[str, Ask]] = {
    "transition": reference_tables.transition, "elect": reference_tables.elect, **reference_functions.ASKED,
    **reference_machines.ASKED, **reference_broker.ASKED, **reference_bytes.ASKED,
    **reference_lines.ASKED,
}  # fmt: skip
"""What answers each verb: what is given, and the dialect, make the outcome."""


def main(arguments: Iterable[str] | None = None) -> None:
    """Answer until the runner says bye, or its output ends."""
    parser = argparse.ArgumentParser(description="The reference as an adapter of the conformance suite.")
    parser.add_argument("--dialect", choices=DIALECTS, default="as-coded-0.10.2")
    adapter = Adapter(parser.parse_args(arguments if arguments is None else list(arguments)).dialect)
    for line in sys.stdin:
        try:
            question = json.loads(line)
        except (ValueError, RecursionError) as error:
            question = {"verb": f"question that is JSON: {error}"}
        if isinstance(question, dict) and question.get("verb") == "bye":
            return
        if isinstance(question, dict) and question.get("verb") == "control":
            adapter.control(question, _say, lambda: json.loads(sys.stdin.readline()))
        else:
            _say(adapter.answer(question))


def _say(told: Object) -> None:
    sys.stdout.write(json.dumps(told) + "\n")
    sys.stdout.flush()


class Adapter:
    """Answers questions in a dialect."""

    def __init__(self, dialect: str) -> None:
        self.dialect = dialect
        self.verbs = {verb: _in(dialect, ask) for verb, ask in ASKED.items()}

    def answer(self, question: Object) -> Object:
        """The answer to a question, whatever it is; what is wrong with it is answered as an error."""
        if not isinstance(question, dict):
            return {"id": None, "error": "expected an object with verb, id and given"}
        verb, name = question.get("verb"), question.get("id")
        if verb == "hello":
            return {
                "protocol": PROTOCOL, "name": "reference", "language": "Python", "dialect": self.dialect,
                "verbs": [*self.verbs, "control"], "resets": True,
            }  # fmt: skip
        return {"id": name, **self._told(verb, question)}

    def _told(self, verb: object, question: Object) -> Object:
        """What answers a question, without its id."""
        if verb == "reset":  # each question has a controller, or a broker, of its own
            return {"outcome": {}}
        if not isinstance(verb, str) or verb not in self.verbs:
            return {"skip": f"the reference has no {verb}"}
        try:
            return {"outcome": self.verbs[verb](question["given"])}
        except BadInput as error:
            return {"error": str(error)}
        except Exception as error:  # noqa: BLE001 - what is given is not as the format page says
            return {"error": f"what is given cannot be asked: {type(error).__name__}: {error}"}

    def control(self, question: Object, say: Callable[[Object], None], hear: Callable[[], Object]) -> None:
        """Have a controller say what it does, and hear what comes of it, until the script has ended."""
        name = question.get("id")

        def exchange(told: Object) -> Object:
            say({"id": name, **told})
            return hear()

        try:
            reference_driven.control(question["given"], self.dialect, exchange)
        except BadInput as error:
            say({"id": name, "error": str(error)})
        except Exception as error:  # noqa: BLE001 - what is given is not as the format page says
            say({"id": name, "error": f"what is given cannot be driven: {type(error).__name__}: {error}"})


def _in(dialect: str, ask: Ask) -> Callable[[Object], Object]:
    return lambda given: ask(given, dialect)


if __name__ == "__main__":
    main()
