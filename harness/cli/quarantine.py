"""`fencepost results quarantine`: the file of `conformance --quarantine`, from the flaky scenarios of a store."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from fencepost.harness.cli.ages import days
from fencepost.harness.cli.commands.store import QuarantineOptions
from fencepost.harness.cli.publish import MARGIN, store_errors
from fencepost.harness.cli.spark import run_on_spark
from fencepost.harness.conformance.quarantine import Entry, Test, renewed
from fencepost.harness.terminal import counted, terminal
from fencepost.results.store.store import Store

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, Row


def quarantine(options: QuarantineOptions) -> None:
    """Write the file and print its changes. UsageError if there is no store, or another file is there."""
    now = datetime.now(UTC)
    expires = (now + days(options.lasts)).date()
    with store_errors():
        store = Store.open(options.address)
    # A mistake in the file shows before Spark starts.
    renewed(options.out, (), ())
    flaky, broken = _mined(store, now, None if options.since is None else days(options.since), options.target)
    entries = [
        Entry(scenario=row["test"], target=row["target"], backend=row["backend"], reason=_reason(row), expires=expires)
        for row in flaky
    ]
    found = renewed(options.out, entries, broken)
    options.out.write_text(found.text, encoding="utf-8")
    console = terminal()
    console.print(f"{'quarantine':<{MARGIN}}{counted(len(entries), 'flaky scenario')} until {expires}: {options.out}")
    for entry in entries:
        console.print(f"{'':<{MARGIN}}{entry.scenario} on {entry.target} ({entry.backend}): {entry.reason}")
    for words, gone in (("expired", found.expired), ("is broken", found.broken)):
        for entry in gone:
            console.print(f"{'removed':<{MARGIN}}{entry.scenario} on {entry.target}: {words}")


def _mined(
    store: Store, now: datetime, age: timedelta | None, target: str | None
) -> tuple[Sequence[Row], Sequence[Test]]:
    """Return the proposals, and the broken tests."""
    found: list[tuple[Sequence[Row], Sequence[Test]]] = []

    def job(_: Sequence[str]) -> int:
        # They import pyspark, which only the extra `mining` installs.
        from pyspark.sql import SparkSession

        from fencepost.results.mining import quarantine as mining
        from fencepost.results.mining.flakiness import outcomes_by_day, scores
        from fencepost.results.mining.identity import builds_by_day
        from fencepost.results.mining.jobs import Scope, read_evidence

        spark = SparkSession.builder.appName("fencepost-quarantine").getOrCreate()
        try:
            scope = Scope(now, None if age is None else now - age, target)
            runs: DataFrame = mining.of_scenarios(read_evidence(spark, store, scope).runs)
            outcomes, builds = outcomes_by_day(runs).toArrow(), builds_by_day(runs).toArrow()
            scored = scores(outcomes)
            found.append((mining.proposals(scored, outcomes, builds, runs).to_pylist(), mining.broken(scored)))
        finally:
            spark.stop()
        return 0

    with store_errors():
        run_on_spark(job)
    return found[0]


def _reason(row: Row) -> str:
    rate, low, high = (round(100 * row[name]) for name in ("failure_rate", "rate_low", "rate_high"))
    runs = f"{row['passed_run']} passed and {row['failed_run']} failed with one plan"
    return f"flaky: fails in {rate} % of its runs ({low} to {high} %); {runs}"
