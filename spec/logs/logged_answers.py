"""Answers as the controller logs them: a struct from 0.9.0 on, the text of a Scala class in 0.8.2.

`{error_code=0,partitions=[{topic=t,partition=0,error_code=0}]}` against
`LeaderAndIsrResponse(7,Map((t,0) -> 0),0)`. A struct does not say which request it answers: one with partitions is
LeaderAndIsr's or StopReplica's, one without is UpdateMetadata's. The Scala text does, and repeats the correlation id.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Final

from spec.errors import MalformedInput, Where
from spec.formats.error_codes import ErrorCode, known
from spec.formats.kafka_types import TopicPartition
from spec.formats.request_schemas import (
    RESPONSES,
    ApiKey,
    PartitionError,
    PartitionsResponse,
    Response,
    UpdateMetadataResponse,
)
from spec.formats.scala_collections import map_of
from spec.formats.shapes import BRACKETED, INT, INT_PATTERN, paired, partition_shape, read_int
from spec.formats.templates import Shape, Shapes, Template
from spec.formats.wire import Source


@dataclass(frozen=True)
class Answer:
    """An answer; which request it answers is known only if 0.8.2 printed it."""

    response: Response
    api_key: ApiKey | None = None
    correlation_id: int | None = None


def _read_struct(text: str) -> Answer:
    key = ApiKey.LEADER_AND_ISR if ",partitions=" in text else ApiKey.UPDATE_METADATA
    source = Source(text, Where(""))
    try:
        response: Response = RESPONSES[key].parse(source, 0)
        source.end()
    except MalformedInput as error:
        raise ValueError(str(error)) from error
    return Answer(response)


def _write_struct(answer: Answer) -> str:
    key = ApiKey.LEADER_AND_ISR if isinstance(answer.response, PartitionsResponse) else ApiKey.UPDATE_METADATA
    return RESPONSES[key].print(answer.response, 0, Where("answer"))


STRUCT_ANSWER: Final = Shape("answer as a struct", r"\{error_code=.*\}", _read_struct, _write_struct)


def _read_code(text: str) -> ErrorCode:
    try:
        return known(read_int(text), Where(""))
    except MalformedInput as error:
        raise ValueError(error.reason) from error


CODE: Final = Shape("error code", INT_PATTERN, _read_code, lambda code: str(int(code)))


def _errors(partition: Shape[TopicPartition]) -> Shape[tuple[PartitionError, ...]]:
    """The shape of `Map([t,0] -> 0, [t,1] -> 0)`."""
    entry = paired("error of a partition", partition, CODE)

    def read(text: str) -> PartitionError:
        of, code = entry.read(text)
        return PartitionError(of.topic, of.partition, code)

    def write(error: PartitionError) -> str:
        return entry.write((TopicPartition(error.topic, error.partition), error.error_code))

    return map_of("errors by partition", Shape(entry.name, entry.pattern, read, write))


SHAPES: Final[Shapes] = {
    "int": INT,
    "code": CODE,
    "(t,p)": _errors(partition_shape("(topic,partition)", "(", ",", ")")),
    "[t,p]": _errors(BRACKETED),
}
SCALA: Final[Mapping[ApiKey, Template]] = {
    key: Template(text, SHAPES)
    for key, text in {
        ApiKey.LEADER_AND_ISR: "LeaderAndIsrResponse({correlation_id:int},{partitions:(t,p)},{error_code:code})",
        ApiKey.STOP_REPLICA: "StopReplicaResponse({correlation_id:int},{partitions:[t,p]},{error_code:code})",
        ApiKey.UPDATE_METADATA: "UpdateMetadataResponse({correlation_id:int},{error_code:code})",
    }.items()
}


def _read_scala(text: str) -> Answer:
    for key, template in SCALA.items():
        try:
            values = template.read(text, Where(""))
        except MalformedInput as error:
            raise ValueError(str(error)) from error
        if values is not None:
            correlation_id = values.pop("correlation_id")
            response = UpdateMetadataResponse if key == ApiKey.UPDATE_METADATA else PartitionsResponse
            return Answer(response(**values), key, correlation_id)
    raise ValueError(f"{text} is no answer of 0.8.2")


def _write_scala(answer: Answer) -> str:
    response = answer.response
    if answer.api_key is None or answer.correlation_id is None:
        raise MalformedInput("answer", "", "0.8.2 prints the request that it answers and its correlation id")
    if not isinstance(response, PartitionsResponse | UpdateMetadataResponse):
        raise MalformedInput("answer", "response", f"the controller gets no {type(response).__name__}")
    members = {"correlation_id": answer.correlation_id, "partitions": (), **vars(response)}
    return SCALA[answer.api_key].write(SimpleNamespace(**members))


SCALA_ANSWER: Final = Shape(
    "answer as a Scala class", "|".join(template.pattern for template in SCALA.values()), _read_scala, _write_scala
)
