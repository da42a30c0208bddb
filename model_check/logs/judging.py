"""Logs from their paths to their document: found, read by whoever reads, folded in order, a report by cluster."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from model_check.logs.clusters import clusters_of, put_together
from model_check.logs.files import Cut, FileStream, cuts_of, streams_of
from model_check.logs.findings import run_of
from model_check.logs.lives import Lives
from model_check.logs.one_stream import Judged
from model_check.logs.packed import DAMAGE
from model_check.logs.reading import Piece
from model_check.logs.workers import WORTH_IT, pieces_of, usable_cores
from model_check.verdicts.results import Run
from model_check.verdicts.verdict import INTERRUPTED
from model_check.waiting.progress import bar
from spec.errors import EnvironmentFailure

Reader = Callable[[Iterable[Cut]], Iterator[tuple[Cut, Piece]]]


def judge_logs(
    paths: Sequence[Path],
    *,
    reader: Reader | None = None,
    whole: bool = False,
    stop: Callable[[], bool] = lambda: False,
) -> list[Run]:
    """What the logs at some paths tell, a run for each cluster; BadInput where there are none.

    `reader` reads pieces, by default as many processes as pay.
    """
    try:
        return _judge(paths, reader, stop, whole=whole)
    except (OSError, *DAMAGE) as error:
        raise EnvironmentFailure(f"the logs can no longer be read: {error}", "see to them, and try again") from error


def _judge(paths: Sequence[Path], reader: Reader | None, stop: Callable[[], bool], *, whole: bool) -> list[Run]:
    streams, left_out = streams_of(paths)
    lives = _lives(streams)
    logs = [Judged(one, lives[one.folder]) for one in streams]
    size = sum(file.size for one in streams for file in one.files)
    read = reader or (lambda cuts: pieces_of(cuts, usable_cores() if size >= WORTH_IT else 1))
    interrupted = ""
    with bar(f"{len(streams)} logs", max(size >> 20, 1)) as report:
        done = 0
        pieces = read(cuts_of(streams))
        for cut, piece in pieces:
            logs[cut.stream].take(cut.file, piece)
            done += cut.end - cut.start
            report(done >> 20, f"{done >> 20:,} of {size >> 20:,} MiB")
            if stop():
                interrupted = f"{INTERRUPTED} after {done:,} of {size:,} bytes"
                break
        getattr(pieces, "close", lambda: None)()
    together = clusters_of(logs)
    names = _names(together)
    return [
        run_of(put_together(some), name, whole=whole, left_out=left_out if not number else (), interrupted=interrupted)
        for number, (some, name) in enumerate(zip(together, names, strict=True))
    ]


def _lives(streams: Iterable[FileStream]) -> dict[Path, Lives]:
    """The lives of brokers as the logs of each folder tell them."""
    beside: dict[Path, list[FileStream]] = {}
    for one in streams:
        beside.setdefault(one.folder, []).append(one)
    return {folder: Lives.told_by(some) for folder, some in beside.items()}


def _names(clusters: Sequence[Sequence[Judged]]) -> list[str]:
    """A name for each cluster: the folder that has all of it alone, or its first log."""
    if len(clusters) == 1:
        tops = {log.stream.name.split("/", maxsplit=1)[0] for log in clusters[0]}
        if len(tops) == 1 and len(clusters[0]) > 1:
            return sorted(tops)
    return [some[0].stream.name + (f" and {len(some) - 1} more" if len(some) > 1 else "") for some in clusters]
