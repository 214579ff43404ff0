"""The operations of a run's journal as frames, for histories that one process cannot hold.

Column types and meanings are those of `fencepost.harness.checkers.history`, which has the same from a journal in
memory. A place is a topic, a partition and an offset.

Two things are left out, because the whole history decides them: records of transactions, which make no promise here,
and topics that were deleted or created anew, of which `left_out` has the names.
"""

from dataclasses import dataclass
from typing import Final

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

AT: Final = ("topic", "partition")
PLACE: Final = (*AT, "offset")

_DATA = (
    "f string, process string, topic string, `partition` int, value string, acks string, idempotent boolean, "
    "offset bigint, transaction string, reset boolean, final boolean, isolation string, records array<array<string>>, "
    "partitions array<array<string>>, what string, topic_id string, leader_epoch bigint, asked double, answered double"
)
_EVENT = (
    f"seq bigint, t double, type string, id string, phase string, node string, data struct<{_DATA}>, corrupt string"
)


@dataclass(frozen=True)
class Histories:
    """The operations of one run.

    - sends: id, seq and t (of the invocation), process, topic, partition, offset, value, acks, idempotent, outcome
      (ok, fail, info), completed (s; null without an answer), transaction.
    - polls: seq, t, process, reset, final, uncommitted, records.
    - reads: a row for each record of a poll: its columns, pos (in the poll), topic, partition, offset, value.
    - final: partitions that the last final read reached the end of: topic, partition, start, end.
    - ends: the ends of partitions that leaders showed: seq, node, topic, partition, topic_id, offset, leader_epoch,
      asked, answered.
    - left_out: topic.
    - lines: one row: events, and unreadable (lines that are no events; one may be the torn last line).
    """

    sends: DataFrame
    polls: DataFrame
    reads: DataFrame
    final: DataFrame
    ends: DataFrame
    left_out: DataFrame
    lines: DataFrame


def read_histories(spark: SparkSession, journal: str) -> Histories:
    """Read a journal, or all parts of one, from a path or URL that Spark reaches."""
    lines = spark.read.schema(_EVENT).option("columnNameOfCorruptRecord", "corrupt").json(journal)
    events = lines.where("corrupt is null")
    states = events.where("type = 'state'").select("seq", "node", "data.*")
    of_topics = states.where(
        "what in ('partition', 'partition-gone') and coalesce(node, '') = '' and topic is not null"
    )
    several = (F.max(F.col("what") == "partition-gone")) | (F.count_distinct("topic_id") > 1)
    left_out = of_topics.groupBy("topic").agg(several.alias("several")).where("several").select("topic")

    def known(frame: DataFrame) -> DataFrame:
        return frame.join(F.broadcast(left_out), "topic", "left_anti")

    operations = events.where("type = 'op'").select("seq", "t", "id", "phase", "data.*")
    polls = operations.where("f = 'poll' and phase = 'ok'").select(
        *("seq", "t", "process", "records"),
        F.coalesce("reset", F.lit(False)).alias("reset"),
        F.coalesce("final", F.lit(False)).alias("final"),
        F.coalesce(F.col("isolation") == "read_uncommitted", F.lit(False)).alias("uncommitted"),
    )
    of_poll = [name for name in polls.columns if name != "records"]
    record = F.col("record")
    reads = polls.select(*of_poll, F.posexplode("records").alias("pos", "record")).select(
        *of_poll,
        "pos",
        record[0].alias("topic"),
        record[1].cast("int").alias("partition"),
        record[2].cast("bigint").alias("offset"),
        record[3].alias("value"),
    )
    ends = states.where("what = 'end'").select(
        *("seq", "node", *PLACE, "leader_epoch", "asked", "answered"),
        F.coalesce("topic_id", F.lit("")).alias("topic_id"),
    )
    final = _final(operations)
    counts = lines.agg(F.count("seq").alias("events"), F.count("corrupt").alias("unreadable"))
    return Histories(known(_sends(operations)), polls, known(reads), known(final), known(ends), left_out, counts)


def _sends(operations: DataFrame) -> DataFrame:
    sends = operations.where("f = 'send'")
    invoked = F.col("phase") == "invoke"
    answer = F.when(~invoked, F.struct("seq", "phase", "t", "partition", "offset"))
    asked = F.when(
        invoked, F.struct("seq", "t", "process", "topic", "partition", "value", "acks", "idempotent", "transaction")
    )
    joined = sends.groupBy("id").agg(F.max(asked).alias("asked"), F.max(answer).alias("answer")).where("asked.seq >= 0")
    columns = ("seq", "t", "process", "topic", "value", "acks", "idempotent", "transaction")
    return joined.select(
        "id",
        *(f"asked.{name}" for name in columns),
        F.coalesce("answer.partition", "asked.partition").alias("partition"),
        F.col("answer.offset").alias("offset"),
        F.coalesce("answer.phase", F.lit("info")).alias("outcome"),
        F.col("answer.t").alias("completed"),
    )


def _final(operations: DataFrame) -> DataFrame:
    finals = operations.where("f = 'final'")
    began = finals.where("phase = 'invoke'").agg(F.coalesce(F.max("seq"), F.lit(-1)).alias("began"))
    last = finals.where("phase in ('ok', 'info')").join(F.broadcast(began), F.col("seq") > F.col("began"))
    span = F.col("span")
    return (
        last.select("seq", "began", F.explode("partitions").alias("span"))
        .groupBy(span[0].alias("topic"), span[1].cast("int").alias("partition"))
        .agg(F.max("began").alias("began"), F.max_by("span", "seq").alias("span"))
        .select(*AT, "began", span[2].cast("bigint").alias("start"), span[3].cast("bigint").alias("end"))
    )
