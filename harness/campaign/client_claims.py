"""The claims about clients of a random plan: that groups read, and transactions are committed and become readable."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from fencepost.harness.campaign.workloads.names import FIRST, GROUP, READER, SECOND
from fencepost.harness.plan.base import Expect, Level
from fencepost.harness.plan.conditions.workload_acks import WorkloadAcks
from fencepost.harness.plan.conditions.workload_reads import WorkloadReads
from fencepost.harness.plan.model import WorkloadSpec
from fencepost.harness.plan.steps import Step
from fencepost.harness.plan.steps.workload import Workload

PROGRESS = 20
"""The number of records that show that a client gets on."""


def clients_get_on(
    workload: WorkloadSpec, steps: Iterable[Step], name: str, within_ms: int, *, claimed: bool
) -> Iterator[WorkloadReads | WorkloadAcks]:
    """Yield a step for each kind of client: a group reads, transactions are committed, consumers read them.

    `steps` are those of the plan so far, which may have started the second transactional producer.
    """
    if any(consumer.membership for consumer in workload.consumers):
        reads = _must("GRP-03") if claimed else None
        yield WorkloadReads(as_=f"{name}-group", group=GROUP, more=PROGRESS, within_ms=within_ms, expect=reads)
    if any(producer.transactions for producer in workload.producers):
        sends = SECOND if SECOND in started(steps) else FIRST
        commits, moves = (_must("LIVE-03"), _must("TXN-03")) if claimed else (None, None)
        yield WorkloadAcks(as_=f"{name}-sends", producer=sends, more=PROGRESS, within_ms=within_ms, expect=commits)
        yield WorkloadReads(as_=f"{name}-stable", consumer=READER, more=PROGRESS, within_ms=within_ms, expect=moves)


def started(steps: Iterable[Step]) -> frozenset[str]:
    """Return the clients that steps have started by name, and not stopped since."""
    running: set[str] = set()
    for step in steps:
        if isinstance(step, Workload):
            (running.update if step.action == "start" else running.difference_update)(step.only)
    return frozenset(running)


def _must(requirement: str) -> Expect:
    return Expect(level=Level.MUST, requirement=requirement)
