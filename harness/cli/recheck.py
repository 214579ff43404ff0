"""`fencepost recheck`: a run judged again from its folder, without a cluster.

With `--spark` it is the data plane alone, of a run whose history does not fit into one process.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fencepost.harness.cli.commands.runs import RecheckOptions
from fencepost.harness.cli.run_display import show_verdict
from fencepost.harness.cli.spark import require_spark, run_on_spark
from fencepost.harness.errors import UsageError
from fencepost.harness.reproduction.rechecking import recheck as judge_again
from fencepost.harness.targets.registry import open_run
from fencepost.harness.terminal import counted, terminal
from fencepost.results.records.folder import FolderError
from fencepost.results.records.journal import being_written
from fencepost.results.records.verdict import Verdict

DIFFERS = 4
"""Exit code of a recheck that comes to another verdict than the run did."""


def recheck(options: RecheckOptions) -> int:
    """Judge the run, show each difference from the stored verdict, return the exit code."""
    if options.spark:
        return recheck_on_spark(options.run, options.as_json, options.spark_memory)
    checked = judge_again(open_run(options.run))
    if options.as_json:
        print(json.dumps(checked.to_json(), indent=2))
    else:
        console = terminal()
        show_verdict(console, checked.folder, checked.now)
        for message in checked.messages():
            console.print(f"{'':<15}{message}", soft_wrap=True, markup=False)
    return checked.now.verdict.exit_code if checked.same else DIFFERS


if TYPE_CHECKING:
    from fencepost.results.mining.data_checks import Checked

MARGIN = 24
DOUBT = "unread"
"""The check whose wrong items prove nothing: the ends of these partitions are unknown."""


def recheck_on_spark(run: Path, as_json: bool, memory: str) -> int:
    """Check the journal of a run and print each check; return the exit code of the verdict.

    FolderError without a journal, UsageError while the run goes on, InfrastructureError without Spark.
    """
    folder = open_run(run)
    if not folder.journal.is_file():
        raise FolderError(f"{folder.path} has no {folder.journal.name}, so there is nothing to judge")
    if being_written(folder.journal):
        raise UsageError(f"the run in {folder.path} still goes on: recheck it when it has ended")
    checked = _checked(folder.journal.absolute(), memory)
    verdict = verdict_of(checked.checks)
    if as_json:
        left_out = {"left_out": list(checked.left_out), "unreadable": checked.unreadable}
        named = {"format": "fencepost-recheck-spark/1", "run": str(folder.path), "verdict": verdict.value}
        print(json.dumps(named | {"checks": list(checked.checks)} | left_out, indent=2))
    else:
        _show(checked, verdict)
    return verdict.exit_code


def verdict_of(checks: Sequence[Mapping[str, Any]]) -> Verdict:
    """Return `violation` for a wrong item, else `inconclusive` without a promise or with unread ends, else `pass`."""
    wrong = {row["check"] for row in checks if row["wrong"]}
    if wrong - {DOUBT}:
        return Verdict.VIOLATION
    promised = any(row["judged"] for row in checks if row["check"] == DOUBT)
    return Verdict.PASS if promised and not wrong else Verdict.INCONCLUSIVE


def _checked(journal: Path, memory: str) -> Checked:
    found: list[Checked] = []
    require_spark()
    # They import pyspark, which only the extra `mining` installs.
    from fencepost.results.mining.data_checks import check_journal
    from fencepost.results.mining.launch import large_history_arguments

    def job(_: Sequence[str]) -> int:
        from pyspark.sql import SparkSession

        spark = SparkSession.builder.appName("fencepost-recheck").getOrCreate()
        try:
            found.append(check_journal(spark, journal.as_uri()))
        finally:
            spark.stop()
        return 0

    os.environ.setdefault("PYSPARK_SUBMIT_ARGS", large_history_arguments(memory))
    run_on_spark(job)
    return found[0]


def _show(checked: Checked, verdict: Verdict) -> None:
    console = terminal()
    for row in checked.checks:
        wrong = f", {row['wrong']} wrong, the first at {row['first_s']:.2f} s" if row["wrong"] else ""
        console.print(f"{row['check']:<{MARGIN}}{row['rule']:<8}{row['judged']} judged{wrong}", highlight=False)
        for each in row["examples"]:
            place = f"{each['topic']}-{each['partition']}" + ("" if each["offset"] is None else f" {each['offset']}")
            known = ", ".join(str(each[name]) for name in ("value", "process") if each[name] is not None)
            console.print(f"{'':<{MARGIN}}{place}  {known}, {each['t']:.2f} s", highlight=False, markup=False)
    if checked.unreadable:
        console.print(f"{'journal':<{MARGIN}}{counted(checked.unreadable, 'unreadable line')}")
    if checked.left_out:
        console.print(f"{'not judged':<{MARGIN}}topics that were deleted: {', '.join(checked.left_out)}")
    console.print(f"{'data plane':<{MARGIN}}{verdict.value}")
