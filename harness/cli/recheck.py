"""`fencepost recheck`: a run judged again from its folder, without a cluster."""

from __future__ import annotations

import json

from fencepost.harness.cli.commands.runs import RecheckOptions
from fencepost.harness.cli.recheck_on_spark import recheck_on_spark
from fencepost.harness.cli.verdicts import show_verdict
from fencepost.harness.reproduction.rechecking import recheck as judge_again
from fencepost.harness.targets.registry import open_run
from fencepost.harness.terminal import terminal

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
