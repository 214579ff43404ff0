"""Transactions that are committed and aborted while nothing is broken, and while their broker sleeps."""

from __future__ import annotations

from fencepost.suites import vocabulary as v

MORE = 60
"""Records of a few transactions."""
SLEEP_MS = 2000
WRITER = v.ProducerSpec(
    name="x1", topic="t", rate=100, transactions=v.TransactionSpec(records=10, abort_every=3, timeout_ms=6000)
)
WORKLOAD = v.WorkloadSpec(
    producers=(WRITER,),
    consumers=(
        v.ConsumerSpec(name="committed", topic="t"),
        v.ConsumerSpec(name="uncommitted", topic="t", isolation="read_uncommitted"),
    ),
)


@v.any_scenario(
    "any-transactions",
    "Transactions are read whole or not at all, also when their broker sleeps",
    seconds=15,
    workloads={"transactions"},
)
def committed(draft: v.Draft) -> v.Plan:
    """Every third transaction is aborted. The leader of their partition sleeps once in between."""
    within = 2 * v.LIVENESS_TIMEOUT_MS
    steps: list[v.Step] = [
        v.WorkloadAcks(as_="transactions", producer="x1", more=MORE),
        v.inject("sleep", v.PauseParameters(nodes="leader:t-0")),
        v.Hold(as_="asleep", after="sleep.proven", ms=SLEEP_MS),
        v.Heal(as_="wake", fault="sleep"),
        v.WorkloadAcks(as_="goes-on", producer="x1", more=MORE, within_ms=within, expect=v.must("LIVE-03")),
        v.WorkloadReads(as_="moves", consumer="committed", more=MORE, within_ms=within, expect=v.must("TXN-03")),
    ]
    return draft.plan(
        steps,
        "whole",
        v.Committed(what="transactions", before="sleep.injected"),
        workload=WORKLOAD,
    )
