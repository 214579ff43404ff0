"""The checkers of the data plane as Spark jobs, for histories that one process cannot hold.

Each is the checker of the same name of `fencepost.harness.checkers`, whose module says what it judges and why; a
property test holds that they agree. They know no plan: what is below the start of a log at the end may have been
deleted by it, so `unseen` and `consumed_then_vanished` leave that out. Each returns a row for each item that it judged,
with the columns `wrong`, topic, partition, offset, value, process and t (seconds since the run began). Nothing is
collected, and no Python runs for a row; the windows of consumers and producers sort what one client did, on disk where
it is much.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import reduce
from typing import Any, Final

from pyspark.sql import Column, DataFrame, SparkSession, Window, WindowSpec
from pyspark.sql import functions as F

from fencepost.results.mining.histories import AT, PLACE, Histories, read_histories

Check = Callable[[Histories], DataFrame]
SHOWN: Final = ("topic", "partition", "offset", "value", "process", "t")
EXAMPLES: Final = 20
_RECORD = (*PLACE, "value")


def promises(of: Histories) -> DataFrame:
    """Return the records acknowledged at acks=all: topic, partition, offset (-1 if unknown), value, process, t."""
    kept = of.sends.where("outcome = 'ok' and acks = 'all' and `partition` is not null and transaction is null")
    return kept.select(
        *AT, F.coalesce("offset", F.lit(-1)).alias("offset"), "value", "process", F.col("completed").alias("t")
    )


def final_values(of: Histories) -> DataFrame:
    """Return what the final read found: topic, partition, offset, value."""
    read = of.reads.where("final").join(F.broadcast(of.final), list(AT)).where("seq > began")
    return read.groupBy(*PLACE).agg(F.max_by("value", F.struct("seq", "pos")).alias("value"))


def unseen(of: Histories) -> DataFrame:
    """Judge that the final read found each acknowledged record of the partitions that it read to their end."""
    at_end = final_values(of).select(*AT, "value").distinct().withColumn("kept", F.lit(True))
    judged = promises(of).join(F.broadcast(of.final.select(*AT, "start")), list(AT))
    deleted = (F.col("start") > 0) & (F.col("offset") < F.col("start"))
    return judged.where(~deleted).join(at_end, [*AT, "value"], "left").withColumn("wrong", F.col("kept").isNull())


def unread(of: Histories) -> DataFrame:
    """Judge that each partition with an acknowledged record was read to its end."""
    promised = promises(of).groupBy(*AT).agg(F.max("t").alias("t"), F.max("process").alias("process"))
    reached = F.broadcast(of.final.select(*AT, F.lit(True).alias("reached")))
    empty = {"offset": F.lit(None).cast("bigint"), "value": F.lit(None).cast("string")}
    return promised.join(reached, list(AT), "left").withColumns({"wrong": F.col("reached").isNull(), **empty})


def lost_write(of: Histories) -> DataFrame:
    """Judge that each acknowledged record at or below the highest offset read of its partition was read."""
    bounds = of.reads.groupBy(*AT).agg(F.max("offset").alias("bound"))
    was_read = of.reads.select("value").distinct().withColumn("was_read", F.lit(True))
    judged = promises(of).join(F.broadcast(bounds), list(AT), "left")
    judged = judged.where("offset between 0 and bound")
    return judged.join(was_read, "value", "left").withColumn("wrong", F.col("was_read").isNull())


def consumed_then_vanished(of: Histories) -> DataFrame:
    """Judge that the final read found each record that a consumer had read before it."""
    first = F.min(F.struct("seq", "pos", "final", "uncommitted", "process", "t"))
    reads = of.reads.groupBy(*_RECORD).agg(first.alias("first")).select(*_RECORD, "first.*")
    judged = (
        reads.where("not final").join(F.broadcast(of.final.select(*AT, "start")), list(AT)).where("offset >= start")
    )
    unsure = of.sends.where("transaction is not null").select("value", F.lit(True).alias("unsure")).distinct()
    judged = judged.join(unsure, "value", "left").where("not uncommitted or unsure is null")
    now = final_values(of).withColumnRenamed("value", "now")
    return judged.join(now, list(PLACE), "left").withColumn("wrong", ~F.col("value").eqNullSafe(F.col("now")))


def inconsistent_offsets(of: Histories) -> DataFrame:
    """Judge that each offset held one record, of all that were acknowledged or read."""
    columns = (*_RECORD, "process", "t")
    seen = promises(of).where("offset >= 0").select(*columns).union(of.reads.select(*columns))
    first = F.min_by(F.struct("value", "process"), "t")
    places = seen.groupBy(*PLACE).agg(
        F.min("value").alias("a"), F.max("value").alias("b"), first.alias("of"), F.min("t").alias("t")
    )
    return places.select(*PLACE, "of.*", "t", (F.col("a") != F.col("b")).alias("wrong"))


def duplicate(of: Histories) -> DataFrame:
    """Judge that a record of an idempotent producer is at one offset, if it was answered before one was given up."""
    given_up = of.sends.where("outcome = 'info' and completed is not null")
    given_up = given_up.groupBy("process").agg(F.min("completed").alias("given_up"))
    sends = of.sends.where("idempotent and completed is not null").join(F.broadcast(given_up), "process", "left")
    once = sends.where("given_up is null or completed < given_up").select("value", "process", F.col("t"))
    of_value = of.reads.select(*_RECORD).distinct().groupBy("value")
    places = of_value.agg(F.count("*").alias("places"), F.min(F.struct(*PLACE)).alias("at"))
    return places.join(once, "value").select("value", "process", "t", "at.*", (F.col("places") > 1).alias("wrong"))


def nonmonotonic_send(of: Histories) -> DataFrame:
    """Judge that the offsets of an idempotent producer grow from each of its acknowledged sends to the next."""
    answered = "outcome = 'ok' and `partition` is not null and offset is not null and acks = 'all'"
    steps = of.sends.where(answered).withColumn("before", F.lag("offset").over(_steps("process", *AT).orderBy("seq")))
    judged = steps.where("before is not null and idempotent")
    return judged.withColumn("wrong", F.col("offset") <= F.col("before"))


def nonmonotonic_poll(of: Histories) -> DataFrame:
    """Judge that offsets only grow in each step of a consumer, but for those after a new position."""
    return _moves(of).withColumn("wrong", F.col("offset") <= F.col("before"))


def poll_skip(of: Histories) -> DataFrame:
    """Judge that no step of a consumer passes over a record that was acknowledged or read."""
    unsure = of.sends.where("transaction is not null").select("value", F.lit(True).alias("unsure")).distinct()
    read = (
        of.reads.select(*_RECORD)
        .distinct()
        .join(unsure, "value", "left")
        .select(*PLACE, F.col("unsure").isNull().alias("known"))
    )
    known = read.union(promises(of).select(*PLACE, F.lit(True)))
    known = known.groupBy(*PLACE).agg(F.max("known").cast("int").alias("known"))
    # The number of known records up to an offset makes the number between two of them a difference.
    up_to = F.sum("known").over(_steps(*AT).orderBy("offset"))
    counts = known.withColumn("up_to", up_to)
    after = counts.select(*PLACE, (F.col("up_to") - F.col("known")).alias("below"))
    before = counts.select(*AT, F.col("offset").alias("before"), F.col("up_to").alias("passed"))
    moves = _moves(of).join(after, list(PLACE)).join(before, [*AT, "before"])
    return moves.withColumn("wrong", F.col("below") > F.col("passed"))


def visible_end(of: Histories) -> DataFrame:
    """Judge that the end that leaders show never goes back, from an answer to a question that was asked after it."""
    order = Window.partitionBy(*AT, "topic_id").orderBy("seq").rowsBetween(Window.unboundedPreceding, -1)
    highest = F.max(F.struct("offset", "seq", "answered", "leader_epoch")).over(order)
    before = F.col("before")
    wrong = (
        (F.col("offset") < before.offset)
        & (F.col("asked") > before.answered)
        & (F.col("leader_epoch") >= before.leader_epoch)
    )
    named = {"process": F.col("node"), "t": F.col("answered"), "value": F.lit(None).cast("string")}
    judged = of.ends.withColumn("before", highest).where("before is not null")
    return judged.withColumns({"wrong": F.coalesce(wrong, F.lit(False)), **named})


def _moves(of: Histories) -> DataFrame:
    """Return the records that a consumer got after another one of the partition, with the offset `before`.

    A new position of a consumer begins a new life, in which nothing was read before.
    """
    of_consumer = _steps("process").orderBy("seq").rowsBetween(Window.unboundedPreceding, Window.currentRow)
    lives = of.polls.select("seq", F.sum(F.col("reset").cast("int")).over(of_consumer).alias("life"))
    order = _steps("process", "life", *AT).orderBy("seq", "pos")
    reads = of.reads.join(lives, "seq").withColumn("before", F.lag("offset").over(order))
    return reads.where("before is not null")


def _steps(*keys: str) -> WindowSpec:
    return Window.partitionBy(*keys)


CHECKS: Final[Mapping[str, tuple[str, Check]]] = {
    "unseen": ("ACK-01", unseen),
    "unread": ("ACK-01", unread),
    "lost-write": ("ACK-01", lost_write),
    "consumed-then-vanished": ("ACK-02", consumed_then_vanished),
    "inconsistent-offsets": ("ACK-04", inconsistent_offsets),
    "duplicate": ("ACK-05", duplicate),
    "nonmonotonic-send": ("ACK-06", nonmonotonic_send),
    "nonmonotonic-poll": ("ACK-07", nonmonotonic_poll),
    "poll-skip": ("ACK-07", poll_skip),
    "visible-end": ("HW-01", visible_end),
}
"""The checks by name, the most severe first: the requirement, and the job. `unread` proves nothing, but a doubt."""


def summary(check: str, judged: DataFrame) -> DataFrame:
    """Return one row: check, rule, judged and wrong (items), first_s, examples (the first 20 wrong items)."""
    wrong: Column = F.col("wrong")
    order = Window.orderBy("t", *PLACE)
    numbers = judged.agg(
        F.count("*").alias("judged"),
        F.count(F.when(wrong, 1)).alias("wrong"),
        F.min(F.when(wrong, F.col("t"))).alias("first_s"),
    )
    bad = judged.where(wrong).select(*SHOWN).orderBy("t", *PLACE).limit(EXAMPLES)
    bad = bad.withColumn("number", F.row_number().over(order))
    examples = bad.agg(F.array_sort(F.collect_list(F.struct("number", *SHOWN))).alias("examples"))
    named = numbers.select(F.lit(check).alias("check"), F.lit(CHECKS[check][0]).alias("rule"), "*")
    return named.crossJoin(examples)


@dataclass(frozen=True)
class Checked:
    """The rows of `summary` of all checks, the topics that are left out, and the number of unreadable lines."""

    checks: tuple[Mapping[str, Any], ...]
    left_out: tuple[str, ...]
    unreadable: int


def check_journal(spark: SparkSession, journal: str) -> Checked:
    """Run all checks over a journal at a path or URL. One row for each check comes back to the driver."""
    histories = read_histories(spark, journal)
    # Sends and reads are parsed once; what does not fit into memory goes to disk.
    for frame in (histories.sends, histories.reads):
        frame.persist()
    summaries = [summary(name, check(histories)) for name, (_, check) in CHECKS.items()]
    every: DataFrame = reduce(DataFrame.unionByName, summaries)
    rows = {row["check"]: row.asDict(recursive=True) for row in every.collect()}
    left_out = tuple(sorted(row["topic"] for row in histories.left_out.collect()))
    (lines,) = histories.lines.collect()
    return Checked(tuple(rows[name] for name in CHECKS), left_out, lines["unreadable"])
