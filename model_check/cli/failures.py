"""How a verb ends: its exit code, and one line instead of a traceback for everything that a user can fix.

Ctrl-C leaves INCOMPLETE. An error that nobody foresaw keeps its traceback, for it is ours, and is the ERROR that it is:
Python's own exit code for it would read as VIOLATED.
"""

import errno
import functools
import inspect
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import fields, is_dataclass
from typing import Any, get_type_hints

import typer

from model_check.cli.streams import give_up_what_is_broken, harmless
from model_check.kernel.cache import lacking
from model_check.verdicts.extras import missing_extra
from model_check.verdicts.interrupts import NOTHING_MORE, is_interrupt, raising
from model_check.verdicts.verdict import BAD_USAGE, EXIT_CODES, Verdict
from spec.errors import BadInput, EnvironmentFailure


def guarded(verb: Callable[..., int]) -> Callable[..., None]:
    """A verb that gives its exit code, as a command that ends with it, whatever happens.

    A verb may take several options as one record (`options.Variant`); the command takes each of them by itself.
    """
    hints = get_type_hints(verb, include_extras=True)
    records: dict[str, Any] = {name: kind for name, kind in hints.items() if is_dataclass(kind)}

    @functools.wraps(verb)
    def command(**given: Any) -> None:
        parts = {name: {one.name: given.pop(one.name) for one in fields(kind)} for name, kind in records.items()}
        raise typer.Exit(_exit_code(lambda: verb(**given, **{name: records[name](**parts[name]) for name in parts})))

    apart = list(_apart(inspect.signature(verb), hints))
    command.__signature__ = inspect.Signature(apart)  # type: ignore[attr-defined]  # what typer goes by
    command.__annotations__ = {one.name: one.annotation for one in apart}
    command.__doc__ = _with_examples_kept(inspect.cleandoc(verb.__doc__ or ""))
    return command


def _apart(signature: inspect.Signature, hints: Mapping[str, Any]) -> Iterator[inspect.Parameter]:
    """The parameters of a command: those of its verb, and in the place of a record its fields."""
    for parameter in signature.parameters.values():
        kind = hints[parameter.name]
        for one in fields(kind) if is_dataclass(kind) else ():
            annotation = get_type_hints(kind, include_extras=True)[one.name]
            yield inspect.Parameter(
                one.name, inspect.Parameter.KEYWORD_ONLY, default=one.default, annotation=annotation
            )
        if not is_dataclass(kind):
            yield parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY, annotation=kind)


def _with_examples_kept(text: str) -> str:
    """A help text in which paragraphs with indented lines are marked, so that they are not reflowed."""
    paragraphs = text.split("\n\n")
    return "\n\n".join(f"\b\n{one}" if "\n  " in one else one for one in paragraphs)


def _exit_code(run: Callable[[], int]) -> int:
    try:
        with raising():
            code = run()
            _tell_what_is_not_kept()
            return code
    except (Exception, KeyboardInterrupt) as error:  # noqa: BLE001 - whatever it is, it must not exit as a verdict
        if is_interrupt(error):
            return _complain(NOTHING_MORE, EXIT_CODES[Verdict.INCOMPLETE])
        return failed(error)


def _tell_what_is_not_kept() -> None:
    """Where no place was found for it: the next verb takes as long again."""
    if lacking:
        home = "name a folder that can be written in KCHECK_CACHE"
        with suppress(OSError):
            typer.echo(f"kcheck: {', '.join(sorted(lacking))} could not be kept for the next time; {home}", err=True)


def failed(error: BaseException) -> int:
    """Tell what went wrong, if anybody can read it, and give the exit code for it."""
    code = _told_of(error)
    give_up_what_is_broken()
    return code


def _told_of(error: BaseException) -> int:
    error = missing_extra(error) or error
    match error:
        case BadInput():
            return _complain(error, BAD_USAGE)
        case BrokenPipeError():
            pass  # whoever read our output has seen enough
        case EnvironmentFailure():
            _complain(error, EXIT_CODES[Verdict.ERROR])
        case OSError():
            _complain(_told(error), EXIT_CODES[Verdict.ERROR])
        case MemoryError():
            _complain("out of memory; take a smaller scope, or a smaller --limit", EXIT_CODES[Verdict.ERROR])
        case _:
            with suppress(OSError):
                traceback.print_exception(error)
            _complain("this is a mistake in kcheck itself, and no verdict", EXIT_CODES[Verdict.ERROR])
    return EXIT_CODES[Verdict.ERROR]


def _told(error: OSError) -> str:
    """What an operation of the system failed for, and on what, as far as it says."""
    if error.errno == errno.ENOSPC:
        return f"no space is left for {error.filename or 'what is written'}; make room and start again"
    if error.filename and error.strerror:
        return f"{error.filename}: {error.strerror}"
    return str(error) or type(error).__name__


def _complain(complaint: object, code: int) -> int:
    with suppress(OSError):  # nobody can read standard error, and the exit code still counts
        typer.echo(harmless(f"kcheck: {complaint}"), err=True)
    return code
