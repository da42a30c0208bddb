"""`kcheck logs`: what real logs of Kafka tell by themselves, judged without a log of ZooKeeper."""

from pathlib import Path
from typing import Annotated

import typer

from model_check.cli import options
from model_check.cli.console import print_document
from model_check.logs.judging import judge_logs
from model_check.logs.workers import pieces_of
from model_check.verdicts.results import plain_document
from model_check.waiting.progress import interruptible
from spec.errors import BadInput

WORKERS = "Read with so many processes; by default with one for each core, where there is much to read."
MASTER = "Read on a Spark master instead (local[N], spark://..), whose workers see the files by the same paths."


def command(
    paths: Annotated[list[Path], typer.Argument(metavar="FILE-OR-FOLDER...", help="Logs, or folders that have some.")],
    *,
    workers: Annotated[int | None, typer.Option(min=1, help=WORKERS)] = None,
    master: Annotated[str | None, typer.Option(metavar="URL", help=MASTER)] = None,
    output: options.Output,
) -> int:
    """Judge state-change.log, controller.log and server.log of Kafka 0.8.2 to 2.8 by themselves.

    Transitions are held against the tables of the two state machines, epochs against their order, what brokers obeyed
    against their fences. It tells the terms of all controllers, who acted in whose epoch or after its successor, which
    elections failed and why, and which leaders can no longer write their ISR. A finding names file and line, and the
    known defect that it looks like.

    Logs of several brokers, rolled ones among them, are put together: those in one folder, or of the same days and
    naming the same topics, are one cluster's. Those that gzip packed are read as they are. Lines that are torn, or that
    nobody knows, are counted and shown.

    Exits with 1 if something is broken; with 3 if nothing could be asked. Where lines are missing, nobody is accused:
    that an epoch is lower than before is no finding if the broker may have been started, or ZooKeeper set up, anew.

    Ctrl-C ends it with what was found until then, and INCOMPLETE; the same command begins anew.

    For example:
      kcheck logs /var/log/kafka
      kcheck logs broker-1/ broker-2/ broker-3/
      kcheck logs state-change.log controller.log --report html=logs.html
      kcheck logs logs/ --master 'local[2]' --json
    """
    if workers is not None and master is not None:
        raise BadInput("--workers and --master exclude each other: either this machine reads, or Spark's workers do")
    with interruptible() as stop:
        if master is not None:
            from model_check.spark.spark_logs import pieces_by_spark

            runs = judge_logs(paths, reader=lambda cuts: pieces_by_spark(cuts, master), whole=output.is_kept, stop=stop)
        else:
            chosen = None if workers is None else lambda cuts: pieces_of(cuts, workers)
            runs = judge_logs(paths, reader=chosen, whole=output.is_kept, stop=stop)
    return print_document(plain_document("logs", *runs), output)
