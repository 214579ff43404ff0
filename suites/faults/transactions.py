"""Transactions while the broker that coordinates them, or one that leads their partitions, is gone."""

from __future__ import annotations

from fencepost.suites import vocabulary as v

ID = "orders"
MORE = 40
"""Records of a few transactions."""
HELD_MS = 3000
FIRST = v.ProducerSpec(
    name="x1", topic="x", rate=100, transactions=v.TransactionSpec(id=ID, records=10, abort_every=3, timeout_ms=6000)
)
SLEEPS = v.TransactionSpec(id=ID, records=10, abort_every=3, timeout_ms=6000, sleeps=True)
SECOND = FIRST.model_copy(update={"name": "x2", "start": "later", "transactions": SLEEPS})
THIRD = FIRST.model_copy(update={"name": "x3", "start": "later"})
WORKLOAD = v.WorkloadSpec(
    producers=(v.PRODUCER, FIRST, SECOND, THIRD),
    consumers=(
        v.CONSUMER,
        v.ConsumerSpec(name="committed", topic="x"),
        v.ConsumerSpec(name="uncommitted", topic="x", isolation="read_uncommitted"),
    ),
)
"""Beside the usual workload, a producer whose transactions have records in three partitions, and every third of which
is aborted; two more of its transactional id; and a consumer at each isolation level."""


@v.fault_scenario(
    "transaction-coordinator-killed",
    "Transactions outlive the broker that coordinates them",
    seconds=25,
    workloads={"transactions"},
)
def coordinator_killed(draft: v.Draft) -> v.Plan:
    """The broker that coordinates the transactions is killed; another one takes them over."""
    steps: list[v.Step] = [
        *_working("x1"),
        v.inject("crash", v.KillParameters(nodes=f"transaction-coordinator:{ID}")),
        v.Hold(as_="gone", after="crash.proven", ms=HELD_MS),
        v.Heal(as_="restart", fault="crash"),
        *_going_on("x1"),
    ]
    return _plan(draft, steps, "crash", "x1")


@v.fault_scenario(
    "transactional-producer-fenced",
    "A second producer of a transactional id fences the first while a leader sleeps",
    seconds=25,
    workloads={"transactions"},
)
def fenced_producer(draft: v.Draft) -> v.Plan:
    """A leader is paused in the middle of transactions; a second producer takes their id over while it sleeps.

    The first learns of it while its transaction is ended for it. The second sleeps itself while a third takes over, so
    that it asks for a commit after it was fenced.
    """
    steps: list[v.Step] = [
        *_working("x1"),
        v.Bind(as_="leads", node="leader:x-0"),
        v.inject("sleep", v.PauseParameters(nodes="$leads")),
        v.Workload(as_="second", action="start", only=("x2",)),
        v.LeaderIs(
            as_="moved",
            partition="x-0",
            is_not="$leads",
            expect=v.must(draft.target.rule("D631-07", "INT-28", "LD-31")),
        ),
        v.Heal(as_="wake", fault="sleep"),
        *_going_on("x2"),
        v.Workload(as_="third", action="start", only=("x3",)),
        v.WorkloadAcks(
            as_="taken-over", producer="x3", more=10, within_ms=2 * v.LIVENESS_TIMEOUT_MS, expect=v.must("LIVE-03")
        ),
    ]
    return _plan(draft, steps, "sleep", "x2")


def _working(producer: str) -> list[v.Step]:
    return [
        v.WorkloadAcks(as_="transactions", producer=producer, more=MORE),
        v.WorkloadReads(as_="read", consumer="committed", more=MORE),
    ]


def _going_on(producer: str) -> list[v.Step]:
    """Claim that transactions are committed again, and that the last stable offset moves."""
    within = 2 * v.LIVENESS_TIMEOUT_MS
    return [
        v.WorkloadAcks(as_="goes-on", producer=producer, more=MORE, within_ms=within, expect=v.must("LIVE-03")),
        v.WorkloadReads(as_="moves", consumer="committed", more=MORE, within_ms=within, expect=v.must("TXN-03")),
    ]


def _plan(draft: v.Draft, steps: list[v.Step], fault: str, producer: str) -> v.Plan:
    return draft.plan(
        steps,
        "whole",
        v.Committed(what="transactions", by="x1", before=f"{fault}.injected"),
        v.Committed(what="transactions", by=producer, after=f"{fault}.proven"),
        topics=[v.topic(draft.roles), v.rotated_topic(draft.roles, name="x")],
        workload=WORKLOAD,
    )
