"""`python -m tests.mutants.stories [MUTANT ...]`: real clusters with a planted defect, and the story that turns red.

The tests beside this file show that each defect is seen by the test of its guarantee; this shows that a whole cluster
with it is found out from outside. It takes about half a minute for each.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from tests.mutants.planting import VARIABLE

ROOT = Path(__file__).parents[2]
WITHIN = 300.0

SEEN_BY = {
    "no_self_fence": ("quorum", "cut-from-controllers-cut"),
    "follower_does_not_truncate": ("quorum", "lonely-leader"),
    "incarnation_not_compared": ("zk-controller", "newer-incarnation-wins"),
    "fenced_broker_answers": ("zk-controller", "silent-broker-cut"),
    "controller_epoch_not_compared": ("zk-controller", "old-controller"),
    "compare_and_set_dropped": ("zk-controller", "two-leaders"),
    "legacy_broker_fenced": ("zk-controller", "mixed-cluster-legacy-leader"),
    "earlier_session_is_foreign": ("zk-controller", "zookeeper-leader-unheard"),
    "silence_taken_for_refusal": ("zk-controller", "waits-for-its-id-unheard"),
    "event_of_an_earlier_epoch_applied": ("zk-controller", "late-log-dir-event"),
    "notification_watch_left_on": ("zk-controller", "log-dir-fails-on-a-leader"),
    "start_replica_epoch_not_checked": ("leader-driven", "v2-requests-of-the-past"),
    "close_dropped_by_shrink": ("leader-driven", "v2-queue-full"),
    "isr_written_without_epoch": ("leader-driven", "v2-leader-dies-young"),
    "acknowledged_before_isr": ("leader-driven", "v2-cut-from-followers-fetches"),
    "election_outside_isr": ("leader-driven", "v2-outside-the-isr"),
    "leads_on_without_session": ("leader-driven", "v2-cut-from-zookeeper-cut"),
    "isr_version_kept": ("leader-driven", "v2-follower-paused"),
    "truncated_to_the_beginning": ("leader-driven", "truncated-and-elected"),
    "high_watermark_zeroed": ("leader-driven", "truncated-and-elected"),
}
"""Target and story by defect; others may see it as well."""


def findings(mutant: str) -> list[str]:
    """What the story finds in a cluster with the defect; empty if it stays green, or proves nothing."""
    target, story = SEEN_BY[mutant]
    command = [sys.executable, "-m", "pytest", "suites", "-q", "-p", "tests.mutants.suite", "--target", target]
    environment = {**os.environ, VARIABLE: mutant}
    run = subprocess.run(
        [*command, "-k", f"test_story[{story}]"],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=WITHIN,
        check=False,
    )
    if "Violation" not in run.stdout:
        print(run.stdout, file=sys.stderr)
        return []
    return re.findall(r"^E {10,}((?:must|never) .*)$", run.stdout, re.MULTILINE)


def main(mutants: Sequence[str]) -> int:
    missed = 0
    for mutant in mutants or SEEN_BY:
        found = findings(mutant)
        missed += not found
        print(f"{mutant} / {SEEN_BY[mutant][1]}: {'red' if found else 'NOT SEEN'}", flush=True)
        for finding in found:
            print(f"    {finding}", flush=True)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
